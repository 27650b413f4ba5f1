package tsp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
)

// Public places are folded onto the line along a short path, so that a private
// measure can be made on the line and carried back. The path is proved to be short.
func Example() {
	ctx := context.Background()
	f := grid(8, 8)
	path, err := tsp.Solve(ctx, f, &tsp.SolveOptions{Kind: tsp.Open})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(path)
	l, err := tsp.Fold(f, path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("length of the line:", l.Length())
	noisy := l.Position[10] + .3 // what a mechanism on the line releases
	fmt.Println("carried back to its point:", l.Nearest(noisy) == l.Order[10])
	// Output:
	// open tour of 64 points, length 63, bound 63: at most 0 % longer than the shortest
	// length of the line: 63
	// carried back to its point: true
}

// must keeps the other examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// grid returns the points (x, y), 0 <= x < w, 0 <= y < h, row by row.
func grid(w, h int) metric.Finite {
	var pts [][]float64
	for y := range h {
		for x := range w {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	return must(metric.NewPoints(pts, metric.Euclidean{}))
}

func ExampleSpaceFilling() {
	t := must(tsp.SpaceFilling(context.Background(), grid(4, 4), tsp.Open))
	fmt.Println(t.Order[:8], t.Length)
	// Output: [0 1 5 4 8 12 13 9] 15
}

// Words have no coordinates; tours need none.
func ExampleSolve() {
	words := []string{"cat", "dog", "cot", "dot", "coat", "boat"}
	f := must(metric.NewPoints(words, metric.Levenshtein{}))
	t := must(tsp.Solve(context.Background(), f, &tsp.SolveOptions{Kind: tsp.Open}))
	for _, i := range t.Order {
		fmt.Print(words[i], " ")
	}
	fmt.Println(t.Length)
	// Output: dog dot cot cat coat boat 5
}

func ExampleFold() {
	f := grid(3, 2)
	t := must(tsp.Solve(context.Background(), f, &tsp.SolveOptions{Kind: tsp.Open}))
	l := must(tsp.Fold(f, t))
	fmt.Println(l.Position)
	i := l.Nearest(2.2) // a noisy place on the line
	fmt.Println("stands for a point at", l.Position[l.Rank[i]])
	// Output:
	// [0 1 2 3 4 5]
	// stands for a point at 2
}

func ExampleCoveringIntegral() {
	f := grid(10, 10)
	c := must(tsp.CoveringIntegral(context.Background(), f))
	t := must(tsp.Solve(context.Background(), f, nil))
	fmt.Printf("covering numbers say at most %.0f; the tour is %v long\n", c.Bound, t.Length)
	// Output: covering numbers say at most 2711; the tour is 100 long
}

// A tour of 25 unit edges would visit as many black as white points of the
// chessboard, so one edge must be a diagonal. The bound proves it.
func ExampleBound() {
	t := must(tsp.Solve(context.Background(), grid(5, 5), &tsp.SolveOptions{Bound: tsp.BoundHeldKarp}))
	fmt.Printf("%.3f <= shortest <= %.3f\n", t.LowerBound, t.Length)
	// Output: 25.414 <= shortest <= 25.414
}
