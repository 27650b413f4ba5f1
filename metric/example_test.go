package metric_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

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

func ExampleNewPoints() {
	paris, london := metric.LatLon{Lat: 48.8567, Lon: 2.3522}, metric.LatLon{Lat: 51.5072, Lon: -0.1275}
	cities := must(metric.NewPoints([]metric.LatLon{paris, london}, metric.GreatCircle{}))
	fmt.Printf("%.0f km\n", cities.Distance(0, 1))
	_, err := metric.NewPoints([]metric.LatLon{paris, {Lat: 480, Lon: 2}}, metric.GreatCircle{})
	fmt.Println(err)
	// Output:
	// 344 km
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

func ExampleValidate() {
	// Travel times: 0 to 2 takes longer than by way of 1.
	times := must(metric.NewMatrix([][]float64{{0, 10, 45}, {10, 0, 20}, {45, 20, 0}}))
	err := metric.Validate(context.Background(), times, nil)
	fmt.Println(err)
	var v *metric.Violation
	fmt.Println(errors.As(err, &v) && v.Axiom == metric.Triangle)
	repaired := must(metric.Spanner(context.Background(), times, 1))
	fmt.Println(repaired.Distance(0, 2), metric.Validate(context.Background(), repaired, nil))
	// Output:
	// metric: Validate: d(i,j) <= d(i,k) + d(k,j) fails at i=0, j=2, k=1 by 15
	// true
	// 30 <nil>
}

func ExampleNewGraphEdges() {
	roads := []metric.Edge{{I: 0, J: 1, Length: 5}, {I: 1, J: 2, Length: 5}, {I: 2, J: 0, Length: 12}}
	g := must(metric.NewGraphEdges(context.Background(), 3, roads))
	fmt.Println(g.Distance(0, 2), g.Edges())
	// Output: 10 [{0 1 5} {1 2 5}]
}

// Four corners of a square and its center: the sides are left out, because the
// way through the center is at most 1.5 times as long.
func ExampleSpanner() {
	f := must(metric.NewPoints([][]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {.5, .5}}, metric.Euclidean{}))
	g := must(metric.Spanner(context.Background(), f, 1.5))
	for _, e := range g.Edges() {
		fmt.Printf("%d-%d %.3f\n", e.I, e.J, e.Length)
	}
	// Output:
	// 0-4 0.707
	// 1-4 0.707
	// 2-4 0.707
	// 3-4 0.707
}

func ExampleNewUltrametric() {
	// Points 2, 0, 1 from left to right; height 1 between 2 and 0, height 5 between 0 and 1.
	u := must(metric.NewUltrametric([]int{2, 0, 1}, []float64{1, 5}))
	fmt.Println(u.Distance(2, 0), u.Distance(0, 1), u.Distance(2, 1))
	// Output: 1 5 5
}

func ExampleFromLinkage() {
	// What scipy.cluster.hierarchy.linkage writes for four points: 0 and 1
	// join at height 1 and become cluster 4, 2 and 3 become cluster 5.
	u := must(metric.FromLinkage(4, []metric.Merge{{A: 0, B: 1, Height: 1}, {A: 2, B: 3, Height: 2}, {A: 4, B: 5, Height: 7}}))
	fmt.Println(u.Distance(0, 1), u.Distance(3, 2), u.Distance(1, 3), u.Clusters(1))
	// Output: 1 2 7 [0 0 1 2]
}

func ExampleSubdominant() {
	towns := [][]float64{{0, 0}, {1, 0}, {2, 0}, {9, 0}}
	f := must(metric.NewPoints(towns, metric.Euclidean{}))
	u := must(metric.Subdominant(context.Background(), f))
	fmt.Println(f.Distance(0, 2), u.Distance(0, 2)) // by way of point 1
	fmt.Println(f.Distance(0, 3), u.Distance(0, 3))
	// Output:
	// 2 1
	// 9 7
}

