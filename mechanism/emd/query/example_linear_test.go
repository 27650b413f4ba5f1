package query_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/metric"
)

// Three users and the places they were at, in km; real releases have more users
// and a nil generator.
var trips = [][][]float64{
	{{1, 2}, {1, 3}},
	{{4, 2}, {5, 2}, {6, 2}},
	{{2, 2}},
}

func ExampleNewLinear() {
	city := emd.Model{Trust: emd.Central, Users: len(trips), Diameter: 10, Unit: "km"}
	m, err := query.NewLinear(context.Background(), query.Average(additive.Norm{P: 2, Dim: 2}), city, emd.Promise{Alpha: 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	y, err := m.Release(rand.New(rand.NewPCG(1, 2)), slices.Values(trips))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean place %.2f, standard deviation %.2f km, within %.2f km with probability 0.95\n",
		y, m.StdDev(), m.RadiusQuantile(0.95))
	fmt.Println(m.Guarantee())
	fmt.Printf("all items of a user moved by 0.5 km: eps %.2f\n", m.Guarantee().At(0.5).Eps)
	// Output:
	// mean place [2.69 2.05], standard deviation 0.29 km, within 0.79 km with probability 0.95
	// 2-private per km under d_EM (central, 3 users of any number of items, diameter 10 km)
	// all items of a user moved by 0.5 km: eps 1.00
}

// One user alone, with Gaussian noise: the share of the items near a clinic.
func Example() {
	clinic := []float64{5, 2}
	near, err := query.Ball(metric.Euclidean{}, clinic, 1, query.Smoothing{Width: 2})
	if err != nil {
		log.Fatal(err)
	}
	m, err := query.NewLinear(context.Background(), near, emd.Model{Trust: emd.Local, Diameter: 10, Unit: "km"}, emd.Promise{Alpha: 10, Delta: 1e-6}, nil)
	if err != nil {
		log.Fatal(err)
	}
	y, err := m.Release(rand.New(rand.NewPCG(1, 2)), emd.One(trips[1]))
	fmt.Printf("Lipschitz constant %v per km, share 1 plus noise of deviation %.2f: %.2f %v\n", near.Lipschitz, m.StdDev(), y, err)
	// Output:
	// Lipschitz constant 0.5 per km, share 1 plus noise of deviation 0.49: [1.56] <nil>
}

func ExampleLandmarks() {
	home, work := metric.LatLon{Lat: 48.9, Lon: 2.3}, metric.LatLon{Lat: 48.8, Lon: 2.4}
	q, err := query.Landmarks(metric.GreatCircle{}, 1, home, work)
	if err != nil {
		log.Fatal(err)
	}
	dst := make([]float64, 2)
	q.Func(metric.LatLon{Lat: 48.85, Lon: 2.35}, dst)
	fmt.Printf("%.2f km, constant %v\n", dst, q.Lipschitz)
	// Output:
	// [6.65 6.66] km, constant 2
}

func ExampleLinearMap() {
	// Two projections of the plane.
	q, err := query.LinearMap([][]float64{{1, 1}, {2, 0}}, query.Average(additive.Norm{P: 2, Dim: 2}))
	fmt.Printf("%s: constant %.6f %v\n", q.Name, q.Lipschitz, err)
	// Output:
	// linear map of average: constant 2.288246 <nil>
}

func ExampleRegion() {
	// West of x = 3, fading out over 2 km.
	west, err := query.Region(func(x []float64) float64 { return max(0, x[0]-3) }, query.Smoothing{Width: 2})
	if err != nil {
		log.Fatal(err)
	}
	dst := make([]float64, 1)
	for _, x := range []float64{1, 3, 4, 5} {
		west.Func([]float64{x, 0}, dst)
		fmt.Print(dst[0], " ")
	}
	fmt.Println("constant", west.Lipschitz)
	// Output:
	// 1 1 0.5 0 constant 0.5
}

// A constant stated from memory, and the two points that refute it.
func ExampleLipschitzAtLeast() {
	pts, err := metric.NewPoints([][]float64{{0, 0}, {1, 0}, {1, 3}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	q := query.Query[[]float64]{
		Name: "twice the height", Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: 1,
		Func: func(x, dst []float64) { dst[0] = 2 * x[1] },
	}
	w, err := query.LipschitzAtLeast(context.Background(), q, pts)
	fmt.Printf("%.4f between %d and %d %v\n", w.Ratio, w.I, w.J, err)
	model := emd.Model{Trust: emd.Central, Users: 3, Diameter: 1}
	_, err = query.NewLinear(context.Background(), q, model, emd.Promise{Alpha: 1}, &query.LinearOptions[[]float64]{Sample: pts})
	var wrong *query.LipschitzError
	fmt.Println(errors.As(err, &wrong))
	// Output:
	// 2.0000 between 1 and 2 <nil>
	// true
}
