package exponential

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
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

// Normalizers within 1e-9 of each other count as constant, and no others.
func TestConstantNormalizer_Tolerance(t *testing.T) {
	for _, c := range []struct {
		spread   float64
		constant bool
	}{{0.5e-9, true}, {2e-9, false}} {
		f := space.Func(3, func(i, j int) float64 {
			if i == 1 && j == 2 {
				return 1 + c.spread*(1+2/math.E)*math.E // what changes a sum by the spread
			}
			return 1
		})
		m, err := ConstantNormalizer(t.Context(), f, 1, nil)
		var normalizer *NormalizerError
		if c.constant != (err == nil) || !c.constant && !errors.As(err, &normalizer) || c.constant && !(m.Audited.Hi <= 1) {
			t.Errorf("spread %v: %v", c.spread, err)
		}
	}
}

// A level above alpha by a relative 2^-20 is put down to rounding, and the rate lowered
// until the audit agrees; more is an error. Tight weights have constant normalizers,
// so that the level is how much the triangle inequality fails by.
func TestCertify_PutsSomeDownToRounding(t *testing.T) {
	testkit.Rounding(t)
	for _, c := range []struct {
		excess   float64
		accepted bool
	}{{0.95 * 0x1p-20, true}, {1.05 * 0x1p-20, false}} {
		f := space.Func(3, func(i, j int) float64 {
			if j-i == 2 {
				return 2 + c.excess
			}
			return 1
		})
		m, err := Tight(t.Context(), f, 1, nil)
		if !c.accepted {
			var level *LevelError
			if !errors.As(err, &level) || !near(level.Audited.Hi-1, c.excess, 1e-6) {
				t.Errorf("excess %v: %v", c.excess, err)
			}
			continue
		}
		if err != nil || m.Audited.Hi > 1 || m.Guarantee().Alpha() > 1 || !(m.Beta < 1-c.excess/2) || m.Beta < 1-4*c.excess {
			t.Errorf("excess %v: %v, %v", c.excess, m, err)
		}
	}
}