func ExampleAsUltrametric() {
	// Words that share a prefix are close.
	words := must(metric.NewPoints([][]string{{"a", "b"}, {"x"}, {"a", "c"}}, metric.CommonPrefix[string]{}))
	u := must(metric.AsUltrametric(context.Background(), words))
	fmt.Println(u.Distance(0, 2) == words.Distance(0, 2), u.Clusters(0.5))
	// Output: true [0 1 0]
}

func ExampleValidateUltrametric() {
	line := must(metric.NewPoints([][]float64{{0}, {1}, {2}}, metric.Euclidean{}))
	fmt.Println(metric.ValidateUltrametric(context.Background(), line, 0))
	// Output: metric: ValidateUltrametric: d(i,j) <= max(d(i,k), d(k,j)) fails at i=0, j=2, k=1 by 1
}

func ExampleNewTree() {
	// Nodes 1 and 2 are children of the root 0, nodes 3 and 4 of node 1.
	t := must(metric.NewTree([]int{-1, 0, 0, 1, 1}, []float64{0, 2, 5, 1, 1}))
	f := t.PathMetric()
	fmt.Println(t.Leaves())
	fmt.Println(f.Distance(1, 2), f.Distance(0, 1)) // between nodes 3, 4 and 2, 3
	// Output:
	// [2 3 4]
	// 2 8
}

func ExampleTreeFromPaths() {
	t := must(metric.TreeFromPaths([][]string{
		{"mammal", "carnivore", "cat"},
		{"mammal", "carnivore", "dog"},
		{"mammal", "mole"},
	}))
	f := t.PathMetric()
	fmt.Println(f.Distance(0, 1), f.Distance(0, 2))
	fmt.Println(t, "with the leaf", t.Name(t.Leaves()[2]))
	// Output:
	// 2 3
	// tree of 5 nodes with the leaf mole
}

// line returns points of the real line.
func line(x ...float64) *metric.Points[float64] {
	p := must(metric.NewPoints(x, metric.Numbers[float64]{}))
	return p
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
	nearest, dist, err := metric.Assign(context.Background(), line(0, 1, 4, 9, 10), []int{1, 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(nearest, dist)
	// Output: [0 0 0 1 1] [1 0 3 1 0]
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

// Distance counts a quarter outside of a town: a point has to hide in four times the radius there.
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
	for _, pair := range [][2]int{{37, 42}, {32, 35}} {
		fmt.Printf("%.0f m count %.0f\n", centers.Distance(pair[0], pair[1]), ways.Distance(pair[0], pair[1]))
	}
	// Output:
	// 1250 m count 1155
	// 750 m count 173
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

// Spaces of vectors, of sequences and of words, and a sum of two.
func Example_spaces() {
	x, y := []float64{0.5, 0.5, 0}, []float64{0.5, 0.25, 0.25}
	fmt.Printf("%.4f %.4f %.4f\n", metric.Euclidean{}.Distance(x, y), metric.Manhattan{}.Distance(x, y), metric.Chebyshev{}.Distance(x, y))
	fmt.Printf("%.4f %.4f\n", metric.Minkowski{P: 3}.Distance(x, y), metric.Angular{}.Distance(x, y))
	fmt.Println(metric.TotalVariation{}.Distance(x, y))
	fmt.Println(must(metric.Sum[[]float64](metric.Manhattan{}, metric.Chebyshev{})).Distance(x, y))
	fmt.Println(metric.Levenshtein{}.Distance("kitten", "sitting"), metric.Levenshtein{}.Distance("Zürich", "Zurich"))
	lyon, paris, rome := []string{"EU", "FR", "Lyon"}, []string{"EU", "FR", "Paris"}, []string{"EU", "IT", "Rome"}
	fmt.Println(metric.Hamming[string]{}.Distance(lyon, rome), metric.CommonPrefix[string]{Base: 10}.Distance(lyon, paris))
	// Output:
	// 0.3536 0.5000 0.2500
	// 0.3150 0.5236
	// 0.25
	// 0.75
	// 3 1
	// 2 0.01
}
