package measure

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/metric"
)

// From cellTreeFrom points on, and up to cellTreeDim dimensions, NewFinite cuts
// the bounding box of an embedded metric into cells, in O(n log n), where a net
// tree would take n^(1+1/height) distances.
const (
	cellTreeFrom = 1 << 15
	cellTreeDim  = 3
)

// cellTree returns the tree of the cells that hold points: parents of its
// items, and the point that an item is, -1 for cells.
func cellTree(op string, e metric.Embedding, n int) (parent, leaf []int, err error) {
	lo, ext := make([]float64, e.Dim), make([]extent, e.Dim)
	for a := range ext {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range n {
			x := e.Coords[i*e.Dim+a]
			low, high = min(low, x), max(high, x)
		}
		lo[a], ext[a].length = low, high-low
	}
	bits := math.Log2(float64(n))
	g, err := newGrid(op, planLevels(ext, float64(n), max(1, int(math.Round(bits/4)))), e.Dim)
	if err != nil {
		return nil, nil, err
	}
	type placed struct{ key, point int }
	points := make([]placed, n)
	for i := range points {
		key := 0
		for a, t := range g.table {
			if ext[a].length > 0 {
				q := int((e.Coords[i*e.Dim+a] - lo[a]) / ext[a].length * float64(len(t)))
				key += t[min(q, len(t)-1)]
			}
		}
		points[i] = placed{key, i}
	}
	slices.SortFunc(points, func(x, y placed) int {
		if x.key != y.key {
			return x.key - y.key
		}
		return x.point - y.point
	})
	add := func(up, point int) int {
		parent, leaf = append(parent, up), append(leaf, point)
		return len(parent) - 1
	}
	// divide hangs a run of points, in one cell of depth l, below an item.
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
			if l < len(g.arities) {
				cell := run[0].key / below
				for end < len(run) && run[end].key/below == cell {
					end++
				}
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
