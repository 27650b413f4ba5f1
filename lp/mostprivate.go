package lp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/bitset"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// MostPrivateOptions are the settings of [MostPrivate]; nil and zeros mean the
// defaults.
type MostPrivateOptions struct {
	// Tolerance is the width of Level, relative to its upper end, at which to stop.
	// 0 means 1e-4 up to 150 inputs and 1e-2 above.
	Tolerance float64
	// As in [Options], for all linear programs together.
	TimeLimit   time.Duration
	MemoryLimit float64
	Unit        metric.Unit
	Workers     int
	// Progress, where not nil, is called after every program with the Level so far.
	Progress func(level scale.Interval)
}

// MostPrivateSolution is the mechanism of [MostPrivate], immutable and safe for concurrent
// use.
type MostPrivateSolution struct {
	// The mechanism: its guarantee is the upper end of Audited.
	*mechanism.Channel
	Audited mechanism.Audit
	// Miss is at least the largest probability of releasing a point farther than
	// Gamma from f(x), and at most Delta.
	Miss float64
	// Level holds eps*: Lo is proved, Hi is the level of the mechanism.
	Level scale.Interval

	Status  Status
	Solves  int           // linear programs solved
	Elapsed time.Duration // from the call to the return
}

// String gives the figures in a line.
func (s *MostPrivateSolution) String() string {
	return fmt.Sprintf("level %.9g, no less than %.9g, missing with probability %.3g: %s (%d programs)", s.Level.Hi, s.Level.Lo, s.Miss, s.Status, s.Solves)
}

// MostPrivate returns the most private mechanism for a function f from one finite space to another
// that reaches the target: at every input x the output is farther than Gamma from f(x) with
// probability at most Delta. Level encloses its level eps*(Gamma, Delta) (KL10, Definition 2.3),
// up to the tolerance and a millionth of the reciprocal of the diameter.
//
// b.Privacy is the metric of the inputs. The first points of b.Utility are f(x) for the inputs x,
// in their order; the others can only be released.
//
// No level, where points at privacy distance 0 are too far apart for the target, is an error. It
// ends as [Optimal] does. Errors: [metric.ErrEmpty]; a [*metric.SizeError] for fewer outputs than
// inputs; a [*metric.ValueError]; a [*metric.MemoryError]. Some ten calls of Optimal.
func MostPrivate(ctx context.Context, b metric.Bimetric, t kl10.Target, o *MostPrivateOptions) (*MostPrivateSolution, error) {
	// The least probability of missing at a level eps is the program of [Optimal] with the loss 1
	// beyond Gamma and 0 elsewhere. A dual bound above Delta proves eps* >= eps; a channel that
	// misses with at most Delta is a mechanism at its audited level.
	const op = "lp: MostPrivate"
	began := time.Now()
	if o == nil {
		o = &MostPrivateOptions{}
	}
	s := &levelSearch{op: op, b: b, t: t, MostPrivateOptions: *o, began: began}
	if err := s.defaults(); err != nil {
		return nil, err
	}
	err := s.start(ctx)
	if err == nil {
		err = s.run(ctx)
	}
	r := &s.best
	r.Elapsed = time.Since(began)
	switch {
	case r.Channel == nil:
		return nil, err
	case ctx.Err() != nil:
		r.Status = StatusCanceled
		return r, fmt.Errorf("%s: stopped after %d programs: %w", op, r.Solves, context.Cause(ctx))
	case err != nil:
		return nil, err
	}
	return r, nil
}

const (
	fineLevel   = 1e-4
	coarseLevel = 1e-2
	// programShare of the tolerance is for the program's own gap: the value falls
	// about as fast as the level grows, or faster.
	programShare = 0.1
	// leastBudget is the budget alpha*rho1 of the diameter below which a program is
	// taken for one at level 0.
	leastBudget = 1e-6
)

// levelSearch is the state of one call.
type levelSearch struct {
	op string
	b  metric.Bimetric // as asked for
	t  kl10.Target
	MostPrivateOptions
	began   time.Time
	outputs []int   // those that may be released
	least   float64 // the level of leastBudget
	best    MostPrivateSolution

	// The dual bound at Level.Lo, the objective at Level.Hi, 0 where unknown; levels
	// from below to above could not be decided.
	atLo, atHi   float64
	below, above float64
}

// missed is the loss of the target.
func (s *levelSearch) missed(x, y int) float64 {
	if s.b.Utility.Distance(x, y) <= s.t.Gamma {
		return 0
	}
	return 1
}

