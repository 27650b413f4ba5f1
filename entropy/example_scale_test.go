package entropy_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/metric"
)

// square returns the points of a k by k grid, 1 km apart.
func square(k int) metric.Finite {
	var pts [][]float64
	for x := range k {
		for y := range k {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	return f
}

// Four points of a grid, 3.16 km apart, lie in a ball that should hold no more
// than three at this level, and nothing further apart does so.
func ExampleEntropicScale() {
	b := metric.Same(square(10))
	s, err := entropy.EntropicScale(context.Background(), b, 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scale in km:", s.Interval)
	fmt.Printf("witness: %d > %.2f points, %.3g km apart, within %.3g km of point %d\n",
		len(s.Set), math.Exp(s.Alpha*s.R), s.Lo, s.R, s.X)
	// Output:
	// scale in km: 3.16228
	// witness: 4 > 3.06 points, 3.16 km apart, within 2.24 km of point 72
}

func ExampleEntropicScales() {
	b := metric.Same(square(10))
	scales, err := entropy.EntropicScales(context.Background(), b, []float64{0.25, 0.5, 1, 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scales {
		fmt.Printf("alpha %-4v: %v km\n", s.Alpha, s.Interval)
	}
	// Output:
	// alpha 0.25: 7.07107 km
	// alpha 0.5 : 3.16228 km
	// alpha 1   : 1.41421 km
	// alpha 2   : 0 km
}

func ExampleDiametricScale() {
	b := metric.Same(square(10))
	s, err := entropy.DiametricScale(context.Background(), b, 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scale in km:", s)
	// Output:
	// scale in km: 1.47152, by 2 points within 2 of point 2
}

func ExampleDiametricScales() {
	b := metric.Same(square(10))
	scales, err := entropy.DiametricScales(context.Background(), b, []float64{0.25, 0.5, 1, 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scales {
		fmt.Printf("alpha %-4v: %.6g km\n", s.Alpha, s.Hi)
	}
	// Output:
	// alpha 0.25: 2.94304 km
	// alpha 0.5 : 1.47152 km
	// alpha 1   : 0.735759 km
	// alpha 2   : 0.270671 km
}
