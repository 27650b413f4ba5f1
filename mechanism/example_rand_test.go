package mechanism_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism"
)

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
