package emd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// What no constructor made promises nothing, releases nothing and tells no
// numbers, but names the constructor: zero values and nil pointers.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	type vector = []float64
	counts := testkit.Must(NewCounts([]int64{1}, 1))
	calls := map[string]func() any{}
	for kind, made := range map[string]bool{"zero": true, "nil": false} {
		var (
			f *Frequencies
			l *LaplaceFrequencies
			g *GKRR
			h *Hadamard
			w *ItemWise
			m *Linear[vector]
			n *GridLinear[vector]
			d *Reduced[int, []int64]
		)
		if made {
			f, l, g, h, w, m, n, d = new(Frequencies), new(LaplaceFrequencies), new(GKRR), new(Hadamard), new(ItemWise), new(Linear[vector]), new(GridLinear[vector]), new(Reduced[int, []int64])
		}
		for name, alpha := range map[string]float64{
			"Frequencies": f.Guarantee().Alpha(), "LaplaceFrequencies": l.Guarantee().Alpha(), "GKRR": g.Guarantee().Alpha(), "Hadamard": h.Guarantee().Alpha(),
			"ItemWise": w.Guarantee().Alpha(), "Linear": m.Guarantee().Alpha(), "GridLinear": n.Guarantee().Alpha(), "Reduced": d.Guarantee().Alpha(),
		} {
			if !(alpha > 1e308) {
				t.Errorf("the %s %s promises %v", kind, name, alpha)
			}
		}
		for name, call := range map[string]func() any{
			"emd: Frequencies.Estimate":          func() any { return second(f.Estimate(counts)) },
			"emd: Frequencies.Release":           func() any { return second(f.Release(nil, One([]int{0}))) },
			"emd: LaplaceFrequencies.Release":    func() any { return second(l.Release(nil, One([]int{0}))) },
			"emd: GKRR.Release":                  func() any { return second(g.Release(nil, 0)) },
			"emd: Hadamard.Release":              func() any { return second(h.Release(nil, 0)) },
			"emd: ItemWise.Release":              func() any { return second(w.Release(nil, One([]int{0}))) },
			"emd: Linear.Release":                func() any { return second(m.Release(nil, One([]vector{{1}}))) },
			"emd: GridLinear.Release":            func() any { return second(n.Release(nil, One([]vector{{1}}))) },
			"emd: Reduced.Release":               func() any { return second(d.Release(nil, One([]int{0}))) },
			"emd: Frequencies.Condition":         func() any { return f.Condition() },
			"emd: Frequencies.ErrorBound":        func() any { return f.ErrorBound(1) },
			"emd: LaplaceFrequencies.ErrorBound": func() any { return l.ErrorBound() },
			"emd: GKRR.Channel":                  func() any { return second(g.Channel(t.Context())) },
			"emd: Hadamard.Channel":              func() any { return second(h.Channel(t.Context())) },
			"emd: Hadamard.Outputs":              func() any { return h.Outputs() },
			"emd: ItemWise.Channel":              func() any { return w.Channel() },
			"emd: Linear.StdDev":                 func() any { return m.StdDev() },
			"emd: Linear.RadiusQuantile":         func() any { return m.RadiusQuantile(.5) },
			"emd: GridLinear.StdDev":             func() any { return n.StdDev() },
			"emd: GridLinear.Spacing":            func() any { return n.Spacing() },
			"emd: GridLinear.CoordinateQuantile": func() any { return n.CoordinateQuantile(.5) },
			"emd: Reduced.GuaranteeFor":          func() any { return second(d.GuaranteeFor(Sampling{Radius: 1, Delta: .1})) },
			"emd: Reduced.Samples":               func() any { return d.Samples() },
		} {
			calls[kind+" "+name] = call
		}
		if _, err := NewReduced(w, Sampling{Radius: 1, Delta: .1}); err == nil {
			t.Errorf("a Reduced of the %s ItemWise", kind)
		}
	}
	for name, call := range calls {
		_, method, _ := strings.Cut(name, " ")
		if said := fmt.Sprint(outcome(call)); !strings.HasPrefix(said, method+": ") || !strings.Contains(said, "that is not from New") {
			t.Errorf("%s: %v", name, said)
		}
	}
	if p := (Guarantee{}).UserLevel(); !(p.Eps > 1e308) {
		t.Errorf("the zero Guarantee promises %v", p)
	}
	if said := fmt.Sprint(outcome(func() any { return Clusters{Count: 2, Size: 2, Within: .5}.Distance(0, 3) })); !strings.HasPrefix(said, "emd: Clusters.Diameter") {
		t.Errorf("clusters without a diameter: %v", said)
	}
}

// outcome is what call returns, or panics with.
func outcome(call func() any) (v any) {
	defer func() {
		if p := recover(); p != nil {
			v = p
		}
	}()
	return call()
}
