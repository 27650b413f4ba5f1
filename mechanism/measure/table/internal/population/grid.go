package population

import "math"

// Grid is the cells of two different columns, whose bins are merged into groups.
type Grid struct {
	Columns []int
	Groups  [][]uint8 // of every bin, by column
	Sizes   []int     // how many groups, by column
}

// NewGrid returns a grid of about at most so many cells, of columns with so many bins, which
// group merges into at most most. A column with few bins keeps them and leaves more to the other.
func NewGrid(bins []int, group func(column, most int) []uint8, cells, a, b int) Grid {
	g := Grid{[]int{a, b}, make([][]uint8, 2), make([]int, 2)}
	few := 0
	if bins[b] < bins[a] {
		few = 1
	}
	g.Groups[few] = group(g.Columns[few], max(1, int(math.Sqrt(float64(cells)))))
	g.Sizes[few] = Size(g.Groups[few])
	g.Groups[1-few] = group(g.Columns[1-few], max(1, cells/g.Sizes[few]))
	g.Sizes[1-few] = Size(g.Groups[1-few])
	return g
}

// Cells returns how many there are.
func (g Grid) Cells() int {
	n := 1
	for _, s := range g.Sizes {
		n *= s
	}
	return n
}

// Offsets returns, by column, what each of its bins adds to the number of a cell, row-major.
func (g Grid) Offsets() [2][]int32 {
	return [2][]int32{multiply(g.Groups[0], g.Sizes[1]), multiply(g.Groups[1], 1)}
}

func multiply(groups []uint8, by int) []int32 {
	out := make([]int32, len(groups))
	for a, g := range groups {
		out[a] = int32(g) * int32(by)
	}
	return out
}

// cell is that of group a of the column at at, and group b of the other.
func (g Grid) cell(at, a, b int) int {
	if at == 1 {
		a, b = b, a
	}
	return a*g.Sizes[1] + b
}
