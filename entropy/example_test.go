package entropy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/mechanism/exponential"
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

// square is the points of a k by k grid, 1 km apart.
func square(k int) metric.Finite {
	var pts [][]float64
	for x := range k {
		for y := range k {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	return must(metric.NewPoints(pts, metric.Euclidean{}))
}

// tight is the worst expected loss of the exponential mechanism with tight weights.
func tight(f metric.Finite, alpha float64) entropy.Loss {
	m := must(exponential.Tight(ctx, f, alpha, nil))
	losses := must(m.Loss(ctx, f))
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
	s, err := scale.Entropic(ctx, b, []float64{1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("entropic scale in km:", s[0])
	// Output:
	// accuracy in km: [1.07643, 1.12774]
	// below: linear programming duality
	// above: exponential
	// an error of 500 m needs alpha > 2.14 per km, by the program
	// entropic scale in km: 1.41421, by 3 points within 1 of point 9
}

// How far from the best possible is a mechanism? The optimum here is 0.6376 km.
func ExampleAccuracy() {
	f := street()
	brackets := must(entropy.Accuracy(ctx, metric.Same(f), []float64{1}, nil))
	a := must(brackets[0].With(tight(f, 1)))
	fmt.Printf("the optimum is in [%.3f, %.3f] km: at most %.0f %% to gain\n", a.Lo, a.Hi, 100*(1-1/a.Ratio()))
	for _, b := range a.Bounds {
		fmt.Printf("  %-5v %6.3f  %-15s %s\n", b.Kind, b.Value, b.Name, b.Source)
	}
	// Output:
	// the optimum is in [0.637, 0.639] km: at most 0 % to gain
	//   lower  0.637  program         linear programming duality
	//   lower  0.593  closed star     linear programming duality
	//   upper  0.639  exponential     loss of remapped outputs
	//   upper  0.736  tight weights   exact loss
	//   upper  2.000  constant        the radius
}

// The witness of a bound can be checked by whoever does not trust the search.
func ExampleLowerBounds() {
	b := metric.Same(street())
	bounds := must(entropy.LowerBounds(ctx, b, 1, nil))
	fmt.Println(bounds[0])
	v := must(bounds[0].Witness.Prove(ctx, b, 1))
	fmt.Printf("proved again: %.4f\n", v)
	// Output:
	// lower 0.637065 by program (linear programming duality)
	// proved again: 0.6371
}

func ExampleUpperBounds() {
	bounds := must(entropy.UpperBounds(ctx, metric.Same(street()), 1, nil))
	for _, u := range bounds {
		fmt.Println(u)
	}
	// Output:
	// upper 0.639183 by exponential (loss of remapped outputs)
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
	// a worst loss of 500 m needs alpha > 1.28 per km, by the program
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

// All of a park, not only the points of a grid in it: every place of the square of 3 km is
// within .71 km of one.
func ExampleWhole() {
	park := entropy.Whole{Sample: square(4), Gap: 0.71, Shape: entropy.NormConvex}
	bracket := must(park.Accuracy(ctx, []float64{1}, nil))[0]
	fmt.Println("accuracy in km:", bracket.Interval)
	fmt.Println(bracket.Best(entropy.Lower))
	// Output:
	// accuracy in km: [0.698568, 3.53843]
	// lower 0.698568 by norm-convex (an interval, by a functional of norm 1)
}
