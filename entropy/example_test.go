package entropy_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

var ctx = context.Background()

// street is five places, one kilometer apart.
func street() metric.Finite {
	f, err := metric.NewPoints([][]float64{{0}, {1}, {2}, {3}, {4}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	return f
}

// square is the points of a k by k grid, 1 km apart.
func square(k int) metric.Finite {
	var pts [][]float64
	for x := range k {
		for y := range k {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	return f
}

// tight is the worst expected loss of the exponential mechanism with tight
// weights.
func tight(f metric.Finite, alpha float64) entropy.Loss {
	m, err := exponential.Tight(ctx, f, alpha, nil)
	if err != nil {
		log.Fatal(err)
	}
	losses, err := m.Loss(ctx, f)
	if err != nil {
		log.Fatal(err)
	}
	worst, _ := losses.Worst()
	return entropy.Loss{Name: "tight weights", Value: worst}
}

// A city wants to publish where people are, with odds of at most e between
// places a kilometer apart. How accurate can that be, what does the mechanism
// at hand lose beside it, and what level would an error of 500 m need?
func Example() {
	b := metric.Same(square(4))
	brackets, err := entropy.Accuracy(ctx, b, []float64{1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	bracket, err := brackets[0].With(tight(b.Privacy, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("accuracy in km:", bracket.Interval)
	fmt.Println("below:", bracket.Best(entropy.Lower).Source)
	fmt.Println("above:", bracket.Best(entropy.Upper).Name)
	alpha, by, err := entropy.LevelFor(ctx, b, 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("an error of 500 m needs alpha > %.2f per km, by the %s\n", alpha, by.Name)
	s, err := entropy.EntropicScale(ctx, b, []float64{1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("entropic scale in km:", s[0])
	// Output:
	// accuracy in km: [0.954497, 1.38896]
	// below: linear programming duality
	// above: tight weights
	// an error of 500 m needs alpha > 2.08 per km, by the star
	// entropic scale in km: 1.41421, by 3 points within 1 of point 9
}

// How far from the best possible is a mechanism? The optimum here is 0.6376 km.
func ExampleAccuracy() {
	f := street()
	brackets, err := entropy.Accuracy(ctx, metric.Same(f), []float64{1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	a, err := brackets[0].With(tight(f, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the optimum is in [%.3f, %.3f] km: at most %.0f %% to gain\n", a.Lo, a.Hi, 100*(1-1/a.Ratio()))
	for _, b := range a.Bounds {
		fmt.Printf("  %-5v %6.3f  %-15s %s\n", b.Kind, b.Value, b.Name, b.Source)
	}
	// Output:
	// the optimum is in [0.633, 0.736] km: at most 14 % to gain
	//   lower  0.633  star            linear programming duality
	//   lower  0.593  closed star     linear programming duality
	//   upper  0.736  tight weights   exact loss
	//   upper  0.745  exponential     loss on a net, BSV24 Lemma 4.1
	//   upper  2.000  constant        the radius
}

// A table over levels: the bounds first, the mechanisms added to each row.
func ExampleAccuracy_levels() {
	f := street()
	brackets, err := entropy.Accuracy(ctx, metric.Same(f), []float64{0.5, 1, 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range brackets {
		if a, err = a.With(tight(f, a.Alpha)); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("alpha %.1f: [%.3f, %.3f] km\n", a.Alpha, a.Lo, a.Hi)
	}
	// Output:
	// alpha 0.5: [0.998, 1.213] km
	// alpha 1.0: [0.633, 0.736] km
	// alpha 2.0: [0.260, 0.271] km
}

// The witness of a bound can be checked by whoever does not trust the search.
func ExampleLowerBounds() {
	b := metric.Same(street())
	bounds, err := entropy.LowerBounds(ctx, b, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bounds[0])
	v, err := bounds[0].Witness.Prove(ctx, b, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("proved again: %.4f\n", v)
	// Output:
	// lower 0.632838 by star (linear programming duality)
	// proved again: 0.6328
}

func ExampleUpperBounds() {
	bounds, err := entropy.UpperBounds(ctx, metric.Same(street()), 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, u := range bounds {
		fmt.Println(u)
	}
	// Output:
	// upper 0.744876 by exponential (loss on a net, BSV24 Lemma 4.1)
	// upper 2 by constant (the radius)
}

// What level does a wanted accuracy need at least?
func ExampleLevelFor() {
	alpha, by, err := entropy.LevelFor(ctx, metric.Same(street()), 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a worst loss of 500 m needs alpha > %.2f per km, by the %s\n", alpha, by.Name)
	// Output:
	// a worst loss of 500 m needs alpha > 1.27 per km, by the star
}

func ExampleStandardBound() {
	// At alpha = 1 per km on a space whose entropic scale at 1/3 is 0.
	v, err := entropy.StandardBound(1, 0)
	fmt.Printf("expected loss at most %.3f km, %v\n", v, err)
	// Output: expected loss at most 14.898 km, <nil>
}

func ExampleRelaxedBound() {
	fmt.Println(entropy.RelaxedBound(0.5, 0.25, 1))
	// Output: 4 <nil>
}

// Four points of a grid, 3.16 km apart, lie in a ball that should hold no more
// than three at this level, and nothing further apart does so.
func ExampleEntropicScale() {
	scales, err := entropy.EntropicScale(ctx, metric.Same(square(10)), []float64{0.5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	s := scales[0]
	fmt.Println("scale in km:", s.Interval)
	fmt.Printf("witness: %d > %.2f points, %.3g km apart, within %.3g km of point %d\n",
		len(s.Set), math.Exp(s.Alpha*s.R), s.Lo, s.R, s.X)
	// Output:
	// scale in km: 3.16228
	// witness: 4 > 3.06 points, 3.16 km apart, within 2.24 km of point 72
}

func ExampleEntropicScale_levels() {
	scales, err := entropy.EntropicScale(ctx, metric.Same(square(10)), []float64{0.25, 0.5, 1, 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scales {
		fmt.Printf("alpha %-4v: %v km\n", s.Alpha, s.Interval)
	}
	// Output:
	// alpha 0.25: 7.07107 km
	// alpha 0.5 : 3.16228 km
	// alpha 1   : 1.41421 km
	// alpha 2   : 0 km
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
	ball, err := metric.NewPoints(pts, metric.Chebyshev{})
	if err != nil {
		log.Fatal(err)
	}
	scales, err := entropy.EntropicScale(ctx, metric.Same(ball), []float64{1, 2, 4, 8, 16}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scales {
		fmt.Printf("alpha %2.0f: s = %.2f*d/alpha\n", s.Alpha, s.Alpha*s.Hi/d)
	}
	// Output:
	// alpha  1: s = 1.00*d/alpha
	// alpha  2: s = 1.25*d/alpha
	// alpha  4: s = 1.00*d/alpha
	// alpha  8: s = 1.00*d/alpha
	// alpha 16: s = 1.00*d/alpha
}

func ExampleDiametricScale() {
	s, err := entropy.DiametricScale(ctx, metric.Same(square(10)), []float64{0.5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scale in km:", s[0])
	// Output:
	// scale in km: 1.47152, by 2 points within 2 of point 2
}

func ExampleDiametricScale_levels() {
	scales, err := entropy.DiametricScale(ctx, metric.Same(square(10)), []float64{0.25, 0.5, 1, 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scales {
		fmt.Printf("alpha %-4v: %.6g km\n", s.Alpha, s.Hi)
	}
	// Output:
	// alpha 0.25: 2.94304 km
	// alpha 0.5 : 1.47152 km
	// alpha 1   : 0.735759 km
	// alpha 2   : 0.270671 km
}

// At level 1 per spacing, discs of radius 2s of a lattice hold more than
// exp(2s) points that are s apart for some s just below 1.2425 = ln(12)/2, and
// for none beyond.
func ExampleDoublingScale() {
	ds, err := entropy.DoublingScale(ctx, square(5), []float64{1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	d := ds[0]
	fmt.Println(d.Interval)
	fmt.Printf("%d points within %.4g of point %d\n", len(d.Set), d.R, d.X)
	// Output:
	// 1.24245
	// 12 points within 2.236 of point 12
}

func ExampleDoublingScale_levels() {
	ds, err := entropy.DoublingScale(ctx, square(5), []float64{0.5, 1, 2, 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range ds {
		fmt.Printf("alpha = %v: %v\n", d.Alpha, d.Interval)
	}
	// Output:
	// alpha = 0.5: 2
	// alpha = 1: 1.24245
	// alpha = 2: 0
	// alpha = 4: 0
}

// The outer scale trades the separation g against the logarithm of the number
// of points so separated.
func ExampleOuterScale() {
	os, err := entropy.OuterScale(ctx, square(5), []float64{0.5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	o := os[0]
	fmt.Println(o.Interval)
	fmt.Printf("%d points more than %.4g apart\n", o.N.Lo, o.G)
	// Output:
	// 5.45494
	// 5 points more than 2.236 apart
}

func ExampleOuterScale_levels() {
	os, err := entropy.OuterScale(ctx, square(5), []float64{0.25, 0.5, 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range os {
		fmt.Printf("alpha = %v: %v at g = %.4g\n", o.Alpha, o.Interval, o.G)
	}
	// Output:
	// alpha = 0.25: 5.65685 at g = 5.657
	// alpha = 0.5: 5.45494 at g = 2.236
	// alpha = 1: 3.21888 at g = 0
}

// How many points of a 6 by 6 lattice are pairwise more than the spacing apart,
// or more than the diagonal of a square?
func ExamplePacking() {
	f := square(6)
	for _, s := range []float64{0, 1, 1.5} {
		c, err := entropy.Packing(ctx, f, nil, s, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("s = %v: %v\n", s, c)
	}
	// The first row alone.
	c, err := entropy.Packing(ctx, f, []int{0, 1, 2, 3, 4, 5}, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Separated, c.Sets, c.Proof)
	// Output:
	// s = 0: [36, 36]
	// s = 1: [18, 18]
	// s = 1.5: [9, 9]
	// [0 3 5] [[0 1] [2 3] [4 5]] partition
}

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
	for alpha := 1.0; alpha <= 1e6; alpha *= 100 {
		s, err := b.EntropicScale(alpha)
		if err != nil {
			log.Fatal(err)
		}
		so, err := b.DiametricScale(alpha)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("alpha %7.0f: s = %.2f/alpha, s_o = %.2f/alpha\n", alpha, alpha*s.Hi, alpha*so.Hi)
	}
	// Output:
	// alpha       1: s = 0.50/alpha, s_o = 0.30/alpha
	// alpha     100: s = 0.39/alpha, s_o = 0.36/alpha
	// alpha   10000: s = 0.61/alpha, s_o = 0.36/alpha
	// alpha 1000000: s = 0.48/alpha, s_o = 0.37/alpha
}

// The space cut off at a depth is finite. At large alpha its points are told
// apart: its scale is 0.
func ExampleBaire_Space() {
	space, err := halves(8).Space()
	if err != nil {
		log.Fatal(err)
	}
	scales, err := entropy.EntropicScale(ctx, space, []float64{4, 50, 2000}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scales {
		fmt.Println(space.Len(), s.Interval)
	}
	// Output:
	// 256 0.125
	// 256 0.0078125
	// 256 0
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
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	net, err := entropy.MeasureNet(ctx, f, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d measures, every other within %.3f\n", net.Len(), net.CoveringRadius())
	w1, err := net.Wasserstein(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	scales, err := entropy.EntropicScale(ctx, metric.Same(w1), []float64{1, 2, 4, 8}, nil)
	if err != nil {
		log.Fatal(err)
	}
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

// Three crowded points, and one alone that keeps its share.
func ExamplePositiveMeasure() {
	f, err := metric.NewPoints([][]float64{{0}, {0.1}, {0.2}, {8}}, metric.Euclidean{})
	if err != nil {
		log.Fatal(err)
	}
	mu, err := entropy.PositiveMeasure(ctx, f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", mu)
	// Output:
	// [0.747 0.002 0.005 0.247]
}

func ExampleBallMass() {
	mu := []float64{0.1, 0.2, 0.4, 0.2, 0.1}
	for _, r := range []float64{0, 1, 4} {
		mass, y, err := entropy.BallMass(ctx, street(), mu, r, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("radius %v: every ball has measure %.3f or more, least at point %d\n", r, mass, y)
	}
	// Output:
	// radius 0: every ball has measure 0.100 or more, least at point 0
	// radius 1: every ball has measure 0.300 or more, least at point 0
	// radius 4: every ball has measure 1.000 or more, least at point 0
}

// No private copy of a distribution over the places is nearer to it than this.
func ExamplePrivateMeasureBound() {
	m, err := entropy.PrivateMeasureBound(ctx, street(), 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("W1 error at least %.4f km\n", m.Value)
	fmt.Printf("by mass %.3f on each of the pairs %v\n", 1/float64(len(m.Pairs)), m.Pairs)
	// Output:
	// W1 error at least 0.3393 km
	// by mass 1.000 on each of the pairs [[4 0]]
}

// Synthetic data: 1000 records at eps = 0.1 when one of them is replaced.
func ExamplePrivateDataBound() {
	m, err := entropy.PrivateDataBound(ctx, street(), 1000, 0.1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("W1 error at least %.4f km, by %d records on each of the pairs %v\n", m.Value, m.Records/len(m.Pairs), m.Pairs)
	// Output:
	// W1 error at least 0.0391 km, by 1000 records on each of the pairs [[4 0]]
}

// A hundred users at alpha = 0.5 per km: however the places they went to are
// published, as one distribution, its earth mover's distance from the truth may be
// this much on average.
func ExamplePrivateTransportBound() {
	w, err := entropy.PrivateTransportBound(ctx, street(), 0.5*100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("W1 error at least %.4f km, by the pairs %v\n", w.Value, w.Pairs)
	// Output:
	// W1 error at least 0.0370 km, by the pairs [[0 1] [4 3]]
}

// A point of the unit ball of R^10, at alpha = 100.
func ExampleBallAccuracy() {
	i, err := entropy.BallAccuracy(10, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("loss in", i)
	// Output:
	// loss in [0.0104712, 0.2]
}

// The distribution of the items of 10,000 users on a line of length 1, at alpha = 1.
func ExampleMeasuresAccuracy() {
	i, err := entropy.MeasuresAccuracy(1, 1*10_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("W1 error in", i)
	// Output:
	// W1 error in [0.00361369, 0.02]
}

// A function on the square that rises by at most 1 a unit, at alpha = 1000.
func ExampleLipschitzAccuracy() {
	i, err := entropy.LipschitzAccuracy(2, 1000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("largest error in", i)
	// Output:
	// largest error in [0.05, 0.238667]
}

// A grid of a city is a little less than two-dimensional because of its rim: ten
// times the records make private synthetic data about 10^(1/1.6) = 4 times as
// accurate.
func ExampleDimension() {
	e, err := entropy.Dimension(ctx, square(64), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("dimension %.2f between %.1f and %.1f km, proved: %v\n", e.D, e.Coarse, e.Fine, e.Slope)
	// Output: dimension 1.62 between 22.3 and 1.4 km, proved: [1.24609, 2.22013]
}
