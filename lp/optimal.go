package lp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/metric"
)

// Optimal returns the alpha-private mechanism of least loss on the inputs of b:
// least worst-case expected loss max_x E rho2(x, M(x)), or least mean loss under
// Options.Prior (OPTMech of IKWAT22; BCP14 for the mean), or the same of another
// loss than rho2, Options.Loss. alpha has the unit
// 1/rho1, and alpha*rho1 may be as small or as large as it likes: inputs that it
// hardly tells apart, below an eighth of the tolerance, get the same row.
//
// It begins with bounds in closed form, tight weights and noise that is snapped to the
// points or a tuned exponential mechanism, so that the result has a mechanism and a gap
// that say something whenever it ends; where they meet within the tolerance, as on
// equidistant points, that is it.
//
// The mechanism is a channel whose audited level is at most alpha; DualBound
// proves how far any other can be better. Neither rests on the solver: see the
// package documentation.
//
// Privacy constraints that shorter distances imply are left out, which is exact. Where
// few remain, on graphs, trees and grids, the factors are sparse. Elsewhere, above 64
// inputs, constraints are imposed as solutions come near to breaking them.
// Solution.Engine tells which it was.
//
// Once ctx is done both results are set: the best mechanism so far, and an error
// that wraps the context's. The Solution is nil where the distances could not be
// read by then. Reaching the TimeLimit, the MemoryLimit after the start, or a
// tolerance that float64 cannot reach, is no error: look at Status and Gap.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for alpha, a
// prior, an output, a distance or a loss outside its domain; a [*metric.MemoryError]
// for a problem beyond the memory limit.
//
// O(n^2 d) to find the constraints, d being how many inputs an input is tied to by one;
// O(n^4) an iteration and some 20 to 70 iterations with dense factors, O(n^3 log n)
// and 10 to 25 with sparse ones; for few outputs K O(K^3 f) an iteration, f being the
// operations of a sparse factorization of the graph, some n^1.5 on roads.
func Optimal(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) (*Solution, error) {
	return optimal(ctx, "lp: Optimal", b, alpha, o, (*problem).start)
}

// optimal begins with what start finds.
func optimal(ctx context.Context, op string, b metric.Bimetric, alpha float64, o *Options, start func(*problem, *Solution, time.Time)) (*Solution, error) {
	began := time.Now()
	p, err := read(ctx, op, b, alpha, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	g := p.merge(p.o.Tolerance / mergeShare)
	if err := g.admit(); err != nil {
		return nil, err
	}
	best, err := p.constant(ctx)
	if err != nil {
		return nil, err
	}
	s := &Solution{Engine: EngineNone, Status: StatusOptimal, Prior: distribution(p.o.Prior, p.n)}
	s.keep(best)
	if s.Objective > 0 {
		start(p, s, began)
	}
	if s.Gap > p.o.Tolerance {
		if err := p.search(ctx, s, g, began); err != nil {
			return nil, err
		}
	}
	s.Adversary = adversary(p.late, s.Channel, p.o.Prior, b.Utility)
	s.Elapsed = time.Since(began)
	if s.Status == StatusCanceled {
		return s, fmt.Errorf("%s: stopped at a relative gap of %.2g: %w", op, s.Gap, context.Cause(ctx))
	}
	return s, nil
}

// keep takes r where it loses less than what there is.
func (s *Solution) keep(r *released) {
	if r != nil && (s.Channel == nil || r.objective < s.Objective) {
		s.Channel, s.Audited, s.Objective, s.Method = r.channel, r.audit, r.objective, r.method
	}
	s.Gap = gap(s.Objective, s.DualBound)
}

// prove takes a bound where it is better, with weights for the prior under which it
// holds: nil for the one that was asked for.
func (s *Solution) prove(bound float64, by string, weights []float64) {
	if !(bound > s.DualBound) {
		return
	}
	s.DualBound, s.BoundBy = bound, by
	if weights != nil {
		s.Prior = distribution(weights, len(weights))
	}
	s.keep(nil) // its gap has changed
}

func gap(objective, bound float64) float64 {
	if !(objective > 0) {
		return 0
	}
	return directed.DivUp(directed.SubUp(objective, bound), objective)
}

// search improves s until it is within the tolerance or nothing helps, from g
// on.
func (p *problem) search(ctx context.Context, s *Solution, g *merged, began time.Time) error {
	for threshold := p.o.Tolerance / mergeShare; ; {
		err := g.prepare()
		if err == nil {
			err = g.solve(s, began)
		}
		refused := errors.As(err, &s.Refused) && s.Iterations > 0
		switch {
		case err != nil && !refused && !errors.Is(err, p.ctx.Err()) && p.late.Err() == nil:
			return err
		case s.Gap <= p.o.Tolerance:
			s.Status = StatusOptimal
			return nil
		case ctx.Err() != nil:
			s.Status = StatusCanceled
			return nil
		case p.ctx.Err() != nil:
			s.Status = StatusTimeLimit
			return nil
		case refused:
			s.Status = StatusMemoryLimit
			return nil
		}
		s.Status = StatusStalled
		for solved := len(g.first); len(g.first) == solved; {
			if threshold *= mergeGrowth; threshold >= s.Gap {
				return nil
			}
			g = p.merge(threshold)
		}
	}
}

func (g *merged) solve(s *Solution, began time.Time) error {
	before := s.Iterations
	s.Engine = EngineDense
	switch {
	case g.plan.Lazy():
		s.Engine = EngineLazy
	case g.plan.ByInput():
		s.Engine = EngineByInput
	case g.plan.Sparse():
		s.Engine = EngineSparse
	}
	res := g.plan.Solve(g.ctx, ipm.Settings{
		Tolerance: kernelShare * g.o.Tolerance, Lower: math.Ldexp(s.DualBound, -g.exp), Workers: g.o.Workers,
		Progress: func(i int, upper, lower float64) {
			upper, lower = min(s.Objective, math.Ldexp(upper, g.exp)), max(s.DualBound, math.Ldexp(lower, g.exp))
			g.o.Progress(before+i, max(0, upper-lower)/upper, time.Since(began))
		},
		Fits: func(bytes float64) bool { return g.fits(bytes) == nil },
	})
	s.Iterations += res.Iterations
	s.raise(g, res)
	r, err := g.repair(res.X)
	s.keep(r)
	if err == nil && res.Status == ipm.Refused {
		err = g.fits(res.Bytes)
	}
	return err
}

// raise takes the kernel's bound where it is better.
func (s *Solution) raise(g *merged, res *ipm.Result) {
	weights := res.Z
	if g.o.Prior != nil {
		weights = nil
	}
	s.prove(g.bound(res.Lower), boundByProgram, weights)
	s.prices = g.prices(res)
}

// prices are the proof of res, nil where inputs are merged: it is not of the problem then.
func (g *merged) prices(res *ipm.Result) *prices {
	if len(g.first) < g.n || g.n < 2 {
		return nil
	}
	y := make([]float64, g.n)
	for u, v := range res.Y {
		y[u] = math.Ldexp(v, g.exp)
	}
	return &prices{slices.Clone(res.Z), y}
}

// kernelShare of the tolerance is for the kernel, the rest for the repair.
const kernelShare = 0.9

// distribution scales weights to sum 1; none at all become uniform.
func distribution(weights []float64, n int) []float64 {
	sum := floats.Sum(weights)
	p := make([]float64, n)
	for i := range p {
		p[i] = 1 / float64(n)
		if sum > 0 {
			p[i] = weights[i] / sum
		}
	}
	return p
}
