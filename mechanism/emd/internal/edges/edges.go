// Package edges maps the leaves of a tree to integers such that the mean of
// many says how they are distributed: for each edge its length, below it, and 0
// elsewhere.
package edges

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Tree is a rooted tree with integer lengths, the items at some of its nodes.
// Node 0 is the root, and parents come before their children.
type Tree struct {
	Parent []int   // of node 0: -1
	Length []int64 // >= 0, of the edge above
	Items  []int   // the node of an item
}

// Map sends an item to Length[v] at all nodes v but the root that it lies at or
// below, and to 0 elsewhere. So ||Phi(x) - Phi(y)||_1 is the length of the path
// between the items: an isometry.
type Map struct {
	Tree
	Quantum float64   // the distance of length 1
	Wide    []float64 // bounds the distances of items below a node: those in the tree, or the caller's

	dim   int // nodes with a length > 0
	child [][]int
	items []int // of a node
	parts []part
}

// part has the variance and weights of the best combination of a node's own noisy count and
// its children's sum.
type part struct {
	variance    float64 // of the combination of both, in units of the noise's
	own, others float64 // their weights in it
}

// New returns the map of t, pruned to the nodes that pay: noise is the expected size of that of a
// coordinate, and least, where positive, the diameter up to which a subtree becomes one node.
//
// Pruned where subtrees have a diameter of at most s, a tree with E edges errs by about E*noise + s: s
// is chosen to make that least. What is cut off a subtree is added to the edge above it as far as all
// of its items share it: items in two subtrees are at least that much farther apart.
func New(t Tree, quantum, noise, least float64) *Map {
	t = t.contract()
	n := len(t.Parent)
	low, up, diam := make([]int64, n), make([]int64, n), make([]int64, n)
	children := make([]int, n)
	for v := range low {
		low[v] = math.MaxInt64
	}
	for _, v := range t.Items {
		low[v] = 0
	}
	for v := n - 1; v > 0; v-- {
		p, l := t.Parent[v], t.Length[v]
		children[p]++
		diam[p] = max(diam[p], diam[v], up[p]+up[v]+l)
		up[p] = max(up[p], up[v]+l)
		low[p] = min(low[p], low[v]+l)
	}
	inner := make([]int, 0, n)
	for v := range n {
		if children[v] > 0 {
			inner = append(inner, v)
		}
	}
	slices.SortStableFunc(inner, func(a, b int) int { return cmp.Compare(diam[b], diam[a]) })
	// Those before inner[i] stay, and all of the same diameter with them.
	cut, best, edges := diam[0], float64(diam[0]), 0
	for i, v := range inner {
		edges += children[v]
		next := int64(0)
		if i+1 < len(inner) {
			next = diam[inner[i+1]]
		}
		if next == diam[v] {
			continue
		}
		cost := float64(float64(edges)*noise) + float64(next)
		if least > 0 && diam[v] > int64(min(least, math.MaxInt64/2)) || least == 0 && cost <= best {
			cut, best = next, cost
		}
	}
	to := make([]int, n) // the node in the pruned tree
	m := &Map{Quantum: quantum}
	for v, p := range t.Parent {
		switch {
		case p < 0:
			m.Parent, m.Length = append(m.Parent, -1), append(m.Length, 0)
		case diam[p] <= cut: // p is no inner node any more
			to[v] = to[p]
			continue
		default:
			to[v] = len(m.Parent)
			l := t.Length[v]
			if diam[v] <= cut {
				l += low[v]
			}
			m.Parent, m.Length = append(m.Parent, to[p]), append(m.Length, l)
		}
		m.Wide = append(m.Wide, float64(float64(diam[v])*quantum))
	}
	m.Items = make([]int, len(t.Items))
	m.items = make([]int, len(m.Parent))
	for i, v := range t.Items {
		m.Items[i] = to[v]
		m.items[to[v]]++
	}
	m.prepare()
	return m
}

