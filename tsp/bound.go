package tsp

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// Bound is a proof that no tour of a finite metric is shorter than Value.
//
// Give every point i a number p_i, its multiplier, and every edge the cost
// d(i,j) + p_i + p_j. A tour meets every point twice, so this adds exactly
// 2(p_1 + ... + p_n) to its length. Without its largest edge it is a spanning
// tree, and that edge costs at least as much as the second smallest at any
// point v. So, for any multipliers, no tour is shorter than
//
//	MST(p) + max_v second(v, p) - 2(p_1 + ... + p_n).
//
// An open path lacks the edge and meets its ends once: the sum of the two
// least multipliers takes the place of second. [OneTreeBound] evaluates this
// for the Multipliers of a Bound, and so checks it without trust in the search
// that found them.
type Bound struct {
	// Value is at most the exact sum of the float64 distances along any tour:
	// every rounding on the way to it is downward. It is >= 0.
	Value float64
	// Multipliers prove it, one a point.
	Multipliers []float64
	// Iterations is the number of steps that the search made.
	Iterations int
}

// HeldKarpOptions are the settings of [HeldKarpBound]; nil and zeros mean the
// defaults.
type HeldKarpOptions struct {
	// Kind is the kind of the tours to bound.
	Kind Kind

	// Upper, where positive, is the length of a known tour or path. The search
	// ends once it has proved that one optimal, up to rounding.
	Upper float64

	// Iterations is the number of steps of the search, each with a spanning tree
	// of a sparse graph. 0 means 600, and fewer beyond 10,000 points, but at
	// least 60.
	Iterations int

	// Neighbors is the number of nearest neighbors of each point that the
	// graph begins with; 0 means 7.
	Neighbors int

	// Progress, where not nil, is told how many iterations are done.
	Progress func(done, total int)
}

// boundMax is the largest multiplier that OneTreeBound takes: twice the sum of
// 10^7 of them is finite.
const boundMax = 1e300

// OneTreeBound returns the bound that the given multipliers prove: one a point,
// at most 1e300 in magnitude, and copied. See [Bound] for the formula; its
// maximum is taken over the leaves of the tree, of many over the most promising.
//
// Multipliers nil are zeros. They give the fastest bound: the length of a
// minimum spanning tree and, for closed tours, one more edge, which is at least
// half the length of the shortest tour, and 12 % less than it on uniform points of the
// plane.
//
// It reads all distances, in O(n^2) time and O(n) memory, unless f has 2048 or
// more points and is [metric.Embedded] in at most 4 dimensions: then it
// searches a kd-tree, in about O(n log n).
func OneTreeBound(ctx context.Context, f metric.Finite, multipliers []float64, kind Kind) (Bound, error) {
	const op = "tsp: OneTreeBound"
	if err := kind.check(op); err != nil {
		return Bound{}, err
	}
	if n := fault.Len(f); multipliers != nil && n != len(multipliers) {
		return Bound{}, &fault.SizeError{Op: op, Arg: "multipliers", Got: len(multipliers), Want: fmt.Sprint(n)}
	}
	for i, p := range multipliers {
		if !(math.Abs(p) <= boundMax) {
			return Bound{}, &fault.ValueError{Op: op, Arg: "multipliers", Index: i, Value: p, Want: "a number in [-1e300, 1e300]"}
		}
	}
	b, err := heldkarp.OneTree(ctx, op, f, multipliers, kind == Path)
	return Bound(b), err
}

// HeldKarpBound returns a lower bound on the length of all tours of f, or of
// all open paths: the 1-tree bound of Held and Karp (1970, 1971), the largest
// of the values in [Bound] as far as subgradient ascent reaches it.
//
// It falls short of the shortest tour, by under 1 % for most points. No multipliers prove
// more than the linear program with degree and subtour constraints, whose fractional tours
// may be shorter by far where points stand in an odd number of rows wider apart than their
// steps: three rows of 15 points, 5 apart, have a fractional tour of length 62, and the
// shortest tour known has 67.4. Such rows add up on a drilled plate (TSPLIB's ts225, 225
// points: .913 of the optimum). The ascent may end 1 or 2 % below what multipliers could
// prove where thousands of points lie in clusters on many scales, and farther where
// hundreds lie along a line: more Iterations help.
//
// The search runs on a graph of near neighbors, O(n Neighbors log n) an
// iteration. About once in a hundred iterations what it found is proved by an
// [OneTreeBound], and the edges that the proof turned up join the graph. Where
// n is small or f has no embedding all distances are read about ten times:
// [metric.Densify] f first if they take long.
//
// f is taken to be symmetric; the triangle inequality is not needed. No points
// are [metric.ErrEmpty], an option outside its domain is a [*metric.ValueError],
// and a negative or non-finite distance, if it is met, is a
// [*metric.Violation]. The result is the same on every run. Memory is
// O(n Neighbors).
//
// Deviations from the papers: the edge beyond the tree is at the best leaf and
// not at a fixed point; the direction of a step is that of Volgenant and Jonker
// (1982), its length falls as a parabola; well-separated clusters, on all
// scales, also move as wholes.
func HeldKarpBound(ctx context.Context, f metric.Finite, o *HeldKarpOptions) (Bound, error) {
	const op = "tsp: HeldKarpBound"
	if o == nil {
		o = new(HeldKarpOptions)
	}
	if err := o.Kind.check(op); err != nil {
		return Bound{}, err
	}
	h := heldkarp.Options{Path: o.Kind == Path, Upper: o.Upper, Iterations: o.Iterations, Neighbors: o.Neighbors, Progress: o.Progress}
	b, err := heldkarp.Ascend(ctx, op, f, h)
	return Bound(b), err
}
