package lp_test

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Five stops of a bus line, a kilometer apart, and the best way to report one of
// them at level 1 per km.
func ExampleOptimal() {
	stops := [][]float64{{0}, {1}, {2}, {3}, {4}}
	line, err := metric.NewPoints(stops, metric.Euclidean{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := lp.Optimal(context.Background(), metric.Same(line), 1, &lp.Options{Unit: "km"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("expected error at most %.4f km, %s: nothing beats %.4f\n", s.Objective, s.Status, s.DualBound)
	fmt.Println("level at most 1:", s.Guarantee().Alpha() <= 1)
	for y, p := range s.Row(1, nil) {
		fmt.Printf("from stop 1 to stop %d: %.3f\n", y, p)
	}
	// On the stops themselves, not their numbers.
	at, err := mechanism.On(s, line).Release(random.Seeded(2), stops[1]) // nil in earnest
	fmt.Println("released:", at, err)
	// Output:
	// expected error at most 0.6376 km, within tolerance: nothing beats 0.6376
	// level at most 1: true
	// from stop 1 to stop 0: 0.193
	// from stop 1 to stop 1: 0.480
	// from stop 1 to stop 2: 0.236
	// from stop 1 to stop 3: 0.065
	// from stop 1 to stop 4: 0.026
	// released: [2] <nil>
}

// The same line where nearly everybody gets on at the first two stops: the least
// mean error.
func ExampleOptimal_prior() {
	stops := [][]float64{{0}, {1}, {2}, {3}, {4}}
	line, err := metric.NewPoints(stops, metric.Euclidean{})
	if err != nil {
		fmt.Println(err)
		return
	}
	o := &lp.Options{Prior: []float64{.5, .3, .1, .05, .05}}
	s, err := lp.Optimal(context.Background(), metric.Same(line), 1, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean error %.4f km, certified to a relative gap of 1e-6: %v\n", s.Objective, s.Gap <= 1e-6)
	// Output:
	// mean error 0.4944 km, certified to a relative gap of 1e-6: true
}
