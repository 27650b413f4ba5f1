package metric_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
)

func ExampleValidate() {
	// Travel times: 0 to 2 takes longer than by way of 1.
	times, err := metric.NewMatrix([][]float64{
		{0, 10, 45},
		{10, 0, 20},
		{45, 20, 0},
	})
	if err != nil {
		log.Fatal(err)
	}
	err = metric.Validate(context.Background(), times, nil)
	fmt.Println(err)

	var v *metric.Violation
	if errors.As(err, &v) {
		fmt.Println(v.Axiom == metric.Triangle, v.I, v.K, v.J, v.Excess)
	}
	// Output:
	// metric: Validate: d(i,j) <= d(i,k) + d(k,j) fails at i=0, j=2, k=1 by 15
	// true 0 1 2 15
}
