package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/walk"
)

type size struct {
	signal, depth float64
	arity         int
}

// plan returns how many cells and levels to aim for. Without numeric columns
// every combination of categories is a cell. Too little and too much said are
// errors; instead names what may be set in place of Signal.
func (s size) plan(op, instead string, ext []extent) (cells float64, levels int, err error) {
	if err := fault.NonNegative(op, "Depth", s.depth); err != nil {
		return 0, 0, err
	}
	switch {
	case s.arity < 0 || s.arity == 1:
		return 0, 0, fault.Value(op, "Arity", float64(s.arity), "0 or an integer >= 2")
	case s.depth > 0 && s.signal != 0:
		return 0, 0, fault.Value(op, "Signal", s.signal, "0 where Depth is given")
	case s.depth == 0 && fault.Positive(op, "Signal", s.signal) != nil:
		return 0, 0, fault.Value(op, "Signal", s.signal, "about records*eps, or set "+instead)
	}
	var numeric []extent
	all := 1.0
	for _, e := range ext {
		if e.categories == 0 {
			numeric = append(numeric, e)
		} else {
			all *= float64(e.categories)
		}
	}
	d, bits := len(numeric), 0.0
	switch {
	case d == 0:
		bits = math.Log2(all)
	case s.depth > 0:
		bits = float64(float64(d) * s.depth)
		t := sideFor(numeric, math.Exp2(bits))
		for _, e := range ext {
			if e.categories > 0 && t < e.length { // which cells of this size tell apart
				bits += math.Log2(float64(e.categories))
			}
		}
	default:
		bits = depthRule(d, s.signal)
	}
	if bits > math.Log2(maxCells) {
		return 0, 0, &fault.MemoryError{Op: op, Bytes: 8 * math.Exp2(bits), Limit: 8 * explicitCells}
	}
	step := float64(max(4, d))
	if d == 3 {
		step = 6
	}
	if s.arity > 0 {
		step = math.Log2(float64(s.arity))
	} else if d == 1 && s.depth == 0 {
		return math.Exp2(bits), max(1, int(math.Floor(math.Log2(s.signal)/5+0.1))), nil
	}
	return math.Exp2(bits), max(1, int(math.Round(bits/step))), nil
}

// depthRule is the rule for the binary logarithm of the number of cells, found
// by simulation in one to three dimensions; from four on that for three. On the
// line Signal/16 cells are within 6 % of the best for uniform and clustered
// records.
func depthRule(d int, signal float64) float64 {
	bits := math.Log2(signal)
	switch d {
	case 1:
		bits -= 4 // Signal/16 cells: with cuts of any number there is no need to round
	case 2:
		bits = 2 * math.Floor(bits/2)
	default:
		bits = float64(d) * math.Round((bits+2)/float64(d))
	}
	return max(1, bits)
}

// grid is a tree of product cells: level l divides every cell above it along
// column a into splits[l][a] equal parts. Nodes of a level are numbered from
// left to right, so that the index of a child is its parent's times the arity
// plus its place, and a leaf's index is a sum of one number from each column.
type grid struct {
	splits  [][]int
	arities []int   // product of splits[l]
	parts   [][]int // parts[l][a] of column a at depth l; parts[0] is all ones
	table   [][]int // table[a][q]: what part q of column a adds to the leaf index
	cells   int
}

const (
	maxParts = 1 << 22           // parts of one column: a table of 32 MiB
	maxCells = math.MaxInt/2 + 1 // a leaf index fits an int with room for one more
)

func newGrid(op string, splits [][]int, columns int) (*grid, error) {
	g := &grid{arities: make([]int, len(splits)), parts: [][]int{slices.Repeat([]int{1}, columns)}, cells: 1}
	for l, s := range splits {
		g.splits = append(g.splits, slices.Clone(s))
		if len(s) != columns {
			return nil, &fault.SizeError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Got: len(s), Want: fmt.Sprint(columns)}
		}
		k, next := 1.0, make([]int, columns)
		for a, n := range s {
			total := float64(g.parts[l][a]) * float64(n)
			if n < 1 || total > maxParts {
				return nil, &fault.ValueError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Index: a, Value: float64(n),
					Want: fmt.Sprintf("an integer >= 1, at most %d parts of a column in all", maxParts)}
			}
			k *= float64(n)
			next[a] = int(total)
		}
		if k*float64(g.cells) > maxCells {
			return nil, &fault.MemoryError{Op: op, Bytes: 8 * k * float64(g.cells), Limit: maxCells}
		}
		g.arities[l] = int(k)
		g.cells *= int(k)
		g.parts = append(g.parts, next)
	}
	g.fill(columns)
	return g, nil
}

