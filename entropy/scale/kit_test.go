package scale

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The spaces that the tests of several files share.

// planePoints returns n uniform points of the unit square.
func planePoints(n int, seed uint64) metric.Finite { return space.Uniform(n, random.Seeded(seed)) }

// randomSpace returns a space of n points whose kind depends on the seed: points of the plane, of a
// small integer grid (ties and duplicates), a random graph, or an ultrametric (seed%4 == 3).
func randomSpace(n int, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	var f metric.Finite
	var err error
	switch seed % 4 {
	case 0:
		f = planePoints(n, seed)
	case 1:
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = []float64{float64(r.IntN(4)), float64(r.IntN(4))}
		}
		f, err = metric.NewPoints(pts, metric.Manhattan{})
	case 2:
		var edges []metric.Edge
		for i := range n {
			for j := range i {
				edges = append(edges, metric.Edge{I: i, J: j, Length: 1 + float64(r.IntN(9))})
			}
		}
		f, err = metric.NewGraphEdges(context.Background(), n, edges)
	default:
		h := make([]float64, n-1)
		for i := range h {
			h[i] = math.Exp2(float64(-r.IntN(5))) * (1 + float64(seed%3))
		}
		f, err = metric.NewUltrametric(r.Perm(n), h)
	}
	if err != nil {
		panic(err)
	}
	return f
}

// randomBimetric returns two random metrics on n points, the same one for every other seed.
func randomBimetric(n int, seed uint64) metric.Bimetric {
	if seed%2 == 0 {
		return metric.Same(randomSpace(n, seed/2))
	}
	return metric.Bimetric{Privacy: randomSpace(n, seed/2+1000), Utility: randomSpace(n, seed/2)}
}

// randomSubset returns a random space of at most so many points with a set of them, for every third
// seed a part and otherwise all, and the generator for what else is random.
func randomSubset(most int, seed uint64) (f metric.Finite, pts []int, r *rand.Rand) {
	r = random.Seeded(seed)
	n := 1 + r.IntN(most)
	pts = spaces.AllPoints(n)
	for i := n - 1; i > 0 && seed%3 == 0; i-- {
		if r.IntN(3) == 0 {
			pts = append(pts[:i], pts[i+1:]...)
		}
	}
	return randomSpace(n, seed), pts, r
}

// bigUltrametric has n points and random heights.
func bigUltrametric(n int, seed uint64) *metric.Ultrametric {
	r := random.Seeded(seed)
	h := make([]float64, n-1)
	for i := range h {
		h[i] = r.Float64()
	}
	return testkit.Must(metric.NewUltrametric(r.Perm(n), h))
}
