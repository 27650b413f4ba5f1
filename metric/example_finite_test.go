package metric_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/graph/simple"

	"github.com/metricdp/metricdp/metric"
)

func ExampleNewPoints() {
	cities := must(metric.NewPoints([]metric.LatLon{
		{Lat: 48.8567, Lon: 2.3522},  // Paris
		{Lat: 51.5072, Lon: -0.1275}, // London
		{Lat: 52.52, Lon: 13.405},    // Berlin
	}, metric.GreatCircle{}))
	fmt.Printf("%.0f km\n", cities.Distance(0, 1))
	fmt.Printf("%.0f km from Berlin\n", cities.DistancesFrom(2, nil))

	_, err := metric.NewPoints([]metric.LatLon{{Lat: 48, Lon: 2}, {Lat: 480, Lon: 2}}, metric.GreatCircle{})
	fmt.Println(err)
	// Output:
	// 344 km
	// [877 932 0] km from Berlin
	// metric: NewPoints: pts[1]: GreatCircle: y.Lat = 480, want degrees in [-90, 90]
}

func ExampleNewDense() {
	d := must(metric.NewDense(3, []float64{3, 5, 4}))
	fmt.Println(d.Distance(2, 0), d.Distance(1, 2))
	// Output: 5 4
}

func ExampleNewMatrix() {
	_, err := metric.NewMatrix([][]float64{{0, 1}, {2, 0}})
	fmt.Println(err)
	// Output: metric: NewMatrix: d(i,j) = d(j,i) fails at i=0, j=1 by 1
}

func ExampleDensify() {
	words := must(metric.NewPoints([]string{"kitten", "sitting", "mitten"}, metric.Levenshtein{}))
	d := must(metric.Densify(context.Background(), words))
	fmt.Println(d.Distance(0, 1), d.Distance(0, 2))
	// Output: 3 1
}

func ExampleScaled() {
	km, _ := metric.NewDense(2, []float64{42.195})
	miles := must(metric.Scaled(km, 1/1.609344))
	fmt.Printf("%.2f\n", miles.Distance(0, 1))
	// Output: 26.22
}

func ExampleSubset() {
	d, _ := metric.NewDense(3, []float64{3, 5, 4})
	s := must(metric.Subset(d, []int{2, 0}))
	fmt.Println(s.Len(), s.Distance(0, 1))
	// Output: 2 5
}

// Errors are counted in the unit of privacy: one metric measures both.
func ExampleSame() {
	towns := must(metric.NewPoints([]float64{0, 12, 30}, metric.Numbers[float64]{}))
	b := metric.Same(towns)
	fmt.Println(b.Privacy.Distance(0, 2), b.Utility.Distance(0, 2), b.OneMetric())
	// Output: 30 30 true
}

// How far apart two times of the day are, in hours.
func ExampleFunc() {
	clock := metric.Func[float64](func(x, y float64) float64 {
		d := math.Mod(math.Abs(x-y), 24)
		return min(d, 24-d)
	})
	p := must(metric.NewPoints([]float64{23, 1, 12}, clock))
	fmt.Println(p.Distance(0, 1), p.Distance(0, 2))
	// Output: 2 11
}

// Privacy by street distance, loss by whether the district is right.
func ExampleNewBimetric() {
	street, _ := metric.NewDense(3, []float64{1, 4, 3})
	district, _ := metric.NewDense(3, []float64{0, 1, 1})
	b := must(metric.NewBimetric(street, district))
	ratio, i, j, err := b.Lipschitz(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss grows by at most %.3f per unit of privacy distance, between %d and %d\n", ratio, i, j)
	// Output: loss grows by at most 0.333 per unit of privacy distance, between 1 and 2
}

func ExampleValidate() {
	// Travel times: 0 to 2 takes longer than by way of 1.
	times := must(metric.NewMatrix([][]float64{
		{0, 10, 45},
		{10, 0, 20},
		{45, 20, 0},
	}))
	err := metric.Validate(context.Background(), times, nil)
	fmt.Println(err)

	var v *metric.Violation
	if errors.As(err, &v) {
		fmt.Println(v.Axiom == metric.Triangle, v.I, v.K, v.J, v.Excess)
	}
	// Output:
	// metric: Validate: d(i,j) <= d(i,k) + d(k,j) fails at i=0, j=2, k=1 by 15
	// true 0 1 2 15
}

func ExampleNewGraph() {
	roads := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	road := func(a, b simple.Node, km float64) {
		roads.SetWeightedEdge(simple.WeightedEdge{F: a, T: b, W: km})
	}
	road(10, 20, 5)
	road(20, 40, 5)
	road(10, 40, 12)

	g := must(metric.NewGraph(context.Background(), roads))
	fmt.Println(g.IDs(), g.Distance(0, 2))
	// Output: [10 20 40] 10
}

func ExampleNewGraphEdges() {
	g := must(metric.NewGraphEdges(context.Background(), 3, []metric.Edge{
		{I: 0, J: 1, Length: 5},
		{I: 1, J: 2, Length: 5},
		{I: 2, J: 0, Length: 12}, // longer than the way round
	}))
	fmt.Println(g.Distance(0, 2))
	fmt.Println(g.Edges())
	// Output:
	// 10
	// [{0 1 5} {1 2 5}]
}

// Four corners of a square and its center: the sides are left out, because the
// way through the center is at most 1.5 times as long.
func ExampleSpanner() {
	f := must(metric.NewPoints([][]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {.5, .5}}, metric.Euclidean{}))
	g := must(metric.Spanner(context.Background(), f, 1.5))
	stretch, _, _, err := metric.Bimetric{Privacy: f, Utility: g}.Lipschitz(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range g.Edges() {
		fmt.Printf("%d-%d %.3f\n", e.I, e.J, e.Length)
	}
	fmt.Printf("stretch %.3f\n", stretch)
	// Output:
	// 0-4 0.707
	// 1-4 0.707
	// 2-4 0.707
	// 3-4 0.707
	// stretch 1.414
}

// Distance counts a quarter outside of a town, of public outline: a point has to hide in four
// times the radius there.
func ExampleNewGrid() {
	town := func(center [2]float64) float64 {
		if math.Hypot(center[0], center[1]) < 1000 { // m
			return 1
		}
		return 0.25
	}
	ways, centers, err := metric.NewGrid(context.Background(), [2]float64{-2000, -500}, [2]float64{2000, 500}, 250, town)
	if err != nil {
		log.Fatal(err)
	}
	at := metric.NewLocator(centers)
	between := func(x, y float64) {
		i, _ := at.Nearest([2]float64{x, 100})
		j, _ := at.Nearest([2]float64{y, 100})
		fmt.Printf("%.0f m count %.0f\n", centers.Distance(i, j), ways.Distance(i, j))
	}
	between(-600, 600)
	between(-1900, -1100)
	between(-1900, 1900)
	// Output:
	// 1250 m count 1155
	// 750 m count 173
	// 3750 m count 2079
}
