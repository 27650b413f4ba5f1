package tsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// ErrNoCoordinates reports a metric without the coordinates that a
// space-filling curve needs: see [metric.Embedded].
var ErrNoCoordinates = errors.New("metric has no coordinates")

// Curve names a curve through all cells of a grid.
type Curve int

const (
	// Hilbert is Hilbert's curve, in any dimension. Every stretch of it fills a
	// compact part of the space. On uniform points of the plane its tour is 40 % longer
	// than the shortest.
	Hilbert Curve = iota
	// Boustrophedon goes to and fro in strips: 30 % longer, but a stretch of it is long
	// and thin.
	Boustrophedon
)

// SpaceFilling returns the points of an embedded metric in the order in which a
// curve meets them, in O(n log n). Points in one cell, of 2^-32 of the longest
// side of the bounding box on Hilbert's curve, are visited in order of index.
//
// A metric that is not [metric.Embedded] is [ErrNoCoordinates].
func SpaceFilling(ctx context.Context, f metric.Finite, c Curve, kind Kind) (t *Tour, err error) {
	const op = "tsp: SpaceFilling"
	defer name(op, &err)
	if err := checkSize(op, fault.Len(f)); err != nil {
		return nil, err
	}
	e, ok := finite.Embed[metric.Embedding](f)
	if !ok || e.Dim < 1 || len(e.Coords) != f.Len()*e.Dim {
		return nil, fmt.Errorf("%s: f: %w", op, ErrNoCoordinates)
	}
	if err := fault.AllFinite(op, "coordinates", e.Coords); err != nil {
		return nil, err
	}
	var order []int
	switch c {
	case Hilbert:
		width := (e.Dim*hilbertBits + 63) / 64
		if err := fault.Memory(op, float64(f.Len())*float64(width), 8); err != nil {
			return nil, err
		}
		keys := make([]uint64, f.Len()*width)
		g := newGrid(e)
		err = parallel.Chunks(ctx, f.Len(), 1024, 0, nil, func(_, lo, hi int) {
			x := make([]uint32, e.Dim)
			for i := lo; i < hi; i++ {
				for a := range x {
					x[a] = uint32(min(math.Ldexp(g.at(i, a), hilbertBits), math.MaxUint32))
				}
				hilbertKey(keys[i*width:(i+1)*width], x, hilbertBits)
			}
		})
		if err == nil {
			order, err = sortByKey(ctx, keys, width)
		}
	case Boustrophedon:
		order, err = sortByKey(ctx, newGrid(e).strips(), e.Dim)
	default:
		err = fault.Value(op, "c", float64(c), "Hilbert or Boustrophedon")
	}
	if err != nil {
		return nil, err
	}
	return newTour(f, order, kind)
}

// sortByKey returns 0, 1, ... in the order of their keys, width numbers each.
func sortByKey[T cmp.Ordered](ctx context.Context, keys []T, width int) ([]int, error) {
	order := make([]int, len(keys)/width)
	for i := range order {
		order[i] = i
	}
	err := parallel.Sort(ctx, order, func(i, j int) int {
		for a := range width {
			if c := cmp.Compare(keys[i*width+a], keys[j*width+a]); c != 0 {
				return c
			}
		}
		return i - j
	})
	return order, err
}

// grid maps the bounding box of an embedding to [0, 1]^Dim, by one factor.
type grid struct {
	e     metric.Embedding
	least []float64
	most  []float64
	side  float64
}

func newGrid(e metric.Embedding) *grid {
	g := &grid{e: e, least: slices.Clone(e.Coords[:e.Dim]), most: slices.Clone(e.Coords[:e.Dim])}
	for h, v := range e.Coords {
		a := h % e.Dim
		g.least[a], g.most[a] = min(g.least[a], v), max(g.most[a], v)
	}
	for a, v := range g.least {
		g.side = max(g.side, g.most[a]/2-v/2) // halves, or the difference might overflow
	}
	return g
}

func (g *grid) at(i, a int) float64 {
	if g.side == 0 {
		return 0
	}
	return min(1, (g.e.Coords[i*g.e.Dim+a]/2-g.least[a]/2)/g.side)
}

// strips returns Dim keys a point: its strip along each axis but the last, and
// its place along the last, each counted backwards where the strips before add
// up to an odd number.
//
// In the unit square with n points, strips of width w take about w/3 a point
// across and 1/(n w) along: sqrt(n/3) strips to the side are the best.
func (g *grid) strips() []float64 {
	d := g.e.Dim
	n := len(g.e.Coords) / d
	count := max(1, math.Round(math.Pow(float64(n)/3, 1/float64(d))))
	keys := make([]float64, n*d)
	for i := range n {
		odd := false
		for a := range d {
			v, back := g.at(i, a), odd
			if a < d-1 {
				v = min(count-1, math.Floor(v*count))
				odd = odd != (math.Mod(v, 2) == 1)
			}
			if back {
				v = -v
			}
			keys[i*d+a] = v
		}
	}
	return keys
}
