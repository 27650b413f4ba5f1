package entropy_test

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// BSV24 Lemma 4.1 with explicit constants: 14.898 at alpha = 1, s = 0; the
// minimum against a dense scan of u; and the mechanism stays below it.
func TestStandardBound(t *testing.T) {
	if b, err := entropy.StandardBound(1, 0); err != nil || math.Abs(b-14.898) > 5e-4 {
		t.Errorf("bound %v (%v), want 14.898", b, err)
	}
	for _, alpha := range []float64{0.01, 1, 30} {
		last := 0.0
		for _, s := range []float64{0, 0.1, 1, 50, 1e9} {
			b := testkit.Must(entropy.StandardBound(alpha, s))
			least := math.Inf(1)
			for u := 2.0; u < 180; u += 1e-3 {
				least = min(least, 3*s+u/alpha+math.Exp(-u/6)*(9*s+(3*u+12)/alpha))
			}
			if b > least*(1+1e-9) || b < least*(1-1e-4) || b < last {
				t.Errorf("alpha %v, s %v: %v, scan %v", alpha, s, b, least)
			}
			last = b
		}
	}
	for _, c := range [][2]float64{{0, 1}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}, {math.Inf(1), 1}} {
		if _, err := entropy.StandardBound(c[0], c[1]); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
	// Extremes: no NaN.
	for _, c := range [][2]float64{{5e-324, 0}, {math.MaxFloat64, math.MaxFloat64}, {5e-324, 5e-324}, {1e300, 0}} {
		if b, err := entropy.StandardBound(c[0], c[1]); !(b > 0) || err != nil {
			t.Errorf("%v: %v, %v", c, b, err)
		}
	}
	// On a path of unit gaps s = 0 serves at a large level: N(B(x,r), 0) =
	// 2r+1 <= e^(alpha*r/3) for all r >= 1.
	f := space.Path(40, 1)
	m := testkit.Must(exponential.Standard(t.Context(), f, 6, nil))
	l := testkit.Must(m.Loss(t.Context(), f))
	worst, _ := l.Worst()
	if b, _ := entropy.StandardBound(6, 0); worst > b {
		t.Errorf("loss %v above the bound %v", worst, b)
	}
}

func TestRelaxedBound(t *testing.T) {
	if b, err := entropy.RelaxedBound(0.5, 0.25); b != 4 || err != nil {
		t.Errorf("%v (%v), want 4", b, err)
	}
	// Upward: 0.1 + 14*0.7 is not a float64.
	if b, _ := entropy.RelaxedBound(0.1, 0.7); b < 0.1+14*0.7 {
		t.Errorf("%v", b)
	}
	for _, c := range [][2]float64{{-1, 1}, {1, math.NaN()}, {math.Inf(1), 0}, {0, -1}} {
		if _, err := entropy.RelaxedBound(c[0], c[1]); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
}

// names lists the bounds in their order.
func names(bounds []entropy.Bound) (out []string) {
	for _, b := range bounds {
		out = append(out, b.Name)
	}
	return out
}

// Which bounds there are on which kind of space.
func TestUpperBounds_Applies(t *testing.T) {
	r := random.Seeded(2)
	plane, tree := uniform(t, r, 20), ultra(t, r, 20)
	doubled := testkit.Must(metric.Scaled(plane, 2))
	hidden := testkit.Must(metric.Subset(metric.Finite(tree), r.Perm(20)))
	twice := testkit.Must(metric.Subset(plane, append(slices.Repeat([]int{3}, 19), 4)))
	for _, c := range []struct {
		name string
		b    metric.Bimetric
		want []string
	}{
		{"one metric", metric.Same(plane), []string{"constant", "exponential"}},
		{"scaled", metric.Bimetric{Privacy: plane, Utility: doubled}, []string{"constant", "exponential"}},
		{"ultrametric", metric.Same(tree), []string{"constant", "exponential", "relaxed"}},
		{"hidden ultrametric", metric.Bimetric{Privacy: plane, Utility: hidden}, []string{"constant", "exponential", "relaxed"}},
		{"no Lipschitz constant", metric.Bimetric{Privacy: twice, Utility: plane}, []string{"constant"}},
	} {
		bounds := testkit.Must(entropy.UpperBounds(t.Context(), c.b, 2, nil))
		got := names(bounds)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		radius, _, _ := metric.Radius(t.Context(), c.b.Utility)
		if v := bound(t, bounds, "constant"); v.Value != radius {
			t.Errorf("%s: %v, radius %v", c.name, v, radius)
		}
	}
	// The Lipschitz constant scales the bound.
	one := testkit.Must(entropy.UpperBounds(t.Context(), metric.Same(plane), 2, nil))
	two := testkit.Must(entropy.UpperBounds(t.Context(), metric.Bimetric{Privacy: plane, Utility: doubled}, 2, nil))
	if p, q := bound(t, one, "exponential").Value, bound(t, two, "exponential").Value; !(q >= 2*p && q <= 2*p*(1+1e-14)) {
		t.Errorf("%v, twice as lossy %v", p, q)
	}
}
