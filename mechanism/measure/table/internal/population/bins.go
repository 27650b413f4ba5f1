package population

import (
	"cmp"
	"slices"
)

// rare is the share of a category that gets no bin of its own.
const rare = 1. / (MostBins * MostBins)

// Bins merges the values of a column into at most most bins and returns the bin of every
// value. Ordered values are cut into bins of about equal count. Others are bins of their own,
// but for those that are rare and those for which there is no bin left, which are one together.
func Bins(counts []float64, ordered bool, most int) []uint8 {
	out, order, total := make([]uint8, len(counts)), make([]int, len(counts)), 0.
	for v, n := range counts {
		order[v] = v
		total += n
	}
	if !ordered {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
		bin := 0
		for i, v := range order {
			if i > 0 && bin < most-1 && counts[order[i-1]] >= rare*total {
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

// Size returns how many bins there are.
func Size(bins []uint8) int { return int(slices.Max(bins)) + 1 }
