package testkit

import "math/rand/v2"

// Distribution is n random probabilities. Those that zero tells, unless it is
// nil, are 0; should that be all, a random one is 1.
func Distribution(rng *rand.Rand, n int, zero func(i int) bool) []float64 {
	p := make([]float64, n)
	sum := 0.0
	for i := range p {
		if zero == nil || !zero(i) {
			p[i] = rng.ExpFloat64()
		}
		sum += p[i]
	}
	if sum == 0 {
		p[rng.IntN(n)], sum = 1, 1
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
