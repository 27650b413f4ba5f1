package feature

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// TestSteepest_IsTheMaximum in exact arithmetic, not below it and at most an ulp
// above.
func TestSteepest_IsTheMaximum(t *testing.T) {
	for seed := range uint64(20) {
		rng := random.Seeded(seed)
		n := 3 + rng.IntN(20)
		f := space.Uniform(n, rng)
		m := NewMap(6)
		for range n {
			for r := range 6 {
				if rng.IntN(2) == 0 {
					m.Set(r, rng.Int64N(1<<55))
				}
			}
			m.Close()
		}
		got := testkit.Must(m.Steepest(t.Context(), f))
		want := new(big.Rat)
		for x := range n {
			for y := range x {
				u, v := make([]int64, 6), make([]int64, 6)
				m.Add(u, x, 1)
				m.Add(v, y, 1)
				sum := int64(0)
				for i := range u {
					sum += max(u[i]-v[i], v[i]-u[i])
				}
				q := new(big.Rat).SetInt64(sum)
				if q.Quo(q, new(big.Rat).SetFloat64(f.Distance(x, y))); q.Cmp(want) > 0 {
					want = q
				}
			}
		}
		if up := new(big.Rat).SetFloat64(got); up.Cmp(want) < 0 {
			t.Fatalf("seed %d: %v is below the maximum", seed, got)
		}
		if low := new(big.Rat).SetFloat64(got * (1 - 0x1p-50)); low.Cmp(want) > 0 {
			t.Fatalf("seed %d: %v is above the maximum %v", seed, got, want)
		}
	}
}

// TestSteepest_PointsAtDistanceZero have one vector, or there is no constant.
func TestSteepest_PointsAtDistanceZero(t *testing.T) {
	f := testkit.Must(metric.NewDense(3, []float64{0, 1, 1}))
	for _, same := range []bool{true, false} {
		m := NewMap(2)
		for x := range 3 {
			if x == 0 || same {
				m.Set(0, 7)
			}
			m.Close()
		}
		if got := testkit.Must(m.Steepest(t.Context(), f)); math.IsInf(got, 1) == same {
			t.Errorf("same %v: %v", same, got)
		}
	}
}

// TestNewCenters_Ends where the constant is an ulp above 1/quantum for every power
// of two that Log2 finds.
func TestNewCenters_Ends(t *testing.T) {
	f := testkit.Must(metric.NewDense(2, []float64{1 - 0x1p-53}))
	c := testkit.Must(NewCenters(t.Context(), f, []int{0, 1}, 0.9, 1, 0x1p-20, 2))
	if c.Whole != 1<<18 || c.Slope*0x1p-20 > 1 {
		t.Errorf("%v quanta, slope %v", c.Whole, c.Slope)
	}
}

// TestCenters_AreAPartition: whole weights, none beyond the radius, at most
// 1/quantum steep, and anchors joined at their distances.
func TestCenters_AreAPartition(t *testing.T) {
	f := space.Uniform(80, random.Seeded(1))
	order, radii, err := metric.FarthestFirst(t.Context(), f, 12, 0)
	testkit.Check(t, err)
	for _, quantum := range []float64{1e-12, 1e-5} {
		c := testkit.Must(NewCenters(t.Context(), f, order, 2*radii[12], 1e-3, quantum, 16))
		if c.Slope*quantum > 1 || c.Slope*quantum < 0.1 && c.Whole < 1<<30 {
			t.Errorf("quantum %v: %v quanta, slope %v", quantum, c.Whole, c.Slope)
		}
		for x := range f.Len() {
			rows, weights := c.Of(x)
			sum, far := int64(0), 0.0
			for k, r := range rows {
				d := f.Distance(x, order[r])
				sum += weights[k]
				far += float64(weights[k]) / float64(c.Whole) * d
				if d >= 2*radii[12] {
					t.Errorf("point %d: center %d is at %v", x, r, d)
				}
			}
			if sum != c.Largest() || 2*far > c.Blur*(1+1e-4) {
				t.Errorf("point %d: weights of sum %d at %v", x, sum, far)
			}
		}
		for r, p := range c.Parent {
			if r > 0 && c.Length[r] != f.Distance(order[r], order[p]) {
				t.Errorf("center %d is joined at %v", r, c.Length[r])
			}
		}
	}
	if c := testkit.Must(NewCenters(t.Context(), f, order, 100, 1, 1e-9, 11)); c != nil {
		t.Error("twelve entries a point, not eleven")
	}
}
