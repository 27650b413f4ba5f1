package population

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/wasserstein"
)

const penalty = 3. // of a segment, in units of twice the log-likelihood of normal noise

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

// Segments returns estimates of the counts of ordered values from noisy ones with noise of the
// given variance: the piecewise constant function of least squared error/variance plus a
// penalty for each piece, by dynamic programming. Up to 6 values stay. O(values^2).
func Segments(y []float64, variance float64) []float64 {
	if len(y) <= 6 {
		return y
	}
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
			cost := best[i] + (squares[j]-squares[i]-d*d/float64(j-i))/variance + penalty
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

// Combine improves the estimated counts of column j's values by what tables say of its bins, whose
// own counts have noise of the given variances: the least squares of both, by an update for each
// group (Kalman), made not negative and of the given sum; values keep their shares of bins.
// O(groups * size^2), size the number of bins.
func Combine(counts, noise []float64, bins []uint8, j, size int, tables []Table, total float64) []float64 {
	own, values := Sum(counts, bins, size), make([]float64, size)
	for _, a := range bins {
		values[a]++
	}
	x := slices.Clone(own)
	cov := make([][]float64, size)
	for a := range cov {
		cov[a] = make([]float64, size)
		cov[a][a] = noise[a]
	}
	for _, t := range tables {
		at := slices.Index(t.Columns, j)
		if at < 0 {
			continue
		}
		for g := range t.Sizes[at] {
			s, cells := 0., t.Sizes[1-at]
			for o := range cells {
				s += t.Counts[t.cell(at, g, o)]
			}
			update(x, cov, t.Groups[at], uint8(g), s, 2*t.Scale*t.Scale*float64(cells))
		}
	}
	better := project(x, total)
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

// update makes x, which has errors of covariance cov, fit a sum of the entries in a group, of
// which the noise has the given variance.
func update(x []float64, cov [][]float64, groups []uint8, group uint8, sum, variance float64) {
	with := make([]float64, len(x)) // the covariance with the group's sum
	for a, g := range groups {
		if g == group {
			sum -= x[a]
			for b, v := range cov[a] {
				with[b] += v
			}
		}
	}
	for a, g := range groups {
		if g == group {
			variance += with[a]
		}
	}
	if !(variance > 0) {
		return
	}
	for a, v := range with {
		x[a] += v / variance * sum
		for b, u := range with {
			cov[a][b] -= v * u / variance
		}
	}
}
