package bsv22

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/examples/internal/cities"
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
	towns := exhibit.Must(cities.Largest(min(n, 200)))
	return []space{{"line", points(1, n)}, {"square", points(2, int(math.Sqrt(float64(n))))}, {"cities", towns}}
}

// cube is the centers of side^d cells of the unit cube, and points that under the largest
// difference of a coordinate.
func cube(d, side int) [][]float64 {
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
	return points
}

func points(d, side int) metric.Finite {
	return exhibit.Must(metric.NewPoints(cube(d, side), metric.Chebyshev{}))
}

// tours bounds the shortest tours through some spaces, and folds the spaces along them.
func tours(ctx context.Context, r *exhibit.Run) {
	for _, s := range spaces(exhibit.Size(r, 256, 1024)) {
		tour := exhibit.Must(tsp.Solve(ctx, s, nil))
		c := exhibit.Must(tsp.CoveringIntegral(ctx, s))
		mst := floats.Sum(exhibit.Must(metric.Subdominant(ctx, s)).Heights())
		what := fmt.Sprintf(": %d points, %s", s.Len(), s.name)
		r.Say("Lemma 6.1", "TSP over MST is from 1 to 2"+what, "1 to 2", tour.Length/mst, exhibit.If(mst <= tour.Length && tour.Length <= 2*mst*(1+1e-12), exhibit.Holds), "")
		r.Say("Theorem 6.3", "TSP over the covering integral is at most 16"+what, 16.,
			fmt.Sprintf("%.2f to %.2f", tour.LowerBound/c.Integral, 2*tour.Length/c.Integral), exhibit.If(2*tour.Length <= 16*c.Integral, exhibit.Holds),
			"the integral is known up to a factor of 2; that of N(x) in Remark 6.4 is more by the diameter")
		fold, least := exhibit.Must(tsp.Fold(s, tour)), math.Inf(1) // a Hamiltonian cycle, Lemma 6.2
		for i := range s.Len() {
			for j := range i {
				least = min(least, math.Abs(fold.Position[fold.Rank[i]]-fold.Position[fold.Rank[j]])/s.Distance(i, j))
			}
		}
		r.Say("Proposition 6.5", "folding the line along the tour is 1-Lipschitz"+what, "1 at least", least, exhibit.If(least >= 1-1e-12 && fold.Length() <= tour.Length, exhibit.Holds), "the least distance on the line over that in the space")
	}
}
