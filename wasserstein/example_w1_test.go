package wasserstein_test

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Two depots and a school serve three shops, in km.
func ExampleW1() {
	f, err := metric.NewPoints([][]float64{{0, 0}, {4, 0}, {4, 3}, {0, 3}}, metric.Euclidean{})
	if err != nil {
		panic(err)
	}
	stock := []float64{5, 3, 2, 0}
	demand := []float64{2, 3, 1, 4}
	r, err := wasserstein.W1(context.Background(), f, stock, demand, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("cost:", r.Cost, "proved:", r.Gap() < 1e-12)
	for _, p := range r.Plan {
		fmt.Println(p.Mass, "from", p.I, "to", p.J)
	}
	// Output:
	// cost: 13 proved: true
	// 2 from 0 to 0
	// 3 from 0 to 3
	// 3 from 1 to 1
	// 1 from 2 to 2
	// 1 from 2 to 3
}

// Costs need not be distances: two sources, three sinks.
func ExampleBetween() {
	c, err := wasserstein.Matrix(2, 3, []float64{
		8, 6, 10,
		9, 12, 13,
	})
	if err != nil {
		panic(err)
	}
	r, err := wasserstein.Between(context.Background(), c, []float64{30, 20}, []float64{15, 25, 10}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("cost:", r.Cost)
	for _, p := range r.Plan {
		fmt.Println(p.Mass, "from", p.I, "to", p.J)
	}
	// Output:
	// cost: 400
	// 25 from 0 to 1
	// 5 from 0 to 2
	// 15 from 1 to 0
	// 5 from 1 to 2
}

// A plan made by hand, and a proof that it is not far from the best one.
func ExampleCertify() {
	c := wasserstein.CostFunc(3, 3, func(i, j int) float64 { return float64((i - j) * (i - j)) })
	mu, nu := []float64{2, 1, 0}, []float64{0, 1, 2}
	plan := []wasserstein.Flow{{I: 0, J: 2, Mass: 2}, {I: 1, J: 1, Mass: 1}}
	v := []float64{0, 1, 4}
	r, err := wasserstein.Certify(context.Background(), c, mu, nu, plan, v, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("the plan costs %v, the best one between %v and %v\n", r.Cost, r.Lower, r.Upper)
	best, err := wasserstein.Between(context.Background(), c, mu, nu, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("it costs", best.Cost)
	// Output:
	// the plan costs 8, the best one between 6 and 8
	// it costs 6
}

func ExampleDistances() {
	words, err := metric.NewPoints([]string{"kitten", "mitten", "sitting", "knitting"}, metric.Levenshtein{})
	if err != nil {
		panic(err)
	}
	c, err := wasserstein.Distances(words, []int{0, 1}, []int{2, 3})
	if err != nil {
		panic(err)
	}
	r, err := wasserstein.Between(context.Background(), c, []float64{.5, .5}, []float64{.25, .75}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Cost)
	// Output:
	// 3.25
}

// Noise has made a count negative: the nearest probability measure takes what
// is missing from next door.
func ExampleProject() {
	f, err := metric.NewPoints([][]float64{{0}, {1}, {1.5}, {10}}, metric.Euclidean{})
	if err != nil {
		panic(err)
	}
	p, err := wasserstein.Project(context.Background(), f, []float64{.5, -.125, .25, .375}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.P)
	fmt.Println(p)
	// Output:
	// [0.5 0 0.125 0.375]
	// measure on 4 points at cost 0.0625, the least in [0.0625, 0.0625]
}
