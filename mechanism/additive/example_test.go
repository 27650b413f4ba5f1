package additive_test

import (
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// What a bicycle counter tells: how many passed, how fast they were on average,
// and where one of them went, each with the noise that suits it.
func Example() {
	rng := seeded() // nil in production
	passed, err := additive.NewDiscreteLaplace(0.5, &additive.DiscreteOptions{Unit: "rider"})
	if err != nil {
		log.Fatal(err)
	}
	n, err := passed.Release(rng, 1234)
	fmt.Println(n, err, passed.Guarantee())

	// One of 1,234 riders moves the mean of speeds up to 40 km/h by 40/1234.
	speed, err := additive.NewLaplace(0.5*1234/40, &additive.Options{Unit: "km/h"})
	if err != nil {
		log.Fatal(err)
	}
	v, err := speed.Release(rng, 17.3)
	fmt.Printf("%.2f %v, within %.2f with probability 0.95\n", v, err, speed.RadiusQuantile(0.95))

	alpha, err := additive.PlanarAlpha(1, 0.95) // within 1 km with probability 0.95
	if err != nil {
		log.Fatal(err)
	}
	place, err := additive.NewPlanarLaplace(alpha, &additive.Options{Unit: "km"})
	if err != nil {
		log.Fatal(err)
	}
	stations, err := metric.NewPoints([][2]float64{{0, 0}, {0.5, 0.2}, {2, 1}, {3, -1}}, metric.Plane{})
	if err != nil {
		log.Fatal(err)
	}
	station, err := additive.Snap(place, stations).Release(rng, [2]float64{1.8, 0.9})
	fmt.Println("station", station, err)
	// Output:
	// 1240 <nil> 0.5-private per rider
	// 17.26 <nil>, within 0.19 with probability 0.95
	// station 2 <nil>
}
