package testkit

import (
	"math/rand/v2"
	"sort"
)

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
	at := func(i int) int64 { return round(rand.New(words{uint64(i) << 8, rand.NewPCG(1, 2)})) }
	whole = at(0)
	return whole, uint64(1<<56 - sort.Search(1<<56, func(i int) bool { return at(i) > whole }))
}
