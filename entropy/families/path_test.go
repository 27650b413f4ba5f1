package families_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// Any weights prove at most the least mean loss under them as a prior, which a linear
// program finds, and exactly that where no test of a gap is lopsided.
func TestPathLoss_IsBelowThatOfThePrior(t *testing.T) {
	reached := 0
	for i := range testkit.Sweep(60, 600) {
		r := random.Seeded(uint64(i))
		gaps, eps := 1+r.IntN(6), .1+2*r.Float64()
		weights, sum := make([]float64, gaps+1), 0.0
		for x := range weights {
			weights[x] = math.Pow(r.Float64(), float64(i%4))
			weights[x] = weights[min(x, gaps-x)]
		}
		for _, w := range weights {
			sum += w
		}
		prior := make([]float64, gaps+1)
		for x, w := range weights {
			prior[x] = w / sum
		}
		got := families.PathLoss(weights, math.Exp(-eps))
		best := testkit.Must(lp.Optimal(t.Context(), metric.Same(space.Path(gaps+1, 1)), eps, &lp.Options{Prior: prior, Workers: 1}))
		if got > best.Objective*(1+1e-12) || got < .5*best.DualBound {
			t.Errorf("weights %v, eps %v: %v, the least mean loss is %v", weights, eps, got, best.Objective)
		}
		if got > best.DualBound*(1-1e-9) {
			reached++
		}
	}
	if reached < 10 {
		t.Errorf("the least mean loss was reached %d times", reached)
	}
}
