package cells

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/clique"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/bitset"
)

// verdict is the outcome of an attempt at a proof.
type verdict int

const (
	proved  verdict = iota
	refuted         // by a separated set
	unknown         // the budget ran out
)

const (
	// deepMeets and deepApart are how many levels below two cells are looked at
	// to tell whether they have points near or far enough.
	deepMeets = 6
	deepApart = 6

	// coarseCenters is the largest ratio of the radius of a cell of centers to that of their balls.
	coarseCenters = 0.25

	// matrixCells bounds the cells of one graph: 2 MiB.
	matrixCells = 4096

	// splitRatio: cells down to this part of the largest radius are split along with the largest.
	splitRatio = 0.7
)

// startCells says how many times smaller than T the radii of the cells of colorBound are. The last
// are fine enough to drop the inside of a ball, where a separated set seldom has points.
var startCells = [...]float64{2.5, 5}

// prover tries to prove s(Z, alpha) <= T for one set of centers after another.
// Not for concurrent use.
//
// Let X be a cell of centers, of radius e around c, and R the reach of k. The balls of radius R
// around the points of X lie in that of radius R+e around c. Let cells of rho2 cover that ball, u
// and v two of them, with centers at distance d and radii ru and rv. A set with pairwise distances
// > T has at most one point in a cell of diameter <= T, and points in both u and v only if d + ru +
// rv > T. So it has k points only if the graph of those pairs has a clique of k cells. Cells that
// lie in no such clique drop out; what remains is split, and so is X, down to points, where the
// answer is exact.
type prover struct {
	ctx    context.Context
	s      *trees
	reach  []float64 // reach[k], for k >= 2
	t      float64   // T
	nodes  int       // clique nodes of an exact search
	limit  int64     // work allowed
	work   int64     // distances computed, and what takes as long
	solver clique.Solver
	best   separated // best set met

	keys  []cellKey  // of countBound
	stack []int32    // of gather
	left  bitset.Set // of colors
	class bitset.Set
}

// cellKey is a cell and a lower bound of its distance from a center.
type cellKey struct {
	key float64
	u   int32
}

// problem is to find k cells more than T apart.
type problem struct {
	x   int32 // the cell of centers
	k   int
	u   []int32       // cells of rho2
	far *clique.Graph // of those that may have points more than T apart
}

// centers looks at the balls around the points of cell x, k in [2, top].
func (p *prover) centers(x int32, top int) verdict {
	cx := &p.s.xs.nodes[x]
	if p.work > p.limit {
		return unknown
	}
	if top = p.countBound(cx, top); top < 2 {
		return proved
	}
	// Balls much larger than the cell are dealt with here, those for smaller k part by part.
	low := 2
	if !cx.leaf() {
		for low <= top && cx.radius > coarseCenters*p.reach[low] {
			low++
		}
	}
	if low <= top {
		if v := p.sizes(x, low, top); v != proved {
			return v
		}
	}
	if low > 2 {
		for i := range cx.count {
			if v := p.centers(cx.first+i, low-1); v != proved {
				return v
			}
		}
	}
	return proved
}

// countBound returns the largest k <= top that a count of cells of diameter <= T allows.
func (p *prover) countBound(x *cell, top int) int {
	p.keys = p.gather(p.keys[:0], x.center, p.reachFrom(x, p.reach[top]), p.t/2/spaces.SlackUp)
	last, at := 0, 0
	for k := 2; k <= top; k++ {
		r := p.reachFrom(x, p.reach[k])
		for at < len(p.keys) && p.keys[at].key <= r {
			at++
		}
		if at >= k {
			last = k
		}
	}
	return last
}

// sizes decides all k in [low, top]. Colorings of smaller cells in the order of
// their distance from x bound most of them.
func (p *prover) sizes(x int32, low, top int) verdict {
	q := problem{x: x}
	var open []int
	for _, parts := range startCells {
		open = p.colorBound(&q, low, top, p.t/parts)
		switch {
		case len(q.u) > matrixCells || p.work > p.limit:
			return unknown
		case len(open) == 0:
			return proved
		}
		top = open[len(open)-1]
	}
	for _, q.k = range open {
		if v := p.refine(p.restrict(q, x)); v != proved {
			return v
		}
	}
	return proved
}

