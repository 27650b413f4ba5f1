package metric_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
)

// Four corners of a square and its center: the sides are left out, because the
// way through the center is at most 1.5 times as long.
func ExampleSpanner() {
	f, err := metric.NewPoints([][]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {.5, .5}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	g, err := metric.Spanner(context.Background(), f, 1.5)
	if err != nil {
		log.Fatal(err)
	}
	stretch, _, _, err := metric.Bimetric{Privacy: f, Utility: g}.Lipschitz(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range g.Edges() {
		fmt.Printf("%d-%d %.3f\n", e.I, e.J, e.Length)
	}
	fmt.Printf("stretch %.3f\n", stretch)
	// Output:
	// 0-4 0.707
	// 1-4 0.707
	// 2-4 0.707
	// 3-4 0.707
	// stretch 1.414
}
