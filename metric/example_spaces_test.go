package metric_test

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/metric"
)

func ExampleEuclidean() {
	x, y := []float64{0, 0}, []float64{3, 4}
	fmt.Println(metric.Euclidean{}.Distance(x, y))
	// Output: 5
}

func ExamplePlane() {
	// Wells on a map, in km, and the one nearest to a house.
	wells := must(metric.NewPoints([][2]float64{{0, 0}, {3, 4}, {6, 0}}, metric.Plane{}))
	fmt.Println(wells.Distance(0, 1))
	i, d := metric.NewLocator(wells).Nearest([2]float64{5, 0})
	fmt.Println(i, d)
	// Output:
	// 5
	// 2 1
}

// P = 1 and 2 are Manhattan and Euclidean, +Inf is Chebyshev.
func ExampleMinkowski() {
	x, y := []float64{0, 0}, []float64{3, 4}
	for _, p := range []float64{1, 2, 3, math.Inf(1)} {
		fmt.Printf("%.4f\n", metric.Minkowski{P: p}.Distance(x, y))
	}
	// Output:
	// 7.0000
	// 5.0000
	// 4.4979
	// 4.0000
}

func ExampleAngular() {
	x, y := []float64{1, 0}, []float64{5, 5}
	fmt.Printf("%.0f degrees\n", metric.Angular{}.Distance(x, y)*180/math.Pi)
	// Output: 45 degrees
}

func ExampleTotalVariation() {
	x, y := []float64{0.5, 0.5, 0}, []float64{0.5, 0.25, 0.25}
	fmt.Println(metric.TotalVariation{}.Distance(x, y))
	// Output: 0.25
}

// Salaries in cents, exact beyond what one float64 holds of each.
func ExampleNumbers() {
	pay := must(metric.NewPoints([]int64{310_000, 255_000, 420_050}, metric.Numbers[int64]{}))
	fmt.Println(pay.Distance(0, 2))
	fmt.Println(metric.Numbers[int64]{}.Distance(1<<62, 1<<62+1))
	// Output:
	// 110050
	// 1
}

// Embeddings of words, as a model returns them.
func ExampleFloat32() {
	words := []string{"cat", "dog", "car"}
	vectors := [][]float32{{0.9, 0.1, 0.2}, {0.8, 0.3, 0.1}, {0, 0.9, 0.7}}
	p := must(metric.NewPoints(vectors, metric.Float32[metric.Euclidean]{}))
	i, d := metric.NewLocator(p).Nearest([]float32{0.1, 0.8, 0.8})
	fmt.Printf("%s at %.3f\n", words[i], d)
	// Output: car at 0.173
}

func ExampleGreatCircle() {
	paris, london := metric.LatLon{Lat: 48.8566, Lon: 2.3522}, metric.LatLon{Lat: 51.5074, Lon: -0.1278}
	fmt.Printf("%.0f km\n", metric.GreatCircle{}.Distance(paris, london))

	_, err := metric.NewPoints([]metric.LatLon{paris, {Lat: 100}}, metric.GreatCircle{})
	fmt.Println(err)
	// Output:
	// 344 km
	// metric: NewPoints: pts[1]: GreatCircle: y.Lat = 100, want degrees in [-90, 90]
}

func ExampleHamming() {
	fmt.Println(metric.Hamming[bool]{}.Distance([]bool{true, true, false}, []bool{true, false, true}))
	// Output: 2
}

func ExampleDiscrete() {
	d := metric.Discrete[string]{}
	fmt.Println(d.Distance("flu", "flu"), d.Distance("flu", "cold"))
	// Output: 0 1
}

func ExampleLevenshtein() {
	fmt.Println(metric.Levenshtein{}.Distance("kitten", "sitting"))
	fmt.Println(metric.Levenshtein{}.Distance("Zürich", "Zurich"))
	// Output:
	// 3
	// 1
}

func ExampleCommonPrefix() {
	// Places as paths: continent, country, city.
	lyon, paris, rome := []string{"EU", "FR", "Lyon"}, []string{"EU", "FR", "Paris"}, []string{"EU", "IT", "Rome"}
	s := metric.CommonPrefix[string]{Base: 10}
	fmt.Println(s.Distance(lyon, paris), s.Distance(lyon, rome))
	// Output: 0.01 0.1
}

func ExampleScale() {
	miles := must(metric.Scale(metric.GreatCircle{}, 1/1.609344, "mile"))
	d := miles.Distance(metric.LatLon{Lat: 48.8566, Lon: 2.3522}, metric.LatLon{Lat: 51.5074, Lon: -0.1278})
	fmt.Printf("%.0f %ss\n", d, metric.UnitOf(miles))
	edits := must(metric.Scale[string](metric.Levenshtein{}, 1, "edit")) // only a name
	fmt.Println(edits.Distance("river", "stream"), metric.UnitOf(edits))
	// Output:
	// 213 miles
	// 5 edit
}

func ExampleSum() {
	s := must(metric.Sum[[]float64](metric.Manhattan{}, metric.Chebyshev{}))
	fmt.Println(s.Distance([]float64{0, 0}, []float64{3, 4}))
	// Output: 11
}

func ExampleProduct() {
	// Where somebody is, and what is wrong with them.
	type record = metric.Pair[metric.LatLon, string]
	s := must(metric.Product(metric.GreatCircle{}, metric.Discrete[string]{}, 1))
	x := record{First: metric.LatLon{Lat: 10}, Second: "flu"}
	y := record{First: metric.LatLon{Lat: 10}, Second: "cold"}
	fmt.Println(s.Distance(x, y))
	// Output: 1
}

func ExampleNewClustered() {
	f := must(metric.NewClustered(3, 2, 0.25))
	fmt.Println(f.DistancesFrom(2, nil))
	// Output: [1 1 0 0.25 1 1]
}
