// Package clique bounds the clique number of graphs of up to some thousand vertices: greedy cliques
// and branch and bound from below, colorings from above.
package clique

import (
	"context"
	"math"
	"math/bits"

	"github.com/metricdp/metricdp/internal/bitset"
)

// Solver finds largest cliques of one graph after another, in the same buffers: at most three bit
// matrices of m*m bits. The zero value is ready. Not for concurrent use.
type Solver struct {
	m, words int
	adj      Graph   // in the search order
	order    []int32 // order[k]: the vertex at place k
	degree   []int32

	best  []int // largest clique found, places
	cur   []int // clique of the current search node, places
	set   []int // result, vertices
	level bitset.Set
	free  bitset.Set // color: not yet colored, and candidates of the class
	stack []branch   // vertices to branch on, all levels one after another
	place []int32    // the inverse of order

	classes  []int32
	sat      []uint64 // saturate: the colors seen by each vertex
	seen     []int32  // how many; -1 once colored
	coloring []int32
}

// branch is a place and the number of colors up to it.
type branch struct{ place, colors int32 }

// Load takes a graph. It is copied. O(m^2).
func (c *Solver) Load(g *Graph) {
	c.m, c.words = g.n, g.words
	c.best = c.best[:0]
	c.arrange(g)
	c.adj.Reset(c.m)
	c.place = resized(c.place, c.m)
	for k, v := range c.order {
		c.place[v] = int32(k)
	}
	for k, v := range c.order {
		row := c.adj.Row(k)
		for u := range g.Row(int(v)).All() {
			row.Add(int(c.place[u]))
		}
	}
}

// arrange puts the vertices in smallest-last order: the one of least degree in
// what remains goes to the last free place. Early places are the dense core.
func (c *Solver) arrange(g *Graph) {
	m := c.m
	c.order, c.degree = resized(c.order, m), resized(c.degree, m)
	for v := range m {
		c.degree[v] = int32(g.Row(v).Len())
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
		for u := range g.Row(least).All() {
			if c.degree[u] >= 0 {
				c.degree[u]--
			}
		}
	}
}

// Solve looks for a largest clique. set is the best found, valid until the next call; hi is a
// proved upper bound. It stops with hi = len(set) when finished, as soon as len(set) >= need, when
// *nodes, which it counts down, reaches 0 (nil: no limit), and where ctx is done. A budget of 0
// gives the greedy clique and the coloring's bound. Branch and bound with the coloring bound of
// Tomita in the bit-parallel form of San Segundo et al. (2011): O(m^2/64) words a node.
func (c *Solver) Solve(ctx context.Context, need int, nodes *int) (set []int, hi int) {
	return c.search(ctx, 0, need, nodes)
}

// Reaches decides whether there is a clique of need vertices: it is Solve
// without the search for cliques that are smaller. Where it finds none it ends
// with hi = need-1 and a set that may be below the clique number.
func (c *Solver) Reaches(ctx context.Context, need int, nodes *int) (set []int, hi int) {
	return c.search(ctx, need-1, need, nodes)
}

func (c *Solver) search(ctx context.Context, floor, need int, nodes *int) ([]int, int) {
	if c.m == 0 {
		return nil, 0
	}
	c.greedy()
	b := budget{ctx: ctx, floor: floor, need: need, left: math.MaxInt}
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

type budget struct {
	ctx               context.Context
	floor, need, left int
	stop              bool
}

// bar is the size that a clique must exceed to be of interest.
func (c *Solver) bar(b *budget) int { return max(b.floor, len(c.best)) }

// root runs the search from all vertices and returns the upper bound reached:
// the first branches of the root's list can be colored with as many colors as
// the last of them says, and the others are done.
func (c *Solver) root(b *budget) int {
	c.stack, c.cur = c.stack[:0], c.cur[:0]
	cand := c.levelSet(0)
	cand.Fill(c.m)
	if len(c.best) >= b.need {
		return c.color(cand, c.m) // no branches wanted: the count alone
	}
	c.color(cand, c.bar(b))
	for len(c.stack) > 0 {
		top := c.stack[len(c.stack)-1]
		if int(top.colors) <= c.bar(b) {
			break
		}
		if b.left <= 0 {
			return int(top.colors)
		}
		c.stack = c.stack[:len(c.stack)-1]
		c.visit(b, 0, top)
		if b.stop {
			return max(len(c.best), int(top.colors))
		}
	}
	return c.bar(b)
}

// pause is how many nodes of a search lie between two looks at the context.
const pause = 64

// visit extends the clique by the vertex of a branch and searches below.
func (c *Solver) visit(b *budget, depth int, br branch) {
	if b.left--; b.left%pause == 0 && b.ctx.Err() != nil {
		b.left = 0
	}
	v := int(br.place)
	c.cur = append(c.cur, v)
	row := c.adj.Row(v)
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
	c.levelSet(depth).Remove(v)
}

func (c *Solver) expand(b *budget, depth int) {
	base := len(c.stack)
	c.color(c.levelSet(depth), c.bar(b)-depth)
	for len(c.stack) > base {
		top := c.stack[len(c.stack)-1]
		if depth+int(top.colors) <= c.bar(b) {
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

// color colors the candidates greedily, pushes those with a color above skip on
// the stack, and returns the number of colors.
func (c *Solver) color(cand bitset.Set, skip int) int {
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
			left.Remove(v)
			row := c.adj.Row(v)
			for j := at; j < w; j++ {
				class[j] &^= row[j]
			}
			if k > skip {
				c.stack = append(c.stack, branch{int32(v), int32(k)})
			}
		}
	}
}

// levelSet is the candidate set of one depth; the call may move all of them.
func (c *Solver) levelSet(depth int) bitset.Set {
	end := (depth + 1) * c.words
	for len(c.level) < end {
		c.level = append(c.level, 0)
	}
	return c.level[depth*c.words : end]
}

// resized returns a slice of length n, in the memory of s where that suffices.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func zeroed[T any](s []T, n int) []T {
	s = resized(s, n)
	clear(s)
	return s
}
