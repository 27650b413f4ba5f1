package chain

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// shuffleTol is the relative error of 1e-7 that the doc of Shuffle.Level
// grants, on either side of a comparison.
const shuffleTol = 2e-7

// TestChain_Shuffle: the bounds of shuffled releases are ordered as their
// theorems are.
func TestChain_Shuffle(t *testing.T) {
	checked := 0
	for _, m := range []int64{1, 10, 100} {
		for _, users := range []int64{1, 30, 1000} {
			n := m * users
			for _, alpha0 := range []float64{0.3, 3, 0.01, 1, 8}[:testkit.Sweep(2, 5)] {
				for _, delta := range []float64{1e-12, 1e-5} {
					s := accountant.Shuffle{Records: n, Items: m, Alpha0: alpha0, Diameter: 1}
					name := fmt.Sprintf("%+v, delta = %g", s, delta)
					level := shuffleLevel(t, s, delta).Value
					at := func(change func(s *accountant.Shuffle, delta *float64)) float64 {
						t.Helper()
						s, delta := s, delta
						change(&s, &delta)
						return shuffleLevel(t, s, delta).Value
					}
					below := func(what string, a, b, tol float64) {
						t.Helper()
						if !(a <= b*(1+tol)) {
							t.Errorf("%s: %s: %v is above %v", name, what, a, b)
						}
					}
					pure := float64(m) * alpha0
					below("pure composition", level, pure, shuffleTol)
					if v, err := theorem44Level(s, delta); err == nil {
						checked++
						below("Theorem 4.4", level, v, 1e-6)
					}
					below("four times the records", at(func(s *accountant.Shuffle, _ *float64) { s.Records *= 4 }), level, shuffleTol)
					below("a larger delta", at(func(_ *accountant.Shuffle, delta *float64) { *delta *= 10 }), level, shuffleTol)
					below("a smaller delta", level, at(func(_ *accountant.Shuffle, delta *float64) { *delta /= 10 }), shuffleTol)
					below("a larger alpha0", level, at(func(s *accountant.Shuffle, _ *float64) { s.Alpha0 *= 1.1 }), shuffleTol)
					randomizers := func(least float64) float64 {
						return at(func(s *accountant.Shuffle, _ *float64) {
							s.Clones, s.MinDistance = accountant.MetricRandomizer, least
						})
					}
					if m > 1 {
						below("one item less", at(func(s *accountant.Shuffle, _ *float64) { s.Items-- }), level, shuffleTol)
						below("metric randomizers", randomizers(0), level, shuffleTol)
						below("metric randomizers, discrete", randomizers(1), randomizers(0.5), shuffleTol)
					} else if users == 30 { // slow, and right to 1e-5 only
						below("metric randomizers", randomizers(0), level, 1e-5)
					}
					scaled := at(func(s *accountant.Shuffle, _ *float64) { s.Diameter = 5; s.Alpha0 /= 5 })
					below("other units", 5*scaled, level, shuffleTol)
					below("other units", level, 5*scaled, shuffleTol)
					if p := shuffleLevel(t, s, 0); p.Theorem != accountant.PureComposition || math.Abs(p.Value/pure-1) > 1e-14 {
						t.Errorf("%s: %v without delta, want %v", name, p, pure)
					}
				}
			}
		}
	}
	if checked < testkit.Sweep(8, 20) {
		t.Errorf("the condition of Theorem 4.4 held %d times only", checked)
	}
	t.Logf("the condition of Theorem 4.4 held %d times", checked)
}

func shuffleLevel(t *testing.T, s accountant.Shuffle, delta float64) accountant.Bound {
	t.Helper()
	return testkit.Must(s.Level(t.Context(), delta))
}

// theorem44Level is Theorem 4.4 of IRC24 with the condition that it omits: the
// least alpha, or an error where the condition fails.
func theorem44Level(s accountant.Shuffle, delta float64) (float64, error) {
	n, m := float64(s.Records), float64(s.Items)
	k := func(x float64) float64 { // x = ln delta_int
		e := math.Exp(s.Alpha0) / n
		return 8*math.Sqrt(e*(math.Log(4*m)-x)) + 8*e
	}
	lo, hi := 4*math.Log(delta)-100*m, math.Log(delta)
	for range 200 {
		if x := (lo + hi) / 2; x+m*math.Log1p(math.Tanh(s.Alpha0/2)*k(x)) <= math.Log(delta) {
			lo = x
		} else {
			hi = x
		}
	}
	if !(s.Alpha0 <= math.Log(n/(16*(math.Log(2*m)-lo)))) {
		return 0, fmt.Errorf("condition fails")
	}
	return m * s.Alpha0 / 2 * k(lo), nil
}

// TestChain_ItemWise builds channels at the level that the accountant allows,
// by three packages, and has the release of items through them promise what
// was asked for: no more than composition would.
func TestChain_ItemWise(t *testing.T) {
	const alpha, delta = 2.0, 1e-6
	for _, s := range corpus(t, 9) {
		if diameter, _, _, _ := metric.Diameter(t.Context(), s.Privacy); !s.OneMetric() || diameter == 0 {
			continue
		}
		diameter := s.diameter()
		for _, trust := range []emd.Trust{emd.Local, emd.Shuffled} {
			model := emd.Model{Trust: trust, Users: 100, Items: 20, Diameter: diameter, Unit: metric.UnitOf(s.Privacy)}
			if trust == emd.Local {
				model.Users = 1
			}
			o := &frequency.ItemWiseOptions{Delta: delta}
			budget := testkit.Must(frequency.ItemWiseBudget(t.Context(), model, emd.Promise{Alpha: alpha / diameter, Delta: delta}, nil))
			if !(budget.Value >= alpha/diameter/20*(1-1e-14)) {
				t.Errorf("%s, %v: budget %v is below that of pure composition", s.name, trust, budget)
			}
			tuned := testkit.Must(exponential.Tuned(t.Context(), s.Privacy, budget.Value, nil))
			opt := testkit.Must(lp.Optimal(t.Context(), s.Bimetric, budget.Value, nil))
			for _, c := range []*mechanism.Channel{tuned.Channel, opt.Channel} {
				w := testkit.Must(frequency.NewItemWise(t.Context(), c, model, o))
				g := w.Guarantee()
				pure := testkit.Must(model.FromItems(c.Guarantee()))
				if !(g.Alpha() <= alpha/diameter && g.Delta() <= delta && g.Alpha() <= pure.Alpha()) {
					t.Errorf("%s, %v: item-wise %v, wanted %v, by composition %v", s.name, trust, g, alpha/diameter, pure)
				}
				if !(g.UserLevel().Eps <= alpha*(1+1e-15)) {
					t.Errorf("%s, %v: user level %v", s.name, trust, g.UserLevel())
				}
			}
		}
	}
}
