package entropy_test

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/entropy"
)

// No private copy of a distribution over the places is nearer to it than this.
func ExamplePrivateMeasureBound() {
	f := street()
	m := must(entropy.PrivateMeasureBound(context.Background(), f, 10))
	fmt.Printf("W1 error at least %.4f km\n", m.Value)
	fmt.Printf("by mass %.3f on one of each pair %v\n", m.Mass, m.Pairs)
	// Output:
	// W1 error at least 0.1114 km
	// by mass 0.128 on one of each pair [[0 4]]
}

// Synthetic data: 1000 records at eps = 0.1 when one of them is replaced.
func ExamplePrivateDataBound() {
	m := must(entropy.PrivateDataBound(context.Background(), street(), 1000, 0.1))
	fmt.Printf("W1 error at least %.4f km, by %d records in %d places\n", m.Value, m.Records, 2*len(m.Pairs))
	// Output:
	// W1 error at least 0.0111 km, by 13 records in 2 places
}
