package lp

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/lp/internal/kernel"
	"github.com/metricdp/metricdp/metric"
)

// A patch is a ball of inputs, thinned to some anchors such that every input has one
// within patchCover/alpha of it; among patchRadii/alpha the largest radius for which
// there are enough. A wider patch proves more, a thinner one less: at radii of 4, 6 and 9
// the bound is some .74, .82 and .87 of 2/alpha on a dense plane, and a cover of .8
// costs 2 per cent.
const (
	patchCover = 0.8
	patchClose = 0.05 // anchors are farther apart than this over alpha
	// patchSlack is how much nearer another output may be than one that is in the
	// local program, as a share of the mechanism's loss: the others are priced.
	patchSlack = 0.01
	// patchStep is what it grows by, as little as can be while outputs are too many: prices
	// of outputs that are far from all others prove little.
	patchStep = 1.2
	// patchOutputs times as many outputs as anchors are in the local program at most.
	patchOutputs = 3
	// patchTolerance is the gap of a local program, wholeTolerance that of one for the whole
	// space: a channel that is not at the ends of its constraints extends better.
	patchTolerance, wholeTolerance = 4e-3, 1e-2
)

var patchRadii = []float64{3, 4.5, 6.5, 9, 12.5, 17, 24, 34, 48, math.Inf(1)}

// patch solves the local program around center, at which the mechanism loses worst, and keeps
// its bound where it is the best.
func (e *extension) patch(center int, worst float64) error {
	from := finite.Row(e.budget, center, nil)
	inputs, reach, err := e.ball(from)
	if err != nil || len(inputs) < 2 {
		return err
	}
	outputs, slack := e.undominated(inputs, patchSlack*worst)
	if err := e.ctx.Err(); err != nil {
		return err
	}
	whole, tolerance := slices.Max(from) <= reach, patchTolerance
	if whole {
		tolerance = wholeTolerance
	}
	s, err := e.some(inputs, outputs, slack, tolerance)
	if s != nil && whole {
		e.whole = kernel.NewBase(inputs, s.Channel)
	}
	return err
}

// some solves the program of some inputs and outputs, and keeps its bound where it is the best.
func (e *extension) some(inputs, outputs []int, slack, tolerance float64) (*Solution, error) {
	s, err := e.solvePatch(inputs, outputs, tolerance)
	if s == nil {
		return nil, err
	}
	bound, prior := e.proved(s, inputs, outputs, slack)
	weights := make([]float64, e.n)
	for i, x := range inputs {
		weights[x] = prior[i]
	}
	e.s.prove(bound, boundByPatch, weights)
	return s, nil
}

// solvePatch solves the local program, that of some inputs and outputs.
func (e *extension) solvePatch(inputs, outputs []int, tolerance float64) (*Solution, error) {
	privacy, err := metric.Subset(e.b.Privacy, inputs)
	if err != nil {
		return nil, err
	}
	p, err := read(e.ctx, e.op, metric.Bimetric{Privacy: privacy}, e.alpha, &Options{
		Outputs: outputs, Loss: func(x, w int) float64 { return e.loss[w*e.n+inputs[x]] },
		Tolerance: tolerance, MemoryLimit: e.o.MemoryLimit, Workers: e.o.Workers,
	})
	if err != nil {
		return nil, err
	}
	p.bare = true
	p.begin()
	best, err := p.constant(e.ctx)
	if err != nil {
		return nil, err
	}
	s := p.solution()
	s.keep(best)
	return s, p.improve(e.ctx, s, time.Now())
}

// proved is the bound for all outputs, and the prior under which it holds, that the solution for
// some of them has.
func (e *extension) proved(s *Solution, inputs, outputs []int, slack float64) (float64, []float64) {
	bound := behind(s.DualBound, slack)
	if s.prices != nil {
		lifted, err := e.lift(inputs, outputs, s.prices)
		if err == nil && lifted > bound { // with an error the context is done
			return lifted, distribution(s.prices.z, len(inputs))
		}
	}
	return bound, s.Prior
}

// behind turns a bound for some outputs into one for all: releasing the nearest of the some
// costs what rounds to slack at most.
func behind(bound, slack float64) float64 {
	return directed.SubDown(bound, float64(slack*(1+0x1p-50)))
}

// ball returns the inputs of the patch around the point from which from are the
// budgets, and its radius.
func (e *extension) ball(from []float64) (inputs []int, reach float64, err error) {
	for _, r := range patchRadii {
		var ball []int
		for x, d := range from {
			if d <= r {
				ball = append(ball, x)
			}
		}
		f, err := metric.Subset(bounded{e.budget}, ball)
		if err != nil {
			return nil, 0, err
		}
		start := 0
		for i, x := range ball {
			if from[x] < from[ball[start]] {
				start = i
			}
		}
		order, radii, err := metric.FarthestFirst(e.ctx, f, min(e.anchors, len(ball)), start)
		if err != nil {
			return nil, 0, err
		}
		// radii[i] is the distance of order[i] from those before it.
		k := 1
		for k < len(order) && radii[k] >= patchClose {
			k++
		}
		if inputs != nil && k == e.anchors && radii[k-1] > patchCover {
			break
		}
		inputs, reach = make([]int, k), r
		for i, x := range order[:k] {
			inputs[i] = ball[x]
		}
		if len(ball) == e.n {
			break
		}
	}
	return inputs, reach, nil
}

// undominated returns outputs, the nearest to the patch first, such that no other is
// nearer by more than slack to any of the inputs than one of them, or by more than a
// larger slack at which they are few enough, and that slack.
func (e *extension) undominated(inputs []int, slack float64) (outputs []int, most float64) {
	order, columns := make([]int, e.m), make([][]float64, e.m)
	for w := range e.m {
		order[w], columns[w] = w, make([]float64, len(inputs))
		for i, u := range inputs {
			columns[w][i] = e.loss[w*e.n+u]
		}
	}
	// The center is the first input.
	slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(columns[v][0], columns[w][0]) })
	for ; ; slack = max(patchStep*slack, e.s.Objective*0x1p-30) {
		var kept []int
		for _, w := range order {
			if e.ctx.Err() != nil {
				return nil, 0
			}
			dominated := slices.ContainsFunc(kept, func(v int) bool {
				for i, d := range columns[v] {
					if d-columns[w][i] > slack {
						return false
					}
				}
				return true
			})
			if !dominated {
				kept = append(kept, w)
			}
		}
		if len(kept) <= patchOutputs*e.anchors {
			return kept, slack
		}
	}
}

// lift returns a bound for the inputs and all outputs, from the prices of some outputs.
func (e *extension) lift(inputs, outputs []int, proof *prices) (float64, error) {
	n := len(inputs)
	budget := finite.Square{N: n, D: make([]float64, n*n)}
	for i, u := range inputs {
		for j, v := range inputs {
			budget.D[i*n+j] = e.budget.Distance(u, v)
		}
	}
	var rest []int
	for w := range e.m {
		if !slices.Contains(outputs, w) {
			rest = append(rest, w)
		}
	}
	bound, _, err := ipm.Lift(e.ctx, budget, proof.z, proof.y, len(rest), e.o.Workers, func(w int, to []float64) {
		for i, u := range inputs {
			to[i] = e.loss[rest[w]*e.n+u]
		}
	})
	return bound, err
}