// defaults checks what was asked.
func (s *levelSearch) defaults() error {
	o, err := (&Options{Outputs: []int{0}, Tolerance: s.Tolerance, TimeLimit: s.TimeLimit, MemoryLimit: s.MemoryLimit, Unit: s.Unit}).defaults(s.op, s.b, 1)
	if err != nil {
		return err
	}
	if s.Unit = o.Unit; s.Tolerance == 0 {
		s.Tolerance = coarseLevel
		if s.b.Privacy.Len() <= fineSize {
			s.Tolerance = fineLevel
		}
	}
	if s.Progress == nil {
		s.Progress = func(scale.Interval) {}
	}
	return nil
}

// start finds a first mechanism and a first bound.
func (s *levelSearch) start(ctx context.Context) error {
	balls, err := nearOutputs(ctx, s.op, s.b, s.t)
	if err != nil {
		return err
	}
	bound, err := packed(ctx, s.op, balls, s.b.Privacy, s.t.Delta) // reads all distances
	if err != nil {
		return err
	}
	if s.outputs, err = widest(ctx, balls, s.b.Utility.Len()); err != nil {
		return fault.Within(s.op, err)
	}
	if math.IsInf(bound.Level, 1) {
		return s.noLevel(bound.Packing[0], bound.Packing[1])
	}
	s.best.Level = scale.Interval{Lo: bound.Level, Hi: math.Inf(1)}
	diameter, _, _, err := metric.Diameter(ctx, s.b.Privacy)
	if err != nil {
		return fault.Within(s.op, err)
	}
	s.least = 1
	if diameter > 0 {
		s.least = min(leastBudget/diameter, math.MaxFloat64)
	}
	m, err := kl10.MostPrivate(ctx, s.b, nil, s.t, &kl10.Options{Unit: s.Unit, Workers: s.Workers})
	switch {
	case err == nil:
		s.keep(m.Channel, m.Audited, m.Miss)
	case ctx.Err() != nil:
		return fault.Within(s.op, ctx.Err())
	default:
		return s.separate(ctx)
	}
	return nil
}

// widest returns the outputs, of m, that no other makes superfluous by being near to all
// inputs that they are near to; of equal ones the first.
func widest(ctx context.Context, balls []bitset.Set, m int) (outputs []int, err error) {
	inputs, order := bitset.Rows(m, len(balls)), make([]int, m)
	for x, ball := range balls {
		for y := range ball.All() {
			inputs[y].Add(x)
		}
	}
	for y := range order {
		order[y] = y
	}
	slices.SortStableFunc(order, func(y, z int) int { return inputs[z].Len() - inputs[y].Len() })
	for _, y := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(outputs, func(z int) bool { return within(inputs[y], inputs[z]) }) {
			outputs = append(outputs, y)
		}
	}
	slices.Sort(outputs)
	return outputs, nil
}

func (s *levelSearch) noLevel(x, y int) error {
	return fmt.Errorf("%s: no level is enough: points at privacy distance 0, among them %d and %d, are too far apart to miss by more than %v with probability at most %v",
		s.op, x, y, s.t.Gamma, s.t.Delta)
}

// keep takes a channel that reaches the target where it is more private.
func (s *levelSearch) keep(c *mechanism.Channel, a mechanism.Audit, miss float64) {
	if miss <= s.t.Delta && a.Hi < s.best.Level.Hi {
		s.best.Channel, s.best.Audited, s.best.Miss = c, a, miss
		s.best.Level.Hi, s.atHi = a.Hi, miss
	}
}

// run narrows Level.
func (s *levelSearch) run(ctx context.Context) error {
	r := &s.best
	if r.Level.Hi > 0 && r.Level.Lo < s.least {
		// All inputs share a row: the level is 0, or the bound serves for one above.
		if err := s.try(ctx, s.least); err != nil || s.over(ctx) {
			return err
		}
	}
	for k := 0; ; k++ {
		lo, hi := r.Level.Lo, r.Level.Hi
		width := float64(s.Tolerance*hi) + s.least
		if hi-lo <= width {
			r.Status = StatusOptimal
			return nil
		}
		if s.above > 0 { // rounding hides the middle: the wider side of it
			if hi = min(s.below, hi); r.Level.Hi-s.above > hi-lo {
				lo, hi = max(s.above, lo), r.Level.Hi
			}
			if hi-lo <= width/4 {
				r.Status = StatusStalled
				return nil
			}
		}
		if err := s.try(ctx, s.next(lo, hi, width/3, k)); err != nil || s.over(ctx) {
			return err
		}
	}
}

// over tells whether to stop with what there is.
func (s *levelSearch) over(ctx context.Context) bool {
	if s.TimeLimit > 0 && time.Since(s.began) >= s.TimeLimit {
		s.best.Status = StatusTimeLimit
		return true
	}
	return ctx.Err() != nil
}

