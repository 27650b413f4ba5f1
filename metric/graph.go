package metric

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/spanning"
)

// ErrDisconnected reports a graph with two nodes that no path joins: their
// distance would be infinite.
var ErrDisconnected = errors.New("graph is not connected")

// Edge joins the points I and J of a graph.
type Edge struct {
	I, J   int
	Length float64 // finite and >= 0
}

// Graph is the metric of shortest paths of a connected undirected graph. It
// stores its n(n-1)/2 distances.
type Graph struct {
	dense *Dense
	ids   []int64
	edges []Edge
}

// NewGraph returns the shortest-path metric of g, whose point i is the node
// with the i-th smallest ID. The weights of the edges are their lengths where
// g is [graph.Weighted], and 1 otherwise; a length of 0 is allowed. An edge
// from a node to itself is ignored, whatever its weight. Parallel lines of a
// multigraph have the one weight that its Weight method gives, by default in
// gonum their sum. g is only read, on the calling goroutine, and not kept.
//
// The errors are [ErrEmpty] for no nodes, [*ValueError] for a weight that is
// negative, NaN or above 1e300, [ErrDisconnected], and [*MemoryError] before
// anything is allocated for the distances. Both come in O(n + m log m).
//
// It runs Dijkstra's algorithm from every node, on every core: O(n m log n)
// for m edges. The distance of a pair is the least, over its paths, of the
// float64 sum of the lengths taken from the smaller index to the larger. It does
// not depend on the order of the edges, and obeys the triangle inequality up to
// the rounding of such sums.
func NewGraph(ctx context.Context, g graph.Undirected) (*Graph, error) {
	const op = "metric: NewGraph"
	if g == nil {
		return nil, fmt.Errorf("%s: g is nil: %w", op, fault.ErrEmpty)
	}
	nodes := graph.NodesOf(g.Nodes())
	if err := checkNodes(op, len(nodes)); err != nil {
		return nil, err
	}
	ids := make([]int64, len(nodes))
	for i, u := range nodes {
		ids[i] = u.ID()
	}
	slices.Sort(ids)
	weighted, _ := g.(graph.Weighted)
	var edges []Edge
	for i, id := range ids {
		for to := g.From(id); to.Next(); {
			nid := to.Node().ID()
			if nid <= id {
				continue // a loop, or seen from the other end
			}
			j, ok := slices.BinarySearch(ids, nid)
			if !ok {
				return nil, fmt.Errorf("%s: node %d has the neighbor %d, which is no node of the graph", op, id, nid)
			}
			w := 1.0
			if weighted != nil {
				w, _ = weighted.Weight(id, nid)
			}
			if err := checkLength(op, fmt.Sprintf("weight of edge (%d, %d)", id, nid), -1, w); err != nil {
				return nil, err
			}
			edges = append(edges, Edge{i, j, w})
		}
	}
	return newGraph(ctx, op, ids, edges)
}

