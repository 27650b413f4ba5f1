package entropy

import (
	"math"
	"sort"

	"github.com/metricdp/metricdp/metric"
)

// gridDimensions is the largest dimension for which cells are tried: the number
// that can be occupied grows as the diagonal of a cube to the power of it.
const gridDimensions = 3

// gridShifts is the number of shifts tried a dimension, each a part of a cell.
const gridShifts = 3

// gridSets partitions points with coordinates into the cells of a grid, cells of
// diameter <= s: hexagons in the Euclidean plane, cubes otherwise. It is the
// best of several shifts of the grid, or nil where there are no coordinates or
// the cells would be too small for them.
func gridSets(g metric.Finite, s float64) [][]int {
	e, ok := metric.Embed(g)
	n := g.Len()
	if !ok || e.Dim < 1 || e.Dim > gridDimensions || len(e.Coords) != n*e.Dim {
		return nil
	}
	largest := 0.0
	for _, x := range e.Coords {
		largest = max(largest, math.Abs(x))
	}
	// By metric.Embedding a distance is that of coordinates which err by 32
	// units of 2^-53 of the largest, up to 32 units relative. So two points err
	// by 64 in every dimension, and the cell numbers below by less than as much
	// again, rounded a few times: 256 units a dimension cover both, in any norm.
	// What rounds in proportion to the cell itself is far below 2^-40.
	norm := normWithin(e, s*(1-0x1p-47))
	norm = float64(norm*(1-0x1p-40)) - float64(256*0x1p-53*largest*float64(e.Dim))
	if !(norm > largest*0x1p-30) {
		return nil
	}
	var best [][]int
	label := make([]int, n)
	shifts := 1
	for range e.Dim {
		shifts *= gridShifts
	}
	for shift := range shifts {
		var off [gridDimensions]float64
		for k, r := 0, shift; k < e.Dim; k, r = k+1, r/gridShifts {
			off[k] = float64(r%gridShifts) / gridShifts
		}
		cells := make(map[[gridDimensions]int]int)
		for i := range n {
			x := e.Coords[i*e.Dim : (i+1)*e.Dim]
			var key [gridDimensions]int
			if e.Dim == 2 && e.P == 2 {
				key = hexagon(x, norm, off)
			} else {
				key = cube(x, norm/math.Pow(float64(e.Dim), 1/e.P), off)
			}
			l, ok := cells[key]
			if !ok {
				l = len(cells)
				cells[key] = l
			}
			label[i] = l
		}
		if best == nil || len(cells) < len(best) {
			best = group(label, len(cells))
		}
	}
	return best
}

// normWithin returns the largest norm that e takes to a distance <= s, by
// bisection: the order of floats >= 0 is that of their bits.
func normWithin(e metric.Embedding, s float64) float64 {
	k := sort.Search(int(math.Float64bits(math.MaxFloat64)), func(b int) bool {
		return !(e.FromNorm(math.Float64frombits(uint64(b))) <= s)
	})
	return math.Float64frombits(uint64(max(k-1, 0)))
}

// cube is the cell of a grid of cubes of the given side.
func cube(x []float64, side float64, off [gridDimensions]float64) (key [gridDimensions]int) {
	for k, c := range x {
		key[k] = int(math.Floor(c/side + off[k]))
	}
	return key
}

// hexagon is the cell of a regular hexagon of the given diameter d, in axial
// coordinates: a hexagon of circumradius d/2 with a corner on top.
func hexagon(x []float64, d float64, off [gridDimensions]float64) [gridDimensions]int {
	r := d / 2
	// Axial coordinates of the point in units where centres are integers.
	u := (float64(x[0]*(math.Sqrt(3)/3))-x[1]/3)/r + off[0]
	v := (x[1]*2/3)/r + off[1]
	w := -u - v
	a, b, c := math.Round(u), math.Round(v), math.Round(w)
	// a+b+c should be 0: the one rounded farthest gives way.
	da, db, dc := math.Abs(a-u), math.Abs(b-v), math.Abs(c-w)
	switch {
	case da > db && da > dc:
		a = -b - c
	case db > dc:
		b = -a - c
	}
	return [gridDimensions]int{int(a), int(b), 0}
}
