package kl10_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/exponential"
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

// seeded is for output that repeats; releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{1})) }

// line is five places, one kilometer apart.
func line() metric.Finite {
	pts := must(metric.NewPoints([]float64{0, 1, 2, 3, 4}, metric.Numbers[float64]{}))
	return pts
}

// Five places. The most private mechanism whose answer is farther than a neighbor with
// probability at most 5 %, and how often the tuned mechanism of the same level is farther.
func Example() {
	ctx, f := context.Background(), line()
	m, err := kl10.MostPrivate(ctx, metric.Same(f), nil, kl10.Target{Gamma: 1, Delta: 0.05}, nil)
	if err != nil {
		log.Fatal(err)
	}
	level := m.Guarantee().Alpha()
	tuned, err := exponential.Tuned(ctx, f, level, nil)
	if err != nil {
		log.Fatal(err)
	}
	p, x, err := kl10.Misses(ctx, tuned.Channel, f, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("level %.3f: farther than 1 km with probability %.3f; tuned %.1g, at %d\n", level, m.Miss, p, x)
	// Output: level 4.731: farther than 1 km with probability 0.050; tuned 0.0002, at 2
}

func ExampleMostPrivate() {
	m := must(kl10.MostPrivate(context.Background(), metric.Same(line()), nil, kl10.Target{Gamma: 1, Delta: 0.05}, nil))
	fmt.Printf("rate %.3f and level %.3f; KL10's formula says %.3f and %.3f\n", m.Beta, m.Guarantee().Alpha(), m.FormulaBeta, m.FormulaLevel)
	// Output: rate 2.599 and level 4.731; KL10's formula says 13.369 and 26.738
}

// Numbers in [0, 1], released from a continuum.
func ExampleNewBaseMeasure() {
	m := must(kl10.NewBaseMeasure(kl10.BaseMeasure[float64, float64]{
		Map:       func(x float64) (float64, error) { return x, nil },
		Lipschitz: 1,
		Sigma:     metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
		Draw:      func(r *rand.Rand) (float64, error) { return r.Float64(), nil },
		Beta:      10,
	}))
	y, err := m.Release(seeded(), 0.25)
	fmt.Printf("%v, released %.3f, %v\n", m.Guarantee(), y, err)
	// Output: 20-private per unit, released 0.304, <nil>
}

// The direction of the wind, on a circle of 360 degrees: nets of 3*2^i directions.
func ExampleNewNets() {
	circle := metric.Func[float64](func(x, y float64) float64 { return math.Abs(math.Remainder(x-y, 360)) })
	nets := must(kl10.NewNets(20, func(i int) (kl10.Net[float64], error) {
		n := 3 << i
		step := 360 / float64(n)
		return kl10.Net[float64]{Len: n, At: func(k int) float64 { return float64(k) * step }, Radius: step / 2}, nil
	}))
	m := must(kl10.NewBaseMeasure(kl10.BaseMeasure[float64, float64]{
		Map:       func(x float64) (float64, error) { return x, nil },
		Lipschitz: 1,
		Sigma:     circle,
		Draw:      nets.Draw,
		Beta:      0.1,
		Unit:      "degree",
	}))
	y, err := m.Release(seeded(), 350)
	fmt.Printf("%v, released %.1f, %v\n", m.Guarantee(), y, err)
	// Output: 0.2-private per degree, released 0.0, <nil>
}
