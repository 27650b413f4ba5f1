package clique

import (
	"math/bits"
	"slices"

	"github.com/metricdp/metricdp/internal/bitset"
)

// greedyStarts is the number of vertices that greedy begins a clique from. The
// dense core comes first in the search order, and more starts rarely find more.
const greedyStarts = 8

// greedy sets best to a maximal clique. O(m^2/64) words a start.
func (c *Solver) greedy() {
	if len(c.best) > 0 {
		return // of an earlier call for the same graph
	}
	c.free = resized(c.free, 2*c.words)
	cand := c.free[:c.words]
	for start := range min(c.m, greedyStarts) {
		c.cur = append(c.cur[:0], start)
		copy(cand, c.adj.Row(start))
		c.extend(cand)
		if len(c.cur) > len(c.best) {
			c.best = append(c.best[:0], c.cur...)
		}
	}
}

// extend adds to the clique, in search order, what fits out of cand.
func (c *Solver) extend(cand bitset.Set) {
	for at := 0; at < c.words; {
		if cand[at] == 0 {
			at++
			continue
		}
		v := at*64 + bits.TrailingZeros64(cand[at])
		c.cur = append(c.cur, v)
		row := c.adj.Row(v)
		for k := at; k < c.words; k++ {
			cand[k] &= row[k]
		}
	}
}

// Partition splits the vertices into k sets without an edge inside: class[v] in
// [0, k) is the set of v, valid until the next call. No clique has more than k
// vertices. The better of first-fit and DSATUR (Brelaz 1979). O(m^2) time.
func (c *Solver) Partition() (class []int32, k int) {
	if c.m == 0 {
		return nil, 0
	}
	c.stack = c.stack[:0]
	all := c.levelSet(0)
	all.Fill(c.m)
	k = c.color(all, 0)
	c.classes = resized(c.classes, c.m)
	for _, b := range c.stack {
		c.classes[c.order[b.place]] = b.colors - 1
	}
	c.stack = c.stack[:0]
	c.saturate(k)
	return c.classes, 1 + int(slices.Max(c.classes))
}

// saturate replaces classes by DSATUR's if it has fewer than k colors: next
// comes the vertex that sees the most colors, then that of largest degree.
func (c *Solver) saturate(k int) {
	m, w := c.m, bitset.Words(k)
	c.sat = zeroed(c.sat, m*w)
	c.seen, c.coloring = zeroed(c.seen, m), resized(c.coloring, m)
	sat := func(v int) bitset.Set { return c.sat[v*w : (v+1)*w] }
	seen, color := c.seen, c.coloring
	for v := range m {
		c.degree[v] = int32(c.adj.Row(v).Len())
	}
	for range m {
		v := -1
		for u, s := range seen {
			if s >= 0 && (v < 0 || s > seen[v] || (s == seen[v] && c.degree[u] > c.degree[v])) {
				v = u
			}
		}
		col := 0
		for sat(v).Has(col) {
			if col++; col == k-1 {
				return // no better
			}
		}
		color[v], seen[v] = int32(col), -1
		for u := range c.adj.Row(v).All() {
			if s := sat(u); seen[u] >= 0 && !s.Has(col) {
				s.Add(col)
				seen[u]++
			}
		}
	}
	for v, col := range color {
		c.classes[c.order[v]] = col
	}
}
