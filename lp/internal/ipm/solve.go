package ipm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/lp/internal/ipm/byinput"
	"github.com/metricdp/metricdp/lp/internal/ipm/kkt"
)

// residual is the largest error of a row sum with which a solve may end.
const residual = 1e-8

// Plan is a problem whose structure is known.
type Plan struct {
	p *Problem
	r *pairs
	f *pattern // nil: the factors are dense
	// input, where not nil, eliminates inputs in place of columns.
	input *byinput.Plan
	first *part // where not nil, what columns impose at first; see lazy.go
}

// Prepare chooses the kind of the factors, in O(n) a pair and O(n^2). The error is
// the context's, or for wrong sizes.
func Prepare(ctx context.Context, p *Problem) (*Plan, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	r, err := newPairs(ctx, p)
	if err != nil {
		return nil, err
	}
	l := &Plan{p: p, r: r}
	if r.n >= leastSparse {
		if order, _ := eliminationOrder(r, int(sparseFill*float64(r.n*r.n))); order != nil {
			l.f = newPattern(r, order)
		}
	}
	if l.input, err = l.inputPlan(ctx); err != nil {
		return nil, err
	}
	if l.input != nil {
		l.f = nil
	}
	return l, nil
}

// Sparse tells whether the factors are.
func (l *Plan) Sparse() bool { return l.f != nil || l.input != nil }

// ByInput tells whether they are those of inputs in place of columns.
func (l *Plan) ByInput() bool { return l.input != nil }

// Lazy tells whether columns impose pairs as they need them.
func (l *Plan) Lazy() bool { return l.first != nil }

// Bytes is the memory that Prepare took and Solve will take, half more at most.
func (l *Plan) Bytes() float64 {
	n, m, r, pairs := float64(l.p.Inputs), float64(l.p.Outputs), float64(l.p.rows()), float64(l.r.len())
	if l.input != nil {
		return l.input.Bytes() + float64(80*m*(pairs+n)) + float64(sparseInput*n)
	}
	if l.Lazy() {
		return LazyBytes(l.p.Inputs, l.p.Outputs, l.p.rows())
	}
	if l.f == nil {
		return denseBytes(l.p.Inputs, l.p.Outputs, l.p.rows(), l.r.len())
	}
	return bytes(n, m, r, m*pairs, m*float64(len(l.f.row)), 2*pairs) + float64(sparseInput*n)
}

// sparseInput is some bytes for every input: its pairs, the pattern, and the groups
// that two workers have at hand, see sparse_link.go.
const sparseInput = 8000

// Solve runs the interior point method. When the context is done it returns the
// best so far, which from the start on is a feasible channel.
func (l *Plan) Solve(ctx context.Context, o Settings) *Result {
	return newSolver(ctx, l, o).run()
}

func (s *solver) run() *Result {
	s.best = Result{Upper: math.Inf(1), Z: make([]float64, s.p.rows()), Y: make([]float64, s.n), Status: Interrupted}
	err := s.start()
	s.best.X = slices.Clone(s.x) // should the context be done already
	if err == nil {
		s.best.Status, _ = s.iterate()
	}
	return &s.best
}

// iterate takes steps until there is a reason to stop.
func (s *solver) iterate() (Status, error) {
	b := &s.best
	var patience kkt.Patience
	for ; ; b.Iterations++ {
		worst := s.record()
		if s.promising() {
			s.clearPrices()
			if err := s.columns(s.prove); err != nil {
				return Interrupted, err
			}
			s.record()
		}
		if s.o.Progress != nil {
			s.o.Progress(b.Iterations, b.Upper, b.Lower)
		}
		gap := b.Upper - max(b.Lower, s.o.Lower)
		if gap <= s.o.Tolerance*b.Upper && worst <= residual {
			return Converged, nil
		}
		if patience.Lost(gap) {
			return Stalled, nil
		}
		if s.lazy {
			if ok, err := s.grow(); err != nil {
				return Interrupted, err
			} else if !ok {
				return Refused, nil
			}
		}
		if ok, err := s.assemble(); err != nil {
			return Interrupted, err
		} else if !ok {
			return Stalled, nil
		}
		if ok, err := s.step(); err != nil {
			return Interrupted, err
		} else if !ok {
			return Stalled, nil
		}
	}
}

// record keeps the iterate where it improves on the best of either side. It
// returns the largest error of a row sum.
func (s *solver) record() (worst float64) {
	for _, v := range s.sum {
		worst = max(worst, math.Abs(v-1))
	}
	upper, mass := 0.0, floats.Sum(s.z)
	for i, l := range s.loss {
		v := l / s.sum[s.p.Class[i]]
		if s.nz == 0 {
			upper += float64(s.z[i] / mass * v)
		} else if !(v <= upper) {
			upper = v
		}
	}
	if upper < s.best.Upper && slices.Min(s.x) >= 0 {
		s.best.Upper = upper
		for i, v := range s.x {
			s.best.X[i] = v / s.sum[i%s.n]
		}
	}
	if lower := s.lower(); lower > s.best.Lower || s.best.Iterations == 0 {
		s.best.Lower = lower
		copy(s.best.Z, s.z)
		for u := range s.best.Y {
			s.best.Y[u] = s.least(u)
		}
	}
	return worst
}

// promising tells whether the duals, but for rounding, reach the tolerance.
func (s *solver) promising() bool {
	b := &s.best
	enough := (1 - s.o.Tolerance) * b.Upper
	return b.Lower < enough && floats.Sum(s.y) >= enough*floats.Sum(s.z)
}
