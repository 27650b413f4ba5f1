package tsp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/tsp"
)

// A tour of 25 unit edges would visit as many black as white points of the
// chessboard, so one edge must be a diagonal. The bound proves it.
func ExampleHeldKarpBound() {
	f := grid(5, 5)
	b, err := tsp.HeldKarpBound(context.Background(), f, nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := tsp.Solve(context.Background(), f, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f <= shortest <= %.3f\n", b.Value, t.Length)
	// Output: 25.414 <= shortest <= 25.414
}

// The multipliers of a bound are its proof.
func ExampleOneTreeBound() {
	f := grid(4, 3)
	b, err := tsp.HeldKarpBound(context.Background(), f, &tsp.HeldKarpOptions{Kind: tsp.Path})
	if err != nil {
		log.Fatal(err)
	}
	again, err := tsp.OneTreeBound(context.Background(), f, b.Multipliers, tsp.Path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value, again.Value == b.Value)
	// Output: 11 true
}

// Without multipliers it is the bound of a minimum spanning tree.
func ExampleOneTreeBound_tree() {
	b, err := tsp.OneTreeBound(context.Background(), grid(4, 3), nil, tsp.Closed)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Value)
	// Output: 12
}
