package tents

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd/internal/leastsquares"
	"github.com/metricdp/metricdp/mechanism/emd/internal/transport"
	"github.com/metricdp/metricdp/metric"
)

// Sphere is the map of a sphere in space by the tents of the cells that it meets. Chords are no longer
// than arcs, so that their constant for the l2 norm is one for arcs. The place of a point with
// coordinates c on the sphere of radius 1 is (c_j + 1) g/2, exactly, for g cells an axis.
type Sphere struct {
	leastsquares.Bounded
	grid   Grid // Rate, g/2 over the radius, is rounded up
	radius float64
	row    map[int]int  // of a vertex
	vertex []int        // of a row
	points [][3]float64 // outputs
	tents  *leastsquares.Sparse
	near   []int // the output that stands for an output
}

// NewSphere returns the tents for a sphere: see [NewBox]. Cells have the side
// 2 radius/g, g = .25 (pi radius/noise)^(1/3), as measured, and 2 at least.
func NewSphere(ctx context.Context, op string, radius, noise, quantum, rounding, spacing float64) (*Sphere, error) {
	g := math.Round(0.25 * math.Cbrt(math.Pi*radius/noise))
	if spacing > 0 {
		g = math.Ceil(2 * radius / spacing)
	}
	g = max(2, g)
	if err := fault.Memory(op, 15*g*g, 500); err != nil { // outputs are the most
		return nil, err
	}
	rate := directed.DivUp(g/2, radius)
	s := &Sphere{radius: radius, row: map[int]int{}, grid: Grid{Rate: []float64{rate, rate, rate}, Cells: []int{int(g), int(g), int(g)}}}
	s.grid.resolve(2, quantum, rounding)
	s.Whole = 1 << s.grid.Bits
	s.Deviation = math.Sqrt2 * s.grid.Slope(2) * noise
	vertices := s.vertices()
	s.spread(int(math.Ceil(math.Pi * 9 * g * g)))
	h := s.grid.Spacing(0)
	// An anchor is at most a cell's diagonal off the sphere.
	s.Blur = h * math.Sqrt(3)
	return s, s.join(ctx, vertices)
}

// vertices numbers the vertices of all cells that a point of the sphere may lie in,
// with room for errors of places, and returns them.
func (s *Sphere) vertices() [][3]float64 {
	c := s.grid.Cells[0]
	h := s.grid.Spacing(0)
	room := float64(h * 0x1p-10)
	var out [][3]float64
	for cell := range c * c * c {
		at := [3]int{cell / (c * c), cell / c % c, cell % c}
		least, most := 0.0, 0.0 // squared distance from the center
		for _, i := range at {
			a, b := math.Abs(float64(float64(i)*h)-s.radius), math.Abs(float64(float64(i+1)*h)-s.radius)
			if 2*i+1 != c { // else the center is between
				m := min(a, b)
				least += float64(m * m)
			}
			m := max(a, b)
			most += float64(m * m)
		}
		if math.Sqrt(least) > s.radius+room || math.Sqrt(most) < s.radius-room {
			continue
		}
		for corner := range 8 {
			v := 0
			var x [3]float64
			for j, i := range at {
				i += corner >> j & 1
				v = v*(c+1) + i
				x[j] = float64(float64(i)*h) - s.radius
			}
			if _, ok := s.row[v]; !ok {
				s.row[v] = len(out)
				out = append(out, x)
			}
		}
	}
	return out
}

// spread makes n outputs, evenly: a Fibonacci lattice (Gonzalez, Measurement of
// areas on a sphere using Fibonacci and latitude-longitude lattices, 2010).
func (s *Sphere) spread(n int) {
	s.tents = leastsquares.NewSparse(len(s.row))
	golden := math.Pi * (3 - math.Sqrt(5))
	for i := range n {
		z := (float64(2*i) + 1 - float64(n)) / float64(n)
		r := math.Sqrt(1 - float64(z*z))
		angle := float64(golden * float64(i))
		s.points = append(s.points, [3]float64{s.radius * r * math.Cos(angle), s.radius * r * math.Sin(angle), s.radius * z})
		s.tent(s.points[i], s.tents.Set)
		s.tents.Close()
	}
}

// sides sets a to the weights of a point, given by its coordinates on the sphere of
// radius 1 within [exact.UnitVectorErr]: half as much of the place, and two roundings.
func (s *Sphere) sides(a []side, c [3]float64) {
	for j, v := range c {
		a[j] = s.grid.side(j, float64((v+1)*float64(s.grid.Cells[j])/2), 0, s.placeErr())
	}
}

func (s *Sphere) placeErr() float64 { return float64(s.grid.Cells[0]) * exact.UnitVectorErr }

// tent calls f with the rows that x, on the sphere, has a weight > 0 of.
func (s *Sphere) tent(x [3]float64, f func(row int, weight float64)) {
	for j := range x {
		x[j] /= s.radius
	}
	var a [3]side
	s.sides(a[:], x)
	var t tents
	t.set(&s.grid, a[:])
	for i, w := range t.weight {
		if w > 0 {
			f(s.row[t.vertex[i]], w)
		}
	}
}