// fill makes the tables: the digits of q in the mixed radix of column a, each
// times the weight of its digit in the mixed radix of all.
func (g *grid) fill(columns int) {
	g.table = make([][]int, columns)
	last := g.parts[len(g.splits)]
	for a := range g.table {
		g.table[a] = make([]int, last[a])
	}
	weight := 1
	for l := len(g.splits) - 1; l >= 0; l-- {
		for a := columns - 1; a >= 0; a-- {
			n := g.splits[l][a]
			below := last[a] / g.parts[l+1][a]
			for q := range g.table[a] {
				g.table[a][q] += q / below % n * weight
			}
			weight *= n
		}
	}
}

// decode writes to part which part of each column node index of depth l is.
func (g *grid) decode(l, index int, part []int) {
	clear(part)
	for d := l - 1; d >= 0; d-- {
		for a := len(part) - 1; a >= 0; a-- {
			n := g.splits[d][a]
			part[a] += index % n * (g.parts[l][a] / g.parts[d+1][a])
			index /= n
		}
	}
}

// extent is one column as the planner of levels sees it: a length that can be
// cut anywhere, or a number of categories that only come apart all at once.
type extent struct {
	length     float64 // for categories, the distance between any two
	categories int
}

// partsAt is into how many parts cells of side t cut the column.
func (e extent) partsAt(t float64) float64 {
	if e.categories > 0 {
		if t < e.length {
			return float64(e.categories)
		}
		return 1
	}
	return max(1, e.length/t)
}

// planLevels returns splits for h levels and about the given number of cells
// in all, of arities as equal and cells as near to cubes as whole numbers allow:
// after level l there are cells^(l/h) cells, of one side t in all columns that
// are longer than t. Levels that would divide nothing are left out.
func planLevels(cols []extent, cells float64, h int) [][]int {
	have := slices.Repeat([]int{1}, len(cols))
	var splits [][]int
	for l := 1; l <= h; l++ {
		t := sideFor(cols, math.Pow(cells, float64(l)/float64(h)))
		row, arity := make([]int, len(cols)), 1
		for a, e := range cols {
			row[a] = max(1, int(math.Round(e.partsAt(t)/float64(have[a]))))
			have[a] *= row[a]
			arity *= row[a]
		}
		if arity > 1 {
			splits = append(splits, row)
		}
	}
	return splits
}

func smallestFactor(n int) int {
	for f := 2; f*f <= n; f++ {
		if n%f == 0 {
			return f
		}
	}
	return n
}

// separateArity bounds the arity of levels of several columns of categories.
const separateArity = 64

// separate adds levels that part the categories that no level does.
func separate(cols []extent, splits [][]int) [][]int {
	arity := 0
	for a, e := range cols {
		if e.categories < 2 || slices.ContainsFunc(splits, func(row []int) bool { return row[a] > 1 }) {
			continue
		}
		if arity == 0 || arity > separateArity/e.categories {
			splits = append(splits, slices.Repeat([]int{1}, len(cols)))
			arity = 1
		}
		splits[len(splits)-1][a] = e.categories
		arity *= e.categories
	}
	return splits
}

// sideFor returns the least side with at most the given number of cells, found
// by its logarithm; 2^-60 of the longest column is small enough for every
// number that maxCells admits.
func sideFor(cols []extent, cells float64) float64 {
	top := 0.0
	for _, e := range cols {
		top = max(top, e.length)
	}
	// One part in 2^20 above the target still counts as the target, or a whole
	// number of cells would be missed by rounding.
	cells *= 1 + 0x1p-20
	_, side := search.Change(math.Log2(top)-60, math.Log2(top), 0x1p-56, func(log float64) bool {
		n := 1.0
		for _, e := range cols {
			n *= e.partsAt(math.Exp2(log))
		}
		return n <= cells
	})
	return math.Exp2(side)
}

// arrange takes diameter and spread by depth. A lazy domain gets no tree.
func (g *grid) arrange(op string, lazy bool, diameter, spread func(l int) float64) (a *arrangement, err error) {
	if !lazy && g.cells > explicitCells {
		return nil, &fault.MemoryError{Op: op, Bytes: 80 * float64(g.cells), Limit: 80 * explicitCells}
	}
	a = &arrangement{arities: g.arities, cells: g.cells}
	nodes, side := 1, make([]float64, len(g.arities)+1)
	for l, k := range g.arities {
		a.shape = append(a.shape, nodeShape{nodes: nodes, arity: k, depth: l, diameter: diameter(l), spread: spread(l)})
		nodes *= k
	}
	for l := range side {
		side[l] = diameter(l)
	}
	a.regions = adaptive.NewGrid(g.arities, side)
	if !lazy {
		a.tree, err = walk.Levels(g.arities...)
	}
	return a, err
}
