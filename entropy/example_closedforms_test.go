package entropy_test

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/metric"
)

// halves is the Baire space of binary sequences, both metrics 2^-k.
func halves(depth int) entropy.Baire {
	f := func(k int) float64 { return math.Pow(2, -float64(k)) }
	return entropy.Baire{Depth: depth, Privacy: f, Utility: f}
}

// BSV24 Theorem 6.4: on infinite sequences both scales are of the order of
// min(1/alpha, 1). Products with alpha stay within constant factors; those of
// the entropic scale jump, because it is always a power of 2.
func ExampleBaire() {
	b := halves(0)
	for alpha := 1.0; alpha <= 1e6; alpha *= 10 {
		s, so := must(b.EntropicScale(alpha)), must(b.DiametricScale(alpha))
		fmt.Printf("alpha %7.0f: s = %.2f/alpha, s_o = %.2f/alpha\n", alpha, alpha*s.Hi, alpha*so.Hi)
	}
	// Output:
	// alpha       1: s = 0.50/alpha, s_o = 0.30/alpha
	// alpha      10: s = 0.62/alpha, s_o = 0.36/alpha
	// alpha     100: s = 0.39/alpha, s_o = 0.36/alpha
	// alpha    1000: s = 0.49/alpha, s_o = 0.37/alpha
	// alpha   10000: s = 0.61/alpha, s_o = 0.36/alpha
	// alpha  100000: s = 0.38/alpha, s_o = 0.36/alpha
	// alpha 1000000: s = 0.48/alpha, s_o = 0.37/alpha
}

// The closed form is that of the estimators on the space cut off at a depth. At
// large alpha the points of the finite space are told apart: its scale is 0.
func ExampleBaire_Space() {
	b := halves(8)
	space := must(b.Space())
	for _, alpha := range []float64{4, 50, 2000} {
		s := must(entropy.EntropicScale(context.Background(), space, alpha, nil))
		fmt.Println(space.Len(), must(b.EntropicScale(alpha)), s.Interval)
	}
	// Output:
	// 256 0.125 0.125
	// 256 0.0078125 0.0078125
	// 256 0 0
}

// In the unit ball of a d-dimensional norm the scales are of the order of
// min(d/alpha, 1) (BSV24 section 6), hidden constants apart. Here it is the
// maximum norm of the plane on a grid, which would show at larger alpha.
func ExampleEntropicScale_unitBall() {
	const d, side = 2, 17
	var pts [][]float64
	for i := range side * side {
		pts = append(pts, []float64{float64(i%side)/8 - 1, float64(i/side)/8 - 1})
	}
	ball := metric.Same(must(metric.NewPoints(pts, metric.Chebyshev{})))
	for _, alpha := range []float64{1, 2, 4, 8, 16} {
		s := must(entropy.EntropicScale(context.Background(), ball, alpha, nil))
		fmt.Printf("alpha %2.0f: s = %.2f*d/alpha\n", alpha, alpha*s.Hi/d)
	}
	// Output:
	// alpha  1: s = 1.00*d/alpha
	// alpha  2: s = 1.25*d/alpha
	// alpha  4: s = 1.00*d/alpha
	// alpha  8: s = 1.00*d/alpha
	// alpha 16: s = 1.00*d/alpha
}

// Measures on [0,1]^d under W1, which is both metrics: the scales are of the
// order of min(alpha^(-1/(d+1)), 1) (BSV24 section 6), hidden constants apart.
// Here d = 1, and the net of measures of Lemma A.1 stands for all of them; at
// larger alpha it would show.
func ExampleMeasureNet() {
	var pts [][]float64
	for i := range 11 {
		pts = append(pts, []float64{float64(i) / 10})
	}
	net := must(entropy.MeasureNet(context.Background(), must(metric.NewPoints(pts, metric.Euclidean{})), 3))
	fmt.Printf("%d measures, every other within %.3f\n", net.Len(), net.CoveringRadius())
	space := metric.Same(must(net.Wasserstein(context.Background(), nil)))
	for _, alpha := range []float64{1, 2, 4, 8} {
		s := must(entropy.EntropicScale(context.Background(), space, alpha, nil))
		fmt.Printf("alpha %.0f: s = %.2f/sqrt(alpha)\n", alpha, s.Hi*math.Sqrt(alpha))
	}
	// Output:
	// 286 measures, every other within 0.167
	// alpha 1: s = 1.00/sqrt(alpha)
	// alpha 2: s = 0.94/sqrt(alpha)
	// alpha 4: s = 0.93/sqrt(alpha)
	// alpha 8: s = 0.94/sqrt(alpha)
}

func ExamplePositiveMeasure() {
	// Three crowded points, and one alone that is not drowned.
	f := must(metric.NewPoints([][]float64{{0}, {0.1}, {0.2}, {8}}, metric.Euclidean{}))
	mu := must(entropy.PositiveMeasure(context.Background(), f))
	fmt.Printf("%.3f\n", mu)
	for _, r := range []float64{0.1, 1, 8} {
		mass, y, err := entropy.BallMass(context.Background(), f, mu, r, nil)
		if err != nil {
			panic(err)
		}
		fmt.Printf("radius %v: every ball has measure %.3f or more, least at point %d\n", r, mass, y)
	}
	// Output:
	// [0.747 0.002 0.005 0.247]
	// radius 0.1: every ball has measure 0.007 or more, least at point 2
	// radius 1: every ball has measure 0.247 or more, least at point 3
	// radius 8: every ball has measure 1.000 or more, least at point 0
}
