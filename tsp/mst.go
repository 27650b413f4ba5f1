package tsp

import (
	"context"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// SpanningTree is a minimum spanning tree, rooted at point 0.
// metric.NewTree(t.Parent, t.Lengths) makes a [metric.Tree] of it, for its path
// metric or to print it.
type SpanningTree struct {
	Parent  []int     // the point above each point; -1 for point 0
	Lengths []float64 // the distance to it; 0 for point 0

	// Length is the sum of Lengths, rounded downward: a lower bound of the exact
	// length of any spanning tree, open path or closed tour.
	Length float64
}

// MST returns a minimum spanning tree of f. Of several it is always the same
// one.
//
// Where f has 2048 or more points and is [metric.Embedded] in at most 4
// dimensions, Borůvka's algorithm searches a kd-tree in about O(n log n), and
// Distance decides between the points that the tree cannot rule out. Otherwise
// Prim's algorithm reads every distance once: O(n^2) time and O(n) memory.
//
// f is taken to be symmetric; the triangle inequality is not needed. No points
// are [metric.ErrEmpty], a negative or non-finite distance that is met is a
// [*metric.Violation].
func MST(ctx context.Context, f metric.Finite) (*SpanningTree, error) {
	return minimumTree(ctx, "tsp: MST", f)
}

// minimumTree is [MST] for the call op.
func minimumTree(ctx context.Context, op string, f metric.Finite) (*SpanningTree, error) {
	if err := checkSize(op, fault.Len(f)); err != nil {
		return nil, err
	}
	edges, err := heldkarp.SpanningTree(ctx, op, f)
	if err != nil {
		return nil, err
	}
	return rooted(f, edges), nil
}

// rooted returns the tree of the given edges, rooted at point 0.
func rooted(f metric.Finite, edges []spanning.Edge) *SpanningTree {
	n := f.Len()
	ends := make([][2]int, 0, 2*len(edges))
	for _, e := range edges {
		ends = append(ends, [2]int{int(e.I), int(e.J)}, [2]int{int(e.J), int(e.I)})
	}
	near, start := group(n, ends)
	t := &SpanningTree{Parent: make([]int, n), Lengths: make([]float64, n)}
	t.Parent[0] = -1
	for stack := []int{0}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range near[start[i]:start[i+1]] {
			if j != t.Parent[i] {
				t.Parent[j] = i
				stack = append(stack, j)
			}
		}
	}
	for i, j := range t.Parent[1:] {
		t.Lengths[i+1] = f.Distance(i+1, j)
		t.Length = directed.AddDown(t.Length, t.Lengths[i+1])
	}
	return t
}

// group sorts pairs (key, value), 0 <= key < n, by key, in the order given
// where keys are equal: the values of key i are values[start[i]:start[i+1]].
func group(n int, pairs [][2]int) (values, start []int) {
	start = make([]int, n+1)
	for _, p := range pairs {
		start[p[0]+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	values = make([]int, len(pairs))
	at := slices.Clone(start)
	for _, p := range pairs {
		values[at[p[0]]] = p[1]
		at[p[0]]++
	}
	return values, start
}

// Len returns the number of points.
func (t *SpanningTree) Len() int { return len(t.Parent) }

// Edges returns the Len()-1 edges (I = Parent[J], J) by ascending J.
func (t *SpanningTree) Edges() []metric.Edge {
	out := make([]metric.Edge, 0, len(t.Parent))
	for j, i := range t.Parent {
		if i >= 0 {
			out = append(out, metric.Edge{I: i, J: j, Length: t.Lengths[j]})
		}
	}
	return out
}

// Preorder returns all points, each before its children, and these in ascending
// order, every subtree in one stretch. O(n).
func (t *SpanningTree) Preorder() []int {
	if len(t.Parent) == 0 {
		return nil
	}
	pairs := make([][2]int, 0, len(t.Parent))
	for j := len(t.Parent) - 1; j > 0; j-- { // descending: the last is popped first
		pairs = append(pairs, [2]int{t.Parent[j], j})
	}
	below, start := group(len(t.Parent), pairs)
	order := make([]int, 0, len(t.Parent))
	for stack := []int{0}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], below[start[i]:start[i+1]]...)
		order = append(order, i)
	}
	return order
}

// DoubleTree returns the tour that walks around the minimum spanning tree and
// skips the points it has seen. By the triangle inequality it is at most twice
// as long as the tree, hence as the shortest tour. The tree is its lower bound.
// The cost is that of [MST].
func DoubleTree(ctx context.Context, f metric.Finite, kind Kind) (t *Tour, err error) {
	const op = "tsp: DoubleTree"
	defer name(op, &err)
	tree, err := minimumTree(ctx, op, f)
	if err != nil {
		return nil, err
	}
	t, err = newTour(f, tree.Preorder(), kind)
	if err == nil {
		t.LowerBound = tree.Length
	}
	return t, err
}
