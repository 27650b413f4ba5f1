package metrictest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// week is the days of a week, at these hours from its beginning.
type week [7]float64

var noon = week{12, 36, 60, 84, 108, 132, 156}

func (w week) Len() int { return len(w) }

// Distance panics, as it should, where there is no such day.
func (w week) Distance(i, j int) float64 { return max(w[i]-w[j], w[j]-w[i]) }

// cycle measures the shorter way round.
type cycle struct{ week }

func (c cycle) Distance(i, j int) float64 {
	d := c.week.Distance(i, j)
	return min(d, 7*24-d)
}

func ExampleTestFinite() {
	fmt.Println(metrictest.TestFinite(context.Background(), noon, nil))
	fmt.Println(metrictest.TestFinite(context.Background(), cycle{noon}, &metrictest.Options{Strict: true}))

	err := metrictest.TestFinite(context.Background(), cycle{noon}, &metrictest.Options{Ultrametric: true})
	var v *metric.Violation
	if errors.As(err, &v) {
		fmt.Println(v.Axiom)
	}
	// Output:
	// <nil>
	// <nil>
	// d(i,j) <= max(d(i,k), d(k,j))
}

// The squared difference is no metric: from 10 to 12 it is shorter by way of 11.
func ExampleTestSpace() {
	squared := metric.Func[float64](func(x, y float64) float64 { return (x - y) * (x - y) })
	fmt.Println(metrictest.TestSpace(context.Background(), squared, []float64{10, 11, 12}, nil))
	// Output:
	// metrictest: TestSpace: metric: d(i,j) <= d(i,k) + d(k,j) fails at i=0, j=2, k=1 by 2; points[0] = 10; points[2] = 12; points[1] = 11
}

func ExampleTestBimetric() {
	// Privacy goes by the time of the week, errors by the calendar.
	fmt.Println(metrictest.TestBimetric(context.Background(), metric.Bimetric{Privacy: cycle{noon}, Utility: noon}, nil))
	// Output:
	// <nil>
}
