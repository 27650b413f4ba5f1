package entropy_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

func uniform(_ testing.TB, r *rand.Rand, n int) metric.Finite { return space.Uniform(n, r) }

func ultra(t testing.TB, r *rand.Rand, n int) metric.Finite {
	h := make([]float64, n-1)
	for i := range h {
		h[i] = math.Exp(-3 * r.Float64())
	}
	return testkit.Must(metric.NewUltrametric(r.Perm(n), h))
}

// randomSpace is a metric, an ultrametric, or two of them, by its number.
func randomSpace(t testing.TB, number int) (metric.Bimetric, float64) {
	r := random.Seeded(uint64(number))
	n := 2 + r.IntN(24)
	kinds := []func(testing.TB, *rand.Rand, int) metric.Finite{uniform, ultra}
	b := metric.Same(kinds[number%2](t, r, n))
	if number%4 >= 2 {
		b.Utility = kinds[number/4%2](t, r, n)
	}
	return b, math.Exp(5*r.Float64() - 2)
}

// The optimum of the linear program of all mechanisms is A(Z, alpha). No
// lower bound is above it, and the best reaches the given fraction of it.
func TestLowerBounds_KnownOptima(t *testing.T) {
	for _, c := range []struct {
		name     string
		f        metric.Finite
		alpha, a float64
		fraction float64
	}{
		{"path", space.Path(5, 1), 0.5, 1.00897714, 0.98},
		{"path", space.Path(5, 1), 1, 0.637582264, 0.98},
		{"path", space.Path(5, 1), 2, 0.260630630, 0.98},
		{"path of 50", space.Path(50, 1), 1, 0.850908003, 0.85},
		{"path of 50", space.Path(50, 1), 0.5, 1.89556756, 0.76},
		{"simplex", space.Simplex(4, 1), 1, 3 / (3 + math.E), 0.999},
		{"two points", space.Euclidean([][]float64{{0}, {0.5}}), 3, 0.5 / (1 + math.Exp(1.5)), 0.999},
		{"Halton", space.Halton(8), 1, 0.418945416, 0.96},
		{"Halton", space.Halton(8), 3, 0.275763386, 0.91},
		{"Halton", space.Halton(8), 10, 0.0543902960, 0.96},
	} {
		bounds := testkit.Must(entropy.LowerBounds(t.Context(), metric.Same(c.f), c.alpha, nil))
		// The optima are given to nine digits.
		if best := bounds[0].Value / c.a; best > 1+1e-8 || best < c.fraction {
			t.Errorf("%s, alpha %v: %v is %.4f of the optimum", c.name, c.alpha, bounds[0], best)
		} else {
			t.Logf("%s, alpha %v: %.4f by %s", c.name, c.alpha, best, bounds[0].Name)
		}
	}
}

func bound(t testing.TB, bounds []entropy.Bound, name string) entropy.Bound {
	t.Helper()
	for _, b := range bounds {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no bound %q in %v", name, bounds)
	return entropy.Bound{}
}

// Two points: the pair is the optimum. A simplex: the packing of all points is
// (1/2)(1 - 1/(1+3/e)), and the pair 1/(1+e).
func TestLowerBounds_ClosedForms(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if got > want || got < want*(1-1e-11) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	two := metric.Same(space.Euclidean([][]float64{{0}, {3}}))
	for _, alpha := range []float64{0.1, 1, 7} {
		bounds := testkit.Must(entropy.LowerBounds(t.Context(), two, alpha, nil))
		near("two points", bound(t, bounds, "pairs").Value, 3/(1+math.Exp(3*alpha)))
	}
	four := metric.Same(space.Simplex(4, 1))
	p := testkit.Must(entropy.Packed{X: 1, Points: []int{0, 1, 2, 3}}.Prove(t.Context(), four, 1))
	near("packing", p, 0.5*(1-1/(1+3/math.E)))
	// A star with leaves at distance 1 of the center: seen from the center,
	// left out, they are 2 apart and all at 1.
	var legs []metric.Edge
	const leaves = 30
	for i := range leaves {
		legs = append(legs, metric.Edge{I: leaves, J: i, Length: 1})
	}
	tree := testkit.Must(metric.NewGraphEdges(t.Context(), leaves+1, legs))
	bounds := testkit.Must(entropy.LowerBounds(t.Context(), metric.Same(tree), 1, nil))
	near("leaves", bound(t, bounds, "packing").Value, 1-math.E/leaves)
}

// On random spaces: every lower bound is at most the exact loss of every
// mechanism, the bounds are ranked, and every witness proves its bound again.
// The star is not below what it generalizes by more than its solver's
// tolerance, and Theorem 3.2's bound is at most 2/5 of the pairs'.
func TestBounds_Chain(t *testing.T) {
	r := random.Seeded(9)
	for number := range 90 {
		b, alpha := randomSpace(t, number)
		best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
		var losses []entropy.Loss
		for _, c := range best.Candidates {
			if c.Err == nil {
				losses = append(losses, entropy.Loss{Name: string(c.Method), Value: c.Loss})
			}
		}
		a, err := testkit.Must(entropy.Accuracy(t.Context(), b, alpha, nil)).With(losses...)
		if err != nil {
			t.Fatalf("space %d: %v", number, err)
		}
		if !(a.Lo <= a.Hi && a.Hi <= best.Objective) || a.Best(entropy.Upper).Value != a.Hi || a.Best(entropy.Lower).Value != a.Lo {
			t.Errorf("space %d: %v, best mechanism %v", number, a, best.Objective)
		}
		ranks := func(p, q entropy.Bound) int {
			if p.Kind == entropy.Lower && q.Kind == p.Kind {
				p, q = q, p
			}
			return cmp.Or(cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.Value, q.Value))
		}
		if !slices.IsSortedFunc(a.Bounds, ranks) {
			t.Errorf("space %d: %v is not ranked", number, a.Bounds)
		}
		star := bound(t, a.Bounds, "star")
		for _, v := range a.Bounds {
			switch {
			case v.Kind == entropy.Lower && v.Value > a.Hi || v.Kind == entropy.Upper && v.Value < a.Lo:
				t.Errorf("space %d: %v in %v", number, v, a)
			case v.Kind == entropy.Lower && star.Value < v.Value*(1-2e-3):
				t.Errorf("space %d of %d points, alpha %v: %v, %v", number, b.Len(), alpha, star, v)
			}
			if v.Witness != nil {
				if p, err := v.Witness.Prove(t.Context(), b, alpha); p != v.Value || err != nil {
					t.Errorf("space %d: %v is proved %v (%v)", number, v, p, err)
				}
			}
		}
		pairs := bound(t, a.Bounds, "pairs").Value
		if d := bound(t, a.Bounds, "diametric scale").Value; 2.5*d > pairs*(1+1e-9) {
			t.Errorf("space %d: diametric %v, pairs %v", number, d, pairs)
		}
		if number < 30 {
			checkStar(t, b, alpha, star.Witness.(entropy.Star))
		}
		if number < 60 {
			checkAnyWitness(t, r, b, alpha, best.Objective)
		}
	}
}

