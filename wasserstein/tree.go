package wasserstein

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
	"golang.org/x/exp/constraints"
	"gonum.org/v1/gonum/floats"
)

// pathTree is a tree with points at some of its nodes, as far apart as the paths between them are
// long. W1 has a closed form there: what mu-nu has below an edge must cross it, so that
//
//	W1(mu, nu) = sum over the edges of their length * |mu-nu below|.
type pathTree struct {
	parent []int     // -1: the root
	length []float64 // of the edge above a node
	order  []int     // the nodes, each before the one above; the root is last
	at     []int     // the nodes of the points
	// close tells that a distance is the way between two points but for what
	// [pathTree.sources] takes off.
	close bool
}

// pathTreeOf returns the tree of a metric whose type has one: points of the line, the path metric
// of a tree, an ultrametric, clusters. It returns nil for all others. O(n), O(n log n) on the line.
func pathTreeOf(f metric.Finite) *pathTree {
	switch s := f.(type) {
	case *metric.Clustered:
		return clusteredTree(s)
	case *metric.Ultrametric:
		return joinTree(s.Order(), s.Heights())
	case interface{ Tree() (*metric.Tree, []int) }: // Tree.PathMetric and Tree.NodeMetric
		return nodeTree(s.Tree())
	}
	return lineTree(f)
}

// nodeTree is t with points at these nodes.
func nodeTree(t *metric.Tree, at []int) *pathTree {
	p := &pathTree{make([]int, t.Len()), make([]float64, t.Len()), t.Preorder(), at, true}
	slices.Reverse(p.order)
	for v := range p.parent {
		p.parent[v], p.length[v] = t.Parent(v), t.Length(v)
	}
	return p
}

// joinTree is the tree of an ultrametric with these heights between neighbors in this
// order. Node n+k is the join of height k, which stands at half that height above the
// points: the way between two points climbs to their join and back.
func joinTree(row []int, heights []float64) *pathTree {
	n := len(row)
	p := &pathTree{make([]int, 2*n-1), make([]float64, 2*n-1), identity(2*n - 1)[:n], identity(n), true}
	p.parent[0] = -1 // a single point
	spanning.Dendrogram(heights, func(gap, left, right int) {
		for side, k := range [2]int{left, right} {
			v, h := n+k, 0.0
			if k >= 0 {
				h = heights[k]
			} else {
				v = row[gap+side]
			}
			p.parent[v], p.length[v] = n+gap, (heights[gap]-h)/2
		}
		p.parent[n+gap] = -1 // until it is joined
		p.order = append(p.order, n+gap)
	})
	return p
}

// clusteredTree is the tree of depth two with the clusters below its root (IRC24, Section 6.2).
func clusteredTree(c *metric.Clustered) *pathTree {
	n, size := c.Len(), c.Size()
	all := n + c.Clusters() + 1
	p := &pathTree{make([]int, all), make([]float64, all), identity(all), identity(n), true}
	for v := range all {
		switch {
		case v < n:
			p.parent[v], p.length[v] = n+v/size, c.Intra()/2
		case v < all-1:
			p.parent[v], p.length[v] = all-1, (c.Inter()-c.Intra())/2
		default:
			p.parent[v] = -1
		}
	}
	return p
}

// lineTree is the path through points of the line from left to right, nil where f is
// no [metric.Embedded] line. Where the steps from point to point and the way from end to
// end are the differences of the coordinates, so are all distances, by the triangle
// inequality; integers above 2^53 may not be.
func lineTree(f metric.Finite) *pathTree {
	if finite.Dim(f) > 1 {
		return nil
	}
	e, ok := finite.Embed[metric.Embedding](f)
	n := f.Len()
	if !ok || e.Dim != 1 || len(e.Coords) != n || n > lineCount {
		return nil
	}
	for _, v := range e.Coords {
		if !(math.Abs(v) <= lineMax) {
			return nil
		}
	}
	p, order := straight(e.Coords)
	for k, length := range p.length[:n-1] {
		if f.Distance(lineAt(order, k), lineAt(order, k+1)) != length {
			return nil
		}
	}
	a, b := lineAt(order, 0), lineAt(order, n-1)
	if f.Distance(a, b) != e.Coords[b]-e.Coords[a] {
		return nil
	}
	p.close = isNumbers[float64](f) || isNumbers[float32](f) ||
		(isNumbers[int](f) || isNumbers[int64](f)) && -wholeMax <= e.Coords[a] && e.Coords[b] <= wholeMax
	return p
}

