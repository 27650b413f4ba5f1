package entropy

import (
	"context"
	"math"
	"math/bits"
)

// cliqueSolver finds largest cliques of one graph after another. A far graph
// joins the points that lie more than s apart, so that its cliques are the
// s-separated sets and its colour classes the sets of diameter at most s:
// both bounds of a packing number come from it.
//
// The zero value is ready; its buffers are kept from one load to the next.
// Memory: three bit matrices of m*m bits at most, one of them for the levels of
// a search, beside its branches. Not for concurrent use.
type cliqueSolver struct {
	ctx      context.Context // ends a search where it is done; nil: never
	m, words int
	adj      []uint64 // rows in the search order
	order    []int32  // order[k]: the vertex at place k
	degree   []int32

	best  []int // largest clique found, places
	cur   []int // clique of the current search node, places
	set   []int // result, vertices
	level []uint64
	free  []uint64 // colour: not yet coloured, and candidates of the class
	stack []branch // vertices to branch on, all levels one after another
	place []int32  // the inverse of order

	one, two  []uint64 // improve: vertices that miss one, and more, of the clique
	classes   []int32
	sat       []uint64 // saturate: the colours seen by each vertex
	seen      []int32  // how many; -1 once coloured
	colouring []int32
}

// branch is a vertex (its place) and the number of colours that it and what
// comes before it need.
type branch struct{ place, colours int32 }

// bitWords is the length of a row of m bits.
func bitWords(m int) int { return (m + 63) / 64 }

// farGraph writes the far graph of the points pts at separation s to dst, grown
// where needed: row i has bit j set where dist(pts[i], pts[j]) > s. It calls
// dist m(m-1)/2 times.
func farGraph(dst []uint64, dist func(i, j int) float64, pts []int, s float64) []uint64 {
	m := len(pts)
	w := bitWords(m)
	dst = zeroed(dst, m*w)
	for i, p := range pts {
		for j := range i {
			if dist(p, pts[j]) > s {
				dst[i*w+j/64] |= 1 << (j % 64)
				dst[j*w+i/64] |= 1 << (i % 64)
			}
		}
	}
	return dst
}

// load takes a graph of m vertices: rows of bitWords(m) words, symmetric, with
// an empty diagonal and nothing beyond bit m. rows is copied. O(m^2).
func (c *cliqueSolver) load(m int, rows []uint64) {
	c.m, c.words = m, bitWords(m)
	c.best = c.best[:0]
	c.arrange(rows)
	w := c.words
	c.adj = zeroed(c.adj, m*w)
	c.place = resized(c.place, m)
	for k, v := range c.order {
		c.place[v] = int32(k)
	}
	for k, v := range c.order {
		row := c.row(k)
		forEach(rows[int(v)*w:(int(v)+1)*w], func(u int) {
			p := c.place[u]
			row[p/64] |= 1 << (p % 64)
		})
	}
}

// arrange sets order so that every vertex has the fewest neighbours before it
// that a smallest-last order leaves: the vertex of least degree in what remains
// goes to the last free place. Early places are then the dense core, which
// takes few colours.
func (c *cliqueSolver) arrange(rows []uint64) {
	m, w := c.m, c.words
	c.order, c.degree = resized(c.order, m), resized(c.degree, m)
	for v := range m {
		d := 0
		for _, x := range rows[v*w : (v+1)*w] {
			d += bits.OnesCount64(x)
		}
		c.degree[v] = int32(d)
	}
	for k := m - 1; k >= 0; k-- {
		least := -1
		for v, d := range c.degree {
			if d >= 0 && (least < 0 || d <= c.degree[least]) {
				least = v
			}
		}
		c.order[k] = int32(least)
		c.degree[least] = -1
		forEach(rows[least*w:(least+1)*w], func(u int) {
			if c.degree[u] >= 0 {
				c.degree[u]--
			}
		})
	}
}

// solve looks for a largest clique. set is the best found, by vertex, valid
// until the next call; hi is a proved upper bound of the clique number. It
// stops with hi = len(set) when the search is finished, as soon as
// len(set) >= need, and when *nodes, which it counts down, reaches 0; nil is no
// limit. A budget of 0 gives the greedy clique and the colouring's bound.
//
// Branch and bound with the colouring bound of Tomita in the bit-parallel form
// of San Segundo, Rodriguez-Losada and Jimenez (2011): O(m^2/64) words a node,
// and exponentially many nodes in the worst case.
func (c *cliqueSolver) solve(need int, nodes *int) (set []int, hi int) {
	return c.search(0, need, nodes)
}

// reaches decides whether there is a clique of need vertices: it is solve
// without the search for cliques that are smaller. Where it finds none it ends
// with hi = need-1 and a set that may be below the clique number.
func (c *cliqueSolver) reaches(need int, nodes *int) (set []int, hi int) {
	return c.search(need-1, need, nodes)
}

// search is solve that ignores cliques of at most floor vertices.
func (c *cliqueSolver) search(floor, need int, nodes *int) ([]int, int) {
	if c.m == 0 {
		return nil, 0
	}
	c.greedy()
	b := budget{floor: floor, need: need, left: math.MaxInt}
	if nodes != nil {
		b.left = *nodes
	}
	hi := c.root(&b)
	if nodes != nil {
		*nodes = max(b.left, 0)
	}
	c.set = c.set[:0]
	for _, k := range c.best {
		c.set = append(c.set, int(c.order[k]))
	}
	return c.set, hi
}

