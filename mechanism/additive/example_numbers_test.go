package additive_test

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/mechanism/additive"
)

// A mean of 1000 users' vectors of l2 norm at most 1: a change of one user
// moves it by at most 2/1000, so level 500 per unit of the mean gives eps = 1.
func ExampleNewKNorm() {
	m := must(additive.NewKNorm(additive.Norm{P: 2, Dim: 3}, 500, nil))
	y := must(m.Release(seeded(), []float64{0.2, -0.1, 0.4}))
	fmt.Printf("%.3f\n", y)
	eps, _ := m.Guarantee().At(2.0 / 1000)
	fmt.Printf("eps %.3f, root mean square error %.4f a coordinate\n", eps, math.Sqrt(m.SecondMoment()))
	// Output:
	// [0.208 -0.096 0.402]
	// eps 1.000, root mean square error 0.0040 a coordinate
}

func ExampleNorm_AlphaFor() {
	// Largest error of 10 coordinates at most 5 with probability 0.99.
	alpha, err := additive.Norm{P: math.Inf(1), Dim: 10}.AlphaFor(5, 0.99)
	fmt.Printf("%.4f %v\n", alpha, err)
	// Output:
	// 3.7566 <nil>
}

func ExampleNewLaplace() {
	m := must(additive.NewLaplace(0.1, &additive.Options{Unit: "EUR", Grid: 0.25}))
	y, err := m.Release(seeded(), 1200)
	fmt.Println(y, err)
	fmt.Println(m.Guarantee())
	// Output:
	// 1202.5 <nil>
	// 0.1-private per EUR
}

func ExampleNewDiscreteLaplace() {
	m := must(additive.NewDiscreteLaplace(0.5, &additive.DiscreteOptions{Unit: "record"}))
	rng := seeded()
	for range 3 {
		y, err := m.Release(rng, 100)
		fmt.Println(y, err)
	}
	fmt.Println("within", m.RadiusQuantile(0.95), "with probability 0.95")
	// Output:
	// 106 <nil>
	// 101 <nil>
	// 103 <nil>
	// within 6 with probability 0.95
}

func ExampleNewTruncatedGeometric() {
	m := must(additive.NewTruncatedGeometric(additive.Range{Lo: 0, Hi: 10}, 0.5, nil))
	rng := seeded()
	for range 4 {
		y, _ := m.Release(rng, 1)
		fmt.Print(y, " ")
	}
	// Output:
	// 7 2 4 0
}

func ExampleNewGaussian() {
	target := additive.GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 2}
	m := must(additive.NewGaussian(2, target, nil))
	y, err := m.Release(seeded(), []float64{0.5, -0.5})
	fmt.Printf("sigma %.4f: %.2f %v\n", m.Sigma(), y, err)
	fmt.Println(m.Guarantee())
	// Output:
	// sigma 4.4610: [5.59 5.34] <nil>
	// (1 per unit, 1e-06)-private up to 2
}

func ExampleGaussianSigma() {
	sigma, err := additive.GaussianSigma(additive.GaussianTarget{Alpha: 25, Delta: 1e-6, Diameter: 1})
	fmt.Printf("%.6f %v\n", sigma, err)
	// Output:
	// 0.260238 <nil>
}

func ExampleNewDiscreteGaussian() {
	m := must(additive.NewDiscreteGaussian(additive.GaussianTarget{Alpha: 0.5, Delta: 1e-9, Diameter: 3}, nil))
	y, err := m.Release(seeded(), 40)
	fmt.Printf("sigma %.4f: %d %v\n", m.Sigma(), y, err)
	// Output:
	// sigma 11.2065: 35 <nil>
}

func ExampleDiscreteGaussianSigma() {
	sigma, err := additive.DiscreteGaussianSigma(additive.GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 1})
	fmt.Printf("%.6f %v\n", sigma, err)
	// Output:
	// 4.230779 <nil>
}
