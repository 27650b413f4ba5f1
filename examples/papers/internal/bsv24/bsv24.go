// Package bsv24 has the exhibits of BSV24: the numbered statements of all sections. The paper
// has no figure, no table and no measured number, and constants are never named: a number in
// its column is an exponent or stands in a formula.
package bsv24

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "BSV24/thm1.5", About: "one metric, connected: A between the entropic scales at 2 alpha and alpha/3", Run: connected},
	{Name: "BSV24/sec1.4", About: "questions (i) and (iii): a limit to what two metrics can have", Run: question},
	{Name: "BSV24/sec2", About: "the entropic scale, packing numbers, and the doubling and the outer scale", Run: section2},
	{Name: "BSV24/thm1.7", About: "A between scales at 2 alpha and below alpha: sections 3 to 5, and question (ii) of 1.4, answered", Run: bounds},
	{Name: "BSV24/thm6.1", About: "A and s of the unit ball of a d-dimensional norm: min(1, d/alpha)", Run: balls.run},
	{Name: "BSV24/thm6.2", About: "A and s of the measures on [0,1]^d under W1: min(1, alpha^(-1/(d+1)))", Run: measures.run},
	{Name: "BSV24/thm6.3", About: "A and s of the Lipschitz functions on [0,1]^d: min(1, alpha^(-1/(d+1)))", Run: lipschitz.run},
	{Name: "BSV24/thm6.4", About: "the scales of the Baire cube in closed form, and A between them", Run: baire},
}

// levels are from, from*by, ... up to last.
func levels(from, last, by float64) (alphas []float64) {
	for a := from; a <= last*(1+1e-9); a *= by {
		alphas = append(alphas, a)
	}
	return alphas
}

// sample is a random space at a level, with the scales behind the paper's bounds.
type sample struct {
	metric.Bimetric
	alpha                 float64
	entropic2, diametric2 scale.Interval // at 2 alpha, for lower bounds
	entropic3, diametric7 scale.Interval // at alpha/3 and alpha/7, for upper ones
}

// at is the space at another level.
func (s sample) at(ctx context.Context, alpha float64) sample {
	e := exhibit.Must(scale.Entropic(ctx, s.Bimetric, []float64{alpha / 3, 2 * alpha}, nil))
	d := exhibit.Must(scale.Diametric(ctx, s.Bimetric, []float64{alpha / 7, 2 * alpha}, nil))
	s.alpha, s.entropic3, s.entropic2, s.diametric7, s.diametric2 = alpha, e[0].Interval, e[1].Interval, d[0].Interval, d[1].Interval
	return s
}

// optimum solves the linear program of Definition 1.2.
func (s sample) optimum(ctx context.Context) *lp.Solution {
	return exhibit.Must(lp.Optimal(ctx, s.Bimetric, s.alpha, &lp.Options{Tolerance: 1e-4}))
}

// draw is a random metric on n points: shortest paths on a ring with chords, a dendrogram with
// heights over three decades, uniform points of the plane or, in clusters, of four squares that
// no chain of small steps connects.
func draw(ctx context.Context, kind string, n int, rng *rand.Rand) metric.Finite {
	switch kind {
	case "road":
		return exhibit.Must(metric.NewGraphEdges(ctx, n, road(n, rng)))
	case "ultrametric":
		heights := make([]float64, n-1)
		for i := range heights {
			heights[i] = math.Pow(10, -3*rng.Float64())
		}
		return exhibit.Must(metric.NewUltrametric(rng.Perm(n), heights))
	}
	points := make([][2]float64, n)
	for i := range points {
		if kind == "clusters" {
			points[i][1], points[i][0] = math.Sincos(float64(i % 4))
		}
		points[i] = [2]float64{10*points[i][0] + rng.Float64(), 10*points[i][1] + rng.Float64()}
	}
	return exhibit.Must(metric.NewPoints(points, metric.Plane{}))
}

func road(n int, rng *rand.Rand) (edges []metric.Edge) {
	for i := range n {
		edges = append(edges, metric.Edge{I: i, J: (i + 1) % n, Length: 0.1 + rng.Float64()})
		if j := rng.IntN(n); j != i {
			edges = append(edges, metric.Edge{I: i, J: j, Length: 1 + rng.Float64()})
		}
	}
	return edges
}

// samples are count spaces of n points for each pair of kinds, of privacy and of loss, at
// levels of 1, 5 and 25 over the diameter. A pair of one kind is one metric.
func samples(ctx context.Context, seed uint64, n, count int, pairs ...[2]string) (all []sample) {
	rng := random.Seeded(seed)
	for _, p := range pairs {
		for range count {
			s := sample{Bimetric: metric.Same(draw(ctx, p[1], n, rng))}
			if p[0] != p[1] {
				s.Privacy = draw(ctx, p[0], n, rng)
			}
			diameter := exhibit.Largest(metric.Diameter(ctx, s.Privacy))
			for _, times := range []float64{1, 5, 25} {
				all = append(all, s.at(ctx, times/diameter))
			}
		}
	}
	return all
}

// grid is the points of [0,1]^2 with coordinates in multiples of 1/k, under the largest.
func grid(k int) metric.Finite {
	var points [][]float64
	for i := range (k + 1) * (k + 1) {
		points = append(points, []float64{float64(i/(k+1)) / float64(k), float64(i%(k+1)) / float64(k)})
	}
	return exhibit.Must(metric.NewPoints(points, metric.Chebyshev{}))
}
