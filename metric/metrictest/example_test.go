package metrictest_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// Two ways to compare sets, here the bits of a number: the Jaccard distance is a
// metric, the one of Dice is not.
func Example() {
	jaccard := func(x, y uint) float64 {
		return 1 - float64(bits.OnesCount(x&y))/float64(max(1, bits.OnesCount(x|y)))
	}
	dice := func(x, y uint) float64 {
		return 1 - 2*float64(bits.OnesCount(x&y))/float64(bits.OnesCount(x)+bits.OnesCount(y))
	}
	sets := []uint{0b001, 0b010, 0b011, 0b110, 0b111}
	fmt.Println(metrictest.TestSpace(context.Background(), metric.Func[uint](jaccard), sets, nil))

	err := metrictest.TestSpace(context.Background(), metric.Func[uint](dice), sets, nil)
	var f *metrictest.Failure
	var v *metric.Violation
	if errors.As(err, &f) && errors.As(err, &v) {
		fmt.Printf("%s: from %03b to %03b the way through %03b is shorter by %.2f\n", f.Law, sets[v.I], sets[v.J], sets[v.K], v.Excess)
	}
	// Output:
	// <nil>
	// metric: from 001 to 010 the way through 011 is shorter by 0.33
}

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
