package wasserstein_test

import (
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

func ExampleW1Line() {
	// Half of the mass at 0 moves to 3.
	d, err := wasserstein.W1Line([]float64{0, 3, 7}, []float64{1, 0, 1}, []float64{.5, .5, 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 1.5
}

func ExampleW1LineBetween() {
	d, err := wasserstein.W1LineBetween([]float64{0, 10}, []float64{.5, .5}, []float64{4}, []float64{1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d) // half from 0, half from 10
	// Output: 5
}

func ExampleW1Samples() {
	before := []float64{3, 1, 2}
	after := []float64{2, 4, 3, 2, 3, 4} // the same, one higher, each twice
	d, err := wasserstein.W1Samples(before, after)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 1
}

func ExampleW1Tree() {
	t, err := metric.TreeFromPaths([][]string{
		{"goods", "food", "bread"},
		{"goods", "food", "milk"},
		{"goods", "tools", "saw"},
	})
	if err != nil {
		log.Fatal(err)
	}
	// From bread, 0.25 go to milk, by two edges, and 0.5 to saws, by four.
	d, err := wasserstein.W1Tree(t, []float64{1, 0, 0}, []float64{.25, .25, .5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 2.5
}

func ExampleW1TreeNodes() {
	path, err := metric.NewTree([]int{-1, 0, 1}, []float64{0, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	d, err := wasserstein.W1TreeNodes(path, []float64{1, 0, 0}, []float64{0, .5, .5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 3.5
}

func ExampleW1Ultrametric() {
	// Points 0 and 1 join at height 1, point 2 at height 4.
	u, err := metric.NewUltrametric([]int{0, 1, 2}, []float64{1, 4})
	if err != nil {
		log.Fatal(err)
	}
	d, err := wasserstein.W1Ultrametric(u, []float64{1, 0, 0}, []float64{0, .5, .5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 2.5
}

func ExampleW1Clustered() {
	// Two clusters of two points, 0.25 apart within a cluster.
	c, err := metric.NewClustered(2, 2, 0.25)
	if err != nil {
		log.Fatal(err)
	}
	d, err := wasserstein.W1Clustered(c, []float64{1, 0, 0, 0}, []float64{0, .5, .5, 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 0.625
}

func ExampleProjectLine() {
	// A histogram on 0, 1, 2, 3 after noise. The deficit at 1 is filled from
	// both of its neighbors.
	p, d, err := wasserstein.ProjectLine([]float64{0, 1, 2, 3}, []float64{.5, -.25, .5, .25})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, d)
	// Output: [0.375 0 0.375 0.25] 0.25
}

func ExampleIsotonicL1() {
	f, err := wasserstein.IsotonicL1([]float64{1, 3, 2, 5}, nil, 0, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f)
	// Output: [1 2.5 2.5 4]
}

// noisy is a tree with leaves 0, 1 | 2, 3, and weights after noise.
func noisy() (*metric.Tree, []float64) {
	t, err := metric.NewTree([]int{4, 4, 5, 5, 6, 6, -1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return t, []float64{.75, -.25, .375, .125}
}

func ExampleProjectTree() {
	t, g := noisy()
	p, d, err := wasserstein.ProjectTree(t, g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, d) // leaf 1 is filled from its sibling, two edges away
	// Output: [0.5 0 0.375 0.125] 0.5
}

func ExampleProjectSimplex() {
	p, err := wasserstein.ProjectSimplex([]float64{.75, .5, -.25}, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	// Output: [0.625 0.375 0]
}
