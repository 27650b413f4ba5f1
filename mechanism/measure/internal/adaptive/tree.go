package adaptive

import (
	"sort"

	"github.com/metricdp/metricdp/walk"
)

// Grid is a tree all of whose nodes of a level are alike: a box of dyadic cells
// has arity 2^d on every level, a sphere 12 on the first and then 4. The nodes of a
// level are numbered from left to right, so that the number of a child is its
// parent's times the arity plus its own place.
type Grid struct {
	arities []int
	below   []int // cells below a node of each level
	side    []float64
}

// NewGrid takes the number of children of the nodes of each level and, for one
// level more, the sizes of nodes. The number of cells must fit an int.
func NewGrid(arities []int, side []float64) *Grid {
	g := &Grid{arities, make([]int, len(arities)+1), side}
	cells := 1
	for l := len(arities); l >= 0; l-- {
		if g.below[l] = cells; l > 0 {
			cells *= arities[l-1]
		}
	}
	return g
}

// Height implements [Tree].
func (g *Grid) Height(v Place) int { return len(g.arities) - v.Level }

// Width implements [Tree].
func (g *Grid) Width(v Place, r int) int { return g.below[v.Level] / g.below[v.Level+r] }

// Below implements [Tree].
func (g *Grid) Below(dst []Place, v Place, r int) []Place {
	k := g.Width(v, r)
	for i := range k {
		dst = append(dst, Place{v.Level + r, v.Index*k + i})
	}
	return dst
}

// Side implements [Tree].
func (g *Grid) Side(v Place) float64 { return g.side[v.Level] }

// Cells implements [Tree].
func (g *Grid) Cells(v Place) (lo, hi int) {
	n := g.below[v.Level]
	return v.Index * n, (v.Index + 1) * n
}

// Given is a tree of any shape that is held in memory, by the numbers of its nodes.
type Given struct {
	t      *walk.Tree
	side   func(v int) float64
	height []int
}

// NewGiven takes the size of a node.
func NewGiven(t *walk.Tree, side func(v int) float64) *Given {
	g := &Given{t, side, make([]int, t.Nodes())}
	for v := t.Nodes() - 1; v > 0; v-- {
		p := t.Parent(v)
		g.height[p] = max(g.height[p], g.height[v]+1)
	}
	return g
}

// Height implements [Tree].
func (g *Given) Height(v Place) int { return g.height[v.Index] }

// Width implements [Tree]. O(it).
func (g *Given) Width(v Place, r int) int { return g.width(v.Index, r) }

func (g *Given) width(v, r int) int {
	lo, hi := g.t.Children(v)
	if r == 0 || lo == hi {
		return 1
	}
	if r == 1 {
		return hi - lo
	}
	n := 0
	for c := lo; c < hi; c++ {
		n += g.width(c, r-1)
	}
	return n
}

// Below implements [Tree].
func (g *Given) Below(dst []Place, v Place, r int) []Place {
	lo, hi := g.t.Children(v.Index)
	if r == 0 || lo == hi {
		return append(dst, v)
	}
	for c := lo; c < hi; c++ {
		dst = g.Below(dst, Place{v.Level + 1, c}, r-1)
	}
	return dst
}

// Side implements [Tree].
func (g *Given) Side(v Place) float64 { return g.side(v.Index) }

// Cells implements [Tree].
func (g *Given) Cells(v Place) (lo, hi int) { return g.t.LeafRange(v.Index) }

// Counts are the numbers of records in cells, most of which are empty: private.
type Counts struct {
	cells []int
	sum   []int64 // of the first cells
}

// NewCounts takes cells in ascending order and how many records they hold.
func NewCounts(cells []int, n []int64) *Counts {
	c := &Counts{cells, make([]int64, len(n)+1)}
	for i, k := range n {
		c.sum[i+1] = c.sum[i] + k
	}
	return c
}

// Between returns the number of records in the cells lo <= c < hi.
func (c *Counts) Between(lo, hi int) int64 {
	i := sort.SearchInts(c.cells, lo)
	return c.sum[i+sort.SearchInts(c.cells[i:], hi)] - c.sum[i]
}
