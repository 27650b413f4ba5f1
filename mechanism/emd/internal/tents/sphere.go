package tents

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd/internal/leastsquares"
	"github.com/metricdp/metricdp/mechanism/emd/internal/transport"
)

// Sphere is the map of a sphere in space by the tents of the cells that it meets.
// Chords are no longer than arcs, so that their constant for the l2 norm is one
// for arcs.
type Sphere struct {
	grid      Grid
	radius    float64
	row       map[int]int  // of a vertex
	points    [][3]float64 // outputs
	tents     *leastsquares.Sparse
	near      []int // the output that stands for an output
	blurred   float64
	bounded   leastsquares.Bounded
	deviation float64
}

// NewSphere returns the tents for a sphere: see [NewBox]. Cells have the side
// 2 radius/g, g = .25 (pi radius/noise)^(1/3), as measured, and 2 at least.
func NewSphere(ctx context.Context, op string, radius, noise, quantum, spacing float64) (*Sphere, error) {
	g := math.Round(0.25 * math.Cbrt(math.Pi*radius/noise))
	if spacing > 0 {
		g = math.Ceil(2 * radius / spacing)
	}
	g = max(2, g)
	if err := fault.Memory(op, 15*g*g, 500); err != nil { // outputs are the most
		return nil, err
	}
	s := &Sphere{radius: radius, row: map[int]int{}, grid: Grid{
		Lo: []float64{-radius, -radius, -radius}, Side: []float64{2 * radius, 2 * radius, 2 * radius}, Cells: []int{int(g), int(g), int(g)},
	}}
	s.grid.resolve(2, quantum)
	s.deviation = math.Sqrt2 * s.grid.Slope(2) * noise
	vertices := s.vertices()
	s.spread(int(math.Ceil(math.Pi * 9 * g * g)))
	h := s.grid.Spacing(0)
	// An anchor is at most a cell's diagonal off the sphere.
	s.blurred = h * math.Sqrt(3) / 2
	return s, s.join(ctx, vertices)
}

// vertices numbers the vertices of all cells that a lattice point next to the
// sphere may lie in, and returns them. Such a point is at most half a step an axis
// from the sphere, less than one step away.
func (s *Sphere) vertices() [][3]float64 {
	c := s.grid.Cells[0]
	h := s.grid.Spacing(0)
	step := math.Ldexp(h, -s.grid.Bits)
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
		if math.Sqrt(least) > s.radius+step || math.Sqrt(most) < s.radius-step {
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
		s.tent(s.points[i], func(row int, weight int64) {
			s.tents.Set(row, float64(weight)/float64(s.grid.Quanta()))
		})
		s.tents.Close()
	}
}

func (s *Sphere) tent(x [3]float64, f func(row int, weight int64)) {
	at := make([]int, 3)
	for j, v := range x {
		at[j] = s.grid.At(j, v)
	}
	s.grid.tent(at, func(vertex int, weight int64) { f(s.row[vertex], weight) })
}

// join numbers the vertices anew, those of coarse grids first, joins each to the
// nearest one before it, and finds the outputs nearest to them.
func (s *Sphere) join(ctx context.Context, vertices [][3]float64) error {
	f := &s.bounded
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
	for v, r := range s.row {
		s.row[v] = place[r]
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
		s.blurred = max(s.blurred, d)
	}
	s.near = make([]int, len(s.points))
	for i, x := range s.points {
		heaviest := int64(0)
		s.tent(x, func(row int, weight int64) {
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
func (s *Sphere) Slope() float64 { return s.grid.Slope(2) * float64(s.grid.Quanta()) } // a power of two: exact

// Add counts a point, given by coordinates on the sphere.
func (s *Sphere) Add(acc []int64, x [3]float64, count int64) {
	s.tent(x, func(row int, weight int64) { acc[row] += weight * count })
}

// Point is output i.
func (s *Sphere) Point(i int) [3]float64 { return s.points[i] }

// Dim is the number of vertices, and Work the length of an accumulator.
func (s *Sphere) Dim() int  { return len(s.bounded.Parent) }
func (s *Sphere) Work() int { return s.Dim() }

// Largest bounds the weights.
func (s *Sphere) Largest() int64 { return s.grid.Quanta() }

// Finish has nothing to do: an accumulator is the sum.
func (s *Sphere) Finish([]int64) {}

// Len is the number of outputs.
func (s *Sphere) Len() int { return len(s.points) }

// Fit returns the weights of the outputs for a noisy mean y, in quanta.
func (s *Sphere) Fit(ctx context.Context, y []float64) ([]float64, error) {
	for i := range y {
		y[i] /= float64(s.grid.Quanta())
	}
	return s.bounded.Fit(ctx, s.tents, y, s.deviation)
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

// Resolution bounds the distance of the items from the fit to their mean without
// noise: see [Box]; the anchors of outputs, too, are those of lattice points.
// Anchors are off the sphere, so that W1 is bounded by chords first.
func (s *Sphere) Resolution() float64 {
	return arc(2*(s.blurred+s.snap()) + s.bounded.Slack(s.deviation))
}

// snap is how far an item or an output may be moved.
func (s *Sphere) snap() float64 {
	return math.Sqrt(3) / 2 * math.Ldexp(s.grid.Spacing(0), -s.grid.Bits)
}

// Bound bounds the expected error for noise of the given deviation, in quanta.
func (s *Sphere) Bound(_, deviation float64) float64 {
	return arc(2*(s.blurred+s.snap()) + s.bounded.Bound(s.deviation, deviation/float64(s.grid.Quanta())))
}
