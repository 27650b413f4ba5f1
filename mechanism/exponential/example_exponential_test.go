package exponential_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// seeded is for output that repeats; releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{1})) }

// line is five places, one kilometer apart.
func line() metric.Finite {
	pts := must(metric.NewPoints([][]float64{{0}, {1}, {2}, {3}, {4}}, metric.Euclidean{}))
	return pts
}

func worst(m *exponential.Mechanism, f metric.Finite) float64 {
	l := must(m.Loss(context.Background(), f))
	loss, _ := l.Worst()
	return loss
}

func ExampleStandard() {
	f := line()
	m := must(exponential.Standard(context.Background(), f, 1, &exponential.Options{Unit: "km"}))
	fmt.Println(m)
	fmt.Printf("worst loss %.3f km\n", worst(m, f))
	fmt.Println(m.Release(seeded(), 2))
	// Output:
	// standard, rate 0.5: 5 x 5 channel, 0.683971-private per km
	// worst loss 1.094 km
	// 0 <nil>
}

// A space of any size: no matrix is ever made.
func ExampleLazy() {
	pts := make([][]float64, 40_000)
	for i := range pts {
		pts[i] = []float64{float64(i % 200), float64(i / 200)}
	}
	f := must(metric.NewPoints(pts, metric.Euclidean{}))
	m := must(exponential.Lazy(context.Background(), f, 2, nil))
	y := must(m.Release(seeded(), 20_100))
	fmt.Println(m.Guarantee(), "released", pts[y], "for", pts[20_100])
	// Output: 2-private per unit released [100 98] for [100 100]
}

// Within reach near words are likelier; all others are alike, and no word is told from
// another by more than a factor exp(alpha*reach).
func ExampleTruncated() {
	words := []string{"cat", "dog", "car", "bus", "train"}
	f := must(metric.NewPoints([][]float32{{0, 1}, {0, 1.25}, {4, 0}, {4.25, 0.5}, {6, 1}}, metric.Float32[metric.Euclidean]{}))
	m := must(exponential.Truncated(context.Background(), f, 6, 1, nil))
	for y, p := range m.Row(0, nil) {
		fmt.Printf("%s %.3f\n", words[y], p)
	}
	fmt.Println(m.Guarantee())
	// Output:
	// cat 0.617
	// dog 0.291
	// car 0.031
	// bus 0.031
	// train 0.031
	// 6-private per unit
}

func ExampleWeighted() {
	f := line()
	m := must(exponential.Weighted(context.Background(), f, 1, []float64{1, 1, 10, 1, 1}, nil))
	fmt.Printf("level %.3f, P(2|0) = %.3f\n", m.Guarantee().Alpha(), m.Prob(0, 2))
	// Output: level 0.881, P(2|0) = 0.652
}

func ExampleTuned() {
	f := line()
	m := must(exponential.Tuned(context.Background(), f, 1, nil))
	fmt.Printf("rate %.3f, level %.3f, worst loss %.3f\n", m.Beta, m.Guarantee().Alpha(), worst(m, f))
	// Output: rate 0.794, level 1.000, worst loss 0.744
}

func ExampleTight() {
	m := must(exponential.Tight(context.Background(), line(), 1, nil))
	fmt.Printf("level %.3f, worst loss %.3f\n", m.Guarantee().Alpha(), worst(m, line()))
	star := must(metric.NewDense(5, []float64{1, 1, 1, 1, 2, 2, 2, 2, 2, 2}))
	_, err := exponential.Tight(context.Background(), star, 0.4, nil)
	fmt.Println(errors.As(err, new(*exponential.NegativeWeightError)))
	// Output:
	// level 1.000, worst loss 0.736
	// true
}

