package lp

import (
	"context"
	"time"

	"github.com/metricdp/metricdp/internal/ipm"
)

// The lazy engine imposes the constraints of near inputs on every output first,
// solves, adds those that the solution breaks, output by output, and so on. A few
// per cent of the pairs of inputs are enough.

const (
	// lazySize is the number of classes of inputs above which constraints are
	// added as they are needed, if factors are dense: with 100 points of the
	// plane both engines take the same time.
	lazySize = 100
	// lazyShare of the tolerance is what the kernel aims at: the rest is for the
	// repair.
	lazyShare = 0.25
	// lazyBreach of a round's tolerance is the relative violation from which on
	// a constraint is added.
	lazyBreach = 0.1
)

// lazySchedule are the gaps to which the first rounds are solved: the solution
// of a program that lacks many constraints is not worth more.
var lazySchedule = []float64{1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-6}

// rounds runs the lazy engine and improves s with what every round finds, until
// it is within the tolerance, ctx is done, or a round finds nothing to add and
// cannot be solved any better.
func (g *merged) rounds(ctx context.Context, s *Solution, began time.Time) error {
	s.Engine = EngineLazy
	goal := lazyShare * g.o.Tolerance
	for round := 0; ; round++ {
		tolerance := goal
		if round < len(lazySchedule) {
			tolerance = max(goal, lazySchedule[round])
		}
		before := s.Iterations
		res := g.lazy.Solve(ipm.Settings{
			Tolerance: tolerance, Workers: g.o.Workers, Context: ctx,
			Progress: func(i int, _, _ float64) { g.o.Progress(before+i, s.Gap, time.Since(began)) },
		})
		s.Iterations += res.Iterations
		s.raise(g, res)
		if err := g.mend(s, res.X); err != nil {
			return err
		}
		if s.Gap <= g.o.Tolerance || ctx.Err() != nil {
			return nil
		}
		added, err := g.lazy.Extend(ctx, res.X, lazyBreach*tolerance, g.o.Workers)
		switch {
		case err != nil:
			return nil // the context's: the caller looks at it
		case added == 0 && (tolerance <= goal || res.Status == ipm.Stalled):
			return nil
		case g.fits(g.lazy.Bytes()) != nil:
			return nil // what there is stays certified
		}
	}
}
