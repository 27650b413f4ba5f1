// Package sample is about finite samples of a distribution: how many of m records each
// cell has, and which of n draws enclose a quantile.
package sample

import "math"

// Divide writes to n how many of m units each weight gets, in sum m exactly: the differences of
// m*F_k rounded to integers, F_k the sum of the first weights over that of all. So every run of
// neighboring cells has within 1 of its share, whence every node of a tree; a weight of 0 gets
// nothing. weights are >= 0, not all 0, and m <= 2^52.
//
// On the line this is within length/(2m) in W1, the last step of Corollary 7.3 of BSV22.
func Divide(weights []float64, m int64, n []int64) {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	sum, before := 0.0, int64(0)
	for k, w := range weights {
		sum += w
		at := int64(math.Round(sum / total * float64(m)))
		n[k] = at - before
		before = at
	}
}

// unit is the number of parts that released weights are multiples of: all sums of them are
// then exact, in any order.
const unit = 1 << 52

// Mass rounds weights to multiples of 2^-52 with sum 1.
func Mass(weights []float64) {
	n := make([]int64, len(weights))
	Divide(weights, unit, n)
	for k, c := range n {
		weights[k] = float64(c) / unit
	}
}

// Mean returns the mean of x and its standard error.
func Mean(x []float64) (mean, stderr float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		stderr += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(stderr / n / max(1, n-1))
}

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
