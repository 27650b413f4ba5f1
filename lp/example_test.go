package lp_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// stops are those of a bus line, a kilometer apart.
type stops int

func (n stops) Len() int                  { return int(n) }
func (n stops) Distance(i, j int) float64 { return math.Abs(float64(i - j)) }

// ladder is 3 x 10 places with unit gaps.
type ladder struct{}

func (ladder) Len() int                  { return 30 }
func (ladder) Distance(i, j int) float64 { return math.Hypot(float64(i%10-j%10), float64(i/10-j/10)) }

// Three mechanisms for 30 places at level 1: the optimal one, one with a third of
// the unknowns, and one with a tenth of the constraints; what no mechanism can beat;
// and a release.
func Example() {
	ctx, b := context.Background(), metric.Same(ladder{})
	best, err := lp.Optimal(ctx, b, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	replaced, err := lp.ConstOPT(ctx, b, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	spanner, err := lp.Spanner(ctx, b, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.3f, %.3f with ConstOPT, %.3f on a spanner\n", best.Objective, replaced.Objective, spanner.Objective)
	fmt.Printf("no mechanism at level 1 loses less than %.3f\n", best.DualBound)
	fmt.Println("audited at 1 or less:", best.Guarantee().Alpha() <= 1)
	place, err := best.Release(nil, 12) // nil: cryptographically secure
	fmt.Println("released one of the places:", err == nil && place >= 0 && place < 30)
	// Output:
	// loss 1.233, 1.251 with ConstOPT, 2.114 on a spanner
	// no mechanism at level 1 loses less than 1.233
	// audited at 1 or less: true
	// released one of the places: true
}

// The best way to report one of five stops at level 1 per km.
func ExampleOptimal() {
	line := must(metric.NewPoints([][]float64{{0}, {1}, {2}, {3}, {4}}, metric.Euclidean{}))
	s := must(lp.Optimal(context.Background(), metric.Same(line), 1, &lp.Options{Unit: "km"}))
	fmt.Printf("expected error at most %.4f km, %s: nothing beats %.4f\n", s.Objective, s.Status, s.DualBound)
	fmt.Println("level at most 1:", s.Guarantee().Alpha() <= 1)
	for y, p := range s.Row(1, nil) {
		fmt.Printf("from stop 1 to stop %d: %.3f\n", y, p)
	}
	// On the stops themselves, not their numbers.
	at, err := mechanism.On(s, line).Release(random.Seeded(2), line.At(1)) // nil in earnest
	fmt.Println("released:", at, err)
	// Output:
	// expected error at most 0.6376 km, within tolerance: nothing beats 0.6376
	// level at most 1: true
	// from stop 1 to stop 0: 0.193
	// from stop 1 to stop 1: 0.480
	// from stop 1 to stop 2: 0.236
	// from stop 1 to stop 3: 0.065
	// from stop 1 to stop 4: 0.026
	// released: [2] <nil>
}

// Level ln 4 per 200 m on a street of a town, and a quarter of that on the road out of it, where
// fewer people are near.
func ExampleOptimal_levelsByPlace() {
	ctx := context.Background()
	inTown := func(center [2]float64) bool { return center[0] < 1500 }
	ways, centers, err := metric.NewGrid(ctx, [2]float64{0, 0}, [2]float64{5000, 300}, 100, func(center [2]float64) float64 {
		if inTown(center) {
			return 1
		}
		return 0.25
	})
	if err != nil {
		log.Fatal(err)
	}
	prior := make([]float64, centers.Len())
	for i := range prior {
		prior[i] = 1 / float64(len(prior))
	}
	s := must(lp.Optimal(ctx, metric.Bimetric{Privacy: ways, Utility: centers}, math.Log(4)/200, &lp.Options{Prior: prior, Unit: "m"}))
	release, rng := mechanism.On(s, centers), random.Seeded(3) // nil in earnest
	for _, at := range [][2]float64{{650, 150}, {3250, 150}} {
		off := 0.0
		for range 500 {
			off += metric.Plane{}.Distance(at, must(release.Release(rng, at))) / 500
		}
		fmt.Printf("in town: %v, some %.0f m off\n", inTown(at), 20*math.Round(off/20))
	}
	fmt.Println(s.Guarantee())
	// Output:
	// in town: true, some 140 m off
	// in town: false, some 540 m off
	// 0.00693148-private per m
}

// Some seven unknowns for every input come within a few percent of the optimal
// mechanism, which has thirty.
func ExampleConstOPT() {
	s := must(lp.ConstOPT(context.Background(), metric.Same(ladder{}), 1, &lp.ConstOptions{Neighbors: 7}))
	fmt.Printf("loss %.2f at a level of at most 1: %v\n", s.Objective, s.Guarantee().Alpha() <= 1)
	// Output:
	// loss 1.28 at a level of at most 1: true
}

// Privacy between the ends of a few edges implies it for all pairs.
func ExampleSpanner() {
	s := must(lp.Spanner(context.Background(), metric.Same(ladder{}), 1, &lp.SpannerOptions{Stretch: 1.5}))
	fmt.Printf("%d edges, stretch %.3f\n", len(s.Graph.Edges()), s.Stretch)
	fmt.Printf("the optimum lies between %.2f and %.2f\n", s.DualBound, s.Objective)
	// Output:
	// 47 edges, stretch 1.414
	// the optimum lies between 1.09 and 1.43
}

// A few points far apart already prove that accuracy has a limit.
func ExampleLowerBound() {
	corners := []int{0, 9, 20, 29}
	bound := must(lp.LowerBound(context.Background(), metric.Same(ladder{}), .1, corners))
	fmt.Printf("no mechanism loses less than %.2f: %s\n", bound.Value, bound.Source)
	// Output:
	// no mechanism loses less than 2.14: after IKWAT22 Theorem 3
}

// The best mechanism of 40 stops that ten minutes are enough for, and what none can beat.
func ExampleChoose() {
	s := must(lp.Choose(context.Background(), metric.Same(stops(40)), 0.5, &lp.Options{TimeLimit: 10 * time.Minute}))
	fmt.Printf("%s: error at most %.2f; nothing is below %.2f (%s)\n", s.Method, s.Objective, s.LowerBound, s.BoundBy)
	// Output:
	// optimal: error at most 1.87; nothing is below 1.87 (linear program)
}

// Places within a kilometer of the true one, nineteen times in twenty: the level
// that this costs, proved to be the least, and what the exponential mechanism takes.
func ExampleMostPrivate() {
	ctx, b, near := context.Background(), metric.Same(ladder{}), kl10.Target{Gamma: 1, Delta: .05}
	s := must(lp.MostPrivate(ctx, b, near, nil))
	m := must(kl10.MostPrivate(ctx, b, nil, near, nil))
	fmt.Printf("level %.2f, and none below %.2f is enough\n", s.Guarantee().Alpha(), s.Level.Lo)
	fmt.Printf("the exponential mechanism takes %.2f\n", m.Guarantee().Alpha())
	// Output:
	// level 2.78, and none below 2.78 is enough
	// the exponential mechanism takes 10.25
}

// A share of records to within .1, nineteen times in twenty: one of N records moves it by
// 1/N, and their number decides what level that is for one of them.
func ExampleMostPrivateSolution_RecordsFor() {
	shares := must(metric.NewPoints([]float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}, metric.Numbers[float64]{}))
	s := must(lp.MostPrivate(context.Background(), metric.Same(shares), kl10.Target{Gamma: .1 + 1e-9, Delta: .05}, nil))
	least, enough, err := s.RecordsFor(.5, nil)
	fmt.Printf("a level of .5 takes %d records at least, and %d are enough (%v)\n", least, enough, err)
	// Output:
	// a level of .5 takes 35 records at least, and 35 are enough (<nil>)
}

// For a thousand places there is a bound in a moment.
func ExampleLevelLowerBound() {
	bound := must(lp.LevelLowerBound(context.Background(), metric.Same(stops(400)), kl10.Target{Gamma: 3, Delta: .05}))
	fmt.Printf("no level below %.3f is enough\n", bound.Level)
	// Output:
	// no level below 0.523 is enough
}
