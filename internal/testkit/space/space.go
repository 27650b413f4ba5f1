// Package space makes the metric spaces that the tests of several packages have in common. It
// is beside package testkit because the tests of package metric use that one.
package space

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Euclidean is the given points at Euclidean distance.
func Euclidean(pts [][]float64) *metric.Points[[]float64] {
	return fault.Must(metric.NewPoints(pts, metric.Euclidean{}))
}

// Func is n points at distances d(i, j), asked for i < j.
func Func(n int, d func(i, j int) float64) *metric.Dense {
	var upper []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			upper = append(upper, d(i, j))
		}
	}
	return fault.Must(metric.NewDense(n, upper))
}

// Formula is n points at distances d(i, j), asked for i != j and each time anew.
// They need not be distances, nor n positive.
func Formula(n int, d func(i, j int) float64) metric.Finite { return formula{n, d} }

type formula struct {
	n int
	d func(i, j int) float64
}

func (f formula) Len() int { return f.n }

func (f formula) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return f.d(i, j)
}

// Constant is n points, each d from every other, which need not be a distance.
func Constant(n int, d float64) metric.Finite {
	return Formula(n, func(int, int) float64 { return d })
}

// Grid is the l1 grid of k x k points.
func Grid(k int) metric.Finite {
	abs := func(i int) float64 { return float64(max(i, -i)) }
	return Formula(k*k, func(i, j int) float64 { return abs(i/k-j/k) + abs(i%k-j%k) })
}

// Tree is a random tree of n nodes, with edges of lengths up to 1 above the least.
func Tree(n int, least float64, rng *rand.Rand) metric.Finite {
	d := make([][]float64, n)
	for u := range n {
		d[u] = make([]float64, n)
		if u == 0 {
			continue
		}
		parent, e := rng.IntN(u), least+rng.Float64()
		for v := range u {
			d[u][v] = d[parent][v] + e
			d[v][u] = d[u][v]
		}
	}
	return Formula(n, func(i, j int) float64 { return d[i][j] })
}

// Path is n points of the line, each at this distance from the next.
func Path(n int, gap float64) *metric.Dense {
	return Func(n, func(i, j int) float64 { return gap * float64(j-i) })
}

// Simplex is n points at distance d from one another.
func Simplex(n int, d float64) *metric.Dense {
	return Func(n, func(int, int) float64 { return d })
}

// Halton is the first n points of the Halton sequence in bases 2 and 3.
func Halton(n int) metric.Finite {
	return plot(n, func(i int) []float64 { return []float64{radical(i+1, 2), radical(i+1, 3)} })
}

// radical is i in that base, mirrored at the point.
func radical(i, base int) float64 {
	x, f := 0.0, 1.0
	for ; i > 0; i /= base {
		f /= float64(base)
		x += f * float64(i%base)
	}
	return x
}

// Uniform is n random points of the unit square.
func Uniform(n int, rng *rand.Rand) metric.Finite {
	return plot(n, func(int) []float64 { return []float64{rng.Float64(), rng.Float64()} })
}

// Cube is n random points of [0,1]^d under a metric, or, where side is
// positive, of the lattice of that side: with ties and duplicates.
func Cube(n, d, side int, s metric.Space[[]float64], rng *rand.Rand) metric.Finite {
	pts := make([][]float64, n)
	for i := range pts {
		for range d {
			v := rng.Float64()
			if side > 0 {
				v = float64(rng.IntN(side))
			}
			pts[i] = append(pts[i], v)
		}
	}
	return fault.Must(metric.NewPoints(pts, s))
}

// Hard is 2 to 13 points between which float64 rounds visibly, and a level: of the line, the
// plane or no known geometry, some repeated, in two clusters down to 2^-50 of the extent
// wide, in a unit from denormal to large numbers, at 1e-3 to 1e9 over the extent.
func Hard(rng *rand.Rand) (f metric.Finite, alpha float64) {
	n, width, unit := 2+rng.IntN(12), math.Ldexp(1, -rng.IntN(51)), math.Ldexp(1, []int{0, 0, -1040, -500, 500}[rng.IntN(5)])
	plane, line := make([][]float64, n), make([]float64, n)
	for i := range plane {
		line[i] = (float64(i%2) + width*rng.Float64()) * unit
		plane[i] = []float64{line[i], width * rng.Float64() * unit}
		if i > 0 && rng.IntN(8) == 0 {
			line[i], plane[i] = line[i-1], plane[i-1]
		}
	}
	alpha = min(math.Pow(10, 12*rng.Float64()-3)/unit, math.MaxFloat64)
	switch e := Euclidean(plane); rng.IntN(3) {
	case 0:
		return fault.Must(metric.NewPoints(line, metric.Numbers[float64]{})), alpha
	case 1:
		return fault.Must(metric.Densify(context.Background(), e)), alpha
	default:
		return e, alpha
	}
}

func plot(n int, at func(i int) []float64) metric.Finite {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = at(i)
	}
	return Euclidean(pts)
}
