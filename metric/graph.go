package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/heap"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/spanning"
)

// Edge joins the points I and J of a graph.
type Edge struct {
	I, J   int
	Length float64 // finite and >= 0
}

// Graph is the metric of shortest paths of a connected undirected graph, its n(n-1)/2 distances
// stored.
type Graph struct {
	dense Dense
	edges []Edge
}

// NewGraphEdges returns the shortest-path metric of the graph on the nodes 0, ..., n-1 with the
// given edges, of which the shortest counts where several join two nodes; loops are ignored. edges
// is not kept.
//
// The errors are [ErrEmpty] for no nodes, [*ValueError] for an end that is no node or a length
// outside [0, 1e300], and, in O(n + m log m), before anything is allocated for the distances, that
// of two nodes without a path and [*MemoryError]. Dijkstra's algorithm from every node, on every
// core: O(n m log n) for m edges. A distance is the least, over the paths of the pair, of the
// float64 sum of the lengths taken from the smaller index to the larger.
func NewGraphEdges(ctx context.Context, n int, edges []Edge) (*Graph, error) {
	const op = "metric: NewGraphEdges"
	if err := condensedSize(op, "n", n); err != nil {
		return nil, err
	}
	kept := make([]Edge, 0, len(edges))
	for k, e := range edges {
		for _, end := range [2]int{e.I, e.J} {
			if end < 0 || end >= n {
				return nil, &ValueError{Op: op, Arg: "ends of edges", Index: k, Value: float64(end), Want: fmt.Sprintf("indices in [0, %d)", n)}
			}
		}
		if e.I == e.J {
			continue
		}
		if err := checkLength(op, "lengths of edges", k, e.Length); err != nil {
			return nil, err
		}
		kept = append(kept, Edge{min(e.I, e.J), max(e.I, e.J), e.Length})
	}
	return newGraph(ctx, op, n, kept)
}

func checkLength(op, arg string, index int, w float64) error {
	if w >= 0 && w <= maxMagnitude {
		return nil
	}
	return &ValueError{Op: op, Arg: arg, Index: index, Value: w, Want: "a number in [0, 1e300]"}
}

// newGraph takes checked edges with I < J, and keeps the slice.
func newGraph(ctx context.Context, op string, n int, edges []Edge) (*Graph, error) {
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J), cmp.Compare(a.Length, b.Length))
	})
	edges = slices.CompactFunc(edges, func(a, b Edge) bool { return a.I == b.I && a.J == b.J })

	parts := spanning.NewForest(n)
	for _, e := range edges {
		parts.Join(e.I, e.J)
	}
	for j := range n { // before the n*n distances
		if parts.Root(j) != parts.Root(0) {
			return nil, fmt.Errorf("%s: no path joins nodes 0 and %d", op, j)
		}
	}
	roads := make([][]link, n)
	for _, e := range edges {
		join(roads, e)
	}
	d := Dense{n: n, upper: make([]float64, n*(n-1)/2)}
	err := parallel.Chunks(ctx, n, 4, 0, nil, func(_, lo, hi int) {
		search := newDijkstra(roads)
		for i := lo; i < hi; i++ {
			search.from(i, math.Inf(1), func(j int, length float64) {
				if j > i {
					d.upper[d.at(i, j)] = length
				}
			})
		}
	})
	if err != nil {
		return nil, err
	}
	// A distance is the rounded sum of at most n-1 lengths. Only an edge that is longer
	// than the exact sum for certain may go: the exact shortest paths keep theirs.
	slack := 1 + float64(n)*0x1p-52
	edges = slices.DeleteFunc(edges, func(e Edge) bool { return e.Length > d.upper[d.at(e.I, e.J)]*slack })
	return &Graph{d, edges}, nil
}

type link struct {
	to     int32
	length float64
}

func join(links [][]link, e Edge) {
	links[e.I] = append(links[e.I], link{int32(e.J), e.Length})
	links[e.J] = append(links[e.J], link{int32(e.I), e.Length})
}

// dijkstra searches from one point after another in the same buffers.
type dijkstra struct {
	links [][]link
	dist  []float64 // +Inf between searches
	heap  heap.Heap // of points, by dist
	seen  []int32
}

func newDijkstra(links [][]link) *dijkstra {
	dist := slices.Repeat([]float64{math.Inf(1)}, len(links))
	return &dijkstra{links: links, dist: dist, heap: heap.New(dist)}
}

// from calls settle for i and every point within reach of it, nearest first.
func (s *dijkstra) from(i int, reach float64, settle func(j int, length float64)) {
	s.dist[i] = 0
	s.seen = append(s.seen[:0], int32(i))
	s.heap.Push(int32(i))
	for s.heap.Len() > 0 {
		top := s.heap.Pop()
		settle(int(top), s.dist[top])
		for _, e := range s.links[top] {
			d := s.dist[top] + e.length
			if d > reach || d >= s.dist[e.to] {
				continue
			}
			if math.IsInf(s.dist[e.to], 1) {
				s.seen = append(s.seen, e.to)
			}
			s.dist[e.to] = d
			s.heap.Push(e.to)
		}
	}
	s.heap.Reset(s.seen)
	for _, j := range s.seen {
		s.dist[j] = math.Inf(1)
	}
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return g.dense.n }

