package entropy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// street is five places, one kilometer apart.
func street() metric.Finite {
	pts := [][]float64{{0}, {1}, {2}, {3}, {4}}
	return must(metric.NewPoints(pts, metric.Euclidean{}))
}

// How far from the best possible is a mechanism? The optimum here is 0.6376 km.
func ExampleAccuracy() {
	f := street()
	m := must(exponential.Tight(context.Background(), f, 1, nil))
	worst, _ := must(m.Loss(context.Background(), f)).Worst()
	a := must(entropy.Accuracy(context.Background(), metric.Same(f), 1, nil))
	a = must(a.With(entropy.Loss{Name: "tight weights", Value: worst}))
	fmt.Printf("the optimum is in [%.3f, %.3f] km: at most %.0f %% to gain\n", a.Lo, a.Hi, 100*(1-1/a.Ratio()))
	for _, b := range a.Bounds {
		fmt.Printf("  %-5v %6.3f  %-15s %s\n", b.Kind, b.Value, b.Name, b.Source)
	}
	// Output:
	// the optimum is in [0.633, 0.736] km: at most 14 % to gain
	//   lower  0.633  star            linear programming duality
	//   lower  0.269  pairs           the triangle inequality
	//   lower  0.251  packing         after IKWAT22 Theorem 3
	//   lower  0.054  diametric scale BSV24 Theorem 3.2
	//   upper  0.736  tight weights   exact loss
	//   upper  2.000  constant        the radius
	//   upper 34.631  exponential     BSV24 Lemma 4.1
}

// A table over levels: the bounds first, the mechanisms added to each row.
func ExampleAccuracies() {
	f := street()
	alphas := []float64{0.5, 1, 2}
	for k, a := range must(entropy.Accuracies(context.Background(), metric.Same(f), alphas, nil)) {
		worst, _ := must(must(exponential.Tight(context.Background(), f, alphas[k], nil)).Loss(context.Background(), f)).Worst()
		a = must(a.With(entropy.Loss{Name: "tight weights", Value: worst}))
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
	pair := must(entropy.LowerBounds(context.Background(), b, 1, nil))[1]
	w := pair.Witness.(entropy.TwoPoints)
	fmt.Println(pair)
	fmt.Printf("points %d and %d prove %.4f\n", w.X, w.Y, must(w.Prove(context.Background(), b, 1)))
	// Output:
	// lower 0.268941 by pairs (the triangle inequality)
	// points 0 and 1 prove 0.2689
}

func ExampleUpperBounds() {
	for _, u := range must(entropy.UpperBounds(context.Background(), metric.Same(street()), 1, nil)) {
		fmt.Println(u)
	}
	// Output:
	// upper 2 by constant (the radius)
	// upper 34.6313 by exponential (BSV24 Lemma 4.1)
}

// What level does a wanted accuracy need at least?
func ExampleLevelFor() {
	alpha, proof, err := entropy.LevelFor(context.Background(), metric.Same(street()), 0.5, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a worst loss of 500 m needs alpha > %.2f per km, by the %s\n", alpha, proof.Name)
	// Output:
	// a worst loss of 500 m needs alpha > 1.27 per km, by the star
}

func ExampleStandardBound() {
	// At alpha = 1 per km on a space whose entropic scale at 1/3 is 0.
	fmt.Printf("expected loss at most %.3f km\n", must(entropy.StandardBound(1, 0)))
	// Output: expected loss at most 14.898 km
}

func ExampleRelaxedBound() {
	fmt.Println(must(entropy.RelaxedBound(0.5, 0.25)))
	// Output: 4
}
