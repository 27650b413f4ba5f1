package region

import "github.com/metricdp/metricdp/walk"

// Node is a node of a [Tree], a region: its level, that of the root being 0, and its
// number there. The root is Node{}.
type Node struct{ Level, Index int }

// Tree is a public tree of regions, read as far as it is asked for.
type Tree interface {
	// Height is the number of levels below v, 0 where v is a cell.
	Height(v Node) int
	// Width is the number of nodes r levels below v, where 1 <= r <= Height(v), or
	// more where it is not known. A cell that is not so far below counts as one.
	Width(v Node, r int) int
	// Below appends those nodes to dst.
	Below(dst []Node, v Node, r int) []Node
	// Length is the size of v, such as its diameter, in any unit.
	Length(v Node) float64
	// Cells returns the cells of v: lo <= c < hi.
	Cells(v Node) (lo, hi int)
	// Cell returns the region that a cell is.
	Cell(c int) Node
}

// Grid is a tree all of whose nodes of a level are alike: a box of dyadic cells has arity 2^d on
// every level, a sphere 12 on the first and then 4. The nodes of a level are numbered from left to
// right, so that the number of a child is its parent's times the arity plus its own place.
type Grid struct {
	arities []int
	below   []int // cells below a node of each level
	length  []float64
}

// NewGrid takes the number of children of the nodes of each level and, for one
// level more, the sizes of nodes. The number of cells must fit an int.
func NewGrid(arities []int, length []float64) *Grid {
	g := &Grid{arities, make([]int, len(arities)+1), length}
	cells := 1
	for l := len(arities); l >= 0; l-- {
		if g.below[l] = cells; l > 0 {
			cells *= arities[l-1]
		}
	}
	return g
}

func (g *Grid) Height(v Node) int { return len(g.arities) - v.Level }

func (g *Grid) Width(v Node, r int) int { return g.below[v.Level] / g.below[v.Level+r] }

func (g *Grid) Below(dst []Node, v Node, r int) []Node {
	k := g.Width(v, r)
	for i := range k {
		dst = append(dst, Node{v.Level + r, v.Index*k + i})
	}
	return dst
}

func (g *Grid) Cell(c int) Node { return Node{len(g.arities), c} }

func (g *Grid) Length(v Node) float64 { return g.length[v.Level] }

func (g *Grid) Cells(v Node) (lo, hi int) {
	n := g.below[v.Level]
	return v.Index * n, (v.Index + 1) * n
}

// Given is a tree of any shape that is held in memory, by the numbers of its nodes.
type Given struct {
	t      *walk.Tree
	length func(v int) float64
	height []int
}

// NewGiven takes the size of a node.
func NewGiven(t *walk.Tree, length func(v int) float64) *Given {
	g := &Given{t, length, make([]int, t.Nodes())}
	for v := t.Nodes() - 1; v > 0; v-- {
		p := t.Parent(v)
		g.height[p] = max(g.height[p], g.height[v]+1)
	}
	return g
}

func (g *Given) Height(v Node) int { return g.height[v.Index] }

// Width implements [Tree]. O(it).
func (g *Given) Width(v Node, r int) int { return g.width(v.Index, r) }

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

func (g *Given) Below(dst []Node, v Node, r int) []Node {
	lo, hi := g.t.Children(v.Index)
	if r == 0 || lo == hi {
		return append(dst, v)
	}
	for c := lo; c < hi; c++ {
		dst = g.Below(dst, Node{v.Level + 1, c}, r-1)
	}
	return dst
}

func (g *Given) Cell(c int) Node {
	v := g.t.LeafNode(c)
	return Node{g.t.Depth(v), v}
}

func (g *Given) Length(v Node) float64 { return g.length(v.Index) }

func (g *Given) Cells(v Node) (lo, hi int) { return g.t.LeafRange(v.Index) }
