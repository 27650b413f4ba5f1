package ipm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Lift returns a bound on the largest loss that the prior z and the prices y of some inputs, those of
// a Result or any others, prove for all outputs. The budgets of the pairs are rounded up, and losses
// writes what output w loses at the inputs, rounded down; it is called by many workers at once.
//
// An output costs c[u] = z[u] loss(u) at first. For f >= 0 the constraint f (exp(e(u,v)) M[v] - M[u])
// >= 0 allows to add f to c[u] and to take exp(e(u,v)) f from c[v]. Costs are moved so from inputs
// above their price to those below, between the nearest first. The sum over u of the least cost is
// a bound of sum(z) times the loss, whatever was moved. lack is by how much, in all, the costs of an
// output remain below the prices.
func Lift(ctx context.Context, budget finite.Square, z, y []float64, outputs, workers int, losses func(w int, to []float64)) (bound float64, lack []float64, err error) {
	n := len(z)
	ways := waysOf(budget)
	const size = 16
	least := make([][]float64, (outputs+size-1)/size)
	lack = make([]float64, outputs)
	err = parallel.Chunks(ctx, outputs, size, workers, nil, func(k, lo, hi int) {
		low, c, over := slices.Clone(y), make([]float64, n), make([]float64, n)
		for w := lo; w < hi && ctx.Err() == nil; w++ {
			losses(w, c)
			for i, l := range c {
				c[i] = directed.MulDown(z[i], l)
			}
			move(ways, c, y, over)
			for i, v := range c {
				low[i] = min(low[i], v)
				lack[w] += max(0, y[i]-v)
			}
		}
		least[k] = low
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return 0, nil, err
	}
	sum, mass := 0.0, 0.0
	for i, low := range y {
		for _, l := range least {
			low = min(low, l[i])
		}
		sum = directed.AddDown(sum, low)
		mass = directed.AddUp(mass, z[i])
	}
	return directed.DivDown(sum, mass), lack, nil
}

// way is how much the cost of v falls where that of u rises by 1.
type way struct {
	u, v   int32
	factor float64
}

// waysOf are those of all pairs, the shortest first.
func waysOf(budget finite.Square) []way {
	ways := make([]way, 0, budget.N*budget.N)
	for u := range budget.N {
		for v := range budget.N {
			if f := directed.ExpUp(budget.Distance(u, v)); u != v && f <= math.MaxFloat64 {
				ways = append(ways, way{int32(u), int32(v), f})
			}
		}
	}
	slices.SortFunc(ways, func(a, b way) int {
		return cmp.Or(cmp.Compare(a.factor, b.factor), cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v))
	})
	return ways
}

// move raises the costs c that are below their prices y by lowering others, rounded down. over is
// scratch.
func move(ways []way, c, y, over []float64) {
	below := 0
	for i, v := range c {
		if over[i] = v - y[i]; over[i] < 0 {
			below++
		}
	}
	for _, p := range ways {
		if below == 0 {
			return
		}
		if !(over[p.u] < 0 && over[p.v] > 0) {
			continue
		}
		f := min(-over[p.u], over[p.v]/p.factor)
		c[p.u] = directed.AddDown(c[p.u], f)
		c[p.v] = directed.SubDown(c[p.v], directed.MulUp(f, p.factor))
		over[p.v] = max(0, over[p.v]-float64(f*p.factor))
		if over[p.u] += f; over[p.u] >= 0 {
			below--
		}
	}
}