// A dozen towns around Paris at a level that is small for their distances: the mass of
// every town's cell under noise is known, so that the loss compares with the others'.
func ExampleSnapped() {
	towns := must(metric.NewPoints([]metric.LatLon{
		{Lat: 48.85, Lon: 2.35}, {Lat: 48.80, Lon: 2.13}, {Lat: 48.94, Lon: 2.35}, {Lat: 48.79, Lon: 2.46},
		{Lat: 48.89, Lon: 2.21}, {Lat: 48.96, Lon: 2.89}, {Lat: 48.54, Lon: 2.66}, {Lat: 48.62, Lon: 2.43},
		{Lat: 49.05, Lon: 2.10}, {Lat: 48.95, Lon: 2.25}, {Lat: 48.73, Lon: 2.27}, {Lat: 49.00, Lon: 2.38},
	}, metric.GreatCircle{}))
	for _, alpha := range []float64{0.01, 0.2} {
		snapped := must(exponential.Snapped(context.Background(), towns, alpha, nil))
		best := must(exponential.Best(context.Background(), metric.Same(towns), alpha, nil))
		fmt.Printf("alpha %v per km: snapped at most %.1f km, %s %.1f km\n", alpha, worst(snapped, towns), best.Method, best.Objective)
	}
	// Output:
	// alpha 0.01 per km: snapped at most 34.5 km, remapped 33.9 km
	// alpha 0.2 per km: snapped at most 8.4 km, tight weights 4.8 km
}

// A city block by block: what a noisy point is nearest to is not the best answer to it.
func ExampleRemapped() {
	var pts [][]float64
	for i := range 12 * 12 {
		pts = append(pts, []float64{float64(i % 12), float64(i / 12)})
	}
	f := must(metric.NewPoints(pts, metric.Euclidean{}))
	snapped := must(exponential.Snapped(context.Background(), f, 0.3, nil))
	remapped := must(exponential.Remapped(context.Background(), metric.Same(f), 0.3, nil))
	fmt.Printf("snapped %.1f, remapped %.1f\n", worst(snapped, f), worst(remapped, f))
	// Output:
	// snapped 4.9, remapped 4.1
}

func ExampleConstant() {
	m := must(exponential.Constant(5, 2, "km"))
	fmt.Println(m)
	fmt.Println(m.Release(nil, 0))
	// Output:
	// constant: 5 x 1 channel, 0-private per km
	// 2 <nil>
}

func ExampleBest() {
	f := line()
	c := must(exponential.Best(context.Background(), metric.Same(f), 0.6, nil))
	fmt.Printf("%s: worst loss %.2f\n", c.Method, c.Objective)
	for _, k := range c.Candidates {
		if k.Err == nil {
			fmt.Printf("  %-13s %.2f at level %.2f\n", k.Method, k.Loss, k.Level)
		}
	}
	// Output:
	// remapped: worst loss 0.95
	//   constant      2.00 at level 0.00
	//   tight weights 1.10 at level 0.60
	//   remapped      0.95 at level 0.60
	//   tuned         1.20 at level 0.60
}

// Animals are private by how many steps of a taxonomy they are apart; an answer
// from the wrong branch costs more the higher the branch.
func ExampleRelaxed() {
	var paths [][]string
	for _, order := range []string{"carnivore", "rodent", "ungulate", "primate"} {
		for _, family := range []string{"a", "b"} {
			for _, species := range []string{"1", "2", "3", "4", "5"} {
				paths = append(paths, []string{"mammal", order, family, species})
			}
		}
	}
	tree := must(metric.TreeFromPaths(paths))
	cost := must(metric.NewPoints(paths, metric.CommonPrefix[string]{}))
	b := metric.Bimetric{Privacy: tree.PathMetric(), Utility: cost}

	m := must(exponential.Relaxed(context.Background(), b, 1, &exponential.RelaxedOptions{Options: exponential.Options{Unit: "step"}, Accuracy: true}))
	fmt.Printf("clusters within %v: %d outputs\n", m.Separation, m.Outputs())
	fmt.Printf("worst loss %.3f, proved below %.3f\n", worst(&m.Mechanism, cost), m.Bound)
	std := must(exponential.Standard(context.Background(), b.Privacy, 1, nil))
	fmt.Printf("standard mechanism: %.3f\n", worst(std, cost))
	// Output:
	// clusters within 0.125: 8 outputs
	// worst loss 0.215, proved below 3.221
	// standard mechanism: 0.237
}
