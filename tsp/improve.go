package tsp

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// ImproveOptions are the settings of [Improve]; nil and zeros mean the
// defaults.
type ImproveOptions struct {
	// Neighbors is how many nearest neighbors of a point count as candidates
	// for an edge. 0 means 8; more is slower and a little better.
	Neighbors int

	// Kicks is how many perturbations are tried once no move helps. 0 means 20
	// for each point, but at most 100,000; negative means none.
	Kicks int

	// TimeLimit, where positive, ends the improvement, after the neighbor
	// lists, after that long. The result then depends on the speed of the
	// machine.
	TimeLimit time.Duration

	// Seed fixes the perturbations.
	Seed uint64

	// Progress, where not nil, is told from time to time how many kicks have
	// been tried.
	Progress func(done, total int)
}

const (
	defaultKicks = 20
	mostKicks    = 100_000
)

// defaults returns o with its defaults applied for n points, for the call op.
func (o *ImproveOptions) defaults(op string, n int) (ImproveOptions, error) {
	var s ImproveOptions
	if o != nil {
		s = *o
	}
	var err error
	s.Neighbors, err = neighbors(op, s.Neighbors)
	s.Kicks = max(0, cmp.Or(s.Kicks, min(mostKicks, defaultKicks*n)))
	if s.Progress == nil {
		s.Progress = func(done, total int) {}
	}
	return s, err
}

// Improve returns a tour of the same kind that is at most as long as t, which
// it leaves alone.
//
// It first makes 2-opt, or-opt and 3-opt moves along the neighbor lists until
// none helps. Then it kicks the tour: a double bridge exchanges three short
// neighboring runs of points, which no such move undoes, the moves repair what
// the kick has touched, and where the result is longer both are taken back
// (iterated local search; Johnson and McGeoch 1997). A lower bound that t has is
// kept.
//
// The moves take about O(n log n) for points of R^d, plus n queries of a
// [metric.Index]; a kick takes microseconds, and O(n) at worst, which limits the
// use of kicks beyond 10^6 points.
//
// A t that is no tour of f is an error, as in [NewTour]. When ctx is done, Improve
// returns the best tour so far together with the error of ctx.
func Improve(ctx context.Context, f metric.Finite, t *Tour, o *ImproveOptions) (better *Tour, err error) {
	const op = "tsp: Improve"
	defer name(op, &err)
	if err := checkOrder(op, "t", fault.Len(f), t.order()); err != nil {
		return nil, err
	}
	s, err := o.defaults(op, f.Len())
	if err != nil {
		return nil, err
	}
	given, err := newTour(f, slices.Clone(t.Order), t.Kind)
	if err != nil {
		return nil, err
	}
	given.LowerBound = t.LowerBound
	p, err := newProblem(ctx, f, s.Neighbors)
	if err != nil {
		if ctx.Err() != nil {
			return given, err
		}
		return nil, err
	}
	order, stopped := p.improve(ctx, p.shrink(t.Order), t.Kind, s)
	better, err = newTour(f, p.expand(order), t.Kind)
	if err != nil {
		return nil, err
	}
	if better.Length > given.Length { // by rounding, or f is no metric
		better = given
	}
	better.LowerBound = t.LowerBound
	return better, stopped
}

// problem is a metric without points at distance 0, with its candidates.
type problem struct {
	f     metric.Finite
	near  *candidates
	first []int // the points of f in the metric given; nil: all
	class []int // the points of the metric given in f
}

func newProblem(ctx context.Context, f metric.Finite, k int) (*problem, error) {
	p := &problem{f: f}
	var err error
	if p.near, err = newCandidates(ctx, f, k); err != nil {
		return nil, err
	}
	if p.first, p.class, err = p.near.distinct(ctx, f); err != nil || p.first == nil {
		return p, err
	}
	if p.f, err = metric.Subset(f, p.first); err != nil {
		return nil, err
	}
	p.near, err = newCandidates(ctx, p.f, k)
	return p, err
}

