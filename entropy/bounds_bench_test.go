package entropy_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// BenchmarkBounds measures the best lower bound over the optimum at every
// alpha*diameter: mean and least of the spaces of a kind. Optima are those of
// package lp to a relative 1e-4, for simplices the closed form.
func BenchmarkBounds(b *testing.B) {
	var mixed, simplices, points []metric.Finite
	sizes := []int{10, 20, 30, 50}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		for seed := range uint64(2) {
			r := random.Seeded(seed)
			mixed = append(mixed, space.Uniform(n, r), roads(n, seed), ultra(b, r, n))
		}
		simplices = append(simplices, space.Simplex(n, 1))
	}
	for _, n := range sizes[1:] {
		points = append(points, referencePoints(b, n))
	}
	for _, kind := range []struct {
		name string
		of   []metric.Finite
	}{{"random", mixed}, {"simplices", simplices}, {"lp_points", points}} {
		for _, span := range []float64{1, 5, 20, 80, 200} {
			b.Run(fmt.Sprintf("%s/alpha*diam=%v", kind.name, span), func(b *testing.B) {
				var shares []float64
				for b.Loop() {
					shares = shares[:0]
					for _, f := range kind.of {
						shares = append(shares, share(b, f, kind.name == "simplices", span))
					}
				}
				mean := 0.0
				for _, s := range shares {
					mean += s / float64(len(shares))
				}
				b.ReportMetric(mean, "mean")
				b.ReportMetric(slices.Min(shares), "least")
			})
		}
	}
}

// share is the best lower bound over the optimum at level span/diameter.
func share(b *testing.B, f metric.Finite, simplex bool, span float64) float64 {
	diameter, _, _, err := metric.Diameter(b.Context(), f)
	if err != nil {
		b.Fatal(err)
	}
	alpha := span / diameter
	bound := testkit.Must(entropy.LowerBounds(b.Context(), metric.Same(f), alpha, nil))[0].Value
	if simplex {
		k := float64(f.Len() - 1)
		return bound / (k / (k + math.Exp(alpha)))
	}
	return bound / testkit.Must(lp.Optimal(b.Context(), metric.Same(f), alpha, &lp.Options{Tolerance: 1e-4})).Objective
}

// referencePoints reads a set of points of package lp.
func referencePoints(b *testing.B, n int) metric.Finite {
	f := testkit.Must(os.Open("../lp/testdata/points.csv"))
	defer f.Close()
	var pts [][]float64
	for _, r := range testkit.Must(csv.NewReader(f).ReadAll()) {
		if r[0] == strconv.Itoa(n) {
			pts = append(pts, []float64{testkit.Must(strconv.ParseFloat(r[2], 64)), testkit.Must(strconv.ParseFloat(r[3], 64))})
		}
	}
	return space.Euclidean(pts)
}

// roads is a graph of n points with random lengths between any two.
func roads(n int, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	var edges []metric.Edge
	for i := range n {
		for j := range i {
			edges = append(edges, metric.Edge{I: i, J: j, Length: 1 + 9*r.Float64()})
		}
	}
	return testkit.Must(metric.NewGraphEdges(context.Background(), n, edges))
}
