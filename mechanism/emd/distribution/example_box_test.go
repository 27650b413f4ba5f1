package distribution_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

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
	d, err := distribution.New(ctx, distribution.Sphere(metric.GreatCircle{}), emd.Model{Trust: emd.Central, Users: 10_000}, 0.0005, nil)
	if err != nil {
		log.Fatal(err)
	}
	airports := []metric.LatLon{{Lat: 51.5, Lon: -0.5}, {Lat: 33.6, Lon: -84.4}, {Lat: 25.3, Lon: 55.4}}
	flights := slices.Values(slices.Repeat([][]metric.LatLon{airports[:1], airports[:2], airports}, 3334)[:10_000])
	report, err := d.Release(rand.New(rand.NewPCG(1, 2)), flights) // nil for private data
	if err != nil {
		log.Fatal(err)
	}
	h, err := d.Estimate(ctx, report)
	if err != nil {
		log.Fatal(err)
	}
	near := 0.0
	for i, x := range h.Points {
		if (metric.GreatCircle{}).Distance(airports[0], x) < 1000 {
			near += h.Weights[i]
		}
	}
	fmt.Printf("%.2f within 1,000 km of %v\n%v\n", near, airports[0], d.Guarantee())
	// Output:
	// 0.63 within 1,000 km of {51.5 -0.5}
	// 0.0005-private per km under d_EM (central, 10000 users of any number of items, diameter 20015.1 km)
}

// Ten thousand users hold any number of trips each, of lengths up to 100 km. How
// long are trips? That a user's trips all were 10 km longer is hidden at eps = 1.
func ExampleNew() {
	ctx := context.Background()
	model := emd.Model{Trust: emd.Central, Users: 10_000, Unit: "km"}
	d, err := distribution.New(ctx, distribution.Line(0, 100), model, 0.1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Guarantee())
	fmt.Printf("errs by at most %.2f km on average\n", d.ErrorBound())

	trips := func(yield func([]float64) bool) {
		for u := range 10_000 {
			if !yield([]float64{float64(u % 20), 8, float64(u % 90)}[:1+u%3]) {
				return
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2)) // nil for private data
	report, err := d.Release(rng, trips)
	if err != nil {
		log.Fatal(err)
	}
	h, err := d.Estimate(ctx, report)
	if err != nil {
		log.Fatal(err)
	}
	short := 0.0
	for i, km := range h.Points {
		if km < 20 {
			short += h.Weights[i]
		}
	}
	bar, err := h.Error(ctx, rng, 0.95, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f of the trips are below 20 km\n", short)
	fmt.Println(bar)
	records, err := h.Records(rng, 5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", records)
	// Output:
	// 0.1-private per km under d_EM (central, 10000 users of any number of items, diameter 100 km)
	// errs by at most 0.97 km on average
	// 0.91 of the trips are below 20 km
	// noise: at most 0.13 km in 95 % of releases (0.127 to 0.138 km with 99 % confidence), 0.115 km on average, in 200 simulations that take the estimate for the truth; resolution: up to 0.592 km besides
	// [7.9 13.2 18.9 8.2 2.1]
}

// Without a curator every user sends a report of its own, and a collector adds
// them up. Estimates err as much as with the square root of the users.
func Example() {
	ctx := context.Background()
	shop, err := metric.NewClustered(2, 3, 0.2)
	if err != nil {
		log.Fatal(err)
	}
	d, err := distribution.New(ctx, distribution.Finite(shop), emd.Model{Trust: emd.Local}, 2, &distribution.Options{Reports: 50_000})
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2)) // nil for private data
	var all emd.Report
	for user := range 50_000 {
		r, err := d.Release(rng, emd.One([]int{0, 0, 1, 3 + user%3}))
		if err != nil {
			log.Fatal(err)
		}
		sent, err := r.MarshalBinary()
		if err != nil {
			log.Fatal(err)
		}
		var got emd.Report
		if err := got.UnmarshalBinary(sent); err != nil {
			log.Fatal(err)
		}
		if err := all.Merge(&got); err != nil {
			log.Fatal(err)
		}
	}
	h, err := d.Estimate(ctx, &all)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d reports: %.2f\n", all.Reports, h.Weights)
	// Output:
	// 50000 reports: [0.52 0.22 0.00 0.09 0.06 0.11]
}
