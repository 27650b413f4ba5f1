package additive

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/healpix"
	"github.com/metricdp/metricdp/metric"
)

// Cells is a public grid of the sphere: 12 n^2 cells of equal area, those of HEALPix (Górski et al. 2005).
// mechanism.Then(sphere, cells.Center) moves outputs to centers of cells, which is post-processing; with
// mechanism.StickyOptions[metric.LatLon]{Key: cells.Key} all inputs of a cell share one draw, so that a
// receiver that trembles where it stands spends nothing. Immutable and safe for concurrent use.
type Cells struct {
	n      int // cells along the side of a face
	sphere metric.GreatCircle
}

// maxSide is the most cells along the side of a face: float64 degrees are a
// hundred-millionth of such a cell, 0.5 m on the Earth.
const maxSide = 1 << 24

// NewCells returns the coarsest grid on the sphere, the Earth in km for the zero value,
// no cell of which has a point farther from its center than radius.
func NewCells(sphere metric.GreatCircle, radius float64) (*Cells, error) {
	const op = "additive: NewCells"
	sphere, err := sized(op, sphere)
	if err != nil {
		return nil, err
	}
	if err := checkScale(op, "radius", radius); err != nil {
		return nil, err
	}
	c := &Cells{1 + sort.Search(maxSide, func(k int) bool { return sphere.Radius*healpix.Radius(1+k) <= radius }), sphere}
	if c.n > maxSide {
		return nil, fault.Value(op, "radius", radius, fmt.Sprintf("at least %.6g", sphere.Radius*healpix.Radius(maxSide)))
	}
	return c, nil
}

// sized is the sphere with its radius, checked.
func sized(op string, sphere metric.GreatCircle) (metric.GreatCircle, error) {
	sphere.Radius = cmp.Or(sphere.Radius, metric.EarthRadiusKm)
	return sphere, checkScale(op, "sphere.Radius", sphere.Radius)
}

func (c *Cells) check(op string) error {
	return fault.Made(c != nil && c.n > 0, op, "Cells", "NewCells")
}

// Len is the number of cells.
func (c *Cells) Len() int64 {
	fault.Must(c, c.check("additive: Cells.Len"))
	return 12 * int64(c.n) * int64(c.n)
}

// Radius is an upper bound of the distance of a point from the center of its cell.
func (c *Cells) Radius() float64 {
	fault.Must(c, c.check("additive: Cells.Radius"))
	return c.sphere.Radius * healpix.Radius(c.n)
}

// cell returns the face of p's cell, and its column and row there.
func (c *Cells) cell(p metric.LatLon) (face, i, j int) {
	face, x, y := healpix.Face(p)
	at := func(x float64) int { return min(c.n-1, int(x*float64(c.n))) }
	return face, at(x), at(y)
}

// Key names the cell that p lies in, in ASCII. It is "" where p is no point.
func (c *Cells) Key(p metric.LatLon) string {
	fault.Must(c, c.check("additive: Cells.Key"))
	if c.sphere.Check(p, p) != nil {
		return ""
	}
	face, i, j := c.cell(p)
	return fmt.Sprintf("%d:%d:%d:%d", c.n, face, i, j)
}

// Center returns the center of the cell that p lies in, its longitude in [-180, 180].
func (c *Cells) Center(p metric.LatLon) (metric.LatLon, error) {
	const op = "additive: Cells.Center"
	if err := c.check(op); err != nil {
		return metric.LatLon{}, err
	}
	if err := c.sphere.Check(p, p); err != nil {
		return metric.LatLon{}, fmt.Errorf("%s: %w", op, fault.Private(err))
	}
	face, i, j := c.cell(p)
	at := func(k int) float64 { return (float64(k) + 0.5) / float64(c.n) }
	return healpix.Point(face, at(i), at(j)), nil
}
