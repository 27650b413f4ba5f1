package mechanism_test

import (
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
