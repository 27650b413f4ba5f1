package constopt

import (
	"context"
	"slices"

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// Solve runs the interior point method on p, or until the context is done: X is
// 0 if that was before the start.
func Solve(ctx context.Context, p *Problem, o ipm.Settings) *Result {
	s := newSolver(ctx, p, o)
	err := s.start()
	if err == nil {
		s.record()
		err = s.iterate()
	}
	s.best.Status = ipm.StatusOf(err)
	return &s.best
}

// iterate takes steps until the gap is at the tolerance, relative to the part of the
// objective above Lambda, which no channel can avoid. The error is [kkt.ErrStalled] or the
// context's.
func (s *solver) iterate() error {
	b := &s.best
	var patience kkt.Patience
	for ; ; b.Iterations++ {
		s.record()
		lower, err := s.lower()
		if err != nil {
			return err
		}
		b.Lower = max(b.Lower, lower)
		if s.o.Progress != nil {
			s.o.Progress(b.Iterations, b.Upper, b.Lower)
		}
		gap := b.Upper - b.Lower
		if gap <= s.o.Tolerance*(b.Upper-s.p.Lambda) {
			return nil
		}
		if patience.Lost(gap) {
			return kkt.ErrStalled
		}
		if err := s.factor(); err != nil {
			return err
		}
		if err := s.step(); err != nil {
			return err
		}
	}
}

// record keeps the iterate, scaled to a least row sum of 1, where it is the
// best.
func (s *solver) record() {
	least := slices.Min(s.sum)
	upper := slices.Max(s.loss) / least
	if !(least > 0 && upper < s.best.Upper && slices.Min(s.x) >= 0) {
		return
	}
	s.best.Upper = upper
	for w := range s.blocks {
		dst := s.best.X[w*s.n : (w+1)*s.n]
		s.column(dst, w, of(s.x, &s.blocks[w]))
		for u := range dst {
			dst[u] /= least
		}
	}
}
