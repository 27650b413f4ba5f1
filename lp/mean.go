package lp

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/lp/internal/kernel"
	"github.com/metricdp/metricdp/metric"
)

// Where the program of all inputs does not fit the memory, that of the mean under a prior may: it has
// no loss rows, and columns with few of the inputs.
//
// Let y be prices of the program of these entries. For an input v that column w leaves out, the cost
// p[v] loss(v,w) is above a ceiling of v's price. What is more pays: as rows M[u,w] <= exp(e(u,v))
// M[v,w] hold, exp(-e(u,v)) of it is added to the cost of w at an input u that the column has. The
// prices of the program with these costs, lowered to their ceilings, are below all costs of all
// outputs, and prove their sum: see [Solution.prove].
const (
	// meanReach is the budget from the best input of an output up to which its column has inputs,
	// and meanPays up to which those that it leaves out pay: to the one at meanEdge of the reach or
	// farther through which the way to the best input is the shortest. Reaches of 5 and 6 prove 3.48
	// and 3.50 for 1,000 points of the plane, in 19 and 27 s.
	meanReach, meanEdge, meanPays = 6, 0.6, 14
	// meanCeiling is the ceiling in units of the loss that there is. With less many prices are above it,
	// with more less is paid.
	meanCeiling = 1.4
	// meanStill ends the program: the share of the bound that an iteration adds at least.
	meanStill = 1e-3
)

// mean proves a bound of the mean under the kernel's prior, of inputs that are not too near each other:
// each has the weight of all that are merged with it. It does nothing where that does not fit either.
func (e *extension) mean(k *kernel.Kernel) error {
	losses := float64(12 * float64(e.n) * float64(e.m)) // and the entries of columns
	fits := func(engine float64) bool { return e.memory(e.bytes()+losses+engine) == nil }
	if !fits(0) {
		return nil
	}
	weight, err := k.Prior()
	if err != nil {
		return err
	}
	g := e.merge(e.o.Tolerance / mergeShare)
	prior := make([]float64, len(g.first))
	for u, c := range g.class {
		prior[c] += weight[u]
	}
	prog, ceiling, err := e.meanProgram(g.first, prior)
	if err != nil {
		return err
	}
	if !fits(prog.LazySize().Bytes()) {
		return nil
	}
	plan, err := ipm.Lazily(e.ctx, prog)
	if err != nil {
		return err
	}
	ctx, still := context.WithCancel(e.ctx)
	defer still()
	last, before := 0.0, e.s.Iterations
	res := plan.Solve(ctx, ipm.Settings{Tolerance: e.o.Tolerance, Workers: e.o.Workers, Fits: fits, Progress: func(i int, _, lower float64) {
		e.s.Iterations = before + i
		e.stage()
		if lower > 0 && lower-last <= meanStill*lower {
			still()
		}
		last = lower
	}})
	clear(weight)
	for c, u := range g.first {
		weight[u] = prior[c]
	}
	e.s.prove(math.Ldexp(proved(res.Y, ceiling, prior), e.exp), boundByMean, weight)
	return nil
}

// proved is what prices prove that are lowered to their ceilings.
func proved(prices, ceiling, prior []float64) float64 {
	sum, mass := 0.0, 0.0
	for u, y := range prices {
		sum = directed.AddDown(sum, min(y, ceiling[u]))
		mass = directed.AddUp(mass, prior[u])
	}
	return directed.DivDown(sum, mass)
}

// meanProgram returns the program of some inputs with their prior, and the ceilings of the prices.
func (e *extension) meanProgram(inputs []int, prior []float64) (*ipm.Problem, []float64, error) {
	n, m := len(inputs), e.m
	f, err := metric.Subset(bounded{e.budget}, inputs)
	if err != nil {
		return nil, nil, err
	}
	prog := &ipm.Problem{Inputs: n, Outputs: m, Budget: f, Prior: prior, Class: make([]int, n), Loss: make([]float64, n*m), Support: make([][]int32, m)}
	ceiling := make([]float64, n)
	for u, p := range prior {
		prog.Class[u] = u
		ceiling[u] = p * math.Ldexp(meanCeiling*e.s.Objective, -e.exp)
	}
	err = parallel.Chunks(e.ctx, m, 8, e.o.Workers, nil, func(_, lo, hi int) {
		var row, from []float64
		for w := lo; w < hi; w++ {
			loss := prog.Loss[w*n : (w+1)*n]
			for i, u := range inputs {
				loss[i] = e.scaled[w*e.n+u]
			}
			home := slices.Index(loss, slices.Min(loss))
			row = finite.Row(e.budget, inputs[home], row)
			next := math.Inf(1) // rows imply that entries are not negative from two inputs on
			for u, x := range inputs {
				if u != home {
					next = min(next, row[x])
				}
			}
			var out []int
			for u, x := range inputs {
				switch budget := row[x]; {
				case budget <= max(meanReach, next) || directed.MulDown(prior[u], loss[u]) < ceiling[u]:
					prog.Support[w] = append(prog.Support[w], int32(u))
				case budget <= meanPays:
					out = append(out, u)
				}
			}
			way, to := slices.Repeat([]float64{math.Inf(1)}, len(out)), make([]int32, len(out))
			for _, u := range prog.Support[w] {
				back := row[inputs[u]]
				if back < meanEdge*meanReach {
					continue
				}
				from = finite.Row(e.budget, inputs[u], from)
				for i, v := range out {
					if l := back + from[inputs[v]]; l < way[i] {
						way[i], to[i] = l, u
					}
				}
			}
			for i, v := range out {
				if math.IsInf(way[i], 1) { // there is no edge
					continue
				}
				spare := directed.SubDown(directed.MulDown(prior[v], loss[v]), ceiling[v])
				paid := directed.DivDown(spare, directed.ExpUp(f.Distance(int(to[i]), v)))
				loss[to[i]] = directed.AddDown(loss[to[i]], directed.DivDown(paid, prior[to[i]]))
			}
		}
	})
	if err == nil {
		prog.Pairs, err = sharing(e.ctx, n, prog.Support, e.o.Workers)
	}
	return prog, ceiling, err
}
