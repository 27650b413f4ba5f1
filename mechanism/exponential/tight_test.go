package exponential

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// On a path with unit gaps the weights are tanh(alpha/2) inside and 1/(1+q) at
// the ends, and the mechanism is the truncated geometric one.
func TestTight_IsTruncatedGeometricOnALine(t *testing.T) {
	const n, alpha = 12, 0.7
	m := testkit.Must(Tight(t.Context(), space.Path(n, 1), alpha, nil))
	q := math.Exp(-alpha)
	for x := range n {
		for y := range n {
			// Clamped two-sided geometric noise.
			want := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(x-y)))
			if y == 0 || y == n-1 {
				want = math.Pow(q, math.Abs(float64(x-y))) / (1 + q)
			}
			if got := m.Prob(x, y); !near(got, want, 1e-10) {
				t.Fatalf("P(%d|%d) = %v, want %v", y, x, got, want)
			}
		}
	}
}

// On the discrete metric tight weights are the exponential mechanism with the
// budget doubled.
func TestTight_DoublesTheBudgetOnTheDiscreteMetric(t *testing.T) {
	f := space.Func(6, func(int, int) float64 { return 1 })
	m := testkit.Must(Tight(t.Context(), f, 1, nil))
	s := testkit.Must(Standard(t.Context(), f, 2, nil))
	for x := range 6 {
		for y := range 6 {
			if !near(m.Prob(x, y), s.Prob(x, y), 1e-12) {
				t.Errorf("P(%d|%d): tight %v, standard %v", y, x, m.Prob(x, y), s.Prob(x, y))
			}
		}
	}
}

// At rate alpha/2 a level above alpha by a relative 2^-20 is put down to rounding, and the
// rate lowered until the audit agrees; more is an error. The weights make the factor 1/2
// tight, so that the level is how much the triangle inequality fails by. Above alpha/2 the
// rate is lowered by what it takes.
func TestCertify_PutsSomeDownToRounding(t *testing.T) {
	testkit.Rounding(t)
	beyond := func(excess float64) metric.Finite {
		return space.Func(3, func(i, j int) float64 {
			if j-i == 2 {
				return 2 + excess
			}
			return 1
		})
	}
	for _, c := range []struct {
		excess   float64
		accepted bool
	}{{0.95 * 0x1p-20, true}, {1.05 * 0x1p-20, false}} {
		m, err := Weighted(t.Context(), beyond(2*c.excess), 1, []float64{1, 1, 1e100}, nil)
		if !c.accepted {
			var level *LevelError
			if !errors.As(err, &level) || !near(level.Audited.Hi-1, c.excess, 1e-6) {
				t.Errorf("excess %v: %v", c.excess, err)
			}
			continue
		}
		if err != nil || m.Audited.Hi > 1 || m.Guarantee().Alpha() > 1 || !(m.Beta < (1-c.excess/2)/2) || m.Beta < (1-4*c.excess)/2 {
			t.Errorf("excess %v: %v, %v", c.excess, m, err)
		}
	}
	for _, excess := range []float64{0x1p-40, 0x1p-10, 0x1p-3} {
		if m, err := Tight(t.Context(), beyond(excess), 1, nil); err != nil || m.Audited.Hi > 1 || !(m.Beta < 1-excess/2) || m.Beta < 1-4*excess {
			t.Errorf("excess %v: %v, %v", excess, m, err)
		}
	}
}

// Weights are known to six digits where their matrix is nearly singular. The rows' sums
// differ by that, and between points near each other the level is above alpha until the
// rate is lowered and the weights are those of the new rate.
func TestTight_LowersItsRateForRounding(t *testing.T) {
	r, lowered := rand.New(rand.NewPCG(472, 3)), 0
	for range testkit.Sweep(40, 2000) {
		points := make([]float64, 10+r.IntN(31))
		for i := range points {
			points[i] = r.Float64()
		}
		alpha := 5 + 95*r.Float64()
		m, err := Tight(t.Context(), testkit.Must(metric.NewPoints(points, metric.Numbers[float64]{})), alpha, nil)
		if err != nil || m.Audited.Hi > alpha || m.Beta < alpha*(1-1e-6) {
			t.Fatalf("alpha %v, points %v: %v, %v", alpha, points, m, err)
		}
		if m.Beta < alpha {
			lowered++
		}
	}
	if lowered == 0 {
		t.Error("no rate was lowered")
	}
}

// Of a star with three rays the weight of the center is -t/(1.5+t/2) at alpha = ln(2/(1+t)),
// where those of the rays are near 2/3. Down to 1e-9 of these it counts as 0.
func TestTight_NegativeByRoundingIsZero(t *testing.T) {
	star := space.Func(4, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 2
	})
	for _, c := range []struct {
		t        float64
		accepted bool
	}{{-1e-3, true}, {0.4e-9, true}, {1.1e-9, false}, {1e-3, false}} {
		alpha := math.Ln2 - math.Log1p(c.t)
		m, err := Tight(t.Context(), star, alpha, nil)
		if negative := new(NegativeWeightError); c.accepted != (err == nil) || !c.accepted && (!errors.As(err, &negative) || negative.Index != 0) {
			t.Errorf("t = %v: %v (%v)", c.t, m, err)
		}
		if c.accepted && (c.t < 0) != (m.Prob(0, 0) > 0) {
			t.Errorf("t = %v: the center is released with probability %v", c.t, m.Prob(0, 0))
		}
	}
}
