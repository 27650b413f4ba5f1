package distribution_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/metric"
)

// Where in a town of 10 by 6 km are people? Of each of 5,000 users any number of
// places counts; most are around two markets.
func ExampleBox() {
	ctx := context.Background()
	model := emd.Model{Trust: emd.Central, Users: 5000, Unit: "km"}
	town := distribution.Box(metric.Euclidean{}, []float64{0, 0}, []float64{10, 6})
	d, err := distribution.New(ctx, town, model, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2)) // nil for private data
	places := func(yield func([][]float64) bool) {
		for u := range 5000 {
			market := []float64{2, 3}
			if u%3 == 0 {
				market = []float64{8, 4.5}
			}
			near := []float64{market[0] + rng.NormFloat64()/3, market[1] + rng.NormFloat64()/3}
			if !yield([][]float64{market, near}[:1+u%2]) {
				return
			}
		}
	}
	report, err := d.Release(rng, places)
	if err != nil {
		log.Fatal(err)
	}
	h, err := d.Estimate(ctx, report)
	if err != nil {
		log.Fatal(err)
	}
	east := 0.0
	for i, x := range h.Points {
		if x[0] > 5 {
			east += h.Weights[i]
		}
	}
	fmt.Printf("%d noisy sums, %d points; a share of %.2f is in the east\n", len(report.Sums), len(h.Points), east)
	// Output:
	// 198 noisy sums, 1612 points; a share of 0.34 is in the east
}

// On what continents do users fly? The sphere needs no map.
func ExampleSphere() {
	ctx := context.Background()
	model := emd.Model{Trust: emd.Central, Users: 10_000}
	d, err := distribution.New(ctx, distribution.Sphere(metric.GreatCircle{}), model, 0.0005, nil)
	if err != nil {
		log.Fatal(err)
	}
	airports := []metric.LatLon{{Lat: 51.5, Lon: -0.5}, {Lat: 33.6, Lon: -84.4}, {Lat: 25.3, Lon: 55.4}}
	flights := func(yield func([]metric.LatLon) bool) {
		for u := range 10_000 {
			if !yield(airports[:1+u%3]) {
				return
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2)) // nil for private data
	report, err := d.Release(rng, flights)
	if err != nil {
		log.Fatal(err)
	}
	h, err := d.Estimate(ctx, report)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range airports {
		near := 0.0
		for i, x := range h.Points {
			if (metric.GreatCircle{}).Distance(a, x) < 1000 {
				near += h.Weights[i]
			}
		}
		fmt.Printf("%.2f within 1,000 km of %v\n", near, a)
	}
	fmt.Println(d.Guarantee())
	// Output:
	// 0.63 within 1,000 km of {51.5 -0.5}
	// 0.27 within 1,000 km of {33.6 -84.4}
	// 0.10 within 1,000 km of {25.3 55.4}
	// 0.0005-private per km under d_EM (central, 10000 users of any number of items, diameter 20015.1 km)
}

// Any finite metric: here the words of a small vocabulary by edit distance. The
// map is chosen by simulations of the noise, which read no data.
func ExampleFinite() {
	ctx := context.Background()
	words := []string{"can", "cane", "cap", "cape", "car", "care", "cart", "chart", "harp", "sharp", "shape", "share"}
	space, err := metric.NewPoints(words, metric.Levenshtein{})
	if err != nil {
		log.Fatal(err)
	}
	d, err := distribution.New(ctx, distribution.Finite(space), emd.Model{Trust: emd.Central, Users: 2000}, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	typed := func(yield func([]int) bool) {
		for u := range 2000 {
			if !yield([]int{u % 4, 7}) {
				return
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2)) // nil for private data
	report, err := d.Release(rng, typed)
	if err != nil {
		log.Fatal(err)
	}
	h, err := d.Estimate(ctx, report)
	if err != nil {
		log.Fatal(err)
	}
	for i, w := range h.Weights {
		if w > 0.01 {
			fmt.Printf("%s %.2f\n", words[h.Points[i]], w)
		}
	}
	// Output:
	// can 0.12
	// cane 0.12
	// cap 0.13
	// cape 0.12
	// chart 0.50
}
