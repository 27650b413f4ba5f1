package simplex

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
)

// node is a node of the spanning tree: its place there, and the flow and
// cost of the arc that joins it to its parent, from the source to the sink of
// the two. 32 bytes, so that a step along the tree touches one cache line.
type node struct {
	parent, depth int32
	next, prev    int32 // in preorder, circular
	flow          int64
	cost          float64
}

// tree is a feasible basis of a transportation problem: a spanning tree of the sources
// 0..n-1 and the sinks n.., rooted at its center and threaded in preorder. Masses are
// integers and in general position (see toUnits): a proper subset of the nodes never
// balances, so no flow of a basis is 0, the arc that leaves is unique, and every pivot
// lowers the cost. That is all it takes to rule out cycling (Dantzig 1951; Orden 1956).
//
// pi are the potentials u of the sources and -v of the sinks: the reduced cost
// of the arc (i, j) is c - pi[i] + pi[j], and 0 along the tree up to rounding.
//
// A node of the tree has a place, in which the tree names it: at first its number,
// and after renumber another one among the sources or the sinks.
type tree struct {
	n     int32
	root  int32
	node  []node    // by place
	pi    []float64 // by place
	place []int32   // by number
}

// edge joins source i to sink j, as nodes.
type edge struct {
	i, j int32
	cost float64
}

// newTree builds the tree of the given edges, which span the n sources and the sinks and can
// move the masses units. Its root is the node that remains when leaves are stripped layer by
// layer, so that paths to the root are short and subtrees small.
func newTree(n int, units []int64, edges []edge) *tree {
	nodes := len(units)
	t := &tree{n: int32(n), node: make([]node, nodes), pi: make([]float64, nodes), place: make([]int32, nodes)}
	for v := range t.place {
		t.place[v] = int32(v)
	}
	ends := make([][]*edge, nodes)
	for k := range edges {
		e := &edges[k]
		ends[e.i], ends[e.j] = append(ends[e.i], e), append(ends[e.j], e)
	}
	var leaves []int32
	open := make([]int, nodes) // edges to nodes that were no leaves yet
	for v, list := range ends {
		if open[v] = len(list); open[v] == 1 {
			leaves = append(leaves, int32(v))
		}
	}
	for q := 0; q < len(leaves); q++ {
		v := leaves[q]
		for _, e := range ends[v] {
			w := e.i + e.j - v
			if open[w]--; open[w] == 1 {
				leaves = append(leaves, w)
			}
		}
	}
	t.root = leaves[len(leaves)-1]
	t.node[t.root].parent = -1
	last, stack := t.root, []int32{t.root}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.node[last].next, t.node[v].prev = v, last
		last = v
		for _, e := range ends[v] {
			if w := e.i + e.j - v; w != t.node[v].parent {
				t.node[w] = node{parent: v, depth: t.node[v].depth + 1, cost: e.cost}
				stack = append(stack, w)
			}
		}
	}
	t.node[last].next, t.node[t.root].prev = t.root, last
	// What passes an edge is what the subtree below has, less what it needs.
	for v, mass := range units {
		if v >= n {
			mass = -mass
		}
		t.node[v].flow += mass
	}
	for v := last; v != t.root; v = t.node[v].prev {
		p := &t.node[v]
		t.node[p.parent].flow += p.flow
		p.flow = max(p.flow, -p.flow)
	}
	return t
}

// renumber puts the sources, and the sinks, into the order of the thread, so that a walk through a
// large subtree reads memory in order, and returns the new place by the old. O(nodes).
func (t *tree) renumber() (to []int32) {
	to = make([]int32, len(t.node))
	source, sink := int32(0), t.n
	for v, first := t.root, true; first || v != t.root; v, first = t.node[v].next, false {
		if v < t.n {
			to[v] = source
			source++
		} else {
			to[v] = sink
			sink++
		}
	}
	nodes, pi := make([]node, len(t.node)), make([]float64, len(t.pi))
	for v, p := range t.node {
		if p.parent >= 0 {
			p.parent = to[p.parent]
		}
		p.next, p.prev = to[p.next], to[p.prev]
		nodes[to[v]], pi[to[v]] = p, t.pi[v]
	}
	for k, v := range t.place {
		t.place[k] = to[v]
	}
	t.node, t.pi, t.root = nodes, pi, to[t.root]
	return to
}

// potentials returns those of the nodes, pi by number.
func (t *tree) potentials() []float64 {
	pi := make([]float64, len(t.pi))
	for v, at := range t.place {
		pi[v] = t.pi[at]
	}
	return pi
}