// colorBound sets the cells and the graph of q to those of radius at most size
// that the balls for top meet, and returns the k in [low, top] that a coloring
// leaves open. Beyond matrixCells there is no graph and all are open.
func (p *prover) colorBound(q *problem, low, top int, size float64) (open []int) {
	x := &p.s.xs.nodes[q.x]
	all := p.gather(nil, x.center, p.reachFrom(x, p.reach[top]), size)
	all = slices.DeleteFunc(all, func(c cellKey) bool {
		return !p.meets(x, &p.s.ys.nodes[c.u], p.reach[top], deepMeets)
	})
	q.u = q.u[:0]
	for _, c := range all {
		q.u = append(q.u, c.u)
	}
	if len(all) > matrixCells {
		return []int{top}
	}
	q.far = p.graph(q.u, nil, nil, nil)
	classes := p.radialColors(q.far)
	at := 0
	for k := low; k <= top; k++ {
		r := p.reachFrom(x, p.reach[k])
		for at < len(all) && all[at].key <= r {
			at++
		}
		if at >= k && int(classes[at-1]) >= k {
			open = append(open, k)
		}
	}
	return open
}

func (p *prover) search(q problem, nodes *int) (set []int, hi int) {
	m, before := len(q.u), *nodes
	p.solver.Load(q.far)
	set, hi = p.solver.Reaches(p.ctx, q.k, nodes)
	p.work += int64(m*m/16 + (before-*nodes)*(m*bitset.Words(m)/32+1))
	return set, hi
}

// refine decides q by splitting cells and centers.
func (p *prover) refine(q problem) verdict {
	for {
		if p.work > p.limit || p.ctx.Err() != nil {
			return unknown
		}
		if q = p.core(q); len(q.u) < q.k {
			return proved
		}
		x := &p.s.xs.nodes[q.x]
		size := 0.0
		for _, u := range q.u {
			size = max(size, p.s.ys.nodes[u].radius)
		}
		final := x.leaf() && size == 0
		nodes := p.nodes
		set, hi := p.search(q, &nodes)
		if hi < q.k {
			return proved
		}
		if len(set) >= q.k {
			p.try(q, set)
			if p.best.sep > p.t {
				return refuted
			}
		}
		if final {
			return unknown
		}
		if !x.leaf() && (size == 0 || x.radius/p.reach[q.k] > size/p.t) {
			return p.splitCenters(q)
		}
		if q = p.splitCells(q, size); len(q.u) > matrixCells {
			return unknown
		}
	}
}

func (p *prover) splitCenters(q problem) verdict {
	x := p.s.xs.nodes[q.x]
	for i := range x.count {
		if v := p.refine(p.restrict(q, x.first+i)); v != proved {
			return v
		}
	}
	return proved
}

func (p *prover) splitCells(q problem, size float64) problem {
	x := &p.s.xs.nodes[q.x]
	r := p.reach[q.k]
	kept := make([]bool, len(q.u))
	var u, parents []int32
	for i, v := range q.u {
		c := &p.s.ys.nodes[v]
		if c.leaf() || c.radius < splitRatio*size {
			kept[i] = true
			u, parents = append(u, v), append(parents, int32(i))
			continue
		}
		for j := range c.count {
			if p.meets(x, &p.s.ys.nodes[c.first+j], r, deepMeets) {
				u, parents = append(u, c.first+j), append(parents, int32(i))
			}
		}
	}
	if len(u) > matrixCells {
		return problem{q.x, q.k, u, nil}
	}
	return problem{q.x, q.k, u, p.graph(u, parents, q.far, kept)}
}

// try turns a clique of cells into a separated set of points, if it can.
func (p *prover) try(q problem, clique []int) {
	x, r := p.s.xs.nodes[q.x].center, p.reach[q.k]
	set := make([]int32, 0, q.k)
	for _, i := range clique[:q.k] {
		y := p.inside(x, &p.s.ys.nodes[q.u[i]], r)
		if y < 0 {
			return
		}
		set = append(set, y)
	}
	p.work += int64(len(set) * len(set) / 2)
	sep, _, _ := nearest(p.s.b.Utility, set)
	if sep > p.best.sep {
		p.best = separated{sep, x, set}
	}
}

