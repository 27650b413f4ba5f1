package metric_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/graph/simple"

	"github.com/metricdp/metricdp/metric"
)

func ExampleNewGraph() {
	roads := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	road := func(a, b simple.Node, km float64) {
		roads.SetWeightedEdge(simple.WeightedEdge{F: a, T: b, W: km})
	}
	road(10, 20, 5)
	road(20, 40, 5)
	road(10, 40, 12)

	g, err := metric.NewGraph(context.Background(), roads)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.IDs(), g.Distance(0, 2))
	// Output: [10 20 40] 10
}

func ExampleNewGraphEdges() {
	g, err := metric.NewGraphEdges(context.Background(), 3, []metric.Edge{
		{I: 0, J: 1, Length: 5},
		{I: 1, J: 2, Length: 5},
		{I: 2, J: 0, Length: 12}, // longer than the way round
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Distance(0, 2))
	fmt.Println(g.Edges())
	// Output:
	// 10
	// [{0 1 5} {1 2 5}]
}

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
