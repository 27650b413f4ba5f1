package chain

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// TestRules_OfTheDoc: the rules in the documentation of package entropy, on random
// spaces and at levels from where nothing is told to where everything is.
func TestRules_OfTheDoc(t *testing.T) {
	for seed := range testkit.Sweep(3, 40) {
		r := random.Seeded(uint64(seed))
		z, y := metrised(4, r), metrised(3, r)
		loss := metrised(4, r)
		sub := testkit.Must(metric.Subset(z, []int{0, 1, 3}))
		subLoss := testkit.Must(metric.Subset(loss, []int{0, 1, 3}))
		sums := space.Func(12, func(i, j int) float64 { return z.Distance(i/3, j/3) + y.Distance(i%3, j%3) })
		two := metric.Bimetric{Privacy: z, Utility: loss}
		last := math.Inf(1)
		var logs []float64
		for alpha := 0.25; alpha < 40; alpha *= 2 {
			accuracy := func(b metric.Bimetric) *lp.Solution { return testkit.Must(lp.Optimal(t.Context(), b, alpha, nil)) }
			entropic := func(b metric.Bimetric) scale.Scale {
				return testkit.Must(scale.Entropic(t.Context(), b, []float64{alpha}, nil))[0]
			}
			diametric := func(b metric.Bimetric) scale.Scale {
				return testkit.Must(scale.Diametric(t.Context(), b, []float64{alpha}, nil))[0]
			}
			a, part, other, product := accuracy(metric.Same(z)), accuracy(metric.Same(sub)), accuracy(metric.Same(y)), accuracy(metric.Same(sums))
			if part.DualBound > 2*a.Objective {
				t.Errorf("seed %d, alpha %v: a subset has %v, the space %v", seed, alpha, part.DualBound, a.Objective)
			}
			if product.DualBound > a.Objective+other.Objective || product.Objective < max(a.DualBound, other.DualBound) {
				t.Errorf("seed %d, alpha %v: a product has %v, its factors %v and %v", seed, alpha, product.Objective, a.Objective, other.Objective)
			}
			b := metric.Bimetric{Privacy: sub, Utility: subLoss}
			if entropic(b).Lo > entropic(two).Hi || diametric(b).Lo > diametric(two).Hi {
				t.Errorf("seed %d, alpha %v: a subset has larger scales", seed, alpha)
			}
			outer := testkit.Must(scale.Outer(t.Context(), z, []float64{alpha}, nil))[0]
			s := entropic(metric.Same(z))
			if s.Lo > 2*outer.Hi {
				t.Errorf("seed %d, alpha %v: entropic %v, outer %v", seed, alpha, s, outer.Interval)
			}
			for _, g := range []float64{0.5, 1, 2} {
				all := testkit.Must(scale.Packing(t.Context(), z, nil, s.Hi, nil))
				net := testkit.Must(scale.Packing(t.Context(), z, nil, g, nil))
				if float64(all.Lo) > float64(net.Hi)*math.Exp(alpha*g) {
					t.Errorf("seed %d, alpha %v: N(s) = %d, N(%v) = %d", seed, alpha, all.Lo, g, net.Hi)
				}
			}
			if a.DualBound > last {
				t.Errorf("seed %d: A = %v at %v, above %v at half the level", seed, a.DualBound, alpha, last)
			}
			last = a.Objective
			logs = append(logs, math.Log(diametric(two).Lo))
		}
		for k := 2; k < len(logs); k++ { // levels double: 2a is a third of the way from a to 4a
			if between := logs[k-2]*2/3 + logs[k]/3; logs[k-1] > between+1e-9 {
				t.Errorf("seed %d: ln s_o = %v is not convex", seed, logs)
			}
		}
	}
}
