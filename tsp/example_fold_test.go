package tsp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/tsp"
)

func ExampleFold() {
	f := grid(3, 2)
	t, err := tsp.Solve(context.Background(), f, &tsp.SolveOptions{Kind: tsp.Path})
	if err != nil {
		log.Fatal(err)
	}
	l, err := tsp.Fold(f, t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Position)
	i := l.Nearest(2.2) // a noisy place on the line
	fmt.Println("stands for a point at", l.Position[l.Rank[i]])
	// Output:
	// [0 1 2 3 4 5]
	// stands for a point at 2
}

func ExampleFolding_Locality() {
	f := grid(32, 32)
	t, err := tsp.SpaceFilling(context.Background(), f, tsp.Hilbert, tsp.Path)
	if err != nil {
		log.Fatal(err)
	}
	l, err := tsp.Fold(f, t)
	if err != nil {
		log.Fatal(err)
	}
	locality, err := l.Locality(context.Background(), f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(locality)
	// Output: stretch of 1024 nearest neighbors: median 1, mean 16, max 853, at most 2 for 52 %
}

func ExampleCoveringIntegral() {
	f := grid(10, 10)
	c, err := tsp.CoveringIntegral(context.Background(), f)
	if err != nil {
		log.Fatal(err)
	}
	t, err := tsp.Solve(context.Background(), f, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("covering numbers say at most %.0f; the tour is %v long\n", c.Bound, t.Length)
	// Output: covering numbers say at most 2711; the tour is 100 long
}
