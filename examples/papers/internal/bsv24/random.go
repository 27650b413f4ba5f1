package bsv24

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// figures are the scales behind the bounds of the paper at one level.
type figures struct {
	entropic2, diametric2 scale.Interval // at 2 alpha, for lower bounds
	entropic3, diametric7 scale.Interval // at alpha/3 and alpha/7, for upper ones
}

func measure(ctx context.Context, b metric.Bimetric, alpha float64) (figures, error) {
	s, err := scale.Entropic(ctx, b, []float64{alpha / 3, 2 * alpha}, nil)
	if err != nil {
		return figures{}, err
	}
	so, err := scale.Diametric(ctx, b, []float64{alpha / 7, 2 * alpha}, nil)
	if err != nil {
		return figures{}, err
	}
	return figures{entropic2: s[1].Interval, diametric2: so[1].Interval, entropic3: s[0].Interval, diametric7: so[0].Interval}, nil
}

// lower is that of Theorems 3.1 and 3.2.
func (f figures) lower() float64 { return max(f.entropic2.Lo/8, f.diametric2.Lo/5) }

// upper is that of Theorem 5.1, for ultrametrics of the loss.
func (f figures) upper() float64 { return f.entropic3.Hi + 14*f.diametric7.Hi }

// sample is a random space at a level.
type sample struct {
	metric.Bimetric
	kind  string
	alpha float64
}

// Kinds of metrics.
var kinds = map[string]func(ctx context.Context, n int, rng *rand.Rand) (metric.Finite, error){
	"plane":       plane,
	"clusters":    clusters,
	"road":        road,
	"ultrametric": dendrogram,
}

// samples are count spaces of n points for each pair of kinds, each at levels of 1, 5
// and 25 over its diameter. A pair of one kind is one metric.
func samples(ctx context.Context, seed uint64, n, count int, pairs ...[2]string) (all []sample, err error) {
	rng := random.Seeded(seed)
	for _, p := range pairs {
		for range count {
			rho2, err := kinds[p[1]](ctx, n, rng)
			if err != nil {
				return nil, err
			}
			s, name := metric.Same(rho2), p[1]
			if p[0] != p[1] {
				name = p[0] + ", loss " + p[1]
				if s.Privacy, err = kinds[p[0]](ctx, n, rng); err != nil {
					return nil, err
				}
			}
			diameter, _, _, err := metric.Diameter(ctx, s.Privacy)
			if err != nil {
				return nil, err
			}
			for _, times := range []float64{1, 5, 25} {
				all = append(all, sample{s, name, times / diameter})
			}
		}
	}
	return all, nil
}

// plane is n points of the unit square.
func plane(_ context.Context, n int, rng *rand.Rand) (metric.Finite, error) {
	points := make([][2]float64, n)
	for i := range points {
		points[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	return metric.NewPoints(points, metric.Plane{})
}

// clusters is n points in groups that are far from each other: no chain of small steps
// connects them.
func clusters(_ context.Context, n int, rng *rand.Rand) (metric.Finite, error) {
	points := make([][2]float64, n)
	for i := range points {
		x, y := math.Sincos(float64(i % 4))
		points[i] = [2]float64{10*x + rng.Float64(), 10*y + rng.Float64()}
	}
	return metric.NewPoints(points, metric.Plane{})
}

// road is the shortest paths of a ring with chords, of random lengths.
func road(ctx context.Context, n int, rng *rand.Rand) (metric.Finite, error) {
	var edges []metric.Edge
	for i := range n {
		edges = append(edges, metric.Edge{I: i, J: (i + 1) % n, Length: 0.1 + rng.Float64()})
		if j := rng.IntN(n); j != i {
			edges = append(edges, metric.Edge{I: i, J: j, Length: 1 + rng.Float64()})
		}
	}
	return metric.NewGraphEdges(ctx, n, edges)
}

// dendrogram is a random ultrametric, with heights over three decades.
func dendrogram(_ context.Context, n int, rng *rand.Rand) (metric.Finite, error) {
	heights := make([]float64, n-1)
	for i := range heights {
		heights[i] = math.Pow(10, -3*rng.Float64())
	}
	return metric.NewUltrametric(rng.Perm(n), heights)
}

// optimum solves the linear program of a space.
func (s sample) optimum(ctx context.Context) (*lp.Solution, error) {
	best, err := lp.Optimal(ctx, s.Bimetric, s.alpha, &lp.Options{Tolerance: 1e-4})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.kind, err)
	}
	return best, nil
}
