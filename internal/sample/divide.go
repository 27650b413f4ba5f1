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
