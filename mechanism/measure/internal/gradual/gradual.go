// Package gradual releases counts with noise, and the same counts later with less, at the
// cost of the last release alone. A ledger holds what all counts and choices spend.
//
// # Refinement
//
// Noise is G - H, both geometric, P{G >= k} = e^(-a k), a the level: discrete Laplace of rate
// a. To go on to level b > a, each becomes the smaller of itself and a fresh geometric variate
// F of rate b-a. For k, d >= 0
//
//	P{min(G, F) = k, G - min(G, F) = d} = P{min(G, F) = k} P{G - min(G, F) = d}:
//
// it is (1-e^-a) e^(-bk) for d = 0 and (1-e^-(b-a)) (1-e^-a) e^(-bk) e^(-ad) for d > 0. So the
// smaller is geometric of rate b, and what was before is it and noise that does not depend on
// it. By induction all that was released of a count, and its last level b, has the probability
//
//	P(first, ..., last | n) = P{noise of rate b = last - n} T(first, ..., last),
//
// T without n, also where levels follow from what was released before: of the same outputs
// they are the same. One more in n changes this by e^b at most. (Koufogiannis, Han, Pappas
// 2016 have such noise of the Laplace law; it is an atom and three geometric pieces, once
// drawn at one stroke.)
package gradual

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
)

// Quanta is into how many parts a budget is divided.
const Quanta = 1 << 30

// Ledger is a budget, and what is left of it.
type Ledger struct {
	unit float64
	left int64
}

// NewLedger returns that of level eps, in [1e-9, 1e50]: below, geometric variates are too large.
func NewLedger(eps float64) *Ledger {
	// With 23 bits, times up to 2^30 quanta, all products are exact.
	return &Ledger{math.Float64frombits(math.Float64bits(eps)&^(1<<30-1)) / Quanta, Quanta}
}

// Loss is the level of all that may be spent, exactly.
func (l *Ledger) Loss() float64 { return l.Rate(Quanta) }

// Rate is that of so many quanta, exactly.
func (l *Ledger) Rate(q int64) float64 { return float64(float64(q) * l.unit) }

// Quanta returns how many a level has, rounded down, and 1 at least.
func (l *Ledger) Quanta(level float64) int64 {
	return int64(min(max(1, level/l.unit), Quanta))
}

// Left is what is not spent.
func (l *Ledger) Left() int64 { return l.left }

// Spend takes off what a release costs. To have spent more than there is is a bug.
func (l *Ledger) Spend(q int64) {
	if q < 0 || q > l.left {
		panic(fmt.Sprintf("gradual: %d quanta of %d that are left", q, l.left))
	}
	l.left -= q
}

// Count is a count and its noise: private, but for its Value.
type Count struct {
	n        int64
	up, down Wide
}

// New returns n with the noise of a rate.
func New(rng *rand.Rand, n int64, rate float64) Count {
	return Count{n, Geometric(rng, rate), Geometric(rng, rate)}
}

// Refine raises the rate.
func (c *Count) Refine(rng *rand.Rand, by float64) {
	for _, g := range []*Wide{&c.up, &c.down} {
		if f := Geometric(rng, by); f.Less(*g) {
			*g = f
		}
	}
}

// Value is what is released. It wraps around at the ends of int64, which is post-processing.
func (c *Count) Value() int64 { return c.n + int64(c.up.lo-c.down.lo) }

// Wide is a whole number of 128 bits.
type Wide struct{ hi, lo uint64 }

// Less compares.
func (x Wide) Less(y Wide) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

// Plus adds.
func (x Wide) Plus(k uint64) Wide {
	lo, carry := bits.Add64(x.lo, k, 0)
	return Wide{x.hi + carry, lo}
}

// Geometric returns K with P{K >= k} = e^(-rate k), exactly, for a rate of at least 2^-61.
// Where it passes an int64 it is that and one more, as it has no memory.
func Geometric(rng *rand.Rand, rate float64) (k Wide) {
	for {
		g := exact.DiscreteLaplace(rng, rate)
		if g < 0 {
			continue
		}
		if k = k.Plus(uint64(g)); g < math.MaxInt64 {
			return k
		}
	}
}
