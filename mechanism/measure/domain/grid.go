package domain

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// grid is a tree of product cells: level l divides every cell above it along
// column a into splits[l][a] equal parts. Nodes of a level are numbered from
// left to right, so that the index of a child is its parent's times the arity
// plus its place, and a leaf's index is a sum of one number from each column.
type grid struct {
	splits  [][]int
	arities []int   // product of splits[l]
	parts   [][]int // parts[l][a] of column a at depth l; parts[0] is all ones
	cuts    [][]int // cuts[l][a] of these l levels divide column a
	digits  [][]digit
	cells   int
}

// digit is a run of levels that cut a column into size parts: what each adds to
// the index of the leaf.
type digit struct {
	size, shift int   // shift is log2 size, or -1
	each        int   // where it is one level, else
	table       []int // it is looked up
}

const (
	maxCells = math.MaxInt/2 + 1 // a leaf index fits an int with room for one more
	maxTable = 1 << 10
)

// newGrid takes how many parts every level cuts every column into.
func newGrid(op string, splits [][]int, columns int) (*grid, error) {
	ones := slices.Repeat([]int{1}, columns)
	g := &grid{arities: make([]int, len(splits)), parts: [][]int{ones}, cuts: [][]int{make([]int, columns)}, cells: 1}
	for l, s := range splits {
		g.splits = append(g.splits, slices.Clone(s))
		if len(s) != columns {
			return nil, &fault.SizeError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Got: len(s), Want: fmt.Sprint(columns)}
		}
		k, next, cuts := 1.0, make([]int, columns), slices.Clone(g.cuts[l])
		for a, n := range s {
			total := float64(g.parts[l][a]) * float64(n)
			if n < 1 || total > maxCells {
				return nil, &fault.ValueError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Index: a, Value: float64(n),
					Want: fmt.Sprintf("an integer >= 1, at most %d parts of a column in all", maxCells)}
			}
			k *= float64(n)
			if next[a] = int(total); n > 1 {
				cuts[a]++
			}
		}
		if k*float64(g.cells) > maxCells {
			return nil, &fault.MemoryError{Op: op, Bytes: 8 * k * float64(g.cells), Limit: 8 * maxCells}
		}
		g.arities[l] = int(k)
		g.cells *= int(k)
		g.parts, g.cuts = append(g.parts, next), append(g.cuts, cuts)
	}
	g.digits = make([][]digit, columns)
	for a := range g.digits {
		g.digits[a] = g.fill(a)
	}
	return g, nil
}

// fill makes the digits of a column, the last levels' first.
func (g *grid) fill(column int) (digits []digit) {
	weight := 1 // of a part of the level at hand
	for l := len(g.splits) - 1; l >= 0; l-- {
		n := g.splits[l][column]
		w := weight
		for _, k := range g.splits[l][column+1:] {
			w *= k
		}
		weight *= g.arities[l]
		if n == 1 {
			continue
		}
		if i := len(digits) - 1; i >= 0 && digits[i].size*n <= maxTable {
			d := &digits[i]
			if d.table == nil {
				d.table = []int{0}
				for range d.size - 1 {
					d.table = append(d.table, d.table[len(d.table)-1]+d.each)
				}
			}
			for range n - 1 {
				for _, x := range d.table[len(d.table)-d.size:] {
					d.table = append(d.table, x+w)
				}
			}
			d.size *= n
			continue
		}
		digits = append(digits, digit{size: n, each: w})
	}
	for i := range digits {
		d := &digits[i]
		if d.shift = -1; d.size&(d.size-1) == 0 {
			d.shift = bits.Len(uint(d.size)) - 1
		}
	}
	return digits
}

// index returns what part q of a column adds to the index of the leaf.
func (g *grid) index(column, q int) (sum int) {
	digits := g.digits[column]
	for i := range digits {
		d := &digits[i]
		x := q & (d.size - 1)
		if d.shift >= 0 {
			q >>= d.shift
		} else {
			x, q = q%d.size, q/d.size
		}
		if d.table == nil {
			sum += x * d.each
		} else {
			sum += d.table[x]
		}
	}
	return sum
}

// decode writes to q which part of each column node index of depth l is.
func (g *grid) decode(l, index int, q []int) {
	clear(q)
	for d := l - 1; d >= 0; d-- {
		for a := len(q) - 1; a >= 0; a-- {
			if n := g.splits[d][a]; n > 1 {
				q[a] += index % n * (g.parts[l][a] / g.parts[d+1][a])
				index /= n
			}
		}
	}
}
