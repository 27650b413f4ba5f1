package entropy

import (
	"math"
	"slices"
)

// verdict is the outcome of an attempt to prove that no ball of a set of
// centres holds too many points more than T apart.
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

	// coarseCentres is the largest ratio of the radius of a cell of centres to
	// that of their balls.
	coarseCentres = 0.25

	// splitRatio: cells down to this part of the largest radius are split along
	// with the largest.
	splitRatio = 0.7

	// corePasses of core bring most of what more would.
	corePasses = 4

	// matrixCells bounds the cells of one graph: 2 MiB.
	matrixCells = 4096

	// coarseNodes is the budget of clique searches among cells that may still
	// be split. A failure costs one more split.
	coarseNodes = 2000
)

// startCells says how many times smaller than T the radius of the cells is that
// are coloured, one after another. The last ones are also what the search
// begins with: fine enough to drop the inside of a ball, where a separated set
// seldom has points.
var startCells = [...]float64{2.5, 5}

// prover tries to prove s(Z, alpha) <= T for one set of centres after another.
// Not for concurrent use.
//
// Let X be a cell of centres, of radius e around c, and R the reach of k. The
// balls of radius R around the points of X lie in that of radius R+e around c.
// Let cells of rho2 cover that ball, u and v two of them, with centres at
// distance d and radii ru and rv. A set with pairwise distances > T has at most
// one point in a cell of diameter <= T, and points in both u and v only if
// d + ru + rv > T. So it has k points only if the graph of those pairs has a
// clique of k cells. Cells that lie in no such clique drop out; what remains is
// split, and so is X, down to points, where the answer is exact.
type prover struct {
	s      *entropicSearch
	t      float64 // T
	nodes  int     // clique nodes of an exact search
	limit  int64   // work allowed
	work   int64   // distances computed, and what takes as long
	solver cliqueSolver
	best   separated // best set met, better than that of s

	keys  []cellKey // of counted
	stack []int32   // of gather
	left  []uint64  // of colours
	class []uint64
}

// cellKey is a cell and a lower bound of its distance from a centre.
type cellKey struct {
	key float64
	u   int32
}

// problem is to find k cells more than T apart.
type problem struct {
	x    int32 // the cell of centres
	k    int
	u    []int32  // cells of rho2
	rows []uint64 // their graph
}

// centres looks at the balls around the points of cell x, for all k in [2, top].
func (p *prover) centres(x int32, top int) verdict {
	cx := &p.s.xs.nodes[x]
	if p.work > p.limit {
		return unknown
	}
	if top = p.counted(cx, top); top < 2 {
		return proved
	}
	// Balls much larger than the cell are dealt with here, those for smaller k
	// part by part.
	low := 2
	if !cx.leaf() {
		for low <= top && cx.radius > coarseCentres*p.s.reach[low] {
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
			if v := p.centres(cx.first+i, low-1); v != proved {
				return v
			}
		}
	}
	return proved
}

// counted returns the largest k <= top that a count of cells of diameter <= T
// allows in the balls around the points of x.
func (p *prover) counted(x *cell, top int) int {
	p.keys = p.gather(p.keys[:0], x.centre, p.reachFrom(x, p.s.reach[top]), p.t/2/boundSlack)
	last, at := 0, 0
	for k := 2; k <= top; k++ {
		r := p.reachFrom(x, p.s.reach[k])
		for at < len(p.keys) && p.keys[at].key <= r {
			at++
		}
		if at >= k {
			last = k
		}
	}
	return last
}

