package mechanism_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// seeded is for output that repeats; releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{1})) }

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Three answers, by hand: randomized response, audited.
func ExampleFromWeights() {
	space := must(metric.NewDense(3, []float64{1, 1, 1}))
	c := must(mechanism.FromWeights(context.Background(), 3, 3, []float64{
		4, 1, 1,
		1, 4, 1,
		1, 1, 4,
	}, nil))
	fmt.Println(c.Guarantee())
	c, audit, err := c.Certify(context.Background(), space, "answer", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	fmt.Printf("e^level = %.4f, between inputs %d and %d\n", math.Exp(audit.Hi), audit.X, audit.XPrime)
	fmt.Println("released", must(c.Release(seeded(), 2)))
	// Output:
	// no guarantee
	// 3 x 3 channel, 1.3863-private per answer
	// e^level = 4.0000, between inputs 0 and 1
	// released 0
}

// Weights far below the smallest float64 are no matter in logarithms.
func ExampleFromLogWeights() {
	space := must(metric.NewDense(2, []float64{1000}))
	c := must(mechanism.FromLogWeights(context.Background(), 2, 2, []float64{0, -1e6, -1e6, 0}, nil))
	a := must(c.Audit(context.Background(), space, nil))
	fmt.Printf("%.6g per unit\n", a.Hi)
	// Output: 1000 per unit
}

// A channel that is never stored: any size, rows computed when needed.
func ExampleNewChannel() {
	const n = 1_000_000
	c := must(mechanism.NewChannel(context.Background(), mechanism.Rows{Inputs: n, Outputs: n, Log: true,
		Fill: func(x int, dst []float64) {
			for y := range dst {
				dst[y] = -0.5 * max(float64(x-y), float64(y-x))
			}
		}}, &mechanism.ChannelOptions{Lazy: true}))
	fmt.Println(must(c.Release(seeded(), 500_000)))
	// Output: 499997
}

func ExampleChannel_Audit() {
	space := must(metric.NewDense(2, []float64{0.5}))
	c := must(mechanism.FromWeights(context.Background(), 2, 2, []float64{3, 1, 1, 3}, nil))
	pure := must(c.Audit(context.Background(), space, nil))
	approximate := must(c.Audit(context.Background(), space, &mechanism.AuditOptions{Delta: 0.1}))
	fmt.Printf("delta = 0: %.4f, witness inputs %d and %d, output %d\n", pure.Hi, pure.X, pure.XPrime, pure.Y)
	fmt.Printf("delta = 0.1: %.4f\n", approximate.Hi)
	// Output:
	// delta = 0: 2.1972, witness inputs 0 and 1, output 0
	// delta = 0.1: 1.9110
}

func ExampleChannel_Loss() {
	space := must(metric.NewDense(3, []float64{1, 2, 1}))
	m := must(exponential.Standard(context.Background(), space, 2, nil))
	losses := must(m.Loss(context.Background(), space))
	worst, at := losses.Worst()
	fmt.Printf("worst %.3f at %d, mean %.3f\n", worst, at, must(losses.Mean(nil)))
	// Output: worst 0.425 at 0, mean 0.424
}

// An eavesdropper's view, and how the same knowledge lowers the loss.
func ExampleChannel_Remap() {
	space := must(metric.NewDense(3, []float64{1, 2, 1}))
	prior := []float64{0.05, 0.9, 0.05}
	m := must(exponential.Standard(context.Background(), space, 1, nil))
	fmt.Printf("posterior of input 1 given output 0: %.3f\n", must(m.Posterior(prior, 0, nil))[1])
	labels := must(m.Remap(context.Background(), prior, space))
	better := must(m.Relabel(labels))
	before, after := must(m.Loss(context.Background(), space)), must(better.Loss(context.Background(), space))
	fmt.Println(labels)
	fmt.Printf("mean loss %.3f becomes %.3f, %v still\n", must(before.Mean(prior)), must(after.Mean(prior)), better.Guarantee())
	// Output:
	// posterior of input 1 given output 0: 0.877
	// [1 1 1]
	// mean loss 0.561 becomes 0.100, 0.614108-private per unit still
}

func ExampleChannel_Sampler() {
	space := must(metric.NewDense(3, []float64{1, 2, 1}))
	m := must(exponential.Standard(context.Background(), space, 4, nil))
	s := must(m.Sampler(0))
	r := seeded()
	count := make([]int, 3)
	for range 1000 {
		count[s.Draw(r)]++
	}
	fmt.Println(count)
	// Output: [850 126 24]
}

// A channel survives a file, and is audited again when it is read.
func ExampleReadChannel() {
	space := must(metric.NewDense(2, []float64{1}))
	c := must(mechanism.FromWeights(context.Background(), 2, 2, []float64{3, 1, 1, 3}, nil))
	c, _, err := c.Certify(context.Background(), space, "km", nil)
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		log.Fatal(err)
	}
	again := must(mechanism.ReadChannel(context.Background(), &b, space, nil))
	fmt.Println(again.Guarantee() == c.Guarantee(), again.Guarantee())
	// Output: true 1.09862-private per km
}