// number returns the number of the node at each place.
func (t *tree) number() []int32 {
	id := make([]int32, len(t.place))
	for v, at := range t.place {
		id[at] = int32(v)
	}
	return id
}

// refresh computes the potentials from the costs along the tree, 0 at the root,
// and returns the largest in size.
func (t *tree) refresh() float64 {
	big := 0.0
	t.pi[t.root] = 0
	for v := t.node[t.root].next; v != t.root; v = t.node[v].next {
		p := &t.node[v]
		c := p.cost
		if v >= t.n {
			c = -c
		}
		t.pi[v] = t.pi[p.parent] + c
		big = max(big, math.Abs(t.pi[v]))
	}
	return big
}

// pivot brings the arc from i to j of cost c into the basis. It reports false,
// and does nothing, where the cost of the cycle that the arc closes is not
// certainly negative: the reduced cost was rounding.
func (t *tree) pivot(i, j int32, c float64) bool {
	node, n := t.node, t.n
	// Flow goes around from i to j and back up the tree. It falls on the arcs
	// above sources on the side of i and above sinks on the side of j.
	delta, out, onI := int64(math.MaxInt64), int32(-1), true
	sum, lost, size, steps := c, 0.0, c, 2.0
	add := func(x float64) {
		var e float64
		sum, e = directed.TwoSum(sum, x)
		lost += e
	}
	a, b := i, j
	for a != b {
		steps++
		if p := &node[a]; p.depth >= node[b].depth {
			size += p.cost
			if a < n {
				add(-p.cost)
				if p.flow < delta {
					delta, out, onI = p.flow, a, true
				}
			} else {
				add(p.cost)
			}
			a = p.parent
		} else {
			p = &node[b]
			size += p.cost
			if b >= n {
				add(-p.cost)
				if p.flow < delta {
					delta, out, onI = p.flow, b, false
				}
			} else {
				add(p.cost)
			}
			b = p.parent
		}
	}
	// A sum loses less than 2^-53 of the sizes at every step, and lost errs by less
	// than steps*2^-53 of that many such; 2^-104 covers the rounding of size itself.
	// A tree may be thousands of steps deep: without lost, gains of 1e-10 of a
	// distance would be taken for rounding.
	if sum+lost >= -steps*steps*size*0x1p-104 {
		return false
	}
	for v := i; v != a; v = node[v].parent {
		if v < n {
			node[v].flow -= delta
		} else {
			node[v].flow += delta
		}
	}
	for v := j; v != a; v = node[v].parent {
		if v < n {
			node[v].flow += delta
		} else {
			node[v].flow -= delta
		}
	}
	if r := reduced(arc{i, j, c}, t.pi); onI {
		t.move(out, i, j, delta, c, r)
	} else {
		t.move(out, j, i, delta, c, -r)
	}
	return true
}

// move cuts off the subtree of out, turns it round so that u is its root, and joins u
// to v by an arc of the given flow and cost. The potentials of the subtree rise
// by shift. It costs a walk through the subtree.
func (t *tree) move(out, u, v int32, flow int64, cost, shift float64) {
	node, pi := t.node, t.pi
	before := node[out].prev
	// w goes up from u to out. The subtree of w less that of the node below it on the way follows
	// last in the new preorder; in the old one it lay around that subtree, in two pieces.
	w, parent := u, v
	depth := node[u].depth              // of w, before
	deeper := node[v].depth + 1 - depth // what depths in its piece gain
	end := node[u].prev                 // the node before w's subtree, before
	x, last := u, u                     // x: the next node not yet dealt with
	for {
		for x == u || node[x].depth > depth { // behind the subtree below
			p := &node[x]
			p.depth += deeper
			pi[x] += shift
			last, x = x, p.next
		}
		p := &node[w]
		up, f, c := p.parent, p.flow, p.cost
		p.parent, p.flow, p.cost = parent, flow, cost
		if w == out {
			break
		}
		w, parent, flow, cost = up, w, f, c
		depth--
		deeper += 2
		start := node[w].prev
		node[last].next, node[w].prev = w, last
		for y := w; ; y = node[y].next { // before it
			node[y].depth += deeper
			pi[y] += shift
			if y == end {
				break
			}
		}
		last, end = end, start
		if node[x].depth > depth {
			node[last].next, node[x].prev = x, last
		}
	}
	node[before].next, node[x].prev = x, before
	y := node[v].next
	node[v].next, node[u].prev = u, v
	node[last].next, node[y].prev = y, last
}
