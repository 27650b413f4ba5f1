package accountant

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// TestShuffle_Ordered: a level is no more than pure composition has, and moves with every number of the question as it must, up to 1e-7 on either side.
func TestShuffle_Ordered(t *testing.T) {
	for _, m := range []int64{1, 10, 100} {
		for _, users := range []int64{30, 1, 1000}[:testkit.Sweep(2, 3)] {
			for _, alpha0 := range []float64{0.3, 3, 0.01, 1, 8}[:testkit.Sweep(2, 5)] {
				for _, delta := range []float64{1e-12, 1e-5} {
					s := ask{Records: m * users, Items: m, Alpha0: alpha0, Delta: delta, Diameter: 1}
					at := func(change func(s *ask)) float64 {
						s := s
						change(&s)
						return testkit.Must(s.level()).Value
					}
					level := at(func(*ask) {})
					below := func(what string, a, b, tol float64) {
						t.Helper()
						if !(a <= b*(1+tol)) {
							t.Errorf("%+v: %s: %v is above %v", s, what, a, b)
						}
					}
					const tol = 2e-7
					below("pure composition", level, float64(m)*alpha0, tol)
					below("four times the records", at(func(s *ask) { s.Records *= 4 }), level, tol)
					below("a larger delta", at(func(s *ask) { s.Delta *= 10 }), level, tol)
					below("a smaller delta", level, at(func(s *ask) { s.Delta /= 10 }), tol)
					below("a larger alpha0", level, at(func(s *ask) { s.Alpha0 *= 1.1 }), tol)
					clones := func(least float64) float64 {
						return at(func(s *ask) { s.Clones, s.MinDistance = MetricRandomizer, least })
					}
					if m > 1 {
						below("one item less", at(func(s *ask) { s.Items-- }), level, tol)
						below("metric randomizers", clones(0), level, tol)
						below("metric randomizers, discrete", clones(1), clones(0.5), tol)
					} else if users == 30 { // slow, and right to 1e-5 only
						below("metric randomizers", clones(0), level, 1e-5)
					}
					scaled := 5 * at(func(s *ask) { s.Diameter = 5; s.Alpha0 /= 5 })
					below("other units", math.Max(scaled, level), math.Min(scaled, level), tol)
				}
			}
		}
	}
}

// Pure composition of a change is rounded up, here where the rounded product is below.
func TestMovedLevel_PureCompositionIsRoundedUp(t *testing.T) {
	for i := range 50 {
		s, v := Shuffle{Records: 100, Items: 1, Alpha0: 1 / float64(i+3), Diameter: 1}, Moved{10, 1 / float64(i+1)}
		exact := testkit.Ratio(s.Alpha0)
		if got := testkit.Must(s.MovedLevel(bg, v, 0)).Value; testkit.Ratio(got).Cmp(exact.Mul(exact, testkit.Ratio(v.Distance))) < 0 {
			t.Errorf("%+v, %+v: %v is below the product", s, v, got)
		}
	}
}