// budget is what one search may do and has to do.
type budget struct {
	floor, need, left int
	stop              bool
}

// bar is the size that a clique must exceed to be of interest.
func (c *cliqueSolver) bar(b *budget) int { return max(b.floor, len(c.best)) }

// root runs the search from all vertices and returns the upper bound reached:
// the first branches of the root's list can be coloured with as many colours as
// the last of them says, and the others are done.
func (c *cliqueSolver) root(b *budget) int {
	c.stack, c.cur = c.stack[:0], c.cur[:0]
	cand := c.levelSet(0)
	c.fill(cand)
	if len(c.best) >= b.need {
		return c.colour(cand, c.m) // no branches wanted: the count alone
	}
	c.colour(cand, c.bar(b))
	for len(c.stack) > 0 {
		top := c.stack[len(c.stack)-1]
		if int(top.colours) <= c.bar(b) {
			break
		}
		if b.left <= 0 {
			return int(top.colours)
		}
		c.stack = c.stack[:len(c.stack)-1]
		c.visit(b, 0, top)
		if b.stop {
			return max(len(c.best), int(top.colours))
		}
	}
	return c.bar(b)
}

// pause is how many nodes of a search lie between two looks at the context.
const pause = 64

// visit extends the current clique by the vertex of a branch and searches below.
func (c *cliqueSolver) visit(b *budget, depth int, br branch) {
	if b.left--; b.left%pause == 0 && c.ctx != nil && c.ctx.Err() != nil {
		b.left = 0
	}
	v := int(br.place)
	c.cur = append(c.cur, v)
	row := c.row(v)
	next := c.levelSet(depth + 1)
	cand := c.levelSet(depth) // after next, which may have moved it
	more := uint64(0)
	for k := range next {
		next[k] = cand[k] & row[k]
		more |= next[k]
	}
	switch {
	case more != 0:
		c.expand(b, depth+1)
	case len(c.cur) > c.bar(b):
		c.best = append(c.best[:0], c.cur...)
		b.stop = len(c.best) >= b.need
	}
	c.cur = c.cur[:len(c.cur)-1]
	c.levelSet(depth)[v/64] &^= 1 << (v % 64)
}

// expand searches the candidates of one level below the root.
func (c *cliqueSolver) expand(b *budget, depth int) {
	base := len(c.stack)
	c.colour(c.levelSet(depth), c.bar(b)-depth)
	for len(c.stack) > base {
		top := c.stack[len(c.stack)-1]
		if depth+int(top.colours) <= c.bar(b) {
			break
		}
		if b.left <= 0 {
			b.stop = true
			break
		}
		c.stack = c.stack[:len(c.stack)-1]
		c.visit(b, depth, top)
		if b.stop {
			break
		}
	}
	c.stack = c.stack[:base]
}

// colour colours the candidates greedily, class by class in the search order,
// and pushes those that get a colour above skip on the stack. It returns the
// number of colours.
func (c *cliqueSolver) colour(cand []uint64, skip int) int {
	w := c.words
	c.free = resized(c.free, 2*w)
	left, class := c.free[:w], c.free[w:]
	copy(left, cand)
	first, k := 0, 0
	for {
		for first < w && left[first] == 0 {
			first++
		}
		if first == w {
			return k
		}
		k++
		copy(class[first:], left[first:])
		for at := first; at < w; {
			if class[at] == 0 {
				at++
				continue
			}
			v := at*64 + bits.TrailingZeros64(class[at])
			class[at] &= class[at] - 1
			left[at] &^= 1 << (v % 64)
			row := c.row(v)
			for j := at; j < w; j++ {
				class[j] &^= row[j]
			}
			if k > skip {
				c.stack = append(c.stack, branch{int32(v), int32(k)})
			}
		}
	}
}

// row is the neighbourhood of the vertex at place v, as places.
func (c *cliqueSolver) row(v int) []uint64 { return c.adj[v*c.words : (v+1)*c.words] }

// fill writes the set of all vertices.
func (c *cliqueSolver) fill(set []uint64) {
	for k := range set {
		set[k] = ^uint64(0)
	}
	if r := c.m % 64; r != 0 {
		set[len(set)-1] = 1<<r - 1
	}
}

// levelSet is the candidate set of one depth; the call may move all of them.
func (c *cliqueSolver) levelSet(depth int) []uint64 {
	end := (depth + 1) * c.words
	for len(c.level) < end {
		c.level = append(c.level, 0)
	}
	return c.level[depth*c.words : end]
}

// resized returns a slice of length n with the memory of s where it suffices;
// its content is arbitrary.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// zeroed is resized with all entries 0.
func zeroed[T any](s []T, n int) []T {
	s = resized(s, n)
	clear(s)
	return s
}

// forEach calls f for the set bits of a row in ascending order.
func forEach(row []uint64, f func(j int)) {
	for k, x := range row {
		for ; x != 0; x &= x - 1 {
			f(k*64 + bits.TrailingZeros64(x))
		}
	}
}
