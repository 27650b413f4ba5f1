package entropy

import (
	"math/bits"
	"slices"
)

// greedyStarts is the number of vertices that greedy begins a clique from. The
// dense core comes first in the search order, and more starts rarely find more.
const greedyStarts = 8

// greedy sets best to a maximal clique that no exchange of one vertex for two
// makes larger. O(m^2/64) words a start, and the exchanges.
func (c *cliqueSolver) greedy() {
	if len(c.best) > 0 {
		return // of an earlier call for the same graph
	}
	c.free = resized(c.free, 2*c.words)
	cand := c.free[:c.words]
	for start := range min(c.m, greedyStarts) {
		c.cur = append(c.cur[:0], start)
		copy(cand, c.row(start))
		c.extend(cand)
		if len(c.cur) > len(c.best) {
			c.best = append(c.best[:0], c.cur...)
		}
	}
	c.cur = append(c.cur[:0], c.best...)
	for c.improve() {
	}
	c.best = append(c.best[:0], c.cur...)
}

// extend adds to the current clique what fits, in the search order, out of the
// vertices cand that are joined to all of it.
func (c *cliqueSolver) extend(cand []uint64) {
	for at := 0; at < c.words; {
		if cand[at] == 0 {
			at++
			continue
		}
		v := at*64 + bits.TrailingZeros64(cand[at])
		c.cur = append(c.cur, v)
		row := c.row(v)
		for k := at; k < c.words; k++ {
			cand[k] &= row[k]
		}
	}
}

// improve makes the current clique larger by an exchange of one vertex for two
// that are joined, or says that there is none.
func (c *cliqueSolver) improve() bool {
	w := c.words
	c.one, c.two = zeroed(c.one, w), zeroed(c.two, w)
	for _, v := range c.cur {
		for k, x := range c.row(v) {
			c.two[k] |= c.one[k] &^ x
			c.one[k] |= ^x
		}
	}
	c.free = resized(c.free, 2*w)
	all, group := c.free[:w], c.free[w:]
	c.fill(all)
	for k := range all {
		c.one[k] &= all[k] &^ c.two[k] // includes the clique: each misses itself
	}
	for at, v := range c.cur {
		for k, x := range c.row(v) {
			group[k] = c.one[k] &^ x
		}
		group[v/64] &^= 1 << (v % 64)
		for k, x := range group {
			for ; x != 0; x &= x - 1 {
				u := k*64 + bits.TrailingZeros64(x)
				row := c.row(u)
				for j := k; j < w; j++ { // pairs with an earlier vertex were seen
					if y := group[j] & row[j]; y != 0 {
						c.cur[at] = u
						c.cur = append(c.cur, j*64+bits.TrailingZeros64(y))
						c.common(all)
						c.extend(all)
						return true
					}
				}
			}
		}
	}
	return false
}

// common sets cand to the vertices joined to all of the current clique.
func (c *cliqueSolver) common(cand []uint64) {
	c.fill(cand)
	for _, v := range c.cur {
		for k, x := range c.row(v) {
			cand[k] &= x
		}
	}
}

// colours is the number of colours of the search's first-fit colouring.
func (c *cliqueSolver) colours() int {
	all := c.levelSet(0)
	c.fill(all)
	return c.colour(all, c.m)
}

// partition splits the vertices into k sets without an edge inside, which in a
// far graph are sets of diameter at most s: class[v] in [0, k) is the set of
// vertex v, valid until the next call. No clique has more than k vertices. It is
// the better of the search's first-fit colouring and DSATUR (Brelaz 1979).
// O(m^2) time.
func (c *cliqueSolver) partition() (class []int32, k int) {
	if c.m == 0 {
		return nil, 0
	}
	c.stack = c.stack[:0]
	all := c.levelSet(0)
	c.fill(all)
	k = c.colour(all, 0)
	c.classes = resized(c.classes, c.m)
	for _, b := range c.stack {
		c.classes[c.order[b.place]] = b.colours - 1
	}
	c.stack = c.stack[:0]
	c.saturate(k)
	return c.classes, 1 + int(slices.Max(c.classes))
}

// saturate replaces classes by the colouring of DSATUR if that has fewer than k
// colours: next comes the vertex that sees the most colours, and among those the
// one of largest degree, with the first colour it does not see.
func (c *cliqueSolver) saturate(k int) {
	m, w := c.m, bitWords(k)
	c.sat = zeroed(c.sat, m*w)
	c.seen, c.colouring = zeroed(c.seen, m), resized(c.colouring, m)
	seen, colour := c.seen, c.colouring
	for v := range m {
		d := 0
		for _, x := range c.row(v) {
			d += bits.OnesCount64(x)
		}
		c.degree[v] = int32(d)
	}
	for range m {
		v := -1
		for u, s := range seen {
			if s >= 0 && (v < 0 || s > seen[v] || (s == seen[v] && c.degree[u] > c.degree[v])) {
				v = u
			}
		}
		col := 0
		for c.sat[v*w+col/64]>>(col%64)&1 != 0 {
			if col++; col == k-1 {
				return // no better
			}
		}
		colour[v], seen[v] = int32(col), -1
		forEach(c.row(v), func(u int) {
			if cell := &c.sat[u*w+col/64]; seen[u] >= 0 && *cell>>(col%64)&1 == 0 {
				*cell |= 1 << (col % 64)
				seen[u]++
			}
		})
	}
	for v, col := range colour {
		c.classes[c.order[v]] = col
	}
}
