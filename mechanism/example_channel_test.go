package mechanism_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// seeded is for output that repeats; releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{1})) }

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
	y, err := c.Release(seeded(), 2)
	fmt.Println("released", y, err)
	// Output:
	// no guarantee
	// 3 x 3 channel, 1.3863-private per answer
	// e^level = 4.0000, between inputs 0 and 1
	// released 0 <nil>
}

// An audit of somebody else's matrix: transposed by mistake, it is refused. Probabilities
// with 2 digits may miss 1 by .005 each.
func ExampleFromProbabilities() {
	space := must(metric.NewDense(3, []float64{1, 2, 1}))
	claimed := []float64{
		.67, .22, .11,
		.25, .50, .25,
		.11, .22, .67,
	}
	transposed := make([]float64, 9)
	for i, p := range claimed {
		transposed[i%3*3+i/3] = p
	}
	_, err := mechanism.FromProbabilities(context.Background(), 3, 3, transposed, .015, nil)
	fmt.Println(err)
	c := must(mechanism.FromProbabilities(context.Background(), 3, 3, claimed, .015, nil))
	fmt.Println(c.Audit(context.Background(), space, nil))
	// Output:
	// mechanism: FromProbabilities: row sums[0] = 1.03, want 1 within 0.015
	// level in [0.985816794, 0.985816795] at delta 0, witness x=2 x'=1 y=2 <nil>
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
	fmt.Println(c.Release(seeded(), 500_000))
	// Output: 499997 <nil>
}

// A channel survives a file, and is audited when it is read.
func ExampleReadChannel() {
	space := must(metric.NewDense(2, []float64{1}))
	file := strings.NewReader(`{"format":"metricdp.channel/1","inputs":2,"outputs":2,"log":false,"unit":"km","weights":[[3,1],[1,3]]}`)
	c := must(mechanism.ReadChannel(context.Background(), file, space, nil))
	fmt.Println(c.Guarantee())
	// Output: 1.09862-private per km
}

// Randomized response keeps the level 1 at alpha = 1; but for a delta it may be built for more.
func ExampleAtLevel() {
	pair := must(metric.NewPoints([]float64{0, 1}, metric.Numbers[float64]{}))
	response := func(ctx context.Context, alpha float64) (*mechanism.Channel, error) {
		return mechanism.FromLogWeights(ctx, 2, 2, []float64{0, -alpha, -alpha, 0}, nil)
	}
	for _, delta := range []float64{0, 0.1} {
		c, alpha, err := mechanism.AtLevel(context.Background(), pair, 1, response, &mechanism.AuditOptions{Delta: delta})
		fmt.Printf("delta %v: alpha %.2f, truth with probability %.2f %v\n", delta, alpha, c.Prob(0, 0), err)
	}
	// Output:
	// delta 0: alpha 1.00, truth with probability 0.73 <nil>
	// delta 0.1: alpha 1.14, truth with probability 0.76 <nil>
}

// A place twice over: with noise, and as the nearest of a few cities. Both levels
// are per km, because that is the unit of the metric.
func ExampleCompose() {
	cities := []metric.LatLon{{Lat: 48.86, Lon: 2.35}, {Lat: 50.85, Lon: 4.35}, {Lat: 51.51, Lon: -0.13}}
	points := must(metric.NewPoints(cities, metric.GreatCircle{}))
	best := must(exponential.Best(context.Background(), metric.Same(points), 0.02, nil))
	sphere := must(additive.NewSphere(0.1, nil))
	both := must(mechanism.Compose(sphere, mechanism.On(best, points)))
	fmt.Println(both.Guarantee())
	// Output: 0.12-private per km
}

// A place every day for a hundred days, and what that says of anybody within 2 km of a place.
func ExampleComposition_AuditAt() {
	daily := must(additive.NewPlanarLaplace(0.2, &additive.Options{Unit: "km"}))
	all := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: daily, Times: 100}))
	fmt.Println("sum of levels:", all.Guarantee())
	all, audit, err := all.CertifyAt(context.Background(), 2, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("together:", all.Guarantee())
	fmt.Printf("no level below %.2f is enough\n", audit.Lo)
	// Output:
	// sum of levels: 20.0001-private per km
	// together: (8.10095 per km, 1e-06)-private up to 2 km
	// no level below 8.10 is enough
}

