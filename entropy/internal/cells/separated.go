package cells

import (
	"math"

	"github.com/metricdp/metricdp/metric"
)

// separated is a set of points of a ball around x, pairwise at least sep apart
// in rho2. The zero value is no set.
type separated struct {
	sep float64
	x   int32
	set []int32
}

// spreadMoves bounds the moves of spread for each point of the set.
const spreadMoves = 8

// spread improves a set by moving one of its two nearest points at a time to
// the point of pool farthest from the others, and returns its least distance.
func spread(f metric.Finite, set, pool []int32, work *int64, limit int64) float64 {
	k := len(set)
	sep, a, b := nearest(f, set)
	for range spreadMoves * k {
		if *work > limit {
			break
		}
		*work += int64(2*k*len(pool) + k*k/2)
		moved := false
		for _, i := range [2]int{a, b} {
			old, to, most := set[i], int32(-1), sep
		next:
			for _, y := range pool {
				d := math.Inf(1)
				for j, z := range set {
					if j != i {
						if d = min(d, f.Distance(int(y), int(z))); d <= most {
							continue next
						}
					}
				}
				to, most = y, d
			}
			if to >= 0 && to != old {
				set[i], moved = to, true
				break
			}
		}
		if !moved {
			break
		}
		sep, a, b = nearest(f, set)
	}
	return sep
}

// nearest returns the least distance of two points of the set, and their places.
func nearest(f metric.Finite, set []int32) (d float64, a, b int) {
	d = math.Inf(1)
	for i, y := range set {
		for j, z := range set[:i] {
			if v := f.Distance(int(y), int(z)); v < d {
				d, a, b = v, i, j
			}
		}
	}
	return d, a, b
}
