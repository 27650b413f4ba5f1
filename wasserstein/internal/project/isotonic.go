// Package project holds the kernels of the projections onto the probability
// measures: on the line, on the simplex and on trees.
package project

import (
	"math"

	"github.com/metricdp/metricdp/internal/heap"
)

// IsotonicL1 returns the ascending list f with values in [lo, hi] that has the least sum of
// w[k]*|f[k]-g[k]|, of several the midpoint of the smallest and the largest. Weights are in [0,
// math.MaxFloat64/2]; an entry of weight 0 gets the value in [f[k-1], the next of positive weight]
// nearest to g[k]. O(n log n).
func IsotonicL1(g, w []float64, lo, hi float64) []float64 {
	// Let c_k(y) be the least cost of the first k entries with the k-th at most y: convex,
	// piecewise linear and falling to a flat right end. The heap holds its breakpoints with the
	// change of slope at each. The next entry adds w*|y-g|, which is a breakpoint (g, 2w) and a
	// slope +w at the right end; taking slope w off the top flattens the end again. The minimizers
	// of c_k(y)+w*|y-g| reach from the top that remains to the last breakpoint taken off: left[k]
	// to right[k]. Backwards, f[k] = min(left[k], f[k+1]) is the smallest optimal list, and the
	// same with right the largest; between any two optimal lists all are.
	n := len(g)
	left, right := make([]float64, n), make([]float64, n)
	// Of entry k, a breakpoint at g[k]: key is -g[k], the largest first.
	key, slope := make([]float64, n), make([]float64, n)
	h := heap.New(key)
	for k, v := range g {
		rest := w[k]
		if rest == 0 {
			continue
		}
		key[k], slope[k] = -v, 2*rest
		h.Push(int32(k))
		for rest > 0 {
			top := h.Top()
			right[k] = g[top]
			if slope[top] > rest {
				slope[top] -= rest
				break
			}
			rest -= slope[top]
			h.Pop()
		}
		// Something is left, 2w having come and w gone, unless rounding took it.
		left[k] = right[k]
		if h.Len() > 0 {
			left[k] = g[h.Top()]
		}
	}
	below, above := math.Inf(1), math.Inf(1)
	for k := n - 1; k >= 0; k-- {
		if w[k] != 0 {
			below, above = min(below, left[k]), min(above, right[k])
		}
		mid := below
		if above > below {
			mid = below/2 + above/2 // the sum might overflow
		}
		left[k] = min(max(mid, lo), hi) // at weight 0, the value that follows
	}
	last := lo
	for k, v := range g {
		if w[k] == 0 {
			left[k] = min(max(v, last), left[k])
		}
		last = left[k]
	}
	return left
}
