package ipm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// residual is the largest error of a row sum with which a solve may end, settled that of
// columns that are kept. With a Support, where rows begin with less than 1, it may end there.
const residual, settled = 1e-8, 1e-5

// solver is the iteration from a point on, whatever the engine.
type solver struct {
	*point
	engine engine

	predictor direction
	dir       direction // the one to be taken
	kept      direction // the best of dir, see aimed
	cross     []float64 // second order terms of z t

	value float64 // of the best columns: the largest loss, and what is weighed beside it
	best  Result
}

// Solve runs the interior point method. When the context is done it returns the
// best so far, which from the start on is a feasible channel.
func (l *Plan) Solve(ctx context.Context, o Settings) *Result {
	return newSolver(ctx, l, o).solve()
}

func (s *solver) solve() *Result {
	err := s.start()
	s.keepX(func(_ int, v float64) float64 { return v }) // should the context be done already
	if err == nil {
		err = s.iterate()
	}
	s.best.Status = StatusOf(err)
	s.best.Bytes = s.bytes
	return &s.best
}

func newSolver(ctx context.Context, l *Plan, o Settings) *solver {
	p, e := newPoint(ctx, l, o)
	return &solver{
		point: p, engine: e,
		predictor: newDirection(p), dir: newDirection(p), kept: newDirection(p), cross: make([]float64, p.nz),
		value: math.Inf(1), best: Result{X: make([]float64, p.m*p.n), Upper: math.Inf(1), Z: make([]float64, len(p.z)), Y: make([]float64, p.n)},
	}
}

// iterate takes steps until the gap is at the tolerance. The error is another reason to
// stop: kkt.ErrStalled, errRefused, or the context's.
func (s *solver) iterate() error {
	b := &s.best
	var patience kkt.Patience
	enough := residual
	if s.prob.Support != nil {
		enough = settled
	}
	for ; ; b.Iterations++ {
		worst := s.record()
		if s.promising() {
			s.clearPrices()
			if err := s.columns(s.prove); err != nil {
				return err
			}
			s.record()
		}
		if s.o.Progress != nil {
			s.o.Progress(b.Iterations, b.Upper, b.Lower)
		}
		// With weights beside the largest loss, Lower is of both.
		gap := min(b.Upper-s.o.Lower, s.value-b.Lower)
		if gap <= s.o.Tolerance*b.Upper && worst <= enough {
			return nil
		}
		if math.IsInf(gap, 1) { // no columns have settled: that they come nearer to it is progress
			gap = worst * math.MaxFloat64
		}
		if patience.Lost(gap) {
			return kkt.ErrStalled
		}
		if err := s.engine.factor(); err != nil {
			return err
		}
		if err := s.step(); err != nil {
			return err
		}
	}
}

// record keeps the iterate where it improves on the best of either side. It
// returns the largest error of a row sum.
func (s *solver) record() (worst float64) {
	for _, v := range s.sum {
		worst = max(worst, math.Abs(v-1))
	}
	upper, most, mean, mass := 0.0, 0.0, 0.0, floats.Sum(s.z[s.nz:])
	for i, l := range s.loss {
		v := l / s.sum[s.prob.Class[i]]
		if !(v <= upper) {
			upper = v
		}
		if i >= s.nz {
			mean += float64(s.z[i] / mass * v)
		} else if !(v <= most) {
			most = v
		}
	}
	value := (most + float64(mass*mean)) / (1 + mass)
	if s.nz == 0 {
		upper, value = mean, mean
	}
	// Until one is settled the last columns are the best.
	if settles := worst <= settled; (settles && value < s.value || !settles && math.IsInf(s.value, 1)) && slices.Min(s.x) >= 0 {
		if settles {
			s.best.Upper, s.value = upper, value
		}
		s.keepX(func(u int, v float64) float64 { return v / s.sum[u] })
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

// keepX sets the best columns to what of has of the present ones.
func (s *solver) keepX(of func(u int, v float64) float64) {
	for w, c := range s.places {
		to := s.best.X[w*s.n : (w+1)*s.n]
		for i, v := range s.column(s.x, w) {
			to[c.inputs[i]] = of(int(c.inputs[i]), v)
		}
	}
}

// promising tells whether the duals, but for rounding, reach the tolerance.
func (s *solver) promising() bool {
	b := &s.best
	enough := (1 - s.o.Tolerance) * b.Upper
	return b.Lower < enough && floats.Sum(s.y) >= enough*floats.Sum(s.z)
}
