package heldkarp

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/heap"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// graph is a sparse graph of short edges, with the arrays that a pass needs. The neighbors of i are
// adj[k] for start[i] <= k < start[i+1], at the distances dist[k].
type graph struct {
	n     int
	start []int
	adj   []int32
	dist  []float64

	deg    []float64 // of the 1-tree
	parent []int32
	key    []float64 // cost of the edge to parent
	heap   heap.Heap // of key; who left it is in the tree
}

// newGraph returns the graph with the given edges, which may repeat, must
// connect all points, and come back sorted and without doubles.
func newGraph(f metric.Finite, edges []spanning.Edge) (*graph, []spanning.Edge) {
	n := f.Len()
	for k, e := range edges {
		if e.I > e.J {
			edges[k] = spanning.Edge{I: e.J, J: e.I}
		}
	}
	slices.SortFunc(edges, func(a, b spanning.Edge) int {
		return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
	})
	edges = slices.Compact(edges)
	g := &graph{
		n: n, start: make([]int, n+2), adj: make([]int32, 2*len(edges)), dist: make([]float64, 2*len(edges)),
		deg: make([]float64, n), parent: make([]int32, n), key: make([]float64, n),
	}
	g.heap = heap.New(g.key)
	for _, e := range edges {
		g.start[e.I+2]++
		g.start[e.J+2]++
	}
	for i := 2; i < len(g.start); i++ {
		g.start[i] += g.start[i-1]
	}
	for _, e := range edges {
		d := f.Distance(int(e.I), int(e.J))
		for _, p := range [2]spanning.Edge{e, {I: e.J, J: e.I}} {
			k := g.start[p.I+1]
			g.adj[k], g.dist[k] = p.J, d
			g.start[p.I+1]++
		}
	}
	g.start = g.start[:n+1]
	return g, edges
}

// spanning finds the minimum spanning tree of the graph under pi, by Prim's algorithm from point 0,
// and returns its cost: parent, key and deg describe it. O(m log n).
func (g *graph) spanning(pi []float64) float64 {
	clear(g.deg)
	g.heap.Clear()
	total := 0.0
	g.parent[0], g.key[0] = -1, 0
	g.heap.Push(0)
	for g.heap.Len() > 0 {
		v := g.heap.Pop()
		if v != 0 {
			total += g.key[v]
			g.deg[v]++
			g.deg[g.parent[v]]++
		}
		pv := pi[v]
		lo, hi := g.start[v], g.start[v+1]
		for k, j := range g.adj[lo:hi] {
			if g.heap.Left(j) {
				continue
			}
			if c := spanning.Cost(g.dist[lo+k], pv, pi[j]); !g.heap.Has(j) || c < g.key[j] {
				g.key[j], g.parent[j] = c, v
				g.heap.Push(j)
			}
		}
	}
	return total
}

// oneTree is spanning and one more edge: for tours the longest of the second shortest edges at the
// leaves of the tree, for paths the two edges to a point that lies at distance 0 from all. It
// returns the value of the bound, with ordinary rounding, and leaves the degrees in deg.
func (g *graph) oneTree(pi []float64, path bool) float64 {
	w := g.spanning(pi)
	if path {
		a, b := twoLeast(pi)
		g.deg[a]++
		g.deg[b]++
		w += pi[a] + pi[b]
	} else {
		best, leaf, end := math.Inf(-1), 0, int32(0)
		for v := range g.n {
			if g.deg[v] != 1 {
				continue
			}
			c, j := g.second(v, pi)
			if c > best {
				best, leaf, end = c, v, j
			}
		}
		g.deg[leaf]++
		g.deg[end]++
		w += best
	}
	s := 0.0
	for _, p := range pi {
		s += p
	}
	return w - 2*s
}

// second returns the second edge at v by cost.
func (g *graph) second(v int, pi []float64) (float64, int32) {
	lo, hi := g.start[v], g.start[v+1]
	var p pair
	for k, j := range g.adj[lo:hi] {
		p.add(spanning.Cost(g.dist[lo+k], pi[v], pi[j]), j)
	}
	return p.cost[1], p.end[1]
}

// pair are the two edges of least cost at a point, by their other ends.
type pair struct {
	cost [2]float64
	end  [2]int32
	deg  int
}

func (p *pair) add(cost float64, end int32) {
	switch {
	case p.deg == 0 || cost < p.cost[0]:
		p.cost[1], p.end[1] = p.cost[0], p.end[0]
		p.cost[0], p.end[0] = cost, end
	case p.deg == 1 || cost < p.cost[1]:
		p.cost[1], p.end[1] = cost, end
	}
	p.deg++
}

// twoLeast returns the places of the two least of two or more numbers.
func twoLeast(v []float64) (a, b int32) {
	var p pair
	for i, x := range v {
		p.add(x, int32(i))
	}
	return p.end[0], p.end[1]
}

// tree returns the edges of the spanning tree under pi.
func (g *graph) tree(pi []float64) []spanning.Edge {
	g.spanning(pi)
	t := make([]spanning.Edge, 0, g.n-1)
	for v, p := range g.parent {
		if p >= 0 {
			t = append(t, spanning.Edge{I: p, J: int32(v)})
		}
	}
	return t
}

// preorder returns the points of a graph that is a tree in preorder from point 0,
// children in ascending order.
func (g *graph) preorder() (order []int) {
	parent := make([]int, g.n)
	parent[0] = -1
	for stack := []int{0}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, i)
		for _, v := range slices.Backward(g.adj[g.start[i]:g.start[i+1]]) {
			if j := int(v); j != parent[i] {
				parent[j] = i
				stack = append(stack, j)
			}
		}
	}
	return order
}

// around returns for each point the distance to the farthest of its k nearest
// in the graph, at least a small part of unit.
func (g *graph) around(k int, unit float64) []float64 {
	const part = 1e-6
	out := make([]float64, g.n)
	var row []float64
	for i := range out {
		row = append(row[:0], g.dist[g.start[i]:g.start[i+1]]...)
		slices.Sort(row)
		out[i] = max(row[min(k, len(row))-1], part*unit)
	}
	return out
}
