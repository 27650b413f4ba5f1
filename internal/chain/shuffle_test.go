package chain

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// shuffleTol is the relative error of 1e-7 that ShuffleLevel's doc grants, on
// either side of a comparison.
const shuffleTol = 2e-7

// TestChain_Shuffle: the accountants of item-wise release are ordered as their
// theorems are.
func TestChain_Shuffle(t *testing.T) {
	var theorem44, checked int
	for _, m := range []int64{1, 10, 100} {
		for _, users := range []int64{1, 30, 1000} {
			n := m * users
			for _, alpha0 := range []float64{0.01, 0.3, 1, 3, 8} {
				for _, delta := range []float64{1e-12, 1e-5} {
					s := emd.Shuffle{Records: n, Items: m, Alpha0: alpha0, Delta: delta, Diameter: 1}
					name := fmt.Sprintf("%+v", s)
					level := shuffleLevel(t, s)
					if level.Bound == emd.Theorem44 {
						theorem44++
					}
					at := func(change func(s *emd.Shuffle)) float64 {
						t.Helper()
						o := s
						change(&o)
						return shuffleLevel(t, o).Value
					}
					below := func(what string, a, b, tol float64) {
						t.Helper()
						if !(a <= b*(1+tol)) {
							t.Errorf("%s: %s: %v is above %v", name, what, a, b)
						}
					}
					pure := float64(m) * alpha0
					below("pure composition", level.Value, pure, shuffleTol)
					if v, err := theorem44Level(s); err == nil {
						checked++
						below("Theorem 4.4", level.Value, v, 1e-6)
					}
					below("four times the records", at(func(s *emd.Shuffle) { s.Records *= 4 }), level.Value, shuffleTol)
					below("a larger delta", at(func(s *emd.Shuffle) { s.Delta *= 10 }), level.Value, shuffleTol)
					below("a smaller delta", level.Value, at(func(s *emd.Shuffle) { s.Delta /= 10 }), shuffleTol)
					below("a larger alpha0", level.Value, at(func(s *emd.Shuffle) { s.Alpha0 *= 1.1 }), shuffleTol)
					if m > 1 {
						below("one item less", at(func(s *emd.Shuffle) { s.Items-- }), level.Value, shuffleTol)
						below("metric randomisers", at(func(s *emd.Shuffle) { s.Clones = emd.MetricRandomiser }), level.Value, shuffleTol)
						below("metric randomisers, discrete", at(func(s *emd.Shuffle) { s.Clones, s.MinDistance = emd.MetricRandomiser, 1 }),
							at(func(s *emd.Shuffle) { s.Clones, s.MinDistance = emd.MetricRandomiser, 0.5 }), shuffleTol)
					} else if users == 30 { // slow, and right to 1e-5 only
						below("metric randomisers", at(func(s *emd.Shuffle) { s.Clones = emd.MetricRandomiser }), level.Value, 1e-5)
					}
					scaled := at(func(s *emd.Shuffle) { s.Diameter = 5; s.Alpha0 /= 5 })
					below("other units", 5*scaled, level.Value, shuffleTol)
					below("other units", level.Value, 5*scaled, shuffleTol)
					if p := shuffleLevel(t, emd.Shuffle{Records: n, Items: m, Alpha0: alpha0, Diameter: 1}); p.Bound != emd.PureComposition || math.Abs(p.Value/pure-1) > 1e-14 {
						t.Errorf("%s: %v without delta, want %v", name, p, pure)
					}
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("the condition of Theorem 4.4 held %d times only", checked)
	}
	t.Logf("Theorem 4.4 was the best bound %d times, and its condition held %d times", theorem44, checked)
}

func shuffleLevel(t *testing.T, s emd.Shuffle) emd.Accounted {
	t.Helper()
	a, err := emd.ShuffleLevel(s)
	ok(t, err)
	return a
}

// theorem44Level is Theorem 4.4 of IRC24 with the condition that it omits,
// written down once more: the least alpha, or an error where the condition
// fails.
func theorem44Level(s emd.Shuffle) (float64, error) {
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
		if diameter, _, _ := metric.Diameter(s.Privacy); !s.OneMetric() || diameter == 0 {
			continue
		}
		diameter := s.diameter()
		for _, trust := range []emd.Trust{emd.Local, emd.Central} {
			model := emd.Model{Trust: trust, Users: 100, Items: 20, Diameter: diameter}
			if trust == emd.Local {
				model.Users = 1
			}
			o := &emd.ItemWiseOptions{Delta: delta}
			budget, err := emd.ItemWiseBudget(model, alpha/diameter, o)
			ok(t, err)
			if !(budget.Value >= alpha/diameter/20*(1-1e-14)) {
				t.Errorf("%s, %v: budget %v is below that of pure composition", s.name, trust, budget)
			}
			tuned, err := exponential.Tuned(s.Privacy, budget.Value, nil)
			ok(t, err)
			opt, err := lp.Optimal(s.Bimetric, budget.Value, nil)
			ok(t, err)
			for _, c := range []*mechanism.Channel{tuned.Channel, opt.Channel} {
				w, err := emd.NewItemWise(c, model, o)
				ok(t, err)
				g := w.Guarantee()
				pure, err := emd.FromItems(model, c.Guarantee())
				ok(t, err)
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
