package families_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

var ctx = context.Background()

// street is five places, one kilometer apart.
func street() metric.Finite {
	return must(metric.NewPoints([][]float64{{0}, {1}, {2}, {3}, {4}}, metric.Euclidean{}))
}

// How accurately can 10,000 users at alpha = 1 a unit publish where on a line their items
// are, and on eleven points in place of the line?
func Example() {
	line, err := families.MeasuresAccuracy(1, 10_000)
	if err != nil {
		log.Fatal(err)
	}
	var pts [][]float64
	for i := range 11 {
		pts = append(pts, []float64{float64(i) / 10})
	}
	grid, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	bound, err := families.PrivateTransportBound(ctx, grid, 10_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("W1 error on the line in", line)
	fmt.Printf("on the points at least %.5f\n", bound.Value)
	// Output:
	// W1 error on the line in [0.00361369, 0.02]
	// on the points at least 0.00050
}

// halves is the Baire space of binary sequences, both metrics 2^-k.
func halves(depth int) families.Baire {
	f := func(k int) float64 { return math.Pow(2, -float64(k)) }
	return families.Baire{Depth: depth, Privacy: f, Utility: f}
}

// BSV24 Theorem 6.4: on infinite sequences both scales are of the order of
// min(1/alpha, 1). Products with alpha stay within constant factors; those of
// the entropic scale jump, because it is always a power of 2.
func ExampleBaire() {
	b := halves(0)
	for alpha := 1.0; alpha <= 1e6; alpha *= 100 {
		s := must(b.EntropicScale(alpha))
		so := must(b.DiametricScale(alpha))
		fmt.Printf("alpha %7.0f: s = %.2f/alpha, s_o = %.2f/alpha\n", alpha, alpha*s.Hi, alpha*so.Hi)
	}
	// Output:
	// alpha       1: s = 0.50/alpha, s_o = 0.30/alpha
	// alpha     100: s = 0.39/alpha, s_o = 0.36/alpha
	// alpha   10000: s = 0.61/alpha, s_o = 0.36/alpha
	// alpha 1000000: s = 0.48/alpha, s_o = 0.37/alpha
}

// Measures on [0,1]^d under W1, which is both metrics: the scales are of the order of
// min(alpha^(-1/(d+1)), 1) (BSV24 section 6), hidden constants apart. Here d = 1, and the net of
// measures of Lemma A.1 stands for all of them; at larger alpha it would show.
func ExampleMeasureNet() {
	var pts [][]float64
	for i := range 11 {
		pts = append(pts, []float64{float64(i) / 10})
	}
	f := must(metric.NewPoints(pts, metric.Euclidean{}))
	net := must(families.MeasureNet(ctx, f, 3))
	fmt.Printf("%d measures, every other within %.3f\n", net.Len(), net.CoveringRadius())
	w1 := must(net.Wasserstein(ctx, nil))
	scales := must(scale.Entropic(ctx, metric.Same(w1), []float64{1, 2, 4, 8}, nil))
	for _, s := range scales {
		fmt.Printf("alpha %.0f: s = %.2f/sqrt(alpha)\n", s.Alpha, s.Hi*math.Sqrt(s.Alpha))
	}
	// Output:
	// 286 measures, every other within 0.167
	// alpha 1: s = 1.00/sqrt(alpha)
	// alpha 2: s = 0.94/sqrt(alpha)
	// alpha 4: s = 0.93/sqrt(alpha)
	// alpha 8: s = 0.94/sqrt(alpha)
}

// No private copy of a distribution over the places is nearer to it than this.
func ExamplePrivateMeasureBound() {
	m := must(families.PrivateMeasureBound(ctx, street(), 10))
	fmt.Printf("W1 error at least %.4f km\n", m.Value)
	fmt.Printf("by mass %.3f on each of the pairs %v\n", 1/float64(len(m.Pairs)), m.Pairs)
	// Output:
	// W1 error at least 0.3393 km
	// by mass 1.000 on each of the pairs [[4 0]]
}

// Synthetic data: 1000 records at eps = 0.1 when one of them is replaced.
func ExamplePrivateDataBound() {
	m := must(families.PrivateDataBound(ctx, street(), 1000, 0.1))
	fmt.Printf("W1 error at least %.4f km, by %d records on each of the pairs %v\n", m.Value, m.Records/len(m.Pairs), m.Pairs)
	// Output:
	// W1 error at least 0.0391 km, by 1000 records on each of the pairs [[4 0]]
}

// A hundred users at alpha = 0.5 per km: however the places they went to are published, as one
// distribution, its earth mover's distance from the truth may be this much on average.
func ExamplePrivateTransportBound() {
	w := must(families.PrivateTransportBound(ctx, street(), 0.5*100))
	fmt.Printf("W1 error at least %.4f km, by the pairs %v\n", w.Value, w.Pairs)
	// Output:
	// W1 error at least 0.0370 km, by the pairs [[0 1] [4 3]]
}

// A point of the unit ball of R^10, at alpha = 100.
func ExampleBallAccuracy() {
	i := must(families.BallAccuracy(10, 100))
	fmt.Println("loss in", i)
	// Output:
	// loss in [0.0104712, 0.2]
}

// The distribution of the items of 10,000 users on a line of length 1, at alpha = 1.
func ExampleMeasuresAccuracy() {
	i := must(families.MeasuresAccuracy(1, 1*10_000))
	fmt.Println("W1 error in", i)
	// Output:
	// W1 error in [0.00361369, 0.02]
}

// A function on the square that rises by at most 1 a unit, at alpha = 1000.
func ExampleLipschitzAccuracy() {
	i := must(families.LipschitzAccuracy(2, 1000))
	fmt.Println("largest error in", i)
	// Output:
	// largest error in [0.05, 0.238667]
}

// Of data sets of ten thousand points of the unit square, released at level 1, no mechanism has
// a worst expected error below a fifth of a hundredth of the side.
func ExamplePrivateCubeBound() {
	bound, err := families.PrivateCubeBound(2, 10_000, 1)
	fmt.Printf("%.5f %v\n", bound, err)
	// Output:
	// 0.00230 <nil>
}