// inside is a point of cell u within r of x, or -1.
func (p *prover) inside(x int32, u *cell, r float64) int32 {
	if p.s.b.Privacy.Distance(int(x), int(u.center)) <= r {
		return u.center
	}
	best, d := int32(-1), math.Inf(1)
	for _, y := range p.s.ys.perm[u.lo:u.hi] {
		p.work++
		if v := p.s.b.Privacy.Distance(int(x), int(y)); v <= r && v < d {
			best, d = y, v
		}
	}
	return best
}

// reachFrom is how far from the center of cell x a point may be that lies in
// the ball of radius r around a point of x.
func (p *prover) reachFrom(x *cell, r float64) float64 {
	if x.single() {
		return r
	}
	return (r + x.radius) * spaces.SlackUp
}

// meets reports whether a ball of radius r around a point of x may have a point
// of u: exactly so where x is a point and u a leaf.
func (p *prover) meets(x, u *cell, r float64, deep int) bool {
	p.work++
	d := p.s.b.Privacy.Distance(int(x.center), int(u.center))
	if d <= r || d > (r+x.radius+u.privacy)*spaces.SlackUp {
		return d <= r
	}
	switch {
	case x.leaf() && u.leaf():
		return p.inside(x.center, u, p.reachFrom(x, r)) >= 0
	case deep == 0:
		return true
	case u.leaf() || (!x.leaf() && x.radius > u.privacy):
		for i := range x.count {
			if p.meets(&p.s.xs.nodes[x.first+i], u, r, deep-1) {
				return true
			}
		}
		return false
	}
	for i := range u.count {
		if p.meets(x, &p.s.ys.nodes[u.first+i], r, deep-1) {
			return true
		}
	}
	return false
}

// gather appends the cells of radius at most size, or leaves, that may have a
// point within r of point c.
func (p *prover) gather(dst []cellKey, c int32, r, size float64) []cellKey {
	stack := append(p.stack[:0], 0)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		u := &p.s.ys.nodes[v]
		p.work++
		d := p.s.b.Privacy.Distance(int(c), int(u.center))
		if d > (r+u.privacy)*spaces.SlackUp {
			continue
		}
		if u.leaf() || u.radius <= size {
			dst = append(dst, cellKey{max(0, d/spaces.SlackUp-u.privacy), v})
			continue
		}
		for i := range u.count {
			stack = append(stack, u.first+i)
		}
	}
	p.stack = stack
	slices.SortFunc(dst, func(a, b cellKey) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.u, b.u))
	})
	return dst
}

// graph builds the graph of the cells u, from the graph old of their parents
// where given: only pairs joined there can be, and those of kept vertices are.
// It is not complete once work passes the limit.
func (p *prover) graph(u, parents []int32, old *clique.Graph, kept []bool) *clique.Graph {
	far := clique.NewGraph(len(u))
	for i := range u {
		if p.work > p.limit {
			break // the caller gives up
		}
		for j := range i {
			if parents != nil {
				a, b := parents[i], parents[j]
				if !old.Row(int(a)).Has(int(b)) {
					continue
				}
				if kept[a] && kept[b] {
					far.Join(i, j)
					continue
				}
			}
			if p.apart(&p.s.ys.nodes[u[i]], &p.s.ys.nodes[u[j]], deepApart) {
				far.Join(i, j)
			}
		}
		p.work += int64(i / 8)
	}
	return far
}

// apart reports whether a point of a and one of b may be more than T apart, by
// looking at parts of both; for leaves, whether they are.
func (p *prover) apart(a, b *cell, deep int) bool {
	p.work++
	d := p.s.b.Utility.Distance(int(a.center), int(b.center))
	if d > p.t || (a.single() && b.single()) {
		return d > p.t
	}
	if (d+a.radius+b.radius)*spaces.SlackUp <= p.t {
		return false
	}
	switch {
	case a.leaf() && b.leaf():
		return p.leavesApart(a, b)
	case deep == 0:
		return true
	case a.radius < b.radius:
		a, b = b, a
	}
	for i := range a.count {
		if p.apart(&p.s.ys.nodes[a.first+i], b, deep-1) {
			return true
		}
	}
	return false
}

