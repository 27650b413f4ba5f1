package emd

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Project returns a probability vector on the n points of space nearest, in the earth
// mover's distance d_EM, to the signed weights g, and its distance from them. What the
// total of g lacks of 1 is first spread evenly over all points. For an unbiased estimate g
// of a distribution q, d_EM(p, q) <= 2 d_EM(g, q); cutting off at 0 and rescaling can be
// off by more.
//
// [Clusters], [metric.Clustered], [metric.Ultrametric] and points on a line take O(n log
// n); for other trees see [wasserstein.ProjectTree]. Everything else is
// [wasserstein.Project], exact too, at the cost of an optimal transport. Errors are those
// of these functions.
func Project(ctx context.Context, space metric.Finite, g []float64) (p []float64, dist float64, err error) {
	const op = "emd: Project"
	if len(g) != fault.Len(space) {
		return nil, 0, &fault.SizeError{Op: op, Arg: "g", Got: len(g), Want: "the number of points"}
	}
	if err := cmp.Or(fault.Empty(op, "g", len(g)), fault.AllFinite(op, "g", g)); err != nil {
		return nil, 0, err
	}
	p, dist, err = project(ctx, space, withTotalOne(g))
	if err != nil {
		return nil, 0, err
	}
	// Where g is large its rounding is that of p, whose total is to be 1.
	sum := 0.0
	for i, v := range p {
		p[i] = max(0, v)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p, dist, nil
}

func project(ctx context.Context, space metric.Finite, g []float64) (p []float64, dist float64, err error) {
	var t *metric.Tree
	switch s := space.(type) {
	case Clusters:
		t, err = s.tree()
	case *metric.Clustered:
		t, err = Clusters{Count: s.Clusters(), Size: s.Size(), Within: s.Intra(), Diameter: 1}.tree()
	case *metric.Ultrametric:
		t, err = treeOf(s.Order(), s.Heights())
	default:
		if x, ok := linePositions(space); ok {
			return wasserstein.ProjectLine(x, g)
		}
		r, err := wasserstein.Project(ctx, space, g, nil)
		if err != nil {
			return nil, 0, err
		}
		return r.P, r.Cost, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return wasserstein.ProjectTree(t, g)
}

// withTotalOne returns g, or a copy with all weights shifted to sum to 1.
func withTotalOne(g []float64) []float64 {
	var sum exact.DD
	size := 1.0
	for _, v := range g {
		sum = sum.AddFloat(v)
		size += math.Abs(v)
	}
	lack := sum.Neg().AddFloat(1).Hi
	if math.Abs(lack) <= 0x1p-53*size { // rounding of the weights themselves
		return g
	}
	g = slices.Clone(g)
	floats.AddConst(lack/float64(len(g)), g)
	return g
}

// lineSlack is the relative excess of a way through all points of a line over
// the distance of its ends: the rounding of some 10^4 distances.
const lineSlack = 0x1p-40

// linePositions returns positions of the points on the real line with the same
// distances, if there are any. A farthest point from any point of a line is an
// end of it, and if from there, in order of distance, the steps sum to the
// distance of the last, then by the triangle inequality every part of the way
// is as long as the distance of its ends. O(n log n), with two rows of
// distances.
func linePositions(space metric.Finite) ([]float64, bool) {
	n := space.Len()
	end := floats.MaxIdx(finite.Row(space, 0, nil))
	x := slices.Clone(finite.Row(space, end, nil))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	way := 0.0
	for k := 1; k < n; k++ {
		way += space.Distance(order[k-1], order[k])
	}
	return x, way <= x[order[n-1]]*(1+lineSlack)
}

// treeOf returns the tree whose leaves are the points of an ultrametric with
// these heights between neighbors in this order. Joins of height h stand h/2
// above the leaves.
func treeOf(order []int, heights []float64) (*metric.Tree, error) {
	n := len(order)
	parent := make([]int, 2*n-1) // n+k is the join of height k
	level := make([]float64, 2*n-1)
	copy(level[n:], heights)
	parent[0] = -1 // a single point
	spanning.Dendrogram(heights, func(gap, left, right int) {
		for side, k := range [2]int{left, right} {
			if k >= 0 {
				parent[n+k] = n + gap
			} else {
				parent[order[gap+side]] = n + gap
			}
		}
		parent[n+gap] = -1 // until it is joined
	})
	length := make([]float64, len(parent))
	for v, p := range parent {
		if p >= 0 {
			length[v] = (level[p] - level[v]) / 2
		}
	}
	return metric.NewTree(parent, length)
}
