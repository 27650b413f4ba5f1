package project

import (
	"math"
	"slices"
)

// Simplex writes to dst, of the length of g, the vector with entries >= 0 and the given total that
// is nearest to g in the Euclidean norm. O(n log n), mostly O(n).
func Simplex(g []float64, total float64, dst []float64) []float64 {
	// With g sorted, u_1 >= u_2 >= ..., the first k entries stay positive as long as their excess
	// over the k-th, the sum of u_i - u_k, is below total. It is a sum of terms >= 0, so large
	// entries do not cancel, as they do in u_k > tau.
	if total == 0 {
		clear(dst)
		return dst
	}
	kept := dst[:copy(dst, g)]
	least, excess := math.Inf(1), math.Inf(1)
	// Without sorting: of any entries that hold all positive ones, those of which
	// the excess over the least is at most the mean one, less total, become 0
	// (Michelot 1986). What is left after a few rounds stays, as a rule.
	for range 30 {
		least, excess = math.Inf(1), 0
		for _, u := range kept {
			least = min(least, u)
		}
		for _, u := range kept {
			excess += u - least
		}
		if excess < total || math.IsInf(excess, 1) {
			break
		}
		cut, left := (excess-total)/float64(len(kept)), kept[:0]
		for _, u := range kept {
			if u-least > cut {
				left = append(left, u)
			}
		}
		kept = left
	}
	count := float64(len(kept))
	if !(excess < total) {
		slices.Sort(kept)
		least, excess, count = math.Inf(1), 0, 0
		for _, u := range slices.Backward(kept) {
			next := excess
			if count > 0 {
				next += float64(count * (least - u))
			}
			if next >= total {
				break
			}
			least, excess, count = u, next, count+1
		}
	}
	for i, w := range g {
		dst[i] = 0
		if w >= least {
			dst[i] = (w - least) + (total-excess)/count
		}
	}
	return dst
}
