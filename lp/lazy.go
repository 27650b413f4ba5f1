package lp

import (
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/ipm"
)

const (
	// lazySize is the number of classes of inputs above which constraints are
	// added as they are needed, if factors are dense: with 100 points of the
	// plane both engines take the same time.
	lazySize = 100
	// lazyShare of the tolerance is what the kernel aims at: the rest is for the
	// repair.
	lazyShare = 0.25
	// A round is solved to lazyStep of the gap that the last one left: the
	// solution of a program that lacks many constraints is not worth more. The
	// first one is solved to lazyStart.
	lazyStep  = 0.1
	lazyStart = 1e-2
	// lazyBreach of a round's tolerance is the relative violation from which on
	// a constraint is added.
	lazyBreach = 0.1
)

// rounds runs the lazy engine and improves s with every round, until it is
// within the tolerance, the context is done, or nothing is left to add or to
// gain. After an error for memory s is valid too.
func (g *merged) rounds(s *Solution, began time.Time) error {
	s.Engine = EngineLazy
	goal := lazyShare * g.o.Tolerance
	for tolerance := max(goal, lazyStart); ; tolerance = max(goal, min(tolerance, lazyStep*s.Gap)) {
		before := s.Iterations
		res := g.lazy.Solve(g.ctx, ipm.Settings{
			Tolerance: tolerance, Workers: g.o.Workers,
			Progress: func(i int, _, _ float64) { g.o.Progress(before+i, s.Gap, time.Since(began)) },
		})
		s.Iterations += res.Iterations
		s.raise(g, res)
		// Mending adds to the loss: what was interrupted before it was better than
		// the last round's channel is not worth the wait.
		if g.ctx.Err() == nil || math.Ldexp(res.Upper, g.exp) < s.Objective {
			if err := g.mend(s, res.X); err != nil {
				return err
			}
		}
		if s.Gap <= g.o.Tolerance {
			return nil
		}
		added, err := g.lazy.Extend(g.ctx, res.X, lazyBreach*tolerance, g.o.Workers)
		if err != nil || added == 0 && (tolerance <= goal || res.Status == ipm.Stalled) {
			return err
		}
		if err := g.fits(g.lazy.Bytes()); err != nil {
			return err
		}
		if added == 0 {
			tolerance *= lazyStep
		}
	}
}