// checkAnyWitness: witnesses prove what they say with any numbers in them, no
// more than the loss of a mechanism.
func checkAnyWitness(t *testing.T, r *rand.Rand, b metric.Bimetric, alpha, loss float64) {
	n := b.Len()
	some := func() []int { return r.Perm(n)[:1+r.IntN(n)] }
	for range 20 {
		star := entropy.Star{X: r.IntN(n), Points: some()}
		for range star.Points {
			c := r.Float64()
			star.Weights = append(star.Weights, c)
			star.Offsets = append(star.Offsets, c*r.Float64())
		}
		for _, w := range []entropy.Witness{
			star, entropy.TwoPoints{X: r.IntN(n), Y: r.IntN(n)},
			entropy.Packed{X: r.IntN(n), Points: some()},
			entropy.CrowdedBall{X: r.IntN(n), Points: some()},
			entropy.WideBall{X: r.IntN(n), Y: r.IntN(n), Z: r.IntN(n)},
		} {
			if v, err := w.Prove(t.Context(), b, alpha); err != nil || !(v >= 0 && v <= loss) {
				t.Errorf("%T %+v proves %v (%v), a mechanism loses %v", w, w, v, err, loss)
			}
		}
	}
}

// checkStar: what a star proves is at most its formula in 300 bits, and close
// to it.
func checkStar(t *testing.T, b metric.Bimetric, alpha float64, star entropy.Star) {
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	got := testkit.Must(star.Prove(t.Context(), b, alpha))
	var least *big.Float
	total, offset := f(0), f(0)
	for z := range b.Len() {
		sum := f(0)
		for k, y := range star.Points {
			h := f(star.Weights[k])
			h.Mul(h, f(b.Utility.Distance(y, z))).Sub(h, f(star.Offsets[k]))
			e := f(alpha)
			if e.Mul(e, f(b.Privacy.Distance(star.X, y))); h.Sign() >= 0 {
				e.Neg(e)
			}
			phi, _ := exact.ExpBounds(e, 260)
			sum.Add(sum, phi.Mul(phi, h))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	for k, c := range star.Weights {
		total.Add(total, f(c))
		offset.Add(offset, f(star.Offsets[k]))
	}
	want := offset.Add(offset, least)
	want.Quo(want, total)
	if low, _ := want.Float64(); f(got).Cmp(want) > 0 || got < low*(1-1e-9) {
		t.Errorf("%v proved, exactly %v", got, want)
	}
}

// The searches above the sizes at which they look at everything.
func TestLowerBounds_Large(t *testing.T) {
	testkit.Slow(t)
	b := metric.Same(uniform(t, random.Seeded(4), 264)) // more than enter the program at first
	first := testkit.Must(entropy.LowerBounds(t.Context(), b, 10, &entropy.Options{Nodes: 100}))
	for _, v := range first {
		if p, err := v.Witness.Prove(t.Context(), b, 10); p != v.Value || err != nil {
			t.Errorf("%v is proved %v (%v)", v, p, err)
		}
	}
	// The exact loss of planar Laplace noise is 2/alpha: as many points as this
	// are nearly a plane, and no bound of a part of it may be above that.
	if v := first[0]; v.Name != "star" || v.Value > 0.2 || v.Value < 0.1 {
		t.Errorf("%v, want a star between 0.1 and 0.2", v)
	}
}

// The bounds do not depend on the number of workers.
func TestLowerBounds_Workers(t *testing.T) {
	b := metric.Same(uniform(t, random.Seeded(4), 60))
	one := testkit.Must(entropy.LowerBounds(t.Context(), b, 10, &entropy.Options{Workers: 1}))
	three := testkit.Must(entropy.LowerBounds(t.Context(), b, 10, &entropy.Options{Workers: 3}))
	if !reflect.DeepEqual(one, three) {
		t.Errorf("one worker: %v\nthree: %v", one, three)
	}
}

func BenchmarkLowerBounds(b *testing.B) {
	for _, n := range []int{100, 1000} {
		space := metric.Same(uniform(b, random.Seeded(1), n))
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var bounds []entropy.Bound
			for b.Loop() {
				bounds = testkit.Must(entropy.LowerBounds(b.Context(), space, 10, &entropy.Options{Nodes: -1}))
			}
			b.ReportMetric(bounds[0].Value, "bound")
		})
	}
}