// join numbers the vertices anew, those of coarse grids first, joins each to the
// nearest one before it, and finds the outputs nearest to them.
func (s *Sphere) join(ctx context.Context, vertices [][3]float64) error {
	f := &s.Bounded
	order := make([]int, len(vertices))
	for i := range order {
		order[i] = i
	}
	// Vertices of coarse grids first.
	level := func(v [3]float64) int {
		all := 0
		for _, x := range v {
			all |= int(math.Round((x + s.radius) / s.grid.Spacing(0)))
		}
		return all & -all
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := level(vertices[i]), level(vertices[j])
		if a == 0 || b == 0 {
			return a - b // the corner is the coarsest
		}
		return b - a
	})
	place := make([]int, len(order))
	sorted := make([][3]float64, len(order))
	for k, i := range order {
		place[i], sorted[k] = k, vertices[i]
	}
	s.vertex = make([]int, len(s.row))
	for v, r := range s.row {
		s.row[v] = place[r]
		s.vertex[place[r]] = v
	}
	s.tents.Permute(place)
	for k, x := range sorted {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, d := -1, 0.0
		for i, y := range sorted[:k] {
			if e := chord(x, y); i == 0 || e < d {
				at, d = i, e
			}
		}
		f.Parent, f.Length = append(f.Parent, at), append(f.Length, d)
		at, d = s.nearest(x)
		f.Output = append(f.Output, at)
		s.Blur = max(s.Blur, 2*d)
	}
	s.near = make([]int, len(s.points))
	for i, x := range s.points {
		heaviest := 0.0
		s.tent(x, func(row int, weight float64) {
			if weight > heaviest {
				heaviest, s.near[i] = weight, f.Output[row]
			}
		})
	}
	return nil
}

// nearest returns the output nearest to x: outputs ascend along the axis.
func (s *Sphere) nearest(x [3]float64) (at int, d float64) {
	d = math.Inf(1)
	n := len(s.points)
	above := sort.Search(n, func(i int) bool { return s.points[i][2] >= x[2] })
	for i := above; i < n && s.points[i][2]-x[2] <= d; i++ {
		if e := chord(x, s.points[i]); e < d {
			at, d = i, e
		}
	}
	for i := above - 1; i >= 0 && x[2]-s.points[i][2] <= d; i-- {
		if e := chord(x, s.points[i]); e < d {
			at, d = i, e
		}
	}
	return at, d
}

func chord(x, y [3]float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64((v - y[j]) * (v - y[j]))
	}
	return math.Sqrt(sum)
}

// Slope is the map's constant, in quanta.
func (s *Sphere) Slope() float64 { return directed.MulUp(s.grid.Slope(2), float64(s.Whole)) }

// Rounder is that of [Box], for latitudes in [-90, 90] and finite longitudes.
func (s *Sphere) Rounder() func(dst []int64, rng *rand.Rand, items []metric.LatLon) {
	u := user{g: &s.grid, row: func(v int) int { return s.row[v] }, sums: make([]exact.Sum, s.Dim())}
	a := make([]side, 3)
	return func(dst []int64, rng *rand.Rand, items []metric.LatLon) {
		for _, x := range items {
			s.sides(a, exact.NearUnitVector(x.Lat, x.Lon))
			u.add(a)
		}
		u.mean(dst, rng, len(items), s.placeErr(), func(row int, prec uint) exact.Enclosure {
			g, v := s.grid.Cells[0], s.vertex[row]
			vertex := []int{v / (g + 1) / (g + 1), v / (g + 1) % (g + 1), v % (g + 1)}
			one, half := big.NewFloat(1), big.NewFloat(float64(g)/2)
			sum := exact.Enclosure{Lo: down(prec), Hi: up(prec)}
			for _, x := range items {
				c := exact.UnitVector(x.Lat, x.Lon, prec)
				s.grid.enclose(&sum, vertex, func(j int) exact.Enclosure {
					at := func(f, c *big.Float) *big.Float { return f.Mul(f.Add(c, one), half) }
					return exact.Enclosure{Lo: at(down(prec), c[j].Lo), Hi: at(up(prec), c[j].Hi)}
				}, prec)
			}
			return sum
		})
	}
}

// Add adds count times the tents of output i, to integers.
func (s *Sphere) Add(acc []int64, i int, count int64) {
	s.tent(s.points[i], func(row int, weight float64) {
		acc[row] += count * int64(math.RoundToEven(math.Ldexp(weight, s.grid.Bits)))
	})
}

// Point is output i.
func (s *Sphere) Point(i int) [3]float64 { return s.points[i] }

// Len is the number of outputs.
func (s *Sphere) Len() int { return len(s.points) }

// Fit returns the weights of the outputs for a noisy mean y, in quanta.
func (s *Sphere) Fit(ctx context.Context, y []float64) ([]float64, error) {
	return s.Bounded.Fit(ctx, s.tents, y)
}

// W1 is the distance of two lists of weights, or a bound that moves them to
// outputs near vertices first where they are long.
func (s *Sphere) W1(ctx context.Context, p, q []float64) (float64, error) {
	return transport.W1(ctx, func(i, j int) float64 {
		return 2 * s.radius * math.Asin(min(1, chord(s.points[i], s.points[j])/2/s.radius))
	}, p, q, s.near)
}

// arc bounds an arc over a chord: their ratio is largest for antipodes.
func arc(chord float64) float64 { return math.Pi / 2 * chord }

// Resolution and Bound are those of [leastsquares.Bounded]. Anchors are off the sphere, so that W1 is
// bounded by chords first.
func (s *Sphere) Resolution() float64 { return arc(s.Bounded.Resolution()) }

func (s *Sphere) Bound(_, deviation float64) float64 { return arc(s.Bounded.Bound(0, deviation)) }
