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
