package scale_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

var ctx = context.Background()

// street is five places, one kilometer apart.
func street() metric.Finite {
	return must(metric.NewPoints([][]float64{{0}, {1}, {2}, {3}, {4}}, metric.Euclidean{}))
}

// square is the points of a k by k grid, 1 km apart.
func square(k int) metric.Finite {
	var pts [][]float64
	for x := range k {
		for y := range k {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	return must(metric.NewPoints(pts, metric.Euclidean{}))
}

// A city on a grid of 1 km, with odds of at most e between places a kilometer apart: up to
// which distance does privacy blur places, and how many are there further apart?
func Example() {
	city := square(6)
	scales, err := scale.Entropic(ctx, metric.Same(city), []float64{1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	count, err := scale.Packing(ctx, city, nil, scales[0].Hi, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scale in km:", scales[0])
	fmt.Println("places further apart:", count)
	// Output:
	// scale in km: 1.41421, by 3 points within 1 of point 19
	// places further apart: [9, 9]
}

// Four points of a grid, 3.16 km apart, lie in a ball that should hold no more
// than three at this level, and nothing further apart does so.
func ExampleEntropic() {
	scales := must(scale.Entropic(ctx, metric.Same(square(10)), []float64{0.5}, nil))
	s := scales[0]
	fmt.Println("scale in km:", s.Interval)
	fmt.Printf("witness: %d > %.2f points, %.3g km apart, within %.3g km of point %d\n",
		len(s.Set), math.Exp(s.Alpha*s.R), s.Lo, s.R, s.X)
	// Output:
	// scale in km: 3.16228
	// witness: 4 > 3.06 points, 3.16 km apart, within 2.24 km of point 72
}

func ExampleDiametric() {
	s := must(scale.Diametric(ctx, metric.Same(square(10)), []float64{0.5}, nil))
	fmt.Println("scale in km:", s[0])
	// Output:
	// scale in km: 1.47152, by 2 points within 2 of point 2
}

// At level 1 per spacing, discs of radius 2s of a lattice hold more than exp(2s) points that are s
// apart for some s just below 1.2425 = ln(12)/2, and for none beyond.
func ExampleDoubling() {
	ds := must(scale.Doubling(ctx, square(5), []float64{1}, nil))
	d := ds[0]
	fmt.Println(d.Interval)
	fmt.Printf("%d points within %.4g of point %d\n", len(d.Set), d.R, d.X)
	// Output:
	// 1.24245
	// 12 points within 2.236 of point 12
}

// The outer scale trades the separation g against the logarithm of the number
// of points so separated.
func ExampleOuter() {
	os := must(scale.Outer(ctx, square(5), []float64{0.5}, nil))
	o := os[0]
	fmt.Println(o.Interval)
	fmt.Printf("%d points more than %.4g apart\n", o.N.Lo, o.G)
	// Output:
	// 5.45494
	// 5 points more than 2.236 apart
}

// How many points of a 6 by 6 lattice are pairwise more than the spacing apart,
// or more than the diagonal of a square?
func ExamplePacking() {
	f := square(6)
	for _, s := range []float64{0, 1, 1.5} {
		c := must(scale.Packing(ctx, f, nil, s, nil))
		fmt.Printf("s = %v: %v\n", s, c)
	}
	// The first row alone.
	c := must(scale.Packing(ctx, f, []int{0, 1, 2, 3, 4, 5}, 1, nil))
	fmt.Println(c.Separated, c.Sets, c.Proof)
	// Output:
	// s = 0: [36, 36]
	// s = 1: [18, 18]
	// s = 1.5: [9, 9]
	// [0 3 5] [[0 1] [2 3] [4 5]] partition
}

// Three crowded points, and one alone that keeps its share.
func ExamplePositiveMeasure() {
	f := must(metric.NewPoints([][]float64{{0}, {0.1}, {0.2}, {8}}, metric.Euclidean{}))
	mu := must(scale.PositiveMeasure(ctx, f))
	fmt.Printf("%.3f\n", mu)
	// Output:
	// [0.747 0.002 0.005 0.247]
}

func ExampleBallMass() {
	mu := []float64{0.1, 0.2, 0.4, 0.2, 0.1}
	for _, r := range []float64{0, 1, 4} {
		mass, y, err := scale.BallMass(ctx, street(), mu, r, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("radius %v: every ball has measure %.3f or more, least at point %d\n", r, mass, y)
	}
	// Output:
	// radius 0: every ball has measure 0.100 or more, least at point 0
	// radius 1: every ball has measure 0.300 or more, least at point 0
	// radius 4: every ball has measure 1.000 or more, least at point 0
}

// A grid of a city is a little less than two-dimensional because of its rim: ten times the records
// make private synthetic data about 10^(1/1.6) = 4 times as accurate.
func ExampleDimension() {
	e := must(scale.Dimension(ctx, square(64), nil))
	fmt.Printf("dimension %.2f between %.1f and %.1f km, proved: %v\n", e.D, e.Coarse, e.Fine, e.Slope)
	// Output: dimension 1.62 between 22.3 and 1.4 km, proved: [1.24609, 2.22013]
}
