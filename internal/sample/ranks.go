package sample

import "math"

// Ranks returns the ranks, from 0, of order statistics among n draws that
// enclose the quantile of probability prob, except with probability tail on
// either side; -1 and n where there are none. The number of draws at or below the
// quantile is binomial: it is compared with k by its distribution function.
func Ranks(n int, prob, tail float64) (lo, hi int) {
	logn, _ := math.Lgamma(float64(n) + 1)
	lo, hi = -1, n
	below := 0.0 // P{X < k}
	for k := range n + 1 {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		below += math.Exp(logn - a - b + float64(float64(k)*math.Log(prob)) + float64(float64(n-k)*math.Log1p(-prob)))
		// Now below = P{X <= k}: the draw of rank k exceeds the quantile if X <= k.
		if below <= tail {
			lo = k
		}
		if below >= 1-tail && k < n {
			return lo, k
		}
	}
	return lo, hi
}
