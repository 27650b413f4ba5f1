package mechanismtest_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// counter releases a count with discrete Laplace noise of level 1/2, but
// promises what its owner would like to.
type counter struct {
	noise  *additive.DiscreteLaplace
	claims float64
}

func newCounter(claims float64) *counter {
	noise := must(additive.NewDiscreteLaplace(0.5, nil))
	return &counter{noise, claims}
}

func (c *counter) Release(rng *rand.Rand, x int64) (int64, error) {
	if x < 0 {
		return 0, fmt.Errorf("a count of %d", x)
	}
	return c.noise.Release(rng, x)
}

func (c *counter) Guarantee() mechanism.Guarantee {
	g := must(mechanism.NewGuarantee(c.claims, 0, "record"))
	return g
}

func ExampleTestDistribution() {
	law := map[int64]float64{} // the outputs left out share what remains
	for k := int64(-20); k <= 20; k++ {
		law[100+k] = math.Tanh(0.25) * math.Exp(-0.5*math.Abs(float64(k)))
	}
	fmt.Println(mechanismtest.TestDistribution(context.Background(), newCounter(0.5), 100, law, nil))
	// Output:
	// <nil>
}

func ExampleTestChannel() {
	cities := must(metric.NewMatrix([][]float64{{0, 3, 4}, {3, 0, 5}, {4, 5, 0}}))
	m := must(exponential.Tuned(context.Background(), cities, 0.5, nil))
	fmt.Println(mechanismtest.TestChannel(context.Background(), m.Channel, cities, nil))

	bold := must(mechanism.NewGuarantee(0.1, 0, ""))
	fmt.Println(mechanismtest.TestChannel(context.Background(), m.WithGuarantee(bold), cities, nil) == nil)
	// Output:
	// <nil>
	// false
}

// Four words have no matrix under noise that is snapped, but a level that simulation bounds from below.
func ExampleLevelAtLeast() {
	vectors := [][]float64{{0, 1}, {0, 1.3}, {4, 0}, {4.2, 0.4}}
	m := must(additive.NewMadlib(vectors, 0.5, nil))
	points := must(metric.NewPoints(vectors, metric.Euclidean{}))
	e, _, _, err := mechanismtest.LevelAtLeast(context.Background(), m, points, 0.001, nil)
	fmt.Printf("at delta 0.001 no level below %.2f is kept, at confidence %v: %v\n", e.Level, e.Confidence, err)
	// Output:
	// at delta 0.001 no level below 0.30 is kept, at confidence 0.999999: <nil>
}

// A test of a mechanism of one's own: how it behaves, and whether two counts that differ by
// one are told apart better than it promises.
func Example() {
	ctx, m := context.Background(), newCounter(0.5) // in a test, t.Context()
	o := &mechanismtest.Options[int64, int64]{Refused: []int64{-1}}
	if err := mechanismtest.TestMechanism(ctx, m, []int64{0, 5, 41}, o); err != nil {
		fmt.Println(err) // in a test, t.Fatal(err)
	}
	e, err := mechanismtest.TestLevel(ctx, m, 5, 6, 1, nil)
	fmt.Printf("%v, seen at least %.2f: %v\n", m.Guarantee(), e.Level, err)
	// Output:
	// 0.5-private per record, seen at least 0.46: <nil>
}
