package wasserstein_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// A histogram over four districts is released with noise, which leaves weights
// below 0. The nearest distribution repairs that, and its distance from the truth
// bounds the error of every Lipschitz query at once.
func Example() {
	ctx := context.Background()
	districts, err := metric.NewPoints([][]float64{{0, 0}, {3, 4}, {6, 8}, {6, 0}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	truth := []float64{.5, .25, .25, 0}
	noisy := []float64{.625, .125, .375, -.125}
	p, err := wasserstein.Project(ctx, districts, noisy, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nearest:", p.P)
	r, err := wasserstein.W1(ctx, districts, truth, p.P, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("distance from the truth:", r.Cost, "proved:", r.Gap() < 1e-12)
	for _, f := range r.Plan {
		fmt.Println(f.Mass, "from", f.I, "to", f.J)
	}
	// Output:
	// nearest: [0.625 0 0.375 0]
	// distance from the truth: 1.25 proved: true
	// 0.5 from 0 to 0
	// 0.125 from 1 to 0
	// 0.125 from 1 to 2
	// 0.25 from 2 to 2
}

// Costs that are stored, row by row.
func ExampleMatrix() {
	c, err := wasserstein.Matrix(2, 3, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		log.Fatal(err)
	}
	n, m := c.Dims()
	fmt.Println(n, m, c.At(1, 0))

	_, err = wasserstein.Matrix(2, 3, []float64{1, 2, 3, 4})
	fmt.Println(err)
	// Output:
	// 2 3 4
	// wasserstein: Matrix: cost has size 4, want 2*3
}

// Squared distances on a line, computed when they are asked for: W2 squared.
func ExampleCostFunc() {
	x, y := []float64{0, 1, 5}, []float64{1, 2}
	c := wasserstein.CostFunc(3, 2, func(i, j int) float64 { return (x[i] - y[j]) * (x[i] - y[j]) })
	r, err := wasserstein.Between(context.Background(), c, []float64{.25, .25, .5}, []float64{.5, .5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Cost)
	// Output: 4.75
}

// Three workers, three jobs, and what each would cost.
func ExampleAssignment() {
	cost, err := wasserstein.Matrix(3, 3, []float64{
		4, 1, 3,
		2, 0, 5,
		3, 2, 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	m, err := wasserstein.Assignment(context.Background(), cost, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("jobs", m.Column, "cost", m.Cost)
	fmt.Println("no matching costs less than", m.Lower)
	// Output:
	// jobs [1 0 2] cost 5
	// no matching costs less than 5
}

// Two users who visited four places each; two visits are common.
func ExampleDistanceEM() {
	places, err := metric.NewPoints([][]float64{{0, 0}, {3, 4}, {6, 8}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	d, err := wasserstein.DistanceEM(context.Background(), places, []int{0, 0, 1, 2}, []int{1, 1, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 2.5
}

func ExampleW1LineBetween() {
	d, err := wasserstein.W1LineBetween([]float64{0, 10}, []float64{.5, .5}, []float64{4}, []float64{1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d) // half from 0, half from 10
	// Output: 5
}

func ExampleW1Samples() {
	before := []float64{3, 1, 2}
	after := []float64{2, 4, 3, 2, 3, 4} // the same, one higher, each twice
	d, err := wasserstein.W1Samples(before, after)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 1
}

// The value alone, on the leaves of a tree: no user needs to know the formula.
func ExampleDistance() {
	t, err := metric.TreeFromPaths([][]string{
		{"goods", "food", "bread"},
		{"goods", "food", "milk"},
		{"goods", "tools", "saw"},
	})
	if err != nil {
		log.Fatal(err)
	}
	// From bread, 0.25 go to milk, by two edges, and 0.5 to saws, by four.
	d, err := wasserstein.Distance(context.Background(), t.PathMetric(), []float64{1, 0, 0}, []float64{.25, .25, .5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: 2.5
}

func ExampleProjectLine() {
	// A histogram on 0, 1, 2, 3 after noise. The deficit at 1 is filled from both of its neighbors.
	p, d, err := wasserstein.ProjectLine([]float64{0, 1, 2, 3}, []float64{.5, -.25, .5, .25})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, d)
	// Output: [0.375 0 0.375 0.25] 0.25
}

func ExampleIsotonicL1() {
	f, err := wasserstein.IsotonicL1([]float64{1, 3, 2, 5}, nil, 0, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f)
	// Output: [1 2.5 2.5 4]
}

// noisy is a tree with leaves 0, 1 | 2, 3, and weights after noise.
func noisy() (*metric.Tree, []float64) {
	t, err := metric.NewTree([]int{4, 4, 5, 5, 6, 6, -1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return t, []float64{.75, -.25, .375, .125}
}

func ExampleProjectTree() {
	t, g := noisy()
	p, d, err := wasserstein.ProjectTree(t, g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, d) // leaf 1 is filled from its sibling, two edges away
	// Output: [0.5 0 0.375 0.125] 0.5
}

func ExampleProjectSimplex() {
	p, err := wasserstein.ProjectSimplex([]float64{.75, .5, -.25}, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	// Output: [0.625 0.375 0]
}

// Two depots and a school serve three shops, in km.
func ExampleW1() {
	f, err := metric.NewPoints([][]float64{{0, 0}, {4, 0}, {4, 3}, {0, 3}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	stock := []float64{5, 3, 2, 0}
	demand := []float64{2, 3, 1, 4}
	r, err := wasserstein.W1(context.Background(), f, stock, demand, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r)
	for _, p := range r.Plan {
		fmt.Println(p.Mass, "from", p.I, "to", p.J)
	}
	// Output:
	// plan of 5 flows at cost 13, the least in [13, 13], gap 0
	// 2 from 0 to 0
	// 3 from 0 to 3
	// 3 from 1 to 1
	// 1 from 2 to 2
	// 1 from 2 to 3
}

// How far apart the sales of two years are, in km: towns with their shares.
func ExampleW1Points() {
	before := []metric.LatLon{{Lat: 48.86, Lon: 2.35}, {Lat: 45.76, Lon: 4.84}} // Paris, Lyon
	after := []metric.LatLon{{Lat: 48.86, Lon: 2.35}, {Lat: 45.77, Lon: 3.08}}  // Paris, Clermont
	r, err := wasserstein.W1Points(context.Background(), metric.GreatCircle{}, before, []float64{.75, .25}, after, []float64{.5, .5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f km, proved: %v\n", r.Cost, r.Gap() < 1e-9)
	for _, f := range r.Plan {
		fmt.Println(f.Mass, "from", before[f.I], "to", after[f.J])
	}
	_, err = wasserstein.W1Points(context.Background(), metric.GreatCircle{}, before, []float64{75, 25}, after, []float64{.5, .5}, nil)
	fmt.Println(err)
	// Output:
	// 121.1 km, proved: true
	// 0.5 from {48.86 2.35} to {48.86 2.35}
	// 0.25 from {48.86 2.35} to {45.77 3.08}
	// 0.25 from {45.76 4.84} to {45.77 3.08}
	// wasserstein: W1Points: total masses 100 and 1 differ by more than 9.41e-08: normalize the weights, which are never rescaled here
}

// Costs need not be distances: two sources, three sinks.
func ExampleBetween() {
	c, err := wasserstein.Matrix(2, 3, []float64{
		8, 6, 10,
		9, 12, 13,
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := wasserstein.Between(context.Background(), c, []float64{30, 20}, []float64{15, 25, 10}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("cost:", r.Cost)
	for _, p := range r.Plan {
		fmt.Println(p.Mass, "from", p.I, "to", p.J)
	}
	// Output:
	// cost: 400
	// 25 from 0 to 1
	// 5 from 0 to 2
	// 15 from 1 to 0
	// 5 from 1 to 2
}

// A plan made by hand, and a proof that it is not far from the best one.
func ExampleCertify() {
	c := wasserstein.CostFunc(3, 3, func(i, j int) float64 { return float64((i - j) * (i - j)) })
	mu, nu := []float64{2, 1, 0}, []float64{0, 1, 2}
	plan := []wasserstein.Flow{{I: 0, J: 2, Mass: 2}, {I: 1, J: 1, Mass: 1}}
	v := []float64{0, 1, 4}
	r, err := wasserstein.Certify(context.Background(), c, mu, nu, plan, v, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the plan costs %v, the best one between %v and %v\n", r.Cost, r.Lower, r.Upper)
	best, err := wasserstein.Between(context.Background(), c, mu, nu, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("it costs", best.Cost)
	// Output:
	// the plan costs 8, the best one between 6 and 8
	// it costs 6
}

func ExampleDistances() {
	words, err := metric.NewPoints([]string{"kitten", "mitten", "sitting", "knitting"}, metric.Levenshtein{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := wasserstein.Distances(words, []int{0, 1}, []int{2, 3})
	if err != nil {
		log.Fatal(err)
	}
	r, err := wasserstein.Between(context.Background(), c, []float64{.5, .5}, []float64{.25, .75}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Cost)
	// Output:
	// 3.25
}

// Noise has made a count negative: the nearest probability measure takes what
// is missing from next door.
func ExampleProject() {
	f, err := metric.NewPoints([][]float64{{0}, {1}, {1.5}, {10}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := wasserstein.Project(context.Background(), f, []float64{.5, -.125, .25, .375}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.P)
	fmt.Println(p)
	// Output:
	// [0.5 0 0.125 0.375]
	// measure on 4 points at cost 0.0625, the least in [0.0625, 0.0625], gap 0
}

// A bracket of the distance of two large samples, in a fraction of the time that
// the distance itself takes.
func ExampleOptions_cells() {
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([][2]float64, n), make([][2]float64, n)
	for i := range n {
		x[i] = [2]float64{r.Float64(), r.Float64()}
		y[i] = [2]float64{r.Float64() + 0.25, r.Float64()}
	}
	w, err := wasserstein.W1Points(context.Background(), metric.Plane{}, x, nil, y, nil, &wasserstein.Options{Cells: 1000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("between %.2f and %.2f\n", w.Lower, w.Upper)
	// Output: between 0.25 and 0.26
}
