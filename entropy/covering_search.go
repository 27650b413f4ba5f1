package entropy

import (
	"context"
	"math/bits"
)

// setCover looks for few of the given sets that cover the points 0, ..., m-1.
// Every point lies in some set.
type setCover struct {
	m, words int
	centres  []int    // the name of each set
	sets     []uint64 // a row of bits each
	best     []int    // the smallest cover found, by row

	chosen []int
	open   []uint64 // a row of points not covered, level by level
	order  []gain   // sets to branch on, all levels one after another
	far    []uint64 // strangers
	degree []int    // the number of sets that a point lies in
	rest   []uint64 // bound: what is left
	ctx    context.Context
	left   int // nodes
	bar    int // a cover of this size ends the search
}

// gain is a set and the number of open points it covers.
type gain struct{ set, points int }

func newSetCover(m int) *setCover { return &setCover{m: m, words: bitWords(m)} }

// add appends an empty set and returns its row, to be filled before the next.
func (c *setCover) add(centre int) []uint64 {
	c.centres = append(c.centres, centre)
	c.sets = append(c.sets, make([]uint64, c.words)...)
	return c.row(len(c.centres) - 1)
}

// fill makes n empty sets, named by their rows.
func (c *setCover) fill(n int) {
	c.centres = allPoints(n)
	c.sets = make([]uint64, n*c.words)
}

func (c *setCover) row(k int) []uint64 { return c.sets[k*c.words : (k+1)*c.words] }

// level is the set of open points of one depth; the call may move all of them.
func (c *setCover) level(depth int) []uint64 {
	end := (depth + 1) * c.words
	for len(c.open) < end {
		c.open = append(c.open, 0)
	}
	return c.open[depth*c.words : end]
}

// everything fills level 0.
func (c *setCover) everything() []uint64 {
	open := c.level(0)
	for k := range open {
		open[k] = ^uint64(0)
	}
	if r := c.m % 64; r != 0 {
		open[len(open)-1] = 1<<r - 1
	}
	return open
}

// greedy sets best: the set with the most open points again and again, then
// without the sets that the others make superfluous. Gains only fall, so a set
// is looked at again only when its last known gain leads (Minoux 1978).
func (c *setCover) greedy() {
	open := c.everything()
	known := make([]int, len(c.centres))
	for k := range known {
		known[k] = c.m
	}
	c.best = c.best[:0]
	for left := c.m; left > 0; {
		top, at := 0, -1
		for k, g := range known {
			if g > top {
				if known[k] = overlap(c.row(k), open); known[k] > top {
					top, at = known[k], k
				}
			}
		}
		c.best = append(c.best, at)
		for k, x := range c.row(at) {
			open[k] &^= x
		}
		left -= top
	}
	c.prune()
}

// prune drops sets from best that the others make superfluous, the first chosen
// first.
func (c *setCover) prune() {
	count := make([]int, c.m)
	for _, k := range c.best {
		forEach(c.row(k), func(i int) { count[i]++ })
	}
	kept := c.best[:0]
	for _, k := range c.best {
		spare := true
		forEach(c.row(k), func(i int) { spare = spare && count[i] > 1 })
		if !spare {
			kept = append(kept, k)
			continue
		}
		forEach(c.row(k), func(i int) { count[i]-- })
	}
	c.best = kept
}

// strangers returns the graph on the points that joins two which share no set.
// Its cliques need a set for every point. O(sum of set sizes * m/64).
func (c *setCover) strangers() []uint64 {
	rows := make([]uint64, c.m*c.words)
	c.far, c.degree = rows, make([]int, c.m)
	for k := range c.centres {
		set := c.row(k)
		forEach(set, func(i int) {
			c.degree[i]++
			row := rows[i*c.words : (i+1)*c.words]
			for j, x := range set {
				row[j] |= x
			}
		})
	}
	all := c.everything()
	for i := range c.m {
		row := rows[i*c.words : (i+1)*c.words]
		for j := range row {
			row[j] = all[j] &^ row[j]
		}
	}
	return rows
}

// search improves best by branch and bound within a number of nodes and reports
// whether best is proved least. lo is a known lower bound: a cover of that size
// ends the search, as does the context. It comes after greedy and strangers.
func (c *setCover) search(ctx context.Context, lo, nodes int) bool {
	c.ctx, c.left, c.bar = ctx, nodes, lo
	c.chosen, c.order = c.chosen[:0], c.order[:0]
	c.everything()
	return c.expand(0)
}

// expand searches below the chosen sets and reports whether it finished. Some set
// must cover the open point that the fewest sets cover: each of those is tried,
// the largest gain first.
func (c *setCover) expand(depth int) bool {
	open := c.level(depth)
	point, need := c.bound(open)
	if need == 0 {
		c.best = append(c.best[:0], c.chosen...)
		return true
	}
	if depth+need >= len(c.best) {
		return true
	}
	base := len(c.order)
	for k := range c.centres {
		if c.row(k)[point/64]>>(point%64)&1 == 0 {
			continue
		}
		g := gain{k, overlap(c.row(k), open)}
		c.order = append(c.order, g)
		for at := len(c.order) - 1; at > base && c.order[at-1].points < g.points; at-- {
			c.order[at-1], c.order[at] = c.order[at], c.order[at-1]
		}
	}
	defer func() { c.order = c.order[:base] }()
	for _, g := range c.order[base:] {
		if c.left <= 0 || c.left%pause == 0 && c.ctx.Err() != nil {
			return false
		}
		c.left--
		next := c.level(depth + 1)
		open := c.level(depth) // after next, which may have moved it
		for j, x := range c.row(g.set) {
			next[j] = open[j] &^ x
		}
		c.chosen = append(c.chosen, g.set)
		done := c.expand(depth + 1)
		c.chosen = c.chosen[:len(c.chosen)-1]
		if !done {
			return false
		}
		if len(c.best) <= c.bar {
			return true
		}
	}
	return true
}

// bound returns the open point that the fewest sets hold, and how many sets the
// open points need at least: as many as a greedy choice of points that share
// none, and as the largest set takes to reach their number.
func (c *setCover) bound(open []uint64) (point, need int) {
	c.rest = append(c.rest[:0], open...)
	point = -1
	for {
		at := -1
		forEach(c.rest, func(i int) {
			if at < 0 || c.degree[i] < c.degree[at] {
				at = i
			}
		})
		if at < 0 {
			break
		}
		if need++; point < 0 {
			point = at
		}
		for j, x := range c.far[at*c.words : (at+1)*c.words] {
			c.rest[j] &= x
		}
	}
	top, size := 1, overlap(open, open)
	for k := range c.centres {
		top = max(top, overlap(c.row(k), open))
	}
	return point, max(need, (size+top-1)/top)
}

// overlap is the number of points that two sets share.
func overlap(a, b []uint64) int {
	n := 0
	for k, x := range a {
		n += bits.OnesCount64(x & b[k])
	}
	return n
}