// contract joins what is at distance 0, and the two edges of a node with one
// child and no items. Nodes without items below go.
func (t Tree) contract() Tree {
	n := len(t.Parent)
	has, child := make([]bool, n), make([]int, n)
	for _, v := range t.Items {
		has[v] = true
	}
	own := slices.Clone(has)
	for v := n - 1; v > 0; v-- {
		if has[v] {
			has[t.Parent[v]] = true
			child[t.Parent[v]]++
		}
	}
	// An inner edge of length 0 joins its ends, and an edge to items of length 0
	// puts them on its upper end.
	to, extra := make([]int, n), make([]int64, n)
	var out Tree
	for v, p := range t.Parent {
		l := t.Length[v]
		if p >= 0 {
			l += extra[p]
		}
		switch {
		case !has[v]:
		case len(out.Parent) == 0:
			// The root is the first node with items or a choice.
			if own[v] || child[v] != 1 {
				out.Parent, out.Length = append(out.Parent, -1), append(out.Length, 0)
			}
		case l == 0:
			to[v] = to[p]
		case child[v] == 1 && !own[v]:
			to[v], extra[v] = to[p], l
		default:
			to[v] = len(out.Parent)
			out.Parent, out.Length = append(out.Parent, to[p]), append(out.Length, l)
		}
	}
	out.Items = make([]int, len(t.Items))
	for i, v := range t.Items {
		out.Items[i] = to[v]
	}
	// Items at an inner node get a leaf of their own, at length 0.
	inner := make([]int, len(out.Parent))
	for _, p := range out.Parent[1:] {
		inner[p] = 1
	}
	for i, v := range out.Items {
		if inner[v] == 1 {
			inner[v] = len(out.Parent)
			out.Parent, out.Length = append(out.Parent, v), append(out.Length, 0)
		}
		if inner[v] > 1 {
			out.Items[i] = inner[v]
		}
	}
	return out
}

// prepare numbers the coordinates and computes the weights of the estimate.
func (m *Map) prepare() {
	n := len(m.Parent)
	m.child, m.parts = make([][]int, n), make([]part, n)
	below := make([]float64, n) // the variance of the sum of the children
	for v := n - 1; v > 0; v-- {
		p, l := m.Parent[v], m.Length[v]
		own := unseen
		if l > 0 {
			m.dim++
			own = 1 / (float64(l) * float64(l))
		}
		w := part{own, 1, 0}
		if m.child[v] != nil {
			s := own + below[v]
			w = part{own / s * below[v], below[v] / s, own / s}
		}
		m.parts[v] = w
		m.child[p] = append(m.child[p], v)
		below[p] += w.variance
	}
}

// unseen is the variance of an edge of length 0, of which nothing is measured:
// far above that of any other, which is at most 1.
const unseen = 0x1p60

// Dim is the number of edges of positive length.
func (m *Map) Dim() int { return m.dim }

// Work is the length of an accumulator: a number a node.
func (m *Map) Work() int { return len(m.Parent) }

// Largest bounds the coordinates.
func (m *Map) Largest() int64 { return max(1, slices.Max(m.Length)) }

// Add counts an item.
func (m *Map) Add(acc []int64, item int, count int64) { acc[m.Items[item]] += count }

// Finish makes of an accumulator the sum of Phi, in its first Dim numbers.
func (m *Map) Finish(acc []int64) {
	for v := len(acc) - 1; v > 0; v-- {
		acc[m.Parent[v]] += acc[v]
	}
	k := 0
	for v, l := range m.Length {
		if l > 0 {
			acc[k] = acc[v] * l // k < v
			k++
		}
	}
}

// Len is the number of items, which are the outputs.
func (m *Map) Len() int { return len(m.Items) }