// straight is the path through points at the positions x, and their order (see lineOrder).
func straight(x []float64) (p *pathTree, order []int32) {
	n := len(x)
	p, order = &pathTree{make([]int, n), make([]float64, n), identity(n), make([]int, n), false}, lineOrder(x)
	for k := range n {
		i := lineAt(order, k)
		p.parent[k], p.at[i] = k+1, k
		if k+1 < n {
			p.length[k] = x[lineAt(order, k+1)] - x[i]
		}
	}
	p.parent[n-1] = -1
	return p, order
}

// wholeMax is the number up to which all integers are coordinates.
const wholeMax = 1 << 53

// isNumbers tells whether f is a list of numbers under [metric.Numbers].
func isNumbers[T constraints.Integer | constraints.Float](f metric.Finite) bool {
	s, ok := f.(*metric.Points[T])
	if ok {
		_, ok = s.Space().(metric.Numbers[T])
	}
	return ok
}

// identity is 0, 1, ..., n-1.
func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// below returns what mu-nu has at and below each node.
func (p *pathTree) below(mu, nu []float64) []exact.DD {
	below := make([]exact.DD, len(p.parent))
	for i, v := range p.at {
		below[v] = below[v].AddFloat(mu[i]).AddFloat(-nu[i])
	}
	for _, v := range p.order[:len(p.order)-1] {
		below[p.parent[v]] = below[p.parent[v]].Add(below[v])
	}
	return below
}

// cost sums length times |below| over the edges.
func (p *pathTree) cost(below []exact.DD) float64 {
	var cost exact.DD
	for v, d := range below {
		if p.parent[v] >= 0 {
			// The conversion keeps the product from being fused with a sum, which
			// would spoil the error terms in there.
			cost = cost.AddFloat(float64(p.length[v] * math.Abs(d.Hi)))
		}
	}
	return sumOrInf(cost)
}

// distance returns the cost of mu-nu, what one total has more than the other being at the
// lowest node above all points with weight: no edge above that node counts. From there to a
// point with weight is no farther than to some other one by way of it.
func (p *pathTree) distance(mu, nu []float64) float64 {
	weights, all := make([]int, len(p.parent)), 0 // at and below a node
	for i, v := range p.at {
		if mu[i] != 0 || nu[i] != 0 {
			weights[v]++
			all++
		}
	}
	below := p.below(mu, nu)
	for _, v := range p.order[:len(p.order)-1] {
		weights[p.parent[v]] += weights[v]
		if weights[v] == all {
			below[v] = exact.DD{}
		}
	}
	return p.cost(below)
}

// potentials returns those of an optimum, of the points as sinks: along every edge they
// change by its length against the mass that crosses it. The least of the heavier measure,
// whose rest stays where it is, is 0.
func (p *pathTree) potentials(below []exact.DD) []float64 {
	up := make([]exact.DD, len(p.parent)) // of the nodes as sources
	for _, v := range slices.Backward(p.order[:len(p.order)-1]) {
		switch up[v] = up[p.parent[v]]; {
		case below[v].Hi > 0:
			up[v] = up[v].AddFloat(p.length[v])
		case below[v].Hi < 0:
			up[v] = up[v].AddFloat(-p.length[v])
		}
	}
	root := p.order[len(p.order)-1]
	end := up[p.at[0]]
	for _, v := range p.at {
		if d := up[v].Add(end.Neg()); d.Hi != 0 && d.Hi > 0 == (below[root].Hi > 0) {
			end = up[v]
		}
	}
	out := make([]float64, len(p.at))
	for i, v := range p.at {
		out[i] = end.Add(up[v].Neg()).Hi
	}
	return out
}

