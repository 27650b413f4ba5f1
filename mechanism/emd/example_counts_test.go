package emd_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/emd"
)

// A collector has received, from each of three shops, how often the outputs of
// randomised response came up. Nothing but these sums is needed.
func ExampleNewCounts() {
	articles := emd.Clusters{Count: 2, Size: 2, Within: 0.2}
	g, err := emd.NewGKRR(articles, 3)
	if err != nil {
		panic(err)
	}
	f, err := emd.NewGKRRFrequencies(g, emd.Model{Trust: emd.Local, Items: 10}, nil)
	if err != nil {
		panic(err)
	}
	var all emd.Counts
	for _, shop := range [][]int64{{500, 310, 120, 70}, {240, 190, 30, 40}, {930, 640, 230, 200}} {
		users := (shop[0] + shop[1] + shop[2] + shop[3]) / 10
		c, err := emd.NewCounts(shop, users)
		if err != nil {
			panic(err)
		}
		if err := all.Merge(c); err != nil {
			panic(err)
		}
	}
	e, err := f.Estimate(&all)
	if err != nil {
		panic(err)
	}
	fmt.Println(all.Users(), "users")
	fmt.Printf("%.3f\n+- %.3f\n", e.Mean, e.StdErr)
	// Output:
	// 350 users
	// [0.699 0.146 0.114 0.041]
	// +- [0.027 0.027 0.014 0.013]
}

// What ordinary user-level privacy costs a curator, to compare with.
func ExampleNewLaplaceFrequencies() {
	articles := emd.Clusters{Count: 2, Size: 2, Within: 0.2}
	f, err := emd.NewLaplaceFrequencies(articles, emd.Model{Trust: emd.Central, Users: 1000, Items: 10}, 0.5)
	if err != nil {
		panic(err)
	}
	users := func(yield func([]int) bool) {
		for range 1000 {
			if !yield([]int{0, 0, 0, 0, 0, 1, 1, 2, 2, 2}) {
				return
			}
		}
	}
	seeded := rand.New(rand.NewPCG(1, 2)) // nil outside of examples
	e, err := f.Release(seeded, users)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Guarantee())
	fmt.Printf("%.4f, off by %.4f at most in expectation\n", e.Mean, f.ErrorBound())
	// Output:
	// (0.5, 0)-private between users up to d_EM 1 (central, 1000 users of 10 items, diameter 1)
	// [0.4981 0.1991 0.3127 0.0031], off by 0.0098 at most in expectation
}