// NewGraphEdges is [NewGraph] for the graph with the nodes 0, ..., n-1 and the
// given edges, whose ends may come in either order. Of several edges between
// the same two nodes the shortest counts. edges is not kept.
func NewGraphEdges(ctx context.Context, n int, edges []Edge) (*Graph, error) {
	const op = "metric: NewGraphEdges"
	if err := checkNodes(op, n); err != nil {
		return nil, err
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
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
	return newGraph(ctx, op, ids, kept)
}

func checkNodes(op string, n int) error {
	if n <= 0 {
		return fmt.Errorf("%s: %d nodes: %w", op, n, fault.ErrEmpty)
	}
	return condensedSize(op, n)
}

func checkLength(op, arg string, index int, w float64) error {
	if w >= 0 && w <= maxMagnitude {
		return nil
	}
	return &ValueError{Op: op, Arg: arg, Index: index, Value: w, Want: "a number in [0, 1e300]"}
}

// newGraph takes checked edges with I < J, and keeps the slices.
func newGraph(ctx context.Context, op string, ids []int64, edges []Edge) (*Graph, error) {
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J), cmp.Compare(a.Length, b.Length))
	})
	edges = slices.CompactFunc(edges, func(a, b Edge) bool { return a.I == b.I && a.J == b.J })

	n := len(ids)
	parts := spanning.NewForest(n)
	for _, e := range edges {
		parts.Join(e.I, e.J)
	}
	for j, id := range ids { // before the n*n distances
		if parts.Root(j) != parts.Root(0) {
			return nil, fmt.Errorf("%s: no path joins nodes %d and %d: %w", op, ids[0], id, ErrDisconnected)
		}
	}
	g := newAdjacency(n, edges)
	d := &Dense{n: n, upper: make([]float64, n*(n-1)/2)}
	err := parallel.Chunks(ctx, n, 4, 0, nil, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			tree := path.DijkstraFrom(g.nodes[i], g)
			for j := i + 1; j < n; j++ {
				d.upper[d.at(i, j)] = tree.WeightTo(int64(j))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	edges = slices.DeleteFunc(edges, func(e Edge) bool { return e.Length > d.upper[d.at(e.I, e.J)] })
	return &Graph{d, ids, edges}, nil
}

// adjacency is the graph that gonum searches: rows of neighbors, sorted, with
// the indices as IDs. It takes a third of the time of the maps of gonum's own
// graphs, and unlike a caller's graph it is known to stand concurrent reads.
type adjacency struct {
	nodes []graph.Node
	to    [][]graph.Node // neighbors of each node
	w     [][]float64    // the lengths of their edges
}

func newAdjacency(n int, edges []Edge) *adjacency {
	a := &adjacency{make([]graph.Node, n), make([][]graph.Node, n), make([][]float64, n)}
	for i := range n {
		a.nodes[i] = simple.Node(i)
	}
	// In order of (I, J), row v gets its neighbors below v before those above.
	for _, e := range edges {
		a.to[e.I], a.w[e.I] = append(a.to[e.I], a.nodes[e.J]), append(a.w[e.I], e.Length)
		a.to[e.J], a.w[e.J] = append(a.to[e.J], a.nodes[e.I]), append(a.w[e.J], e.Length)
	}
	return a
}

// From, Weight and Edge are what path.DijkstraFrom asks for, the last only by
// its type.

func (a *adjacency) From(id int64) graph.Nodes  { return iterator.NewOrderedNodes(a.to[id]) }
func (a *adjacency) Edge(u, v int64) graph.Edge { return nil }

func (a *adjacency) Weight(u, v int64) (float64, bool) {
	k, ok := slices.BinarySearchFunc(a.to[u], v, func(x graph.Node, id int64) int { return cmp.Compare(x.ID(), id) })
	if !ok {
		return math.Inf(1), u == v
	}
	return a.w[u][k], true
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.ids) }

// Unit implements [Measured]: that of the metric that it is a [Spanner] of. The
// lengths of other graphs have none.
func (g *Graph) Unit() Unit { return g.dense.unit }

// String is for people: "shortest paths between 5 nodes".
func (g *Graph) String() string { return fmt.Sprintf("shortest paths between %d nodes", g.Len()) }

// Distance returns the length of the shortest path between points i and j.
func (g *Graph) Distance(i, j int) float64 { return g.dense.Distance(i, j) }

// DistancesFrom implements [RowReader].
func (g *Graph) DistancesFrom(i int, dst []float64) []float64 {
	return g.dense.DistancesFrom(i, dst)
}

// IDs returns a copy of the node IDs, in order of the points.
func (g *Graph) IDs() []int64 { return slices.Clone(g.ids) }

// Edges returns a copy of the edges that are shortest paths between their ends,
// I < J, in order of (I, J). They determine the metric: the edges left out are
// longer than a path of others. A function is Lipschitz, and a channel private,
// for all pairs where it is so along these edges.
func (g *Graph) Edges() []Edge { return slices.Clone(g.edges) }
