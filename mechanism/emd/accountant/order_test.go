package accountant

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// TestShuffle_Ordered: a level is no more than pure composition and IRC24 Theorem 4.4 have, and
// moves with every number of the question as it must, up to 1e-7 on either side.
func TestShuffle_Ordered(t *testing.T) {
	checked := 0
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
					if v, ok := theorem44(s); ok {
						checked++
						below("Theorem 4.4", level, v, 1e-6)
					}
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
	if checked < testkit.Sweep(2, 20) {
		t.Errorf("the condition of Theorem 4.4 held %d times only", checked)
	}
}

// theorem44 is Theorem 4.4 of IRC24 with the condition that it omits: the least alpha, and
// whether the condition holds.
func theorem44(s ask) (alpha float64, ok bool) {
	n, m := float64(s.Records), float64(s.Items)
	k := func(x float64) float64 { // x = ln delta_int
		e := math.Exp(s.Alpha0) / n
		return 8*math.Sqrt(e*(math.Log(4*m)-x)) + 8*e
	}
	lo, hi := 4*math.Log(s.Delta)-100*m, math.Log(s.Delta)
	for range 200 {
		if x := (lo + hi) / 2; x+m*math.Log1p(math.Tanh(s.Alpha0/2)*k(x)) <= math.Log(s.Delta) {
			lo = x
		} else {
			hi = x
		}
	}
	return m * s.Alpha0 / 2 * k(lo), s.Alpha0 <= math.Log(n/(16*(math.Log(2*m)-lo)))
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