// Unit returns that of the metric that it is a [Spanner] of.
func (g *Graph) Unit() Unit { return g.dense.unit }

// String is for people: "shortest paths between 5 nodes".
func (g *Graph) String() string { return fmt.Sprintf("shortest paths between %d nodes", g.Len()) }

// Distance returns the length of the shortest path between points i and j.
func (g *Graph) Distance(i, j int) float64 { return g.dense.Distance(i, j) }

// DistancesFrom implements [RowReader].
func (g *Graph) DistancesFrom(i int, dst []float64) []float64 {
	return g.dense.DistancesFrom(i, dst)
}

// Edges returns a copy of the edges that are shortest paths between their ends, up to the rounding
// of sums, I < J, in order of (I, J). They determine the metric: a function is Lipschitz, and a
// channel private, for all pairs where it is so along these edges.
func (g *Graph) Edges() []Edge { return slices.Clone(g.edges) }

// gridStretch is more than 1/cos(pi/8) = 1.08239.., by 7e-6 for the roundings of centers and sums.
const gridStretch = 1.0824

// NewGrid returns a metric of the plane with levels by place, and the centers of its cells:
// shortest paths in square cells of side step, which cover the rectangle from lo to hi row by row.
// A weight says how much distance counts in a cell, given its center: where it is a quarter, a
// mechanism that is alpha-private for the metric is alpha/4-private. Use both as Bimetric{graph,
// centers}. For another point take the nearest center ([Locator]), whose distances are then what is
// promised.
//
// Two centers are at most w times their Euclidean distance apart, w the largest weight in the
// rectangle of cells that they span, and no farther than any way from center to center adds up to,
// each step with its weight. So privacy for the metric is privacy for lengths times weights, up to
// cells. The metric is less by up to 8 %, as paths go in eight directions, and beside cells of less
// weight.
//
// Weights must be public, as the density of towns: small weights around one's own home disclose it.
//
// Weights and step are in [1e-100, 1e100], step at least 2^-30 of all coordinates; the errors are a
// [*ValueError] and, for n(n-1)/2 distances of n cells, a [*MemoryError]. O(n^2 log n), on every
// core.
func NewGrid(ctx context.Context, lo, hi [2]float64, step float64, weight func(center [2]float64) float64) (*Graph, *Points[[2]float64], error) {
	const op = "metric: NewGrid"
	if err := fault.Given(op, "weight", weight != nil); err != nil {
		return nil, nil, err
	}
	size := func(v float64) bool { return v >= 1e-100 && v <= 1e100 }
	if !size(step) {
		return nil, nil, fault.Value(op, "step", step, "a number in [1e-100, 1e100]")
	}
	var sides [2]float64 // in cells
	for i := range sides {
		// Then centers err by less than 2^-20 of a step.
		if most := step * (1 << 30); !(math.Abs(lo[i]) <= most) || !(hi[i] > lo[i] && hi[i] <= most) {
			return nil, nil, &ValueError{Op: op, Arg: "hi", Index: i, Value: hi[i], Want: fmt.Sprintf("a number above lo[%d] = %v, both at most 2^30 steps in size", i, lo[i])}
		}
		sides[i] = math.Ceil((hi[i] - lo[i]) / step)
	}
	n := float64(sides[0] * sides[1])
	if err := fault.Memory(op, n*(n-1)/2, 8); err != nil {
		return nil, nil, err
	}
	cols, rows := int(sides[0]), int(sides[1])
	centers, weights := make([][2]float64, cols*rows), make([]float64, cols*rows)
	for i := range centers {
		c := [2]float64{lo[0] + float64((float64(i%cols)+0.5)*step), lo[1] + float64((float64(i/cols)+0.5)*step)}
		centers[i], weights[i] = c, weight(c)
		if !size(weights[i]) {
			return nil, nil, &ValueError{Op: op, Arg: "weights of cells", Index: i, Value: weights[i], Want: "a number in [1e-100, 1e100]"}
		}
	}
	// Between centers (a, b) steps apart, a >= b, there is a path of b diagonal and a-b straight
	// edges within their rectangle, of length a + (sqrt 2 - 1) b <= hypot(a, b)/cos(pi/8). Each
	// edge counts the smaller weight of its ends, so that the path is at most w times that.
	var edges []Edge
	for i := range centers {
		for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
			if x, y := i%cols+d[0], i/cols+d[1]; x >= 0 && x < cols && y < rows {
				j := y*cols + x
				edges = append(edges, Edge{i, j, step * math.Hypot(float64(d[0]), float64(d[1])) * min(weights[i], weights[j]) / gridStretch})
			}
		}
	}
	g, err := NewGraphEdges(ctx, len(centers), edges)
	if err != nil {
		return nil, nil, fault.Within(op, err)
	}
	p, err := NewPoints(centers, Plane{})
	return g, p, err
}
