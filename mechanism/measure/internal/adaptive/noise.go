package adaptive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
)

// leastRate is that from which noise stays below 2^62 but with probability
// e^-2^22, and may be summed.
const leastRate = 0x1p-40

// counts returns n with the noise of q quanta, and refined to that of all of them;
// below leastRate, where both tell nothing, with independent noise of q quanta and
// of the others, and the nearest int64.
func (b Budget) counts(rng *rand.Rand, n, q, all int64) (coarse, fine int64) {
	if b.rate(q) < leastRate && q < all {
		return exact.AddDiscreteLaplace(rng, n, b.rate(q)), exact.AddDiscreteLaplace(rng, n, b.rate(all-q))
	}
	if b.rate(q) < leastRate {
		fine = exact.AddDiscreteLaplace(rng, n, b.rate(q))
		return fine, fine
	}
	fine = n + noise(rng, b.rate(all))
	if q == all || b.same(rng, q, all) {
		return fine, fine
	}
	return fine + noise(rng, b.rate(q)), fine
}

// noise returns a discrete Laplace variate of rate s modulo 2^64. Past an end of int64 the variate
// is that end and a geometric one more: the distribution has no memory.
func noise(rng *rand.Rand, s float64) int64 {
	k := exact.DiscreteLaplace(rng, s)
	sum, end := k, k
	for end == math.MaxInt64 || end == math.MinInt64 {
		for end = -1; end < 0; {
			end = exact.DiscreteLaplace(rng, s)
		}
		if k > 0 {
			sum += end
		} else {
			sum -= end
		}
	}
	return sum
}

// same is true with probability e^-(b-a) ((1-e^-a)/(1-e^-b))^2, a and b the rates.
func (b Budget) same(rng *rand.Rand, q, all int64) bool {
	return exact.BernoulliExp(rng, b.rate(all-q)) && b.below(rng, q, all) && b.below(rng, q, all)
}

// below is true with probability (1-e^-a)/(1-e^-b): that an exponential variate is
// below a, if it is below b.
func (b Budget) below(rng *rand.Rand, q, all int64) bool {
	for b.rate(all) > 1 {
		if !exact.BernoulliExp(rng, b.rate(q)) {
			return true
		}
		if !exact.BernoulliExp(rng, b.rate(all-q)) {
			return false
		}
	}
	for { // in quanta, rounded down
		if j := rng.Int64N(all); exact.BernoulliExp(rng, b.rate(j)) {
			return j < q
		}
	}
}