// leavesApart is apart for sets of points at distance 0, whose distances may
// still differ by an ulp.
func (p *prover) leavesApart(a, b *cell) bool {
	for _, y := range p.s.ys.perm[a.lo:a.hi] {
		for _, z := range p.s.ys.perm[b.lo:b.hi] {
			if p.work++; p.s.b.Utility.Distance(int(y), int(z)) > p.t || p.work > p.limit {
				return true
			}
		}
	}
	return false
}

// restrict is the problem for the centers x alone, x a part of q's.
func (p *prover) restrict(q problem, x int32) problem {
	cx := &p.s.xs.nodes[x]
	r := p.reach[q.k]
	keep := make([]int32, 0, len(q.u))
	for i, u := range q.u {
		if p.meets(cx, &p.s.ys.nodes[u], r, deepMeets) {
			keep = append(keep, int32(i))
		}
	}
	return p.induced(q, x, keep)
}

// induced is the problem q on the vertices keep.
func (p *prover) induced(q problem, x int32, keep []int32) problem {
	m := len(keep)
	sub := problem{x, q.k, make([]int32, m), clique.NewGraph(m)}
	for i, v := range keep {
		sub.u[i] = q.u[v]
		row := q.far.Row(int(v))
		for j, y := range keep[:i] {
			if row.Has(int(y)) {
				sub.far.Join(i, j)
			}
		}
	}
	p.work += int64(m * m / 16)
	return sub
}

// radialColors colors the vertices in order; entry i is for vertices 0 to i.
func (p *prover) radialColors(far *clique.Graph) []int32 {
	m := far.Len()
	w := bitset.Words(m)
	var class []bitset.Set
	used := make([]int32, m)
	for v := range m {
		row := far.Row(v)
		c := 0
	next:
		for ; c < len(class); c++ {
			for j, y := range class[c] {
				if y&row[j] != 0 {
					continue next
				}
			}
			break
		}
		p.work += int64(c*w/8 + 1)
		if c == len(class) {
			class = append(class, make(bitset.Set, w))
		}
		class[c].Add(v)
		used[v] = int32(len(class))
	}
	return used
}

// core drops the vertices that lie in no clique of k: those whose neighbors
// take fewer than k-1 colors, until no more do.
func (p *prover) core(q problem) problem {
	m := len(q.u)
	w := bitset.Words(m)
	p.left, p.class = make(bitset.Set, w), make(bitset.Set, w)
	alive := make(bitset.Set, w)
	alive.Fill(m)
	count := m
	for before := m + 1; before > count && count >= q.k; {
		before = count
		for v := range m {
			if !alive.Has(v) {
				continue
			}
			for j, y := range q.far.Row(v) {
				p.left[j] = y & alive[j]
			}
			degree := p.left.Len()
			if degree < q.k-1 || !p.colors(q.far, q.k-1) {
				alive.Remove(v)
				count--
			}
			p.work += int64(w/4 + degree/4)
		}
	}
	if count < q.k {
		return problem{x: q.x, k: q.k}
	}
	if count == m {
		return q
	}
	keep := make([]int32, 0, count)
	for v := range alive.All() {
		keep = append(keep, int32(v))
	}
	return p.induced(q, q.x, keep)
}

// colors reports whether the greedy coloring of the set left takes at least
// need colors. It uses up left.
func (p *prover) colors(far *clique.Graph, need int) bool {
	for range need - 1 {
		if p.left.Len() == 0 {
			return false
		}
		copy(p.class, p.left)
		for j := range p.class {
			for p.class[j] != 0 {
				v := j*64 + bits.TrailingZeros64(p.class[j])
				p.left.Remove(v)
				p.class[j] &= p.class[j] - 1
				row := far.Row(v)
				for i := j; i < len(row); i++ {
					p.class[i] &^= row[i]
				}
			}
		}
	}
	return p.left.Len() > 0
}
