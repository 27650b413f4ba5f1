package anywhere_test

import (
	"context"
	"fmt"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/lp/anywhere"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// A map app answers to a fix with one of its list of shops, wherever the phone is.
func Example() {
	shops := []metric.LatLon{
		{Lat: 48.8809, Lon: 2.3553}, {Lat: 48.8443, Lon: 2.3743}, {Lat: 48.8420, Lon: 2.3219},
		{Lat: 48.8766, Lon: 2.3246}, {Lat: 48.8768, Lon: 2.3592},
	}
	ctx, alpha := context.Background(), 1.4 // ln 4 for 1 km
	m, err := anywhere.Earth(ctx, alpha, shops, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fix := metric.LatLon{Lat: 48.8584, Lon: 2.3486}
	rng := random.Seeded(1) // nil where it is published
	i, err := m.Release(rng, fix)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("shop", i)
	fmt.Printf("nobody in the region is farther than %.2f km on average, in %v\n", m.Loss, m.Guarantee())
	fmt.Printf("no other mechanism can promise less than %.2f km\n", m.Bound)
	// Output:
	// shop 4
	// nobody in the region is farther than 2.44 km on average, in 1.4-private per km
	// no other mechanism can promise less than 2.41 km
}

// Where people are is known: the mean over them is to be small.
func ExampleEarth() {
	shops := []metric.LatLon{{Lat: 51.5, Lon: -0.12}, {Lat: 51.52, Lon: -0.1}, {Lat: 51.51, Lon: -0.07}}
	m, err := anywhere.Earth(context.Background(), 1, shops, &anywhere.Options[metric.LatLon]{
		Places: []metric.LatLon{{Lat: 51.49, Lon: -0.13}, {Lat: 51.51, Lon: -0.11}, {Lat: 51.53, Lon: -0.1}, {Lat: 51.51, Lon: -0.05}},
		Prior:  []float64{0.4, 0.3, 0.2, 0.1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f km on average, %.2f at least\n", m.Loss, m.Bound)
	// Output:
	// 1.48 km on average, 1.35 at least
}

func ExampleLine() {
	// Ages, released as one of five classes, for people of whom most are young.
	m, err := anywhere.Line(context.Background(), 0.1, []float64{5, 20, 35, 50, 70}, &anywhere.Options[float64]{
		Places: []float64{2, 10, 20, 30, 45, 60, 80}, Prior: []float64{.1, .2, .3, .2, .1, .05, .05}, Unit: "year",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	at, err := m.LossAt(27)
	fmt.Printf("%.1f years on average, at least %.1f; from 27 years %.1f %v\n", m.Loss, m.Bound, at, err)
	// Output:
	// 8.5 years on average, at least 8.1; from 27 years 9.1 <nil>
}

func ExamplePlane() {
	doors := [][2]float64{{0, 0}, {0, 2}, {3, 1}}
	m, err := anywhere.Plane(context.Background(), 1, doors, &anywhere.Options[[2]float64]{
		Region: [][2]float64{{-1, -1}, {4, 3}}, Cells: 500, TimeLimit: time.Minute, Unit: "km",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.1f km\n", m.Loss)
	// Output:
	// loss 2.3 km
}

func ExampleManhattan() {
	m, err := anywhere.Manhattan(context.Background(), 2, [][]float64{{1, 1}, {3, 1}, {1, 3}, {3, 3}}, &anywhere.Options[[]float64]{Region: [][]float64{{0, 0}, {4, 4}}, Cells: 500})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.2f, at least %.2f\n", m.Loss, m.Bound)
	// Output:
	// loss 2.04, at least 2.04
}

func ExampleExtend() {
	// The best mechanism on 0, 1, 2 and 3, taken to all numbers.
	ctx := context.Background()
	points, err := metric.NewPoints([]float64{0, 1, 2, 3}, metric.Numbers[float64]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := lp.Optimal(ctx, metric.Same(points), anywhere.ExtendLevel(1, 1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := anywhere.Extend(ctx, best.Channel, anywhere.Grid{Low: []float64{0}, Step: 1, Count: []int{4}}, 1, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := m.Release(random.Seeded(1), []float64{1.7})
	fmt.Println(y, err, m.Guarantee())
	// Output:
	// 1 <nil> 1-private per unit
}

func ExampleTriangulatedLevel() {
	// Of a square in two triangles.
	corners := [][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}}
	c, err := mechanism.FromWeights(context.Background(), 4, 2, []float64{3, 7, 5, 5, 5, 5, 7, 3}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	level, triangle, output, err := anywhere.TriangulatedLevel(context.Background(), corners, [][3]int{{0, 1, 2}, {3, 2, 1}}, c)
	fmt.Printf("level %.4f in triangle %d at output %d, %v\n", level, triangle, output, err)
	// Output:
	// level 0.9428 in triangle 0 at output 0, <nil>
}

func ExampleRemap_PrivacyLoss() {
	// Fifty answers to one place, seen by somebody who knows it to 1 km.
	shops := [][2]float64{{0, 0}, {2, 1}, {3, 0}}
	m, err := anywhere.Plane(context.Background(), 0.2, shops, &anywhere.Options[[2]float64]{Cells: 400, Anchors: 9, Unit: "km"})
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := mechanism.NewComposition(mechanism.Repeated{Mechanism: m, Times: 50})
	if err != nil {
		fmt.Println(err)
		return
	}
	together, _, err := all.CertifyAt(context.Background(), 1, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v together, the sum is %v\n", together.Guarantee(), all.Guarantee())
	// Output:
	// (4.70713 per km, 1e-06)-private up to 1 km together, the sum is 10.0001-private per km
}
