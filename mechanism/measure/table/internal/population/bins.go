package population

import (
	"math/rand/v2"
	"slices"
)

// Bins merges the values of a column into at most most bins and returns the bin of every
// value. Ordered values are cut into bins of about equal count. Others are bins of their own,
// but for those with less than the share rare of all and those for which no bin is left,
// which are one bin together.
func Bins(counts []float64, ordered bool, most int, rare float64) []uint8 {
	out := make([]uint8, len(counts))
	total := 0.0
	for _, v := range counts {
		total += v
	}
	if !ordered {
		order := make([]int, len(counts))
		for v := range order {
			order[v] = v
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case counts[a] > counts[b]:
				return -1
			case counts[a] < counts[b]:
				return 1
			}
			return 0
		})
		bin := 0
		for i, v := range order {
			if i > 0 && bin < most-1 && (i == 1 || counts[order[i-1]] >= rare*total) {
				bin++
			}
			out[v] = uint8(bin)
		}
		return out
	}
	if len(counts) <= most {
		for v := range out {
			out[v] = uint8(v)
		}
		return out
	}
	left, sum, bin := total, 0.0, 0
	for v, n := range counts {
		if sum > 0 && bin < most-1 && sum+n/2 > left/float64(most-bin) {
			left -= sum
			sum = 0
			bin++
		}
		out[v] = uint8(bin)
		sum += n
	}
	return out
}

// Values returns a value for every row of a column: those of a bin are dealt evenly by counts.
func Values(rng *rand.Rand, rows []uint8, bins []uint8, counts []float64) []int {
	out := make([]int, len(rows))
	of := make([][]int, 256)
	for r, a := range rows {
		of[a] = append(of[a], r)
	}
	for a, in := range of {
		var values []int
		var weights []float64
		for v, b := range bins {
			if int(b) == a {
				values, weights = append(values, v), append(weights, counts[v])
			}
		}
		if len(in) == 0 || len(values) == 0 {
			continue
		}
		for i, v := range Spread(rng, weights, len(in)) {
			out[in[i]] = values[v]
		}
	}
	return out
}
