package bsv22

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/papers/internal/cities"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
)

// space is one of those that private measures are made for.
type space struct {
	name string
	metric.Finite
}

// spaces are a line, a square and cities, of some n points each.
func spaces(n int) []space {
	line := exhibit.Must(cube(1, n))
	square := exhibit.Must(cube(2, int(math.Sqrt(float64(n)))))
	towns := exhibit.Must(cities.Largest(min(n, 200)))
	return []space{{"line", line}, {"square", square}, {"cities", towns}}
}

// cube is the centers of side^d cells of the unit cube, under the largest
// difference of a coordinate.
func cube(d, side int) (*metric.Points[[]float64], error) {
	points := [][]float64{{}}
	for range d {
		var next [][]float64
		for _, p := range points {
			for k := range side {
				next = append(next, append(p[:len(p):len(p)], (float64(k)+0.5)/float64(side)))
			}
		}
		points = next
	}
	return metric.NewPoints(points, metric.Chebyshev{})
}

// tours bounds the shortest tours through some spaces.
func tours(ctx context.Context, r *exhibit.Run) error {
	all := spaces(exhibit.Size(r, 256, 1024))
	for _, s := range all {
		tour := exhibit.Must(tsp.Solve(ctx, s, &tsp.SolveOptions{Bound: tsp.BoundNone}))
		c := exhibit.Must(tsp.CoveringIntegral(ctx, s))
		r.Say("", fmt.Sprintf("tour over covering integral, %d points: %s", s.Len(), s.name), "at most 16",
			fmt.Sprintf("%.2f to %.2f", tour.Length/c.Integral, 2*tour.Length/c.Integral), exhibit.If(2*tour.Length <= 16*c.Integral, exhibit.Holds),
			"the integral is known up to a factor of 2")
	}
	return nil
}
