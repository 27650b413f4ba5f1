package tsp

import (
	"context"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// MST returns a minimum spanning tree of f, rooted at point 0, always the same
// one: node i is point i. Its length, rounded downward, is the Value of
// [OneTreeBound] for paths without multipliers.
//
// Where f has 2048 or more points and is [metric.Embedded] in at most 4
// dimensions, Borůvka's algorithm searches a kd-tree in about O(n log n), and
// Distance decides between the points that the tree cannot rule out. Otherwise
// Prim's algorithm reads every distance once: O(n^2) time and O(n) memory.
//
// f is taken to be symmetric; the triangle inequality is not needed. No points
// are [metric.ErrEmpty], a negative or non-finite distance that is met is a
// [*metric.Violation], and an edge longer than 1e300 a [*metric.ValueError].
func MST(ctx context.Context, f metric.Finite) (t *metric.Tree, err error) {
	const op = "tsp: MST"
	defer name(op, &err)
	_, parent, length, err := minimumTree(ctx, op, f)
	if err != nil {
		return nil, err
	}
	return metric.NewTree(parent, length)
}

// minimumTree is [heldkarp.SpanningTree] for any f, with the distance of each
// point from the one above.
func minimumTree(ctx context.Context, op string, f metric.Finite) (order, parent []int, length []float64, err error) {
	if err := checkSize(op, fault.Len(f)); err != nil {
		return nil, nil, nil, err
	}
	if order, parent, err = heldkarp.SpanningTree(ctx, op, f); err != nil {
		return nil, nil, nil, err
	}
	length = make([]float64, len(parent))
	for i, j := range parent {
		if j < 0 {
			continue
		}
		if length[i] = f.Distance(i, j); notDistance(length[i]) { // not when it was read before
			return nil, nil, nil, badDistance(i, j, length[i])
		}
	}
	return order, parent, length, nil
}

// DoubleTree returns the tour that walks around the minimum spanning tree and
// skips the points it has seen. By the triangle inequality it is at most twice
// as long as the tree, and so as the shortest tour: 40 % longer on uniform points of the
// plane. The tree is its lower bound. The cost is that of [MST].
func DoubleTree(ctx context.Context, f metric.Finite, kind Kind) (t *Tour, err error) {
	const op = "tsp: DoubleTree"
	defer name(op, &err)
	order, _, length, err := minimumTree(ctx, op, f)
	if err != nil {
		return nil, err
	}
	t, err = newTour(f, order, kind)
	if err != nil {
		return nil, err
	}
	for _, d := range length {
		t.LowerBound = directed.AddDown(t.LowerBound, d)
	}
	return t, nil
}
