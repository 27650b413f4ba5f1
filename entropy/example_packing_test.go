package entropy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/metric"
)

// lattice returns the points of a k by k square lattice with spacing 1.
func lattice(k int) metric.Finite {
	var pts [][]float64
	for i := range k {
		for j := range k {
			pts = append(pts, []float64{float64(i), float64(j)})
		}
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	return f
}

// How many points of a 6 by 6 lattice are pairwise more than the spacing apart,
// or more than the diagonal of a square?
func ExamplePacking() {
	f := lattice(6)
	for _, s := range []float64{0, 1, 1.5} {
		c, err := entropy.Packing(context.Background(), f, nil, s, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("s = %v: %v\n", s, c)
	}
	// The first row alone.
	c, err := entropy.Packing(context.Background(), f, []int{0, 1, 2, 3, 4, 5}, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Separated, c.Sets, c.Proof)
	// Output:
	// s = 0: [36, 36]
	// s = 1: [18, 18]
	// s = 1.5: [9, 9]
	// [0 3 5] [[0 1] [2 3] [4 5]] partition
}

// Closed balls of radius 1 around lattice points hold at most five of them.
func ExampleCovering() {
	f := lattice(5)
	c, err := entropy.Covering(context.Background(), f, nil, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, by %s\n", c, c.Proof)
	// In an ultrametric balls are clusters, and every center is as good.
	u, err := metric.NewClustered(3, 4, 0.25)
	if err != nil {
		log.Fatal(err)
	}
	if c, err = entropy.Covering(context.Background(), u, nil, 0.25, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Centers)
	// Output:
	// [7, 7], by branch and bound
	// [0 4 8]
}
