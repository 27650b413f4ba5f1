package testkit

import "math/rand/v2"

// words is a source of words with the same upper 56 bits; the others are random, lest a
// real number that is compared with all of them be one of theirs for ever.
type words struct {
	upper uint64
	lower *rand.PCG
}

func (w words) Uint64() uint64 { return w.upper | w.lower.Uint64()>>56 }

// Dithered returns v as whole + part/2^56, the latter to within one, where round returns
// floor(v + U) for a uniform number U whose upper 64 bits are a word of the generator.
func Dithered(round func(rng *rand.Rand) int64) (whole int64, part uint64) {
	at := func(i uint64) int64 { return round(rand.New(words{i << 8, rand.NewPCG(1, 2)})) }
	whole = at(0)
	lo, hi := uint64(0), uint64(1<<56) // of the first word that rounds up
	for lo < hi {
		if mid := (lo + hi) / 2; at(mid) > whole {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return whole, 1<<56 - lo
}
