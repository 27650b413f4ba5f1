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
	// box of 1 column: 16 cells, 1 level of arity 16
	// 5 records
}