// plan returns flows that move the masses src to the masses dst, except for what one has
// more than the other: from below upward, masses meet at the lowest node that they can, and
// so cross no edge both ways. O(n).
func (p *pathTree) plan(src, dst *masses) []Flow {
	rest := make([]exact.DD, len(p.at)) // to give, and negative to get
	next := make([]int, len(p.at))
	// The points at and below a node with a rest, all of one sign, as a list.
	type list struct{ first, last int }
	none := list{-1, -1}
	lists := slices.Repeat([]list{none}, len(p.parent))
	var plan []Flow
	join := func(v int, c list) {
		l := lists[v]
		for l.first >= 0 && c.first >= 0 && rest[l.first].Hi > 0 != (rest[c.first].Hi > 0) {
			i, j := l.first, c.first
			left, flow := rest[i].Add(rest[j]), Flow{I: i, J: j, Mass: math.Abs(rest[j].Hi)}
			if left.Hi == 0 || left.Hi > 0 != (rest[i].Hi > 0) {
				flow.Mass = math.Abs(rest[i].Hi)
				l.first = next[i]
			}
			if left.Hi == 0 || left.Hi > 0 != (rest[j].Hi > 0) {
				c.first = next[j]
			}
			if rest[i].Hi < 0 {
				flow.I, flow.J = j, i
			}
			plan = append(plan, flow)
			rest[i], rest[j] = left, left // of the two, one is done
		}
		switch {
		case l.first < 0:
			l = c
		case c.first >= 0:
			next[l.last], l.last = c.first, c.last
		}
		lists[v] = l
	}
	for side, m := range [2]*masses{src, dst} {
		for k, i := range m.at {
			if rest[i] = m.mass[k]; side == 1 {
				rest[i] = rest[i].Neg()
			}
			next[i] = -1
			join(p.at[i], list{i, i})
		}
	}
	for _, v := range p.order[:len(p.order)-1] {
		join(p.parent[v], lists[v])
	}
	return plan
}

// sources returns the potentials that go with v of all sinks: for every point the least of
// its distances less v, rounded down. largest bounds all distances.
//
// The way between two points is at most 2^-51 times longer than their distance, and
// 2n*2^-103 times the height of the tree ([metric.Tree.PathMetric]; elsewhere a distance
// and an edge are rounded once). Sums of n terms in double-double arithmetic err by 2^-103
// times the height and the largest potential a term. Four times all this is taken off.
func (p *pathTree) sources(v []float64) (u []float64, largest float64) {
	least := make([]exact.DD, len(p.parent)) // of the ways from a node to points less v
	far := slices.Repeat([]float64{-1}, len(p.parent))
	offer := func(node int, w exact.DD, first bool) {
		if b := least[node]; first || w.Hi < b.Hi || w.Hi == b.Hi && w.Lo < b.Lo {
			least[node] = w
		}
	}
	size := 0.0
	for i, node := range p.at {
		offer(node, exact.DD{Hi: -v[i]}, far[node] < 0)
		far[node], size = 0, max(size, math.Abs(v[i]))
	}
	below := p.order[:len(p.order)-1]
	for _, node := range below {
		if far[node] < 0 {
			continue
		}
		up, way := p.parent[node], directed.AddUp(far[node], p.length[node])
		if far[up] >= 0 {
			largest = max(largest, directed.AddUp(far[up], way))
		}
		offer(up, least[node].AddFloat(p.length[node]), far[up] < 0)
		far[up] = max(far[up], way)
	}
	for _, node := range slices.Backward(below) {
		offer(node, least[p.parent[node]].AddFloat(p.length[node]), far[node] < 0)
	}
	n := float64(len(p.parent))
	slack := directed.MulUp(0x1p-49, largest)
	slack = directed.AddUp(slack, directed.MulUp(float64(n*0x1p-99), directed.AddUp(far[p.order[len(below)]], size)))
	if slack > 0 {
		slack += float64(n * 0x1p-1070) // of numbers below the normal ones
	}
	u = make([]float64, len(p.at))
	for i, node := range p.at {
		w := least[node]
		u[i] = directed.AddDown(w.Hi, directed.SubDown(w.Lo, slack))
	}
	return u, directed.AddUp(largest, slack)
}

