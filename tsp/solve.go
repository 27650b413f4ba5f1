package tsp

import (
	"context"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// Solve returns a short tour of f with a lower bound on all tours: it improves
// a greedy tour as [Improve] does and then computes the bound that
// [Options].Certificate asks for. For 1,000 to 100,000 uniform points of the
// plane the tour is about 1 % longer than the shortest.
//
// Points at distance 0 from one another are visited in one go. No points are
// [metric.ErrEmpty], an option outside its domain is a [*metric.ValueError], and
// a negative or non-finite distance, if it is met, is a [*metric.Violation].
// The triangle inequality is not needed for the bound to hold.
//
// Time is that of [Greedy], [Improve] and [HeldKarpBound]; where f has no
// embedding, O(n^2) distances for the neighbors and as much for the bound:
// [metric.Densify] it first if they are dear. When the context is done, Solve
// returns the best tour so far, nil if there is none yet, together with the
// context's error.
func Solve(ctx context.Context, f metric.Finite, o *Options) (*Tour, error) {
	const op = "tsp: Solve"
	if err := checkSize(op, fault.Len(f)); err != nil {
		return nil, err
	}
	s, err := o.settle(op, f.Len())
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
	order, stopped := p.improve(ctx, order, !s.Path, s)
	t, err := newTour(f, p.expand(order), !s.Path)
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		return t, stopped
	}
	return t, t.certify(ctx, f, s)
}

// certify sets the lower bound.
func (t *Tour) certify(ctx context.Context, f metric.Finite, o Options) error {
	b := &BoundOptions{Path: !t.Closed, Upper: t.Length}
	kind := o.Certificate
	if kind == CertifyAuto {
		kind = CertifyTree
		if n := f.Len(); n <= mostHeldKarp || n <= mostHeldKarpTree && heldkarp.HasTree(f) {
			kind = CertifyHeldKarp
		}
	}
	var proved Bound
	var err error
	switch kind {
	case CertifyTree:
		proved, err = OneTreeBound(ctx, f, nil, b)
	case CertifyHeldKarp:
		proved, err = HeldKarpBound(ctx, f, b)
	}
	t.LowerBound = proved.Value
	return err
}
