package domain_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

func Example() {
	// Ages in whole years, incomes and one of four regions, in units that compare:
	// the whole range of each column has length 1, and so has another region.
	d, err := domain.NewBox([]domain.Column{
		{Lo: 0, Hi: 110, Whole: true, Share: 1},
		{Lo: 0, Hi: 200_000, Share: 1},
		{Categories: 4},
	}, nil)
	check(err)
	c, err := d.Cell([]float64{34, 51_000, 2})
	fmt.Printf("%.0f %v\n", d.Point(c), err)
	_, err = d.Cell([]float64{34, 51_000, 4})
	fmt.Println(err)
	// Output:
	// [34 51000 2] <nil>
	// domain: Domain.Cell: record[2], want a category, an integer in [0, 4)
}

// The hour may be missing, and nobody works more hours than there are in the day
// since then.
func ExampleNewBox() {
	d := must(domain.NewBox([]domain.Column{
		{Lo: 0, Hi: 23, Whole: true, Missing: true, Weight: 1.0 / 24}, // began at
		{Lo: 0, Hi: 24, Weight: 1.0 / 24},                             // worked
	}, &domain.BoxOptions{
		Possible: func(lo, hi []float64) bool { return math.IsNaN(lo[0]) || lo[0]+lo[1] <= 24 },
	}))
	for _, x := range [][]float64{{9, 8.5}, {math.NaN(), 20}, {20, 8}} {
		c, err := d.Cell(x)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%.3f\n", d.Point(c))
	}
	// Output:
	// [9.000 8.500]
	// [NaN 20.000]
	// domain: Domain.Cell: record, want another: BoxOptions.Possible is false in its cell
}

func ExampleNewSphere() {
	d, err := domain.NewSphere(0, &domain.SphereOptions{Depth: 10})
	check(err)
	fmt.Println(d)
	fmt.Printf("no record is farther than %.0f km from the point of its cell\n", d.Resolution())
	c, err := d.Cell(metric.LatLon{Lat: 48.85, Lon: 2.35})
	fmt.Printf("Paris counts at %.2f, %v\n", d.Point(c), err)
	// Output:
	// sphere of radius 6371.0088: 3*2^18 cells, 9 levels of arity 4 to 12
	// no record is farther than 27 km from the point of its cell
	// Paris counts at {48.92 2.25}, <nil>
}

func ExampleNewFinite() {
	// Stations along a road.
	km := []float64{0, 1, 2, 40, 41, 43, 90, 91, 95}
	pts := must(metric.NewPoints(km, metric.Func[float64](func(x, y float64) float64 { return max(x-y, y-x) })))
	d := must(domain.NewFinite(context.Background(), pts, &domain.FiniteOptions{Arity: 3}))
	fmt.Println(d)
	t := d.Tree()
	for lo, hi := t.Children(0); lo < hi; lo++ {
		var below []float64
		first, end := t.LeafRange(lo)
		for c := first; c < end; c++ {
			below = append(below, km[d.Point(c)])
		}
		fmt.Println(below)
	}
	// Output:
	// net tree over 9 points: 9 cells, 2 levels of arity up to 3
	// [1 0 2]
	// [91 90 95]
	// [41 40 43]
}

func ExampleOn() {
	// Counts of visits, wherever they were, at the nearest of the public places.
	places := must(metric.NewPoints([]metric.LatLon{{Lat: 52.5, Lon: 13.4}, {Lat: 48.1, Lon: 11.6}, {Lat: 53.6, Lon: 10}}, metric.GreatCircle{}))
	net := must(domain.NewFinite(context.Background(), places, nil))
	d := must(domain.On(context.Background(), net, places))
	c, err := d.Cell(metric.LatLon{Lat: 48.4, Lon: 10.9})
	fmt.Println(d.Point(c), err)
	// Output:
	// {48.1 11.6} <nil>
}

func ExampleLabels() {
	words := []string{"cat", "dog", "oak", "elm"}
	t := must(metric.TreeFromPaths([][]string{
		{"thing", "animal", "cat"}, {"thing", "animal", "dog"}, {"thing", "tree", "oak"}, {"thing", "tree", "elm"},
	}))
	taxonomy := must(domain.NewTaxonomy(context.Background(), t, nil))
	d := must(domain.Labels(taxonomy, words))
	fmt.Println(d)
	fmt.Println(d.Distance("cat", "dog"), d.Distance("cat", "elm"))
	_, err := d.Cell("car")
	fmt.Println(err)
	// Output:
	// taxonomy of 4 leaves: 4 cells, 2 levels of arity up to 2
	// 2 4
	// domain: Domain.Cell: unknown label
}

func ExampleNewTaxonomy() {
	t := must(metric.TreeFromPaths([][]string{
		{"world", "Europe", "France", "Paris"}, {"world", "Europe", "France", "Lyon"}, {"world", "Asia", "Japan", "Tokyo"},
	}))
	d := must(domain.NewTaxonomy(context.Background(), t, nil))
	fmt.Println(d) // Europe and Japan have one child and are passed over
	for c := range d.Len() {
		fmt.Print(t.Name(t.Leaves()[d.Point(c)]), " ")
	}
	// Output:
	// taxonomy of 3 leaves: 3 cells, 2 levels of arity up to 2
	// Paris Lyon Tokyo
}

func ExampleNewUltrametric() {
	// Four words by when their languages parted, in thousands of years.
	words := []string{"mano", "main", "hand", "ruka"}
	u := must(metric.NewUltrametric([]int{0, 1, 2, 3}, []float64{1.5, 5, 5}))
	d := must(domain.NewUltrametric(context.Background(), u, &domain.HierarchyOptions{Ratio: 1}))
	byWord := must(domain.Labels(d, words))
	fmt.Println(byWord)
	fmt.Println(byWord.Distance("mano", "main"), byWord.Distance("main", "hand"))
	// Output:
	// hierarchy over 4 points: 4 cells, 2 levels of arity up to 3
	// 1.5 5
}

func ExampleNewFolded() {
	var corners [][]float64
	for i := range 16 {
		corners = append(corners, []float64{float64(i % 4), float64(i / 4)})
	}
	pts := must(metric.NewPoints(corners, metric.Euclidean{}))
	d := must(domain.NewFolded(context.Background(), pts, nil))
	fmt.Println(d)
	for c := range 6 {
		fmt.Print(corners[d.Point(c)], " ")
	}
	// Output:
	// 16 points folded along Hilbert's curve: 16 cells, 4 levels of arity up to 2
	// [0 0] [1 0] [1 1] [0 1] [0 2] [0 3]
}

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
