package metric_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// From places to a finite metric, what can be asked of it, and a second metric
// on the same points that says what an error costs.
func Example() {
	ctx := context.Background()
	names := []string{"Paris", "Lyon", "London", "Bristol", "Rome"}
	towns, err := metric.NewPoints([]metric.LatLon{
		{Lat: 48.86, Lon: 2.35}, {Lat: 45.76, Lon: 4.84}, {Lat: 51.51, Lon: -0.13}, {Lat: 51.45, Lon: -2.59}, {Lat: 41.9, Lon: 12.5},
	}, metric.GreatCircle{})
	if err != nil {
		log.Fatal(err)
	}
	if err := metric.Validate(ctx, towns, nil); err != nil {
		log.Fatal(err)
	}
	d, i, j, err := metric.Diameter(ctx, towns)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s and %s are %.0f %s apart\n", names[i], names[j], d, towns.Unit())

	net, err := metric.Net(ctx, towns, 350, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range net {
		fmt.Print(names[i], " ")
	}
	fmt.Println("have every town within 350 km")
	i, d = metric.NewLocator(towns).Nearest(metric.LatLon{Lat: 47, Lon: 5})
	fmt.Printf("%s is nearest to Dijon, %.0f km\n", names[i], d)

	countries, err := metric.NewPoints([]string{"F", "F", "UK", "UK", "I"}, metric.Discrete[string]{})
	if err != nil {
		log.Fatal(err)
	}
	slope, i, j, err := metric.Bimetric{Privacy: towns, Utility: countries}.Lipschitz(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("1 km moves the loss by at most %.4f, from %s to %s\n", slope, names[i], names[j])
	// Output:
	// Bristol and Rome are 1561 km apart
	// Paris Lyon Bristol Rome have every town within 350 km
	// Lyon is nearest to Dijon, 138 km
	// 1 km moves the loss by at most 0.0029, from Paris to London
}
