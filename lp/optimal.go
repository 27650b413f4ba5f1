package lp

import (
	"cmp"
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

// Optimal returns the alpha-private mechanism of least loss on the inputs of b: least
// E rho2(x, M(x)) at the worst input x, or least mean under Options.Prior, or the same of
// Options.Loss. It solves
//
//	minimize k
//	sum_y rho2(x,y) M[x,y] <= k                  for every input x
//	M[x,y] <= exp(alpha*rho1(x,z)) M[z,y]        for all inputs x, z, outputs y
//	sum_y M[x,y] = 1, M >= 0
//
// (OPTMech of IKWAT22; BCP14 for the mean). alpha has the unit 1/rho1. Inputs whose budgets
// alpha*rho1 are below an eighth of the tolerance get the same row.
//
// From 256 inputs on it begins with a balanced kernel, a program of some inputs, and relaxations.
//
// It returns within half a second after ctx is done, or after the TimeLimit, with the best
// mechanism so far. After ctx there is an error that wraps the context's too, unless that
// mechanism is within the tolerance; the Solution is nil where the distances could not be
// read. A TimeLimit, a MemoryLimit that admits the distances, and a tolerance that float64
// cannot reach are no errors: see Status and Gap.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for alpha, a prior, an
// output, a distance or a loss; a [*metric.MemoryError] where the distances or the losses do not
// fit.
//
// For the cost see the package.
func Optimal(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) (*Solution, error) {
	return optimal(ctx, "lp: Optimal", b, alpha, o, false)
}

// optimal solves the problem: a bare one by its program alone, without what is cheap
// beside that.
//
// read takes the numbers (problem.go), start has what is cheap (start.go, star.go). search merges
// inputs that are too near (merge.go) and tries relaxations (relax.go, local.go, critical.go), mechanisms and
// bounds from some of the inputs (extended.go, patch.go, mean.go), and the whole program (package ipm).
// Channels are made private (repair.go, package envelope) and audited (release) before
// [Solution.keep] takes them.
func optimal(ctx context.Context, op string, b metric.Bimetric, alpha float64, o *Options, bare bool) (*Solution, error) {
	began := time.Now()
	p, err := read(ctx, op, b, alpha, o)
	if err != nil {
		return nil, err
	}
	best, err := p.constant(ctx)
	if err != nil {
		return nil, err
	}
	p.bare = bare
	p.begin()
	s := p.solution()
	s.keep(best)
	if s.Objective > 0 && !bare {
		p.start(s, began)
	}
	if err := p.improve(ctx, s, began); err != nil && s.Status != StatusCanceled {
		return nil, err
	} else {
		return s, err
	}
}

func (p *problem) solution() *Solution {
	return &Solution{Engine: EngineNone, Status: StatusOptimal, Prior: distribution(p.o.Prior, p.n), lossUnit: p.lossUnit()}
}

// improve solves programs from s on. The error is the context's.
func (p *problem) improve(ctx context.Context, s *Solution, began time.Time) error {
	if s.Gap > p.o.Tolerance {
		if err := p.search(ctx, s, began); err != nil {
			return err
		}
	}
	s.Adversary = adversary(p.late, s.Channel, p.o.Prior, p.b.Utility)
	s.Elapsed = time.Since(began)
	if s.Status == StatusCanceled {
		return fmt.Errorf("%s: stopped at a relative gap of %.2g: %w", p.op, s.Gap, context.Cause(ctx))
	}
	return nil
}

// keep takes r where it loses less than what there is.
func (s *Solution) keep(r *released) {
	if r != nil && (s.Channel == nil || r.objective < s.Objective) {
		s.Channel, s.Audited, s.Objective, s.Method = r.channel, r.audit, r.objective, r.method
	}
	s.Gap = gap(s.Objective, s.DualBound)
}

// prove takes a bound where it is better. With multipliers lambda >= 0 for the privacy
// constraints and z >= 0 of sum 1 for the inputs every private M has
//
//	loss >= sum_x z_x sum_y rho2(x,y) M[x,y] >= sum_x min_y c[x,y],
//
// c[x,y] being z_x rho2(x,y) less what lambda counts at (x,y): the constraints make that part
// >= 0 in all, and a row of M, whose entries sum to 1, costs no less than its least entry of c.
// The weights are z, the prior under which the bound holds: nil for the one that was asked for.
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
	return min(1, directed.DivUp(directed.SubUp(objective, bound), objective))
}

// search improves s until it is within the tolerance or nothing helps.
func (p *problem) search(ctx context.Context, s *Solution, began time.Time) error {
	threshold := p.o.Tolerance / mergeShare
	for g := p.merge(threshold); ; {
		var err error
		dense := g.looksDense()
		if dense && g.prog.Inputs >= leastRelaxed {
			err = g.relax(s, began)
		}
		open := func() bool { return err == nil && s.Gap > p.o.Tolerance && p.ctx.Err() == nil }
		extends := s.Iterations == 0 && p.extends()
		if extends && dense && open() { // prepare alone may take longer
			err = p.extend(s, began)
		}
		if open() {
			prepared := g.prepare()
			if extends && !dense && (prepared != nil || g.plan.Kind != ipm.ByInput) {
				err = p.extend(s, began)
			}
			err = cmp.Or(err, prepared)
		}
		if open() {
			err = g.solve(s, began)
		}
		var most *metric.MemoryError
		refused := errors.As(err, &most)
		switch ended := p.ctx.Err(); { // before ctx: it may end between the two
		case err != nil && !refused && !errors.Is(err, ended) && p.late.Err() == nil:
			return err
		case s.Gap <= p.o.Tolerance:
			s.Status = StatusOptimal
			return nil
		case ctx.Err() != nil:
			s.Status = StatusCanceled
			return nil
		case ended != nil:
			s.Status = StatusTimeLimit
			return nil
		case refused:
			s.Status, s.Refused = StatusMemoryLimit, most
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

// engines are the names of those of package ipm.
var engines = [...]Engine{ipm.Dense: EngineDense, ipm.Sparse: EngineSparse, ipm.ByInput: EngineByInput, ipm.Lazy: EngineLazy}

func (g *merged) solve(s *Solution, began time.Time) error {
	res := g.run(s, kernelShare*g.o.Tolerance, began)
	s.raise(g, res)
	r, err := g.repair(res.X)
	s.keep(r)
	if err == nil && res.Status == ipm.Refused {
		err = g.fits(res.Bytes)
	}
	return err
}

// run has the engine solve the program.
func (g *merged) run(s *Solution, tolerance float64, began time.Time) *ipm.Result {
	before := s.Iterations
	s.Engine = engines[g.plan.Kind]
	res := g.plan.Solve(g.ctx, ipm.Settings{
		Tolerance: tolerance, Lower: math.Ldexp(s.DualBound, -g.exp), Workers: g.o.Workers,
		Progress: func(i int, upper, lower float64) {
			if g.prog.Support != nil { // neither is one of the problem
				upper, lower = math.Inf(1), 0
			}
			upper, lower = min(s.Objective, math.Ldexp(upper, g.exp)), max(s.DualBound, math.Ldexp(lower, g.exp))
			g.o.Progress(before+i, max(0, upper-lower)/upper, time.Since(began))
		},
		Fits: func(bytes float64) bool { return g.fits(bytes) == nil },
	})
	s.Iterations += res.Iterations
	return res
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