// slopes returns potentials of the points as sinks, >= 0, that prove p the nearest to g: 0 where p
// has mass, and along every edge that mass must cross as different as the edge is long. An interval
// of what a node can have goes from the leaves up, and from the root down every node takes what is
// nearest to the node above. Masses that rounding explains are taken for none.
func (p *pathTree) slopes(nearest, g []float64) []float64 {
	tol := massTol(len(g), floats.Norm(g, 1))
	below := p.below(g, nearest)
	lo, hi := slices.Repeat([]float64{math.Inf(-1)}, len(below)), slices.Repeat([]float64{math.Inf(1)}, len(below))
	for i, node := range p.at {
		lo[node] = max(lo[node], 0)
		if nearest[i] > tol {
			hi[node] = 0
		}
	}
	// step is how much more the node above has, at the least and at the most.
	step := func(node int) (least, most float64) {
		l := p.length[node]
		switch d := below[node].Hi; {
		case d > tol:
			return l, l
		case d < -tol:
			return -l, -l
		}
		return -l, l
	}
	edges := p.order[:len(p.order)-1]
	for _, node := range edges {
		least, most := step(node)
		up := p.parent[node]
		lo[up] = max(lo[up], lo[node]+least)
		hi[up] = max(min(hi[up], hi[node]+most), lo[up])
	}
	v := make([]float64, len(below))
	root := p.order[len(edges)]
	v[root] = min(max(0, lo[root]), hi[root])
	for _, node := range slices.Backward(edges) {
		least, most := step(node)
		up := v[p.parent[node]]
		v[node] = min(max(up-most, lo[node], min(up, hi[node])), up-least)
	}
	out := make([]float64, len(p.at))
	for i, node := range p.at {
		out[i] = v[node]
	}
	floats.AddConst(-slices.Min(out), out)
	return out
}

// along returns the optimum where points lie on a tree.
func (t *transport) along(ctx context.Context, p *pathTree) (*Result, error) {
	plan := append(t.plan, p.plan(&t.src, &t.dst)...)
	v := p.potentials(p.below(t.mu, t.nu))
	if p.close {
		if u, largest := p.sources(v); largest <= rows.Max {
			return t.prove(ctx, plan, u, v, largest)
		}
	}
	t.places = placesOf(t.cost)
	return t.prove(ctx, plan, nil, v, 0)
}

// Distance returns the distance of [W1] without plan and certificate. Where W1 has a closed
// form it reads no distances, in O(n) memory and time, O(n log n) on the line, with a
// relative error of about 2^-51, plus n*2^-103 times the total variation and the diameter.
// A difference of the totals counts as if it lay at the lowest node above all points with
// weight, on a line the largest. The result is +Inf on overflow. Errors are those of W1.
func Distance(ctx context.Context, f metric.Finite, mu, nu []float64) (float64, error) {
	const op = "wasserstein: Distance"
	n := fault.Len(f)
	if err := checkMeasures(op, mu, nu, n, n, true); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if p := pathTreeOf(f); p != nil {
		return p.distance(mu, nu), nil
	}
	r, err := w1(ctx, op, f, mu, nu, nil)
	if err != nil {
		return 0, err
	}
	return r.Cost, nil
}
