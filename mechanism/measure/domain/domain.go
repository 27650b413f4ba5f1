package domain

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// ErrUnknown reports a record that is none of the labels of a domain.
var ErrUnknown = errors.New("unknown label")

// Domain is a public arrangement of a space for private counting: a rooted tree of ever smaller
// regions, whose leaves are cells. A record of type P counts in one cell; released mass is reported
// at the cells' points. Bounds or net points that were read off the private records are a leak that
// no noise repairs.
//
// A Domain is immutable and safe for concurrent use. The zero value is refused.
type Domain[P any] struct {
	space  *region.Space[P]
	points int // of the finite metric that it was made of
}

func init() {
	region.Reveal(func(d any) any { return d.(interface{ inside() any }).inside() })
}

func (d *Domain[P]) inside() any {
	if d == nil {
		return (*region.Space[P])(nil)
	}
	return d.space
}

func (d *Domain[P]) check(op string) error {
	return region.Check(d != nil && d.space != nil, op)
}

// Len returns the number of cells.
func (d *Domain[P]) Len() int { return fault.Must(d, d.check("domain: Domain.Len")).space.Cells }

// Tree returns the tree of the cells: leaf c is cell c. It is nil where there are more than 2^26
// cells, or impossible ones. O(cells), once.
func (d *Domain[P]) Tree() *walk.Tree {
	const op = "domain: Domain.Tree"
	g, err := fault.Must(d, d.check(op)).space.Explicit(op)
	if err != nil {
		return nil
	}
	return g.Tree
}

// Height returns the number of levels of the tree below its root.
func (d *Domain[P]) Height() int {
	return fault.Must(d, d.check("domain: Domain.Height")).space.Height
}

// Resolution bounds the distance from a record, clipped if need be, to the point of its cell, up to
// the rounding of coordinates. It is NaN where the space of records is not known, as after [On].
func (d *Domain[P]) Resolution() float64 {
	return fault.Must(d, d.check("domain: Domain.Resolution")).space.Resolution
}

// Diameter returns the largest distance between points of cells, impossible ones included, up to
// rounding upwards and, with BoxOptions.Possible, the diameter of a cell; for a finite metric of
// more than 2,048 points without coordinates or a hierarchy at most twice that.
func (d *Domain[P]) Diameter() float64 {
	return fault.Must(d, d.check("domain: Domain.Diameter")).space.Diameter
}

// Cell returns the cell that p counts in, a number in [0, Len()), or an error
// for a record that has none: see the constructor. It does not allocate.
func (d *Domain[P]) Cell(p P) (int, error) {
	if err := d.check("domain: Domain.Cell"); err != nil {
		return 0, err
	}
	return d.space.Locate(p)
}

// Point returns the point that stands for a cell: its center in a box or sphere, a net point
// otherwise. It panics for a cell outside [0, Len()).
func (d *Domain[P]) Point(cell int) P {
	return fault.Must(d, d.check("domain: Domain.Point")).space.At(nil, d.node(cell))
}

// Jitter returns a point drawn uniformly from a cell, and Point(cell) in a finite space. It costs
// no privacy.
func (d *Domain[P]) Jitter(rng *rand.Rand, cell int) P {
	fault.Must(d, d.check("domain: Domain.Jitter"))
	rng, done := random.Get(rng)
	defer done()
	return d.space.At(rng, d.node(cell))
}

// node panics unless there is such a cell.
func (d *Domain[P]) node(cell int) node {
	if uint(cell) >= uint(d.space.Cells) {
		panic(fmt.Sprintf("domain: cell %d out of range [0, %d)", cell, d.space.Cells))
	}
	return d.space.Regions.Cell(cell)
}

// Distance is the metric in which errors are measured.
func (d *Domain[P]) Distance(p, q P) float64 {
	return fault.Must(d, d.check("domain: Domain.Distance")).space.Distance(p, q)
}

// Points returns the points of all cells as a finite metric, computed on demand. O(Len()) memory.
func (d *Domain[P]) Points() (*metric.Points[P], error) {
	const op = "domain: Domain.Points"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if _, err := d.space.Explicit(op); err != nil {
		return nil, err
	}
	return d.space.Points(d.space.Cells, d.space.Regions.Cell)
}

// Weights returns what d's cells have of weighted points, for a private measure. weights are finite
// numbers >= 0 whose sum is positive and finite; nil gives every point 1. Errors are
// [metric.ErrEmpty], *[metric.SizeError], *[metric.ValueError] and those of Cell.
//
// It never adds to the total variation of two measures, so that the level of a private.Measure
// holds for the points, where sums are exact, as of whole numbers up to 2^53 in all. Other sums are
// rounded; the level is then about what Weights returns.
func (d *Domain[P]) Weights(points []P, weights []float64) ([]float64, error) {
	const op = "domain: Domain.Weights"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if _, err := d.space.Explicit(op); err != nil {
		return nil, err
	}
	if err := fault.Empty(op, "points", len(points)); err != nil {
		return nil, err
	}
	if weights != nil && len(weights) != len(points) {
		return nil, &fault.SizeError{Op: op, Arg: "weights", Got: len(weights), Want: fmt.Sprint(len(points))}
	}
	if err := fault.Private(fault.AllNonNegative(op, "weights", weights)); err != nil {
		return nil, err
	}
	mu := make([]float64, d.space.Cells)
	total := 0.0
	for i, p := range points {
		c, err := d.space.Locate(p)
		if err != nil {
			return nil, fmt.Errorf("%s: point %d: %w", op, i, err)
		}
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		mu[c] += w
		total += w
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, fault.Private(fault.Value(op, "sum of weights", total, "a finite number > 0"))
	}
	return mu, nil
}

// String says how the space is arranged, as in "box of 2 columns: 64 x 64 cells,
// 3 levels of arity 16": so many of each column, in their order.
func (d *Domain[P]) String() string {
	if d.check("") != nil {
		return "no domain"
	}
	return d.space.Identity.String()
}

// node is a region.
type node = region.Node

// layout names cells and levels, of the arities that the word says.
func layout(cells string, levels int, arity string) string {
	if levels == 1 {
		return fmt.Sprintf("%s, 1 level of arity %s", cells, arity)
	}
	return fmt.Sprintf("%s, %d levels of arity %s", cells, levels, arity)
}

// power writes a number, with a large power of two in it as such.
func power(n int) string {
	switch k := bits.TrailingZeros(uint(n)); {
	case k > 16 && n == 1<<k:
		return fmt.Sprintf("2^%d", k)
	case k > 16:
		return fmt.Sprintf("%d*2^%d", n>>k, k)
	}
	return fmt.Sprint(n)
}
