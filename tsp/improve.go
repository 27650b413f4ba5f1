package tsp

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// problem is a metric without points at distance 0, with its candidates.
type problem struct {
	f     metric.Finite
	near  *candidates // the nearest neighbors
	wide  *candidates // and others
	first []int       // the points of f in the metric given; nil: all
	class []int       // the points of the metric given in f
	// whole has all points of the metric given, where others are left out and nothing
	// says that the triangle inequality holds: the shortest tour may then not visit
	// points at distance 0 in one go.
	whole *problem
}

func newProblem(ctx context.Context, f metric.Finite, k int) (*problem, error) {
	p := &problem{f: f}
	var err error
	if p.near, err = newCandidates(ctx, f, k); err != nil {
		return nil, err
	}
	if p.first, p.class, err = p.near.distinct(ctx, f); err != nil {
		return nil, err
	}
	if p.first != nil {
		if _, ok := finite.Embed[metric.Embedding](f); !ok {
			p.whole = &problem{f: f, near: p.near}
			if p.whole.wide, err = p.near.widen(ctx, f); err != nil {
				return nil, err
			}
		}
		if p.f, err = metric.Subset(f, p.first); err != nil {
			return nil, err
		}
		if p.near, err = newCandidates(ctx, p.f, k); err != nil {
			return nil, err
		}
	}
	p.wide, err = p.near.widen(ctx, p.f)
	return p, err
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

// improve returns a better order, of all points, and the error of ctx if that ended it.
func (p *problem) improve(ctx context.Context, order []int, o SolveOptions) ([]int, error) {
	if p.whole == nil {
		order, err := p.descend(ctx, order, o)
		return p.expand(order), err
	}
	o.TimeLimit = (o.TimeLimit + 1) / 2
	first, second := o, o
	first.Progress = func(done, total int) { o.Progress(done, 2*total) }
	second.Progress = func(done, total int) { o.Progress(total+done, 2*total) }
	order, err := p.descend(ctx, order, first)
	if order = p.expand(order); err != nil {
		return order, err
	}
	return p.whole.descend(ctx, order, second)
}

// descend is improve without the points left out.
func (p *problem) descend(ctx context.Context, order []int, o SolveOptions) ([]int, error) {
	if len(order) < 2 {
		return order, ctx.Err()
	}
	s := newSearch(p.f, order, o.Kind, p.wide)
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

const (
	// mostWhole is the number of nodes above which the tour is kicked region by
	// region, of regionSize nodes each: no move then turns round half the tour.
	// A node is in regionRounds regions on average.
	mostWhole    = 5000
	regionSize   = 1000
	regionRounds = 5
)

// iterate kicks the tour and keeps what makes it no longer.
func (s *search) iterate(o SolveOptions, stop func() bool) {
	n := len(s.order)
	if n < 4 || s.n > 0 {
		return
	}
	k := kicker{rng: random.Seeded(o.Seed), o: o, stop: stop}
	if n <= mostWhole {
		k.kick(s, o.Kicks)
		return
	}
	r := newRegions(s)
	for each := max(1, int(float64(o.Kicks)/float64(n)*regionSize/regionRounds)); k.done < o.Kicks; {
		nodes := r.next(regionSize)
		t := r.search(nodes)
		ended := k.kick(t, min(each, o.Kicks-k.done))
		r.merge(nodes, t)
		if ended {
			return
		}
	}
}

// kicker makes the kicks of a call.
type kicker struct {
	rng  *rand.Rand
	o    SolveOptions
	done int
	stop func() bool
}

// kick kicks the tour of s count times, and reports whether stop ended it.
func (k *kicker) kick(s *search, count int) (ended bool) {
	const pause, report = 8, 128 // kicks between two looks at the clock, and two reports
	never := func() bool { return false }
	s.logging = true
	for range count {
		if k.done%pause == 0 {
			if k.stop() {
				return true
			}
		}
		if k.done%report == 0 {
			k.o.Progress(k.done, k.o.Kicks)
		}
		s.forget()
		if added := s.kick(k.rng); s.descend(never) < added {
			s.undo()
		}
		if k.done++; k.done == k.o.Kicks {
			k.o.Progress(k.done, k.done)
		}
	}
	return false
}

const (
	// maxRun is the most points of each of the three runs that a kick along the
	// tour exchanges: 10 end too early and 50 take too long to repair.
	maxRun = 30
	// walkSteps is the number of random steps from candidate to candidate in which
	// a kick across the tour looks for a long edge: 10 and 50 are worse.
	walkSteps = 20
)

// kick turns the tour a, b...c, d...e, f...g, h into a, f...g, d...e, b...c, h, queues
// the ends and returns the length added. Every other time the three runs are
// random ones of up to maxRun points each; else they lie between four long edges
// near each other, as those are that lead from cluster to cluster.
func (s *search) kick(rng *rand.Rand) (added float64) {
	n := int32(len(s.order))
	var at [4]int32 // the places of a, c, e and g, which may count on beyond the end
	if rng.IntN(2) == 0 {
		run := min(maxRun, int(n-1)/3)
		at[0] = int32(rng.IntN(int(n)))
		for k := range 3 {
			at[k+1] = at[k] + 1 + int32(rng.IntN(run))
		}
	} else {
		v := int32(rng.IntN(int(n)))
		for k := range at {
			at[k] = s.pos[v]
			longest := -1.0
			for range walkSteps {
				near, _ := s.candidates(v)
				if len(near) == 0 {
					break
				}
				v = near[rng.IntN(len(near))]
				if p := s.pos[v]; s.edge[p] > longest && !slices.Contains(at[:k], p) {
					at[k], longest = p, s.edge[p]
				}
			}
			v = s.order[s.wrap(at[k]+int32(rng.IntN(2)))] // one of its ends
		}
		slices.Sort(at[:])
	}
	for k, p := range at {
		if k > 0 && p == at[k-1] || s.edge[s.wrap(p)] == fixed {
			return 0
		}
	}
	s.blocks = append(s.blocks[:0], block{at[2] + 1, at[3]}, block{at[1] + 1, at[2]}, block{at[0] + 1, at[1]}, block{at[3] + 1, at[0] + n})
	return s.put(s.blocks)
}
