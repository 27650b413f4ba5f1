package column

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/healpix"
	"github.com/metricdp/metricdp/metric"
)

// Globe is a sphere: the first cut makes the 12 faces of package healpix, and each
// further one quarters.
type Globe struct{ Radius float64 }

const maxGlobe = 24 // quarterings: healpix computes in float64

func (c *Globe) Plan() Plan {
	return Plan{Entries: 2, Arities: append([]int{12}, slices.Repeat([]int{4}, maxGlobe)...), Numeric: true}
}

// row is how many parts the side of a face has, of n on all faces.
func row(n int) int { return 1 << (bits.Len(uint(n/12)) / 2) }

func (c *Globe) Size(l, n int) Size {
	half := c.Radius * math.Pi
	r := half
	if l > 0 {
		r = c.Radius * healpix.Radius(row(n))
	}
	return Size{Length: c.Radius * math.Sqrt(4*math.Pi/float64(n)), Diameter: min(half, 2*r), Radius: r, Across: half}
}

func (c *Globe) Full(int) bool      { return true }
func (c *Globe) Possible(Part) bool { return true }

func (c *Globe) Locate(x []float64, n int) (int, error) {
	return c.Find(metric.LatLon{Lat: x[0], Lon: x[1]}, n)
}

// Find is Locate of a place.
func (c *Globe) Find(p metric.LatLon, n int) (int, error) {
	if !(math.Abs(p.Lat) <= 90) || math.IsInf(p.Lon, 0) || math.IsNaN(p.Lon) {
		return 0, fmt.Errorf("domain: Domain.Cell: %w", fault.Private(metric.GreatCircle{}.Check(p, p)))
	}
	if n == 1 {
		return 0, nil
	}
	face, x, y := healpix.Face(p)
	k := row(n)
	i, j := min(k-1, int(x*float64(k))), min(k-1, int(y*float64(k)))
	return face*k*k + interleave(i)<<1 + interleave(j), nil
}

// interleave puts a 0 before each of 32 bits, and gather takes every second.
func interleave(i int) int {
	v := uint64(i)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	v = (v | v<<2) & 0x3333333333333333
	return int((v | v<<1) & 0x5555555555555555)
}

func gather(i int) int {
	v := uint64(i) & 0x5555555555555555
	v = (v | v>>1) & 0x3333333333333333
	v = (v | v>>2) & 0x0f0f0f0f0f0f0f0f
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return int((v | v>>16) & 0x00000000ffffffff)
}

// on returns the place at u, v in [0, 1] of a part.
func (c *Globe) on(p Part, u, v float64) metric.LatLon {
	k := row(p.Of)
	face, q := p.Place/(k*k), p.Place%(k*k)
	return healpix.Point(face, (float64(gather(q>>1))+u)/float64(k), (float64(gather(q))+v)/float64(k))
}

// At is Point as a place.
func (c *Globe) At(p Part, rng *rand.Rand) metric.LatLon {
	if rng == nil {
		return c.on(p, 0.5, 0.5)
	}
	if p.Of == 1 {
		p = Part{1, 12, rng.IntN(12)}
	}
	x := c.on(p, rng.Float64(), rng.Float64())
	if q, err := c.Find(x, p.Of); err != nil || q != p.Place { // rounded out of it
		return c.on(p, 0.5, 0.5)
	}
	return x
}

func (c *Globe) Point(x []float64, p Part, rng *rand.Rand) {
	at := c.At(p, rng)
	x[0], x[1] = at.Lat, at.Lon
}

// Bounds: the latitude falls along x + y and the longitude rises along x - y, so
// the corners have the extremes.
func (c *Globe) Bounds(lo, hi []float64, p Part) bool {
	lo[0], lo[1], hi[0], hi[1] = -90, -180, 90, 180
	if p.Of == 1 {
		return true
	}
	lo[0], hi[0] = c.on(p, 0, 0).Lat, c.on(p, 1, 1).Lat
	if west, east := c.on(p, 0, 1).Lon, c.on(p, 1, 0).Lon; west < east {
		lo[1], hi[1] = west, east
	}
	return true
}

// Spread is that of a node (see package measure): the faces part first, and then quarters. What is
// spread evenly over a cell is at most 2/3 of healpix.Radius away from its center on average; the
// faces send through a pole, from which even mass is pi/2 away.
func (c *Globe) Spread(l, n int) float64 {
	if l == 0 {
		return c.Radius * 12 * math.Pi / 2 * math.Sqrt(1-1.0/12)
	}
	return c.Radius * 4 * (2.0 / 3) * healpix.Radius(row(n)) * math.Sqrt(1-1.0/4)
}

func (c *Globe) Distance(x, y []float64) float64 {
	return metric.GreatCircle{Radius: c.Radius}.Distance(metric.LatLon{Lat: x[0], Lon: x[1]}, metric.LatLon{Lat: y[0], Lon: y[1]})
}
