package entropy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/entropy"
)

// At level 1 per spacing, discs of radius 2s of a lattice hold more than
// exp(2s) points that are s apart for some s just below 1.2425 = ln(12)/2, and for
// none beyond.
func ExampleDoublingScale() {
	d, err := entropy.DoublingScale(context.Background(), lattice(5), 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Interval)
	fmt.Printf("%d points within %.4g of point %d\n", len(d.Set), d.R, d.X)
	// Output:
	// 1.24245
	// 12 points within 2.236 of point 12
}

func ExampleDoublingScales() {
	ds, err := entropy.DoublingScales(context.Background(), lattice(5), []float64{0.5, 1, 2, 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range ds {
		fmt.Printf("alpha = %v: %v\n", d.Alpha, d.Interval)
	}
	// Output:
	// alpha = 0.5: 2
	// alpha = 1: 1.24245
	// alpha = 2: 0
	// alpha = 4: 0
}

// The outer scale trades the separation g against the logarithm of the number
// of points so separated.
func ExampleOuterScale() {
	o, err := entropy.OuterScale(context.Background(), lattice(5), 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Interval)
	fmt.Printf("%d points more than %.4g apart\n", o.N.Lo, o.G)
	// Output:
	// 5.45494
	// 5 points more than 2.236 apart
}

func ExampleOuterScales() {
	os, err := entropy.OuterScales(context.Background(), lattice(5), []float64{0.25, 0.5, 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range os {
		fmt.Printf("alpha = %v: %v at g = %.4g\n", o.Alpha, o.Interval, o.G)
	}
	// Output:
	// alpha = 0.25: 5.65685 at g = 5.657
	// alpha = 0.5: 5.45494 at g = 2.236
	// alpha = 1: 3.21888 at g = 0
}
