package lp_test

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// ladder is 3 x 10 places with unit gaps.
func ladder() metric.Bimetric {
	var pts [][]float64
	for i := range 30 {
		pts = append(pts, []float64{float64(i % 10), float64(i / 10)})
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		panic(err)
	}
	return metric.Same(f)
}

// Some seven unknowns for every input come within a few percent of the optimal
// mechanism, which has thirty.
func ExampleConstOPT() {
	b := ladder()
	s, err := lp.ConstOPT(context.Background(), b, 1, &lp.ConstOptions{Neighbors: 7})
	if err != nil {
		panic(err)
	}
	best, err := lp.Optimal(context.Background(), b, 1, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("loss %.2f at a level of at most 1: %v\n", s.Objective, s.Channel.Guarantee().Alpha() <= 1)
	fmt.Printf("no mechanism has a loss below %.2f\n", best.DualBound)
	// Output:
	// loss 1.28 at a level of at most 1: true
	// no mechanism has a loss below 1.23
}

// Privacy between the ends of a few edges implies it for all pairs.
func ExampleSpanner() {
	s, err := lp.Spanner(context.Background(), ladder(), 1, &lp.SpannerOptions{Stretch: 1.5})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d edges, stretch %.3f\n", len(s.Graph.Edges()), s.Stretch)
	fmt.Printf("the optimum lies between %.2f and %.2f\n", s.DualBound, s.Objective)
	// Output:
	// 47 edges, stretch 1.414
	// the optimum lies between 1.09 and 1.43
}

// A few points far apart already prove that accuracy has a limit.
func ExampleLowerBound() {
	corners := []int{0, 9, 20, 29}
	given, err := lp.LowerBound(context.Background(), ladder(), .1, corners, nil)
	if err != nil {
		panic(err)
	}
	best, err := lp.LowerBound(context.Background(), ladder(), .1, nil, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f by the corners, %.2f by %s\n", given.Value, best.Value, best.Name)
	// Output:
	// 0.62 by the corners, 3.47 by star
}
