package lp_test

import (
	"context"
	"fmt"
	"time"

	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// The best mechanism that a second is enough for, and why the others are not it.
func ExampleChoose() {
	stops := make([][]float64, 300)
	for k := range stops {
		stops[k] = []float64{float64(k), float64(k * k % 7)}
	}
	line, err := metric.NewPoints(stops, metric.Euclidean{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := lp.Choose(context.Background(), metric.Same(line), 0.5, &lp.ChooseOptions{TimeLimit: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: error at most %.2f; nothing is below %.2f (%s)\n", s.Method, s.Objective, s.LowerBound, s.BoundBy)
	// Output:
	// tight weights: error at most 2.56; nothing is below 1.83 (star)
}
