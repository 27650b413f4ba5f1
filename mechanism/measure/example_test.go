package measure_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism/measure"
)

// A thousand waiting times, counted on two machines, become a private measure:
// it answers every question about averages, and synthetic times are made of it.
func Example() {
	ctx := context.Background()
	d, err := measure.NewBox([]measure.Column{{Lo: 0, Hi: 30}}, &measure.BoxOptions{Splits: [][]int{{8}, {8}}})
	if err != nil {
		log.Fatal(err)
	}
	s, err := measure.NewSynthesizer(d, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
	all := waits()
	counts, err := measure.CountAll(ctx, d, all[:500], nil)
	if err != nil {
		log.Fatal(err)
	}
	rest, err := measure.CountAll(ctx, d, all[500:], nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := counts.Merge(rest); err != nil {
		log.Fatal(err)
	}
	rel, err := s.Release(seeded(), counts) // nil in production
	if err != nil {
		log.Fatal(err)
	}
	short := rel.Mean(func(x []float64) float64 { return max(0, 1-x[0]/10) })
	fmt.Printf("%.3f\n", short)
	records, err := rel.Records(seeded(), 4, nil)
	fmt.Printf("four synthetic times: %.1f %v\n", records, err)
	// Output:
	// 1-private per record replaced, on a box of 1 column: 64 cells, 2 levels of arity 8
	// 0.561
	// four synthetic times: [[0.8] [2.6] [4.9] [11.0]] <nil>
}
