package exact

import (
	"math"
	"math/rand/v2"
)

// DiscreteLaplace returns K with P{K = k} = tanh(s/2) e^(-s|k|), exactly, for a
// finite s > 0 taken as an exact real, and the nearest int64 where K is none:
// a logarithm down to s = 2^-32, from 2^-48 on some 20 microseconds.
func DiscreteLaplace(rng *rand.Rand, s float64) int64 { return AddDiscreteLaplace(rng, 0, s) }

// AddDiscreteLaplace returns x + K, K as [DiscreteLaplace] but unbounded, and the nearest int64
// where the sum is none. So it is post-processing of the sum over all integers, at any x and s.
func AddDiscreteLaplace(rng *rand.Rand, x int64, s float64) int64 {
	n, neg := discreteLaplace(rng, s, false)
	return addSaturated(x, n, neg)
}

// discreteLaplace returns |K|, saturated at 2^64-1, and the sign of K.
func discreteLaplace(rng *rand.Rand, s float64, exact bool) (n uint64, neg bool) {
	for {
		neg = rng.Uint64()>>63 == 1
		if n = geometric(rng, s, exact); n != 0 || !neg {
			return n, neg
		}
	}
}

// addSaturated returns the int64 nearest to x+n, or to x-n. Since |x| <= 2^63,
// an n of 2^64-1 reaches the end that any larger n would reach.
func addSaturated(x int64, n uint64, neg bool) int64 {
	if neg {
		if n > uint64(x)-1<<63 { // x - MinInt64, without overflow
			return math.MinInt64
		}
		return int64(uint64(x) - n)
	}
	if n > math.MaxInt64-uint64(x) {
		return math.MaxInt64
	}
	return int64(uint64(x) + n)
}
