package population

import (
	"math"

	"github.com/metricdp/metricdp/wasserstein"
)

const penalty = 3. // of a segment, in units of twice the log-likelihood of normal noise

// Margin returns an estimate of the counts of a column's values from noisy ones with noise of
// the given scale: not negative, with the given sum, and where the values are ordered,
// piecewise constant where the noise hides more. O(values^2) for ordered values.
func Margin(noisy []float64, scale float64, ordered bool, total float64) []float64 {
	if ordered {
		noisy = Segments(noisy, 2*scale*scale)
	}
	return project(noisy, total)
}

// Segments is the part of [Margin] for ordered values, of which there are more than a few.
func Segments(noisy []float64, variance float64) []float64 {
	if len(noisy) <= 6 {
		return noisy
	}
	return segments(noisy, math.Sqrt(variance/2))
}

// project returns the nearest counts that are not negative and sum to total.
func project(counts []float64, total float64) []float64 {
	out := make([]float64, len(counts))
	if _, err := wasserstein.ProjectSimplex(counts, total, out); err != nil {
		for a := range out { // counts out of all range
			out[a] = total / float64(len(out))
		}
	}
	return out
}

// segments returns the piecewise constant function of least squared error/(2 scale^2) plus a
// penalty for each piece, by dynamic programming.
func segments(y []float64, scale float64) []float64 {
	n := len(y)
	sum, squares := make([]float64, n+1), make([]float64, n+1)
	for i, v := range y {
		sum[i+1], squares[i+1] = sum[i]+v, squares[i]+v*v
	}
	best, from := make([]float64, n+1), make([]int, n+1)
	for j := 1; j <= n; j++ {
		best[j] = math.Inf(1)
		for i := range j {
			d := sum[j] - sum[i]
			cost := best[i] + (squares[j]-squares[i]-d*d/float64(j-i))/(2*scale*scale) + penalty
			if cost < best[j] {
				best[j], from[j] = cost, i
			}
		}
	}
	out := make([]float64, n)
	for j := n; j > 0; j = from[j] {
		i := from[j]
		for l := i; l < j; l++ {
			out[l] = (sum[j] - sum[i]) / float64(j-i)
		}
	}
	return out
}

// Sum returns the sums of counts of values, by their bins.
func Sum(counts []float64, bins []uint8, size int) []float64 {
	out := make([]float64, size)
	for v, a := range bins {
		out[a] += counts[v]
	}
	return out
}

// Combine improves the estimated counts of column j's values, whose noise had the given scale,
// by what tables say of its bins: the mean of both, weighed by precision, not negative and of
// the given sum; values keep their shares of their bins.
func Combine(counts, variance []float64, bins []uint8, j int, size []int, tables []Table, total float64) []float64 {
	n := size[j]
	own := Sum(counts, bins, n)
	noise, values := Sum(variance, bins, n), make([]float64, n)
	for _, a := range bins {
		values[a]++
	}
	sum, weight := make([]float64, n), make([]float64, n)
	for a := range sum {
		weight[a] = 1 / noise[a]
		sum[a] = weight[a] * own[a]
	}
	for _, t := range tables {
		after, in := 1, false
		for _, o := range t.Columns {
			if in {
				after *= size[o]
			}
			in = in || o == j
		}
		if !in {
			continue
		}
		w := float64(n) / (2 * t.Scale * t.Scale * float64(len(t.Counts)))
		for c, v := range t.Counts {
			sum[c/after%n] += w * v
		}
		for a := range weight {
			weight[a] += w
		}
	}
	for a := range sum {
		sum[a] /= weight[a]
	}
	better := project(sum, total)
	out := make([]float64, len(counts))
	for v, a := range bins {
		if own[a] > 0 {
			out[v] = counts[v] / own[a] * better[a]
		} else {
			out[v] = better[a] / values[a]
		}
	}
	return out
}
