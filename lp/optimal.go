package lp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/metric"
)

// Optimal returns the alpha-private mechanism of least loss on the inputs of b:
// least worst-case expected loss max_x E rho2(x, M(x)), or least mean loss under
// Options.Prior (OPTMech of IKWAT22; BCP14 for the mean). alpha has the unit
// 1/rho1, and alpha*rho1 may be as small or as large as it likes: inputs that it
// hardly tells apart, below an eighth of the tolerance, get the same row.
//
// The mechanism is a channel whose audited level is at most alpha; DualBound
// proves how far any other can be better. Neither rests on the solver: see the
// package documentation.
//
// Privacy constraints that shorter distances imply are left out, which is
// exact. Where few remain, on graphs, trees and grids, the factors are sparse.
// Elsewhere, above 100 inputs, constraints are added as solutions break them.
// Solution.Engine tells which it was.
//
// Once ctx is done both results are set: the best mechanism so far, and an error
// that wraps the context's. The Solution is nil where the distances could not be
// read by then. Reaching the TimeLimit, the MemoryLimit after the start, or a
// tolerance that float64 cannot reach, is no error: look at Status and Gap.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for alpha, a
// prior, an output or a distance outside its domain; a [*metric.MemoryError]
// for a problem beyond the memory limit.
//
// O(n^4) an iteration and some n/2 to n iterations with dense factors, O(n^3 log n)
// and 10 to 25 with sparse ones.
func Optimal(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) (*Solution, error) {
	const op = "lp: Optimal"
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
	s := &Solution{Engine: EngineConstant, Status: StatusOptimal, Prior: distribution(p.o.Prior, p.n)}
	s.keep(best)
	if s.Objective > 0 {
		if err := p.search(ctx, s, g, began); err != nil {
			return nil, err
		}
	}
	s.Elapsed = time.Since(began)
	if s.Status == StatusCanceled {
		return s, fmt.Errorf("%s: stopped at a relative gap of %.2g: %w", op, s.Gap, context.Cause(ctx))
	}
	return s, nil
}

// keep takes r where it loses less than what there is.
func (s *Solution) keep(r *released) {
	if r != nil && (s.Channel == nil || r.objective < s.Objective) {
		s.Channel, s.Audited, s.Objective = r.channel, r.audit, r.objective
	}
	s.Gap = gap(s.Objective, s.DualBound)
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
			engine := g.solve
			if g.lazy != nil {
				engine = g.rounds
			}
			err = engine(s, began)
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
	if g.plan.Sparse() {
		s.Engine = EngineSparse
	}
	res := g.plan.Solve(g.ctx, ipm.Settings{
		Tolerance: kernelShare * g.o.Tolerance, Workers: g.o.Workers,
		Progress: func(i int, upper, lower float64) {
			g.o.Progress(before+i, (upper-lower)/upper, time.Since(began))
		},
	})
	s.Iterations += res.Iterations
	s.raise(g, res)
	r, err := g.repair(res.X)
	s.keep(r)
	return err
}

// raise takes the kernel's bound where it is better.
func (s *Solution) raise(g *merged, res *ipm.Result) {
	if bound := g.bound(res.Lower); bound > s.DualBound {
		s.DualBound = bound
		if g.o.Prior == nil {
			s.Prior = distribution(res.Z, g.n)
		}
		s.keep(nil) // its gap has changed, even if no channel comes of this
	}
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
