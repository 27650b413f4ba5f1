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
	copy(dst, g)
	slices.Sort(dst)
	least, excess, count := math.Inf(1), 0.0, 0.0
	for _, u := range slices.Backward(dst) {
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
