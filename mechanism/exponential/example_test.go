package exponential_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Someone in one of five cities says roughly where: every construction is built and
// audited, and the best is used on the cities themselves.
func Example() {
	cities := map[string]metric.LatLon{
		"Paris": {Lat: 48.86, Lon: 2.35}, "Lille": {Lat: 50.63, Lon: 3.06}, "Reims": {Lat: 49.26, Lon: 4.03},
		"Rouen": {Lat: 49.44, Lon: 1.1}, "Tours": {Lat: 47.39, Lon: 0.69},
	}
	names := []string{"Paris", "Lille", "Reims", "Rouen", "Tours"}
	points, err := metric.NewPoints(names, metric.Func[string](func(x, y string) float64 {
		return metric.GreatCircle{}.Distance(cities[x], cities[y])
	}))
	if err != nil {
		log.Fatal(err)
	}
	best, err := exponential.Best(context.Background(), metric.Same(points), 0.02, &exponential.BestOptions{Unit: "km"})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range best.Candidates {
		if c.Err == nil {
			fmt.Printf("%s: at most %.1f km off on average, level %.3f\n", c.Method, c.Loss, c.Level)
		} else {
			fmt.Printf("%s: none here\n", c.Method)
		}
	}
	city, err := mechanism.On(best, points).Release(seeded(), "Paris")
	fmt.Printf("%s, %v: %s %v\n", best.Method, best.Guarantee(), city, err)
	// Output:
	// constant: at most 204.7 km off on average, level 0.000
	// tight weights: at most 25.6 km off on average, level 0.020
	// remapped: none here
	// tuned: at most 26.0 km off on average, level 0.020
	// tight weights, 0.02-private per km: Paris <nil>
}
