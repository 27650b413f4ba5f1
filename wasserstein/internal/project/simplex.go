package project

import (
	"math"
	"slices"
)

// Simplex writes to dst, of the length of g, the vector with entries >= 0 and the
// given total that is nearest to g in the Euclidean norm. O(n log n).
//
// With g sorted, u_1 >= u_2 >= ..., the first k entries stay positive as long as
// their excess over the k-th, the sum of u_i - u_k, is below total. It is a sum
// of terms >= 0, so large entries do not cancel, as they do in u_k > tau.
func Simplex(g []float64, total float64, dst []float64) []float64 {
	sorted := large(g, total, dst)
	slices.Sort(sorted)
	least, excess, count := math.Inf(1), 0.0, 0.0
	for _, u := range slices.Backward(sorted) {
		next := excess
		if count > 0 {
			next += float64(count * (least - u))
		}
		if next >= total {
			break
		}
		least, excess, count = u, next, count+1
	}
	for i, w := range g {
		dst[i] = 0
		if w >= least {
			dst[i] = (w - least) + (total-excess)/count
		}
	}
	return dst
}

// large copies g to dst without entries that become 0, most of them as a rule: any
// entries' mean excess over total is at most tau (Michelot 1986), and what lies
// below that by more than rounding goes.
func large(g []float64, total float64, dst []float64) []float64 {
	top := 0.0
	for _, w := range g {
		top = max(top, math.Abs(w))
	}
	slack := float64(0x1p-30 * (top + total))
	kept := dst[:copy(dst, g)]
	for range 10 {
		sum := 0.0
		for _, w := range kept {
			sum += w
		}
		if math.IsInf(sum, 0) {
			break
		}
		floor, left := (sum-total)/float64(len(kept))-slack, kept[:0]
		for _, w := range kept {
			if !(w < floor) {
				left = append(left, w)
			}
		}
		if len(left) == len(kept) {
			break
		}
		kept = left
	}
	return kept
}
