package domain

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// From cellTreeFrom points on, and up to cellTreeDim dimensions, NewFinite cuts
// the bounding box of an embedded metric into cells, in O(n log n).
const (
	cellTreeFrom = 1 << 15
	cellTreeDim  = 3
)

// cellTree returns the tree of the cells that hold points: parents of its
// items, and the point that an item is, -1 for cells.
func cellTree(op string, e metric.Embedding, n int) (parent, leaf []int, err error) {
	lo, ext := make([]float64, e.Dim), make([]float64, e.Dim)
	for a := range ext {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range n {
			x := e.Coords[i*e.Dim+a]
			low, high = min(low, x), max(high, x)
		}
		lo[a], ext[a] = low, high-low
	}
	bits := math.Log2(float64(n))
	g, err := newGrid(op, planLevels(ext, float64(n), max(1, int(math.Round(bits/float64(e.Dim))))), e.Dim)
	if err != nil {
		return nil, nil, err
	}
	type placed struct{ key, point int }
	points := make([]placed, n)
	for i := range points {
		key := 0
		for a, k := range g.parts[len(g.splits)] {
			if ext[a] > 0 {
				q := int((e.Coords[i*e.Dim+a] - lo[a]) / ext[a] * float64(k))
				key += g.index(a, min(q, k-1))
			}
		}
		points[i] = placed{key, i}
	}
	slices.SortFunc(points, func(x, y placed) int { return cmp.Or(x.key-y.key, x.point-y.point) })
	add := func(up, point int) int {
		parent, leaf = append(parent, up), append(leaf, point)
		return len(parent) - 1
	}
	// divide puts a run of points, in one cell of depth l, below an item.
	var divide func(up int, run []placed, l, below int)
	divide = func(up int, run []placed, l, below int) {
		for ; l < len(g.arities); l++ {
			below /= g.arities[l]
			if run[0].key/below != run[len(run)-1].key/below {
				break
			}
		}
		for len(run) > 0 {
			end := 1
			for l < len(g.arities) && end < len(run) && run[end].key/below == run[0].key/below {
				end++
			}
			if end == 1 {
				add(up, run[0].point)
			} else {
				divide(add(up, -1), run[:end], l+1, below)
			}
			run = run[end:]
		}
	}
	divide(add(-1, -1), points, 0, g.cells)
	return parent, leaf, nil
}

// partsAt is into how many parts cells of side t cut a length.
func partsAt(length, t float64) float64 { return max(1, length/t) }

// planLevels returns splits for h levels and about the given number of cells
// in all, of arities as equal and cells as near to cubes as whole numbers allow:
// after level l there are cells^(l/h) cells, of one side t in all columns that
// are longer than t. Levels that would divide nothing are left out.
func planLevels(cols []float64, cells float64, h int) [][]int {
	have := slices.Repeat([]int{1}, len(cols))
	var splits [][]int
	for l := 1; l <= h; l++ {
		t := sideFor(cols, math.Pow(cells, float64(l)/float64(h)))
		row, arity := make([]int, len(cols)), 1
		for a, e := range cols {
			row[a] = max(1, int(math.Round(partsAt(e, t)/float64(have[a]))))
			have[a] *= row[a]
			arity *= row[a]
		}
		if arity > 1 {
			splits = append(splits, row)
		}
	}
	return splits
}

// sideFor returns the least side with at most the given number of cells, found by its logarithm;
// 2^-60 of the longest column is small enough for every number that maxCells admits.
func sideFor(cols []float64, cells float64) float64 {
	top := 0.0
	for _, e := range cols {
		top = max(top, e)
	}
	// One part in 2^20 above the target still counts as the target, or a whole
	// number of cells would be missed by rounding.
	cells *= 1 + 0x1p-20
	_, side := search.Change(math.Log2(top)-60, math.Log2(top), 0x1p-56, func(log float64) bool {
		n := 1.0
		for _, e := range cols {
			n *= partsAt(e, math.Exp2(log))
		}
		return n <= cells
	})
	return math.Exp2(side)
}
