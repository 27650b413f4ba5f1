package wasserstein_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Three workers, three jobs, and what each would cost.
func ExampleAssignment() {
	cost, err := wasserstein.Matrix(3, 3, []float64{
		4, 1, 3,
		2, 0, 5,
		3, 2, 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	m, err := wasserstein.Assignment(context.Background(), cost, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("jobs", m.Column, "cost", m.Cost)
	fmt.Println("no matching costs less than", m.Lower)
	// Output:
	// jobs [1 0 2] cost 5
	// no matching costs less than 5
}

// Every item of the first multiset gets another one of the second.
func ExampleAssignment_items() {
	f, err := metric.NewPoints([][]float64{{0}, {1}, {4}, {9}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	cost, err := wasserstein.Distances(f, []int{0, 1}, []int{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	m, err := wasserstein.Assignment(context.Background(), cost, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("partners", m.Column, "distance", m.Cost)
	// Output: partners [0 1] distance 4
}

// Two users who visited four places each; two visits are common.
func ExampleDistanceEM() {
	places, err := metric.NewPoints([][]float64{{0, 0}, {3, 4}, {6, 8}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	d, err := wasserstein.DistanceEM(context.Background(), places, []int{0, 0, 1, 2}, []int{1, 1, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 2.5
}
