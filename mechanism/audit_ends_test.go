package mechanism

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

// Lo is at most the level and Hi at least it where numbers leave the range of float64: deltas
// too small for sums of probabilities, ratios that are infinite, and ratios that only overflow.
func TestAudit_BoundsOutsideTheRange(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		w      []float64
		d      float64
		delta  float64
		lo, hi float64 // the level lies between
		tight  bool    // and the audit finds it
	}{
		// Output 1 has e^-720 = 2.06e-313 at x = 1 and 0 at x = 0.
		{"a zero", []float64{0, -inf, 0, -720}, 1, 0, inf, inf, true},
		{"a zero, far apart", []float64{0, -inf, 0, -720}, 7, 0, inf, inf, true},
		{"a zero of less than delta", []float64{0, -inf, 0, -720}, 1, 1e-305, 0, 0, false},
		{"a zero of less than the least delta", []float64{0, -inf, 0, -730}, 1, 1e-312, 0, 0, false},
		{"a zero of more than delta", []float64{0, -inf, 0, -600}, 1, 1e-305, inf, inf, true},
		{"a zero of more than a delta in range", []float64{0, -inf, 0, -2}, 1, .1, inf, inf, true},
		// The last is e^-800 against e^-710: log((e^-710-delta)/e^-800) for the
		// deltas below, none of which float64 tells from e^-710 before 1e-310.
		{"a tiny delta", []float64{0, -800, 0, -710}, 1, 1e-320, 89.9999999, 90, false},
		// Levels of 1e308, from ratios of 2e308: the sum of a row is e^(its larger).
		{"an overflow", []float64{0, 1e308, 0, -1e308}, 1, 0, 1e308, 1e308, false},
		{"an overflow over 4", []float64{0, 1e308, 0, -1e308}, 4, 0, 1e308 / 4, 1e308 / 4, false},
		{"an overflow and a zero", []float64{0, 1e308, 0, 0, -1e308, -inf}, 1, 0, inf, inf, true},
	} {
		ch := testkit.Must(FromLogWeights(t.Context(), 2, len(c.w)/2, c.w, nil))
		a, err := ch.Audit(t.Context(), space.Path(2, c.d), &AuditOptions{Delta: c.delta})
		if err != nil || !(a.Lo <= c.hi && a.Hi >= c.lo) || c.tight && (a.Lo < c.lo || a.Hi > c.hi) || a.Delta != c.delta {
			t.Errorf("%s: %v (%v), the level is %v to %v", c.name, a, err, c.lo, c.hi)
		}
	}
}

// A pair of inputs passes at a level only where f is small enough at an argument that
// is at most level*d less the margin, and the interval of a level holds what the
// arguments and the margin allow, in exact arithmetic.
func TestMargin_RoundsOutward(t *testing.T) {
	const e = margin(0x1p-40)
	num := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	for i := range 2000 {
		level, d := 1+math.Pi*float64(i), math.Sqrt(float64(i+1))/3
		most := new(big.Rat).Mul(num(level), num(d))
		most.Sub(most, num(float64(e)))
		e.passes(func(s float64) float64 {
			if num(s).Cmp(most) > 0 {
				t.Errorf("level %v, distance %v: tried at %v", level, d, s)
			}
			return 0
		}, level, d, 0)
		s := level * d
		lo, hi := e.level(s, s, d)
		if new(big.Rat).Mul(num(lo), num(d)).Cmp(new(big.Rat).Sub(num(s), num(float64(e)))) > 0 {
			t.Errorf("%v over %v: Lo = %v", s, d, lo)
		}
		if new(big.Rat).Mul(num(hi), num(d)).Cmp(new(big.Rat).Add(num(s), num(float64(e)))) < 0 {
			t.Errorf("%v over %v: Hi = %v", s, d, hi)
		}
	}
}