// sizes decides all k in [low, top]. Colourings of smaller cells in the order of
// their distance from x bound most of them.
func (p *prover) sizes(x int32, low, top int) verdict {
	q := problem{x: x}
	var open []int
	for _, parts := range startCells {
		open = p.coloured(&q, low, top, p.t/parts)
		switch {
		case len(q.u) > matrixCells || p.work > p.limit:
			return unknown
		case len(open) == 0:
			return proved
		}
		if open = p.counts(q, open); len(open) == 0 {
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

// coloured sets the cells and the graph of q to those of radius at most size
// that the balls for top meet, and returns the k in [low, top] that a colouring
// leaves open. Beyond matrixCells there is no graph and all are open.
func (p *prover) coloured(q *problem, low, top int, size float64) (open []int) {
	x := &p.s.xs.nodes[q.x]
	all := p.gather(nil, x.centre, p.reachFrom(x, p.s.reach[top]), size)
	all = slices.DeleteFunc(all, func(c cellKey) bool {
		return !p.meets(x, &p.s.ys.nodes[c.u], p.s.reach[top], deepMeets)
	})
	q.u = q.u[:0]
	for _, c := range all {
		q.u = append(q.u, c.u)
	}
	if len(all) > matrixCells {
		return []int{top}
	}
	q.rows = p.graph(q.u, nil, nil, nil)
	classes := p.radial(q.rows, len(q.u), bitWords(len(q.u)))
	at := 0
	for k := low; k <= top; k++ {
		r := p.reachFrom(x, p.s.reach[k])
		for at < len(all) && all[at].key <= r {
			at++
		}
		if at >= k && int(classes[at-1]) >= k {
			open = append(open, k)
		}
	}
	return open
}

// counts drops from open, from the top, what the clique number of the cells
// in the balls closes: if those for k have at most h of them more than T apart,
// so have all smaller balls, and that is too few for h+1 to k.
func (p *prover) counts(q problem, open []int) []int {
	for len(open) > 0 {
		q.k = open[len(open)-1]
		sub := p.restrict(q, q.x)
		if len(sub.u) < q.k {
			open = open[:len(open)-1]
			continue
		}
		nodes := min(coarseNodes, p.nodes)
		_, hi := p.search(sub, &nodes, false)
		if hi >= q.k {
			break
		}
		for len(open) > 0 && open[len(open)-1] > hi {
			open = open[:len(open)-1]
		}
	}
	return open
}

// search looks for a clique of q.k cells, or for the clique number where that
// is smaller and only is false.
func (p *prover) search(q problem, nodes *int, only bool) (set []int, hi int) {
	m, before := len(q.u), *nodes
	p.solver.load(m, q.rows)
	if only {
		set, hi = p.solver.reaches(q.k, nodes)
	} else {
		set, hi = p.solver.solve(q.k, nodes)
	}
	p.work += int64(m*m/16 + (before-*nodes)*(m*bitWords(m)/32+1))
	return set, hi
}

// refine decides q, by splitting cells and centres until a proof or a set is
// found.
func (p *prover) refine(q problem) verdict {
	for {
		if p.work > p.limit || p.s.ctx.Err() != nil {
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
		if !final {
			nodes = min(nodes, coarseNodes)
		}
		set, hi := p.search(q, &nodes, true)
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
		if !x.leaf() && (size == 0 || x.radius/p.s.reach[q.k] > size/p.t) {
			return p.splitCentres(q)
		}
		if q = p.splitCells(q, size); len(q.u) > matrixCells {
			return unknown
		}
	}
}

// splitCentres takes the parts of the cell of centres one by one.
func (p *prover) splitCentres(q problem) verdict {
	x := p.s.xs.nodes[q.x]
	for i := range x.count {
		if v := p.refine(p.restrict(q, x.first+i)); v != proved {
			return v
		}
	}
	return proved
}

// splitCells splits the cells that are not much smaller than the largest.
func (p *prover) splitCells(q problem, size float64) problem {
	x := &p.s.xs.nodes[q.x]
	r := p.s.reach[q.k]
	kept := make([]bool, len(q.u))
	var u, parents []int32
	for i, v := range q.u {
		c := &p.s.ys.nodes[v]
		if c.leaf() || c.radius < size*splitRatio {
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
	return problem{q.x, q.k, u, p.graph(u, parents, q.rows, kept)}
}

// try turns a clique of cells into a separated set of points, if the ball around
// the centre of q.x has points of all of them, and improves it within the
// centres of the other cells.
func (p *prover) try(q problem, clique []int) {
	x, r := p.s.xs.nodes[q.x].centre, p.s.reach[q.k]
	set := make([]int32, 0, q.k)
	for _, i := range clique[:q.k] {
		y := p.inside(x, &p.s.ys.nodes[q.u[i]], r)
		if y < 0 {
			return
		}
		set = append(set, y)
	}
	var pool []int32
	for _, u := range q.u {
		if c := p.s.ys.nodes[u].centre; p.s.b.Privacy.Distance(int(x), int(c)) <= r {
			pool = append(pool, c)
		}
	}
	sep := spread(p.s.b.Utility, set, pool, &p.work, p.limit)
	if sep > p.best.sep {
		p.best = separated{sep, x, set}
	}
}

// inside is a point of cell u within r of x, or -1.
func (p *prover) inside(x int32, u *cell, r float64) int32 {
	if p.s.b.Privacy.Distance(int(x), int(u.centre)) <= r {
		return u.centre
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