// Fit returns the weights of the items, for a noisy mean y of Phi. From the leaves up, the share of a
// node is the least squares estimate from its own coordinate and its children's estimates. From the
// root down, it is divided among the children such that theirs are >= 0 and nearest to their
// estimates, in squares over variances. Items of one node share evenly.
func (m *Map) Fit(_ context.Context, y []float64) ([]float64, error) {
	n := len(m.Parent)
	g, sums := make([]float64, n), make([]float64, n)
	k := m.dim
	for v := n - 1; v > 0; v-- {
		w := m.parts[v]
		if l := m.Length[v]; l > 0 {
			k--
			g[v] = y[k] / float64(l)
		}
		g[v] = float64(w.own*g[v]) + float64(w.others*sums[v])
		sums[m.Parent[v]] += g[v]
	}
	g[0] = 1
	var order []int
	for v, children := range m.child {
		order = m.share(append(order[:0], children...), g, g[v])
	}
	p := make([]float64, len(m.Items))
	for i, v := range m.Items {
		p[i] = g[v] / float64(m.items[v])
	}
	return p, nil
}

// share replaces the estimates g of children by the nearest shares: max(0, g - tau*variance) for the
// tau that makes the total right.
func (m *Map) share(children []int, g []float64, total float64) []int {
	ratio := func(v int) float64 { return g[v] / m.parts[v].variance }
	slices.SortFunc(children, func(a, b int) int { return cmp.Or(cmp.Compare(ratio(b), ratio(a)), cmp.Compare(a, b)) })
	sum, variance, tau := 0.0, 0.0, 0.0
	for _, v := range children {
		s, w := sum+g[v], variance+m.parts[v].variance
		t := (s - total) / w
		if variance > 0 && ratio(v) <= t {
			break
		}
		sum, variance, tau = s, w, t
	}
	got := 0.0
	for _, v := range children {
		g[v] = max(0, g[v]-float64(tau*m.parts[v].variance))
		got += g[v]
	}
	for _, v := range children { // rounding
		if got > 0 {
			g[v] *= total / got
		} else {
			g[v] = total / float64(len(children))
		}
	}
	return children
}

// W1 is the distance of two lists of weights of the items.
func (m *Map) W1(_ context.Context, p, q []float64) (float64, error) {
	diff := make([]float64, len(m.Parent))
	for i, v := range m.Items {
		diff[v] += p[i] - q[i]
	}
	sum := 0.0
	for v := len(diff) - 1; v > 0; v-- {
		sum += float64(float64(m.Length[v]) * math.Abs(diff[v]))
		diff[m.Parent[v]] += diff[v]
	}
	return sum * m.Quantum, nil
}

// Resolution bounds the distance of what Fit makes of the noiseless mean of any items from these, under
// the metric of Wide: they differ within the nodes that were not split.
func (m *Map) Resolution() float64 {
	blurred := 0.0
	for v, n := range m.items {
		if n > 1 {
			blurred = max(blurred, m.Wide[v])
		}
	}
	return blurred
}

// Bound bounds the expected error of the weights under that metric, for noise of the given standard
// deviation on every coordinate of y.
//
// Among a node's children let P be the true shares, of sum P_v, g the estimates and Q the result, of
// sum Q_v. Q arises from g by lowering entries, if the positive ones sum to more than Q_v, apart from
// those below 0, else by raising them: no nonnegative entries with this sum are nearer to g in l1, and
// P becomes such by moving |Q_v - P_v|. So
//
//	|Q - P|_1 <= |Q - g|_1 + |g - P|_1 <= 2|g - P|_1 + |Q_v - P_v|.
//
// From the root down, where Q = P, masses are moved such that the children of every node have the
// shares Q. What moves into a node goes on to children whose P is below Q, and what leaves comes from
// others, so that in node v no more than half of |Q - P|_1 - |Q_v - P_v|, at most |g - P|_1, is left to
// move within Wide[v]. The g are unbiased, with the variances known.
func (m *Map) Bound(_, deviation float64) float64 {
	sum := 0.0
	for v, w := range m.parts[1:] {
		sum += float64(math.Sqrt(w.variance) * m.Wide[m.Parent[v+1]])
	}
	return float64(sum*deviation) + m.Resolution()
}