// shrink keeps the first point of every class in an order of all points, which
// by the triangle inequality makes it no longer.
func (p *problem) shrink(order []int) []int {
	if p.first == nil {
		return order
	}
	seen := make([]bool, len(p.first))
	var out []int
	for _, i := range order {
		if c := p.class[i]; !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// expand visits each class in one go.
func (p *problem) expand(order []int) []int {
	if p.first == nil {
		return order
	}
	members := make([][]int, len(p.first))
	for i, c := range p.class {
		members[c] = append(members[c], i)
	}
	out := make([]int, 0, len(p.class))
	for _, c := range order {
		out = append(out, members[c]...)
	}
	return out
}

// improve returns a better order, and the error of ctx if that ended it.
func (p *problem) improve(ctx context.Context, order []int, kind Kind, o ImproveOptions) ([]int, error) {
	if len(order) < 2 {
		return order, ctx.Err()
	}
	wide, err := p.near.widen(ctx, p.f)
	if err != nil {
		return order, err
	}
	s := newSearch(p.f, order, kind, wide)
	var deadline time.Time
	if o.TimeLimit > 0 {
		deadline = time.Now().Add(o.TimeLimit)
	}
	stop := func() bool {
		return ctx.Err() != nil || o.TimeLimit > 0 && time.Now().After(deadline)
	}
	s.descend(stop)
	s.iterate(o, stop)
	return s.tour(), ctx.Err()
}

// maxRun is the most points of each of the three runs that a kick exchanges: 10
// end too early and 50 take too long to repair.
var maxRun = 30

// iterate kicks the tour and keeps what makes it no longer.
func (s *search) iterate(o ImproveOptions, stop func() bool) {
	if len(s.order) < 8 || s.n > 0 {
		return
	}
	rng := random.Seeded(o.Seed)
	if len(s.order) <= regionMost {
		s.kicks(rng, 0, o.Kicks, o, stop)
	} else {
		r := newRegions(s)
		per := max(1, int(float64(regionSize)*float64(o.Kicks)/float64(len(s.order))*regionShare))
		for done := 0; done < o.Kicks; {
			ball := r.take(regionSize)
			t := r.search(ball)
			k := min(per, o.Kicks-done)
			ok := t.kicks(rng, done, k, o, stop)
			if r.merge(ball, t); !ok {
				return
			}
			done += k
		}
	}
	o.Progress(o.Kicks, o.Kicks)
}

var (
	regionMost  = 5000
	regionSize  = 1000
	regionShare = 0.5
)

func (s *search) kicks(rng *rand.Rand, done, count int, o ImproveOptions, stop func() bool) bool {
	const pause = 128 // kicks between two looks at the clock
	run := min(maxRun, (len(s.order)-1)/3)
	never := func() bool { return false }
	s.logging = true
	for h := range count {
		if (done+h)%pause == 0 {
			if stop() {
				return false
			}
			o.Progress(done+h, o.Kicks)
		}
		s.forget()
		if added := s.kick(rng, run); s.descend(never) < added {
			s.undo()
		}
	}
	return true
}

// kick turns a random stretch a, b...c, d...e, f...g, h of the tour into
// a, f...g, d...e, b...c, h, queues the ends and returns the length added. The
// three runs have up to run points each.
func (s *search) kick(rng *rand.Rand, run int) (added float64) {
	n := len(s.order)
	if walkLen > 0 {
		v := int32(rng.IntN(n))
		var at [4]int32
		at[0] = s.pos[v]
		for k := 1; k < 4; k++ {
			at[k] = s.walk(rng, v)
			if slices.Contains(at[:k], at[k]) {
				return 0
			}
		}
		slices.Sort(at[:])
		for _, p := range at {
			if s.edge[p] == fixed {
				return 0
			}
		}
		b := append(s.blocks[:0], block{at[2] + 1, at[3]}, block{at[1] + 1, at[2]}, block{at[0] + 1, at[1]}, block{at[3] + 1, at[0] + int32(n)})
		s.blocks = b
		return s.put(b)
	}
	p := int32(rng.IntN(n))
	x, y, z := int32(1+rng.IntN(run)), int32(1+rng.IntN(run)), int32(1+rng.IntN(run))
	b := append(s.blocks[:0], block{p + 1 + x + y, p + x + y + z}, block{p + 1 + x, p + x + y}, block{p + 1, p + x}, block{p + x + y + z + 1, p + int32(n)})
	s.blocks = b
	for _, c := range b {
		if s.edge[s.wrap(c.to)] == fixed {
			return 0
		}
	}
	return s.put(b)
}

var walkLen = 10

func (s *search) walk(rng *rand.Rand, v int32) int32 {
	for range walkLen {
		near, _ := s.candidates(v)
		if len(near) == 0 {
			break
		}
		v = near[rng.IntN(len(near))]
	}
	return s.pos[v]
}
