package lp

import (
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The bound is about every private channel: what the way through a third point
// allows is rounded up in it.
func TestBudgets_CeilingOfAWayIsRoundedUp(t *testing.T) {
	for _, step := range []float64{.1, .3, .7, 1.1} {
		f := space.Func(3, func(i, j int) float64 {
			if i+j == 2 {
				return 10 // from end to end
			}
			return step * float64(i+j)
		})
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), .3, nil))
		defer p.close()
		_, ceiling := p.merge(0).budgets()
		way := new(big.Float).SetPrec(200).SetFloat64(p.upper[1])
		way.Add(way, big.NewFloat(p.upper[3+2]))
		if big.NewFloat(ceiling[2]).Cmp(way) < 0 || ceiling[2] >= p.upper[2] {
			t.Errorf("step %v: %v is below %v", step, ceiling[2], way)
		}
	}
}