// One word, released a hundred times over the months: what all releases say together is
// far less than the sum of what each may say.
func ExampleNewComposition() {
	words := []string{"tea", "coffee", "cocoa", "beer", "wine"}
	space := must(metric.NewPoints([][]float64{{0, 0}, {1, 0}, {1, 1}, {4, 1}, {4, 2}}, metric.Euclidean{}))
	once := must(exponential.Tuned(context.Background(), space, 0.05, nil))
	all := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: once.Channel, Times: 100}))
	fmt.Println("sum of levels:", all.Guarantee())
	all, audit, err := all.Certify(context.Background(), space, "", &mechanism.AuditOptions{Delta: 1e-6})
	fmt.Println("together:", all.Guarantee(), err)
	fmt.Printf("no level below %.3f is enough for %s and %s\n", audit.Lo, words[audit.X], words[audit.XPrime])
	ys := must(all.Release(seeded(), 1))
	fmt.Println(len(ys), "releases:", words[ys[0]], words[ys[1]], words[ys[2]], "...")
	// Output:
	// sum of levels: 5-private per unit
	// together: (1.53298 per unit, 1e-06)-private <nil>
	// no level below 1.533 is enough for beer and coffee
	// 100 releases: tea coffee tea ...
}

// Two mechanisms that were proved private elsewhere, run on the same place.
func ExampleNewGuarantee() {
	first := must(mechanism.NewGuarantee(0.5, 0, "km"))
	second := must(mechanism.NewGuarantee(0.25, 1e-6, "km"))
	both, err := first.Plus(second)
	fmt.Println(both, err)
	eps, delta := both.At(2) // between places 2 km apart
	fmt.Printf("%.4g %.0e\n", eps, delta)
	// Output:
	// (0.75 per km, 1e-06)-private <nil>
	// 1.5 1e-06
}

// answer is a mechanism of one's own: a yes or no, told wrongly once in four times.
type answer struct{}

// Release draws with integers, and so exactly.
func (answer) Release(rng *rand.Rand, yes bool) (bool, error) {
	lie := mechanism.Rand(rng).Uint64N(4) == 0
	return yes != lie, nil
}

// Guarantee: the odds of either output change by 3 to 1 at most.
func (answer) Guarantee() mechanism.Guarantee {
	g, err := mechanism.NewGuarantee(math.Nextafter(math.Log(3), 2), 0, "answer")
	if err != nil {
		log.Fatal(err) // not reached: the numbers are good
	}
	return g
}

func ExampleRand() {
	// It composes and post-processes like the mechanisms of the library.
	twice := must(mechanism.Compose[bool, bool](answer{}, answer{}))
	fmt.Println(twice.Guarantee())
	fmt.Println(twice.Release(seeded(), true))
	_, err := twice.Release(nil, true) // in earnest
	fmt.Println(err)
	// Output:
	// 2.19723-private per answer
	// [true true] <nil>
	// <nil>
}

// seldom answers once in ten times only, as [answer], and is silent otherwise.
type seldom struct{ answer }

// PrivacyLoss: silence, nine times in ten, tells nothing.
func (seldom) PrivacyLoss(float64) (mechanism.PrivacyLoss, error) {
	most := math.Log(3)
	return mechanism.PrivacyLoss{Bottom: -most, Top: most, Err: 1e-15, Mass: func(lo, hi float64) (here, there float64) {
		for _, atom := range []struct{ loss, here, there float64 }{{-most, .025, .075}, {0, .9, .9}, {most, .075, .025}} {
			if lo < atom.loss && atom.loss <= hi {
				here, there = here+atom.here, there+atom.there
			}
		}
		return here, there
	}}, nil
}

// A mechanism of one's own that knows the law of its loss is composed by that.
func ExamplePrivacyLoss() {
	for _, m := range []interface{ Guarantee() mechanism.Guarantee }{answer{}, seldom{}} {
		all := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: m, Times: 70}))
		fmt.Println(must(all.AuditAt(context.Background(), 1, 1e-6)))
	}
	// Output:
	// level in [0, 70.1568527] at delta 1e-06
	// level in [18.5809592, 18.581006] at delta 1e-06
}