// From the points themselves to a point: no indices.
func ExampleOn() {
	words := []string{"river", "stream", "creek", "bank"}
	pts := must(metric.NewPoints(words, metric.Levenshtein{}))
	m := must(exponential.Tuned(context.Background(), pts, 0.5, &exponential.Options{Unit: "edit"}))
	onWords := mechanism.On(m, pts)
	fmt.Println(must(onWords.Release(seeded(), "river")))
	_, err := onWords.Release(nil, "lake")
	fmt.Println(err)
	// Output:
	// river
	// mechanism: On: the input is not a point of the space
}

// Words in and words out, for any mechanism on their indices: here the cost of an
// answer is a table, and the words need no distance of their own.
func ExampleLabels() {
	answers := []string{"never", "sometimes", "often"}
	scale, err := metric.NewDense(3, []float64{1, 2, 1})
	if err != nil {
		log.Fatal(err)
	}
	best, err := exponential.Best(context.Background(), metric.Same(scale), 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := mechanism.Labels(best, answers)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := m.Release(seeded(), "sometimes")
	fmt.Println(answer, err)
	_, err = m.Release(nil, "rarely")
	fmt.Println(err)
	// Output:
	// never <nil>
	// mechanism: Labels: the input is not a point of the space: "rarely" is none of the 3 labels
}

func ExampleThen() {
	space := must(metric.NewDense(3, []float64{1, 2, 1}))
	m := must(exponential.Standard(context.Background(), space, 2, nil))
	names := []string{"low", "middle", "high"}
	named := mechanism.Then(mechanism.Mechanism[int, int](m), func(y int) (string, error) { return names[y], nil })
	fmt.Println(must(named.Release(seeded(), 1)))
	// Output: low
}

// A place twice over: with noise, and as the nearest of a few cities. Both levels
// are per km, because that is the unit of the metric.
func ExampleCompose() {
	cities := []metric.LatLon{{Lat: 48.86, Lon: 2.35}, {Lat: 50.85, Lon: 4.35}, {Lat: 51.51, Lon: -0.13}}
	points, err := metric.NewPoints(cities, metric.GreatCircle{})
	if err != nil {
		log.Fatal(err)
	}
	best, err := exponential.Best(context.Background(), metric.Same(points), 0.02, nil)
	if err != nil {
		log.Fatal(err)
	}
	sphere, err := additive.NewSphere(0.1, nil)
	if err != nil {
		log.Fatal(err)
	}
	both, err := mechanism.Compose(sphere, mechanism.On(best, points))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(both.Guarantee())
	// Output: 0.12-private per km
}

func ExampleGuarantee() {
	g := must(mechanism.NewGuarantee(0.1, 1e-6, "km"))
	eps, delta := g.At(5)
	fmt.Printf("%v: within 5 km eps = %.2f, delta = %.0e\n", g, eps, delta)
	eps, delta = g.Group(10, 5)
	fmt.Printf("ten steps of 5 km: eps = %.2f, delta = %.2e\n", eps, delta)
	var none mechanism.Guarantee
	fmt.Println(none)
	// Output:
	// (0.1 per km, 1e-06)-private: within 5 km eps = 0.50, delta = 1e-06
	// ten steps of 5 km: eps = 5.00, delta = 2.27e-04
	// no guarantee
}
