package measure_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism/measure"
)

// Records in memory are counted on every core; two lists, read anywhere, make
// one data set.
func ExampleCountAll() {
	ages, err := measure.NewBox([]measure.Column{{Lo: 0, Hi: 100}}, &measure.BoxOptions{Depth: 4})
	if err != nil {
		log.Fatal(err)
	}
	c, err := measure.CountAll(context.Background(), ages, [][]float64{{31}, {34}, {67}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	more, err := measure.CountAll(context.Background(), ages, [][]float64{{5}, {102}}, nil) // 102 is clipped
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Merge(more); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Domain())
	fmt.Println(c.Len(), "records")
	// Output:
	// box of 1 column: 16 cells, 4 levels of arity 2
	// 5 records
}

// A release that protects persons, with all their records, needs counts of a few
// records each: the first two here. Each of these has half of the level.
func ExampleCountPersons() {
	hours, err := measure.NewBox([]measure.Column{{Lo: 0, Hi: 24}}, &measure.BoxOptions{Depth: 4})
	if err != nil {
		log.Fatal(err)
	}
	type visit = measure.Row[string, []float64]
	visits := []visit{{"Ann", []float64{8}}, {"Bob", []float64{9}}, {"Ann", []float64{12}}, {"Ann", []float64{13}}, {"Ann", []float64{17}}}
	c, err := measure.CountPersons(context.Background(), hours, func(yield func(visit, error) bool) {
		for _, v := range visits {
			if !yield(v, nil) {
				return
			}
		}
	}, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Len(), "of", len(visits), "records")
	s, err := measure.NewSynthesizer(hours, 1, &measure.SynthesizerOptions{Relation: measure.AddRemoveOne, PerPerson: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Guarantee())
	if _, err := s.Release(nil, c); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 of 5 records
	// 1-private per person added or removed
}

// Rows that come grouped by person need no memory of who was there.
func ExampleCounts_AddPerson() {
	hours, err := measure.NewBox([]measure.Column{{Lo: 0, Hi: 24}}, &measure.BoxOptions{Depth: 4})
	if err != nil {
		log.Fatal(err)
	}
	c := hours.NewCounts()
	for _, visits := range [][][]float64{{{8}, {12}, {13}, {17}}, {{9}}} {
		if err := c.AddPerson(visits, 2); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(c.Len(), "records")
	// Output: 3 records
}