// next is the level to try in (lo, hi): where the logarithm of the value, taken to be
// linear, is that of Delta, a little aside so that both ends come close.
func (s *levelSearch) next(lo, hi, aside float64, k int) float64 {
	if k == 0 && lo > 0 {
		return lo + aside // a packing is often all that counts
	}
	if s.above > 0 || s.atLo == 0 || s.atHi == 0 || k%4 == 3 {
		if lo > 0 && hi > 4*lo {
			return math.Sqrt(lo) * math.Sqrt(hi)
		}
		return lo + (hi-lo)/2
	}
	delta := math.Log(s.t.Delta)
	from, to := math.Log(s.atLo)-delta, delta-math.Log(s.atHi) // > 0, >= 0
	x := lo + float64((hi-lo)*(from/(from+to)))
	if k%2 == 0 {
		aside = -aside
	}
	return min(max(x+aside, lo+math.Abs(aside)/2), hi-math.Abs(aside)/2)
}

// try solves the program at a level.
func (s *levelSearch) try(ctx context.Context, level float64) error {
	o := Options{Outputs: s.outputs, Loss: s.missed, Tolerance: programShare * s.Tolerance, MemoryLimit: s.MemoryLimit, Unit: s.Unit, Workers: s.Workers}
	if s.TimeLimit > 0 {
		o.TimeLimit = max(1, s.TimeLimit-time.Since(s.began))
	}
	sol, err := Optimal(ctx, s.b, level, &o)
	if sol == nil {
		return fault.Within(s.op, err)
	}
	r := &s.best
	r.Solves++
	s.keep(sol.Channel, sol.Audited, sol.Objective)
	switch {
	case sol.Objective <= s.t.Delta:
	case sol.DualBound > s.t.Delta:
		if level > r.Level.Lo {
			r.Level.Lo, s.atLo = min(level, r.Level.Hi), sol.DualBound
		}
	case s.above == 0:
		s.below, s.above = level, level
	default:
		s.below, s.above = min(s.below, level), max(s.above, level)
	}
	s.Progress(r.Level)
	if err != nil && ctx.Err() == nil {
		return fault.Within(s.op, err)
	}
	return nil
}

// separate finds a first mechanism where some points are at privacy distance 0,
// however far apart under the utility metric. Each class of them can only have a row of
// its own: the most it misses with is the value of a game, a linear program without
// privacy. Let all rows be the best ones, each point alone releasing itself, and
// v < Delta the largest value: mixed with a share (Delta-v)/2 of the uniform
// distribution they reach the target at a finite level.
func (s *levelSearch) separate(ctx context.Context) error {
	n, m := s.b.Privacy.Len(), s.b.Utility.Len()
	class, first := classes(s.b.Privacy, 0)
	value, rows := 0.0, make([][]float64, len(first))
	for c, x := range first {
		rows[c] = make([]float64, m)
		rows[c][x] = 1
		order := []int{}
		for z := range n {
			if class[z] == c {
				order = append(order, z)
			}
		}
		if len(order) == 1 {
			continue
		}
		sol, err := Optimal(ctx, metric.Bimetric{Privacy: coincident(len(order))}, 1, &Options{
			Outputs: s.outputs, Loss: func(x, y int) float64 { return s.missed(order[x], y) },
			Tolerance: fineTolerance, MemoryLimit: s.MemoryLimit, Workers: s.Workers,
		})
		if err != nil {
			return fault.Within(s.op, err)
		}
		if s.best.Solves++; sol.DualBound > s.t.Delta {
			return s.noLevel(order[0], order[1])
		}
		if sol.Objective >= s.t.Delta {
			return fmt.Errorf("%s: no level was found: the least probability of missing that any level can reach is in [%v, %v]", s.op, sol.DualBound, sol.Objective)
		}
		value = max(value, sol.Objective)
		clear(rows[c])
		for y, p := range sol.Row(0, nil) {
			rows[c][sol.Output(y)] += p
		}
	}
	share := float64((s.t.Delta - value) / 2)
	weight := make([]float64, 0, n*m)
	for x := range n {
		for _, p := range rows[class[x]] {
			weight = append(weight, float64((1-share)*p)+share/float64(m))
		}
	}
	c, err := mechanism.FromWeights(ctx, n, m, weight, &mechanism.ChannelOptions{Workers: s.Workers})
	if err != nil {
		return fault.Within(s.op, err)
	}
	c, a, err := c.Certify(ctx, s.b.Privacy, s.Unit, &mechanism.AuditOptions{Workers: s.Workers})
	if err != nil {
		return fault.Within(s.op, err)
	}
	miss, _, err := kl10.Misses(ctx, c, s.b.Utility, s.t.Gamma)
	if err != nil {
		return fault.Within(s.op, err)
	}
	s.keep(c, a, miss)
	if s.best.Channel == nil {
		return errors.New(s.op + ": no level was found: rounding is in the way")
	}
	return nil
}

// coincident is a space of points that privacy does not tell apart.
type coincident int

func (n coincident) Len() int                { return int(n) }
func (coincident) Distance(int, int) float64 { return 0 }
