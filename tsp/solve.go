package tsp

import (
	"context"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// SolveOptions are the settings of [Solve]; nil and zeros mean the defaults.
type SolveOptions struct {
	Kind Kind

	// Bound chooses the lower bound.
	Bound BoundMethod

	// Improve has the settings of the search. Its TimeLimit does not count the
	// first tour and the bound.
	Improve ImproveOptions
}

// BoundMethod names a way to prove that no tour is shorter than some length.
type BoundMethod int

const (
	// BoundAuto is BoundHeldKarp up to 5,000 points, and up to 200,000 where a
	// kd-tree serves them ([OneTreeBound]); BoundTree above.
	BoundAuto BoundMethod = iota
	// BoundNone leaves LowerBound 0.
	BoundNone
	// BoundTree is [OneTreeBound] without multipliers.
	BoundTree
	// BoundHeldKarp is [HeldKarpBound].
	BoundHeldKarp
)

// mostHeldKarp and mostHeldKarpTree are the sizes up to which the Held-Karp
// bound takes no longer than the tour itself, without and with a kd-tree.
const (
	mostHeldKarp     = 5000
	mostHeldKarpTree = 200_000
)

// Solve returns a short tour of f with a lower bound on all tours: it improves
// a greedy tour as [Improve] does and then computes the bound that o asks for.
//
// On uniform points of the plane the tour is 0.1 % longer than the shortest for 1,000, 0.6 %
// for 100,000. On clusters of spreads from 0.001 to 0.1 of the whole, a few clusters far
// apart, groups of small lattices as drilled into a plate, and full lattices, 50 to 3,000
// points of each, it is on average 0.2 % longer than the best of some thirty runs of up to
// four times the effort; the worst, 2.5 %, are clusters far apart, between which a better
// way needs many changes at once. On full lattices of an even number of points it is the
// shortest.
//
// Points of an embedding at distance 0 from one another are visited in one go. No points are
// [metric.ErrEmpty], an option outside its domain is a [*metric.ValueError], and
// a negative or non-finite distance, if it is met, is a [*metric.Violation].
// The triangle inequality is not needed for the bound to hold.
//
// Time is that of [Greedy], [Improve] and [HeldKarpBound]; where f has no
// embedding, O(n^2) distances: [metric.Densify] it first if they take long.
// When ctx is done, Solve returns the best tour so far, nil if there is none,
// with the error of ctx.
func Solve(ctx context.Context, f metric.Finite, o *SolveOptions) (t *Tour, err error) {
	const op = "tsp: Solve"
	defer name(op, &err)
	if err := checkSize(op, fault.Len(f)); err != nil {
		return nil, err
	}
	if o == nil {
		o = new(SolveOptions)
	}
	if err := o.Kind.check(op); err != nil {
		return nil, err
	}
	if o.Bound < BoundAuto || o.Bound > BoundHeldKarp {
		return nil, fault.Value(op, "Bound", float64(o.Bound), "one of the constants")
	}
	s, err := o.Improve.defaults(op, f.Len())
	if err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, f, s.Neighbors)
	if err != nil {
		return nil, err
	}
	order, err := greedy(ctx, p.f, p.near)
	if err != nil {
		return nil, err
	}
	order, stopped := p.improve(ctx, order, o.Kind, s)
	t, err = newTour(f, order, o.Kind)
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		return t, stopped
	}
	return t, t.bound(ctx, f, o.Bound)
}

// bound sets the lower bound.
func (t *Tour) bound(ctx context.Context, f metric.Finite, how BoundMethod) error {
	if how == BoundAuto {
		how = BoundTree
		if n := f.Len(); n <= mostHeldKarp || n <= mostHeldKarpTree && heldkarp.HasTree(f) {
			how = BoundHeldKarp
		}
	}
	var proved Bound
	var err error
	switch how {
	case BoundTree:
		proved, err = OneTreeBound(ctx, f, nil, t.Kind)
	case BoundHeldKarp:
		proved, err = HeldKarpBound(ctx, f, &HeldKarpOptions{Kind: t.Kind, Upper: t.Length})
	}
	t.LowerBound = proved.Value
	return err
}
