package metric_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/metric"
)

// line returns points of the real line.
func line(x ...float64) *metric.Points[float64] {
	p := must(metric.NewPoints(x, metric.Numbers[float64]{}))
	return p
}

// Separation is strict: 2 lies at distance 2 of 0, and is not kept.
func ExampleNet() {
	net := must(metric.Net(context.Background(), line(0, 1, 2, 3, 4, 5, 6), 2, nil))
	fmt.Println(net)
	// Output: [0 3 6]
}

func ExampleFarthestFirst() {
	order, radii, err := metric.FarthestFirst(context.Background(), line(0, 1, 4, 9, 10), 3, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("centers", order)
	fmt.Println("one covers within", radii[1], "two within", radii[2], "three within", radii[3])
	// Output:
	// centers [0 4 2]
	// one covers within 10 two within 4 three within 1
}

func ExampleAssign() {
	centers := []int{1, 4}
	nearest, dist, err := metric.Assign(context.Background(), line(0, 1, 4, 9, 10), centers)
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range nearest {
		fmt.Printf("point %d to point %d at %v\n", i, centers[c], dist[i])
	}
	// Output:
	// point 0 to point 1 at 1
	// point 1 to point 1 at 0
	// point 2 to point 1 at 3
	// point 3 to point 4 at 1
	// point 4 to point 4 at 0
}

func ExampleNewIndex() {
	ix := metric.NewIndex(line(0, 1, 4, 9, 10))
	fmt.Println("within 4 of point 2:", ix.Ball(2, 4, nil))
	fmt.Println("its two neighbors:", ix.Neighbors(2, 2, nil))
	j, d := ix.Farthest(2)
	fmt.Println("farthest:", j, "at", d)
	// Output:
	// within 4 of point 2: [0 1 2]
	// its two neighbors: [1 0]
	// farthest: 4 at 6
}

func ExampleDiameter() {
	d, i, j, err := metric.Diameter(context.Background(), line(3, 0, 10, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d, "between points", i, "and", j)
	// Output: 10 between points 1 and 2
}

func ExampleRadius() {
	r, center, err := metric.Radius(context.Background(), line(3, 0, 10, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r, "around point", center)
	// Output: 7 around point 0
}

func ExampleNewLocator() {
	towns := []string{"Oslo", "Bergen", "Trondheim"}
	p := must(metric.NewPoints([]metric.LatLon{{59.91, 10.75}, {60.39, 5.32}, {63.43, 10.39}}, metric.GreatCircle{}))
	l := metric.NewLocator(p)
	i, km := l.Nearest(metric.LatLon{61.1, 10.5})
	fmt.Printf("%s, %.0f km\n", towns[i], km)
	fmt.Println(l.Within(metric.LatLon{61.1, 10.5}, 300, nil))
	// Output:
	// Oslo, 133 km
	// [0 1 2]
}
