package population

import "math"

// Grid is the cells of one to three different columns, whose bins are merged into groups.
type Grid struct {
	Columns []int
	Groups  [][]uint8 // of every bin, by column
	Sizes   []int     // how many groups, by column
}

// NewGrid returns a grid of about at most so many cells, of columns with so many bins, which
// group merges into at most most. A column with fewer bins than its share keeps them and leaves
// the rest to the others.
func NewGrid(bins []int, group func(column, most int) []uint8, cells int, columns ...int) Grid {
	g := Grid{columns, make([][]uint8, len(columns)), make([]int, len(columns))}
	left := float64(cells)
	for n := len(columns); n > 0; n-- {
		i := -1 // the column with the fewest bins of those that are left
		for at, j := range columns {
			if g.Groups[at] == nil && (i < 0 || bins[j] < bins[columns[i]]) {
				i = at
			}
		}
		g.Groups[i] = group(columns[i], max(1, int(math.Pow(left, 1/float64(n))+1e-9)))
		g.Sizes[i] = Size(g.Groups[i])
		left /= float64(g.Sizes[i])
	}
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
func (g Grid) Offsets() [][]int32 { return g.offsets(-1) }

// offsets are those of a grid without the column at skip.
func (g Grid) offsets(skip int) [][]int32 {
	out := make([][]int32, len(g.Columns))
	step := int32(1)
	for i := len(g.Columns) - 1; i >= 0; i-- {
		if i == skip {
			continue
		}
		for _, a := range g.Groups[i] {
			out[i] = append(out[i], int32(a)*step)
		}
		step *= int32(g.Sizes[i])
	}
	return out
}

// after is the number of cells of the columns after the one at i.
func (g Grid) after(i int) int {
	n := 1
	for _, s := range g.Sizes[i+1:] {
		n *= s
	}
	return n
}
