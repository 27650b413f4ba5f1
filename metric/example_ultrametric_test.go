package metric_test

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/metric"
)

func ExampleNewUltrametric() {
	// Points 2, 0, 1 from left to right; height 1 between 2 and 0, height 5 between 0 and 1.
	u := must(metric.NewUltrametric([]int{2, 0, 1}, []float64{1, 5}))
	fmt.Println(u.Distance(2, 0), u.Distance(0, 1), u.Distance(2, 1))
	// Output: 1 5 5
}

func ExampleFromLinkage() {
	// What scipy.cluster.hierarchy.linkage writes for four points: 0 and 1
	// join at height 1 and become cluster 4, 2 and 3 become cluster 5.
	u := must(metric.FromLinkage(4, []metric.Merge{
		{A: 0, B: 1, Height: 1},
		{A: 2, B: 3, Height: 2},
		{A: 4, B: 5, Height: 7},
	}))
	fmt.Println(u.Distance(0, 1), u.Distance(3, 2), u.Distance(1, 3))
	fmt.Println(u.Clusters(1))
	// Output:
	// 1 2 7
	// [0 0 1 2]
}

func ExampleSubdominant() {
	towns := [][]float64{{0, 0}, {1, 0}, {2, 0}, {9, 0}}
	f := must(metric.NewPoints(towns, metric.Euclidean{}))
	u := must(metric.Subdominant(context.Background(), f))
	fmt.Println(f.Distance(0, 2), u.Distance(0, 2)) // by way of point 1
	fmt.Println(f.Distance(0, 3), u.Distance(0, 3))
	// Output:
	// 2 1
	// 9 7
}

func ExampleAsUltrametric() {
	// Words that share a prefix are close.
	words := must(metric.NewPoints([][]string{{"a", "b"}, {"x"}, {"a", "c"}}, metric.CommonPrefix[string]{}))
	u := must(metric.AsUltrametric(context.Background(), words))
	fmt.Println(u.Distance(0, 2) == words.Distance(0, 2), u.Clusters(0.5))
	// Output: true [0 1 0]
}

func ExampleValidateUltrametric() {
	line := must(metric.NewPoints([][]float64{{0}, {1}, {2}}, metric.Euclidean{}))
	fmt.Println(metric.ValidateUltrametric(context.Background(), line, 0))
	// Output: metric: ValidateUltrametric: d(i,j) <= max(d(i,k), d(k,j)) fails at i=0, j=2, k=1 by 1
}

func ExampleNewTree() {
	// Nodes 1 and 2 are children of the root 0, nodes 3 and 4 of node 1.
	t := must(metric.NewTree([]int{-1, 0, 0, 1, 1}, []float64{0, 2, 5, 1, 1}))
	f := t.PathMetric()
	fmt.Println(t.Leaves())
	fmt.Println(f.Distance(1, 2), f.Distance(0, 1)) // between nodes 3, 4 and 2, 3
	// Output:
	// [2 3 4]
	// 2 8
}

func ExampleTreeFromPaths() {
	t := must(metric.TreeFromPaths([][]string{
		{"mammal", "carnivore", "cat"},
		{"mammal", "carnivore", "dog"},
		{"mammal", "mole"},
	}))
	f := t.PathMetric()
	fmt.Println(f.Distance(0, 1), f.Distance(0, 2))
	fmt.Println(t)
	// Output:
	// 2 3
	// ((cat:1,dog:1)carnivore:1,mole:1)mammal;
}
