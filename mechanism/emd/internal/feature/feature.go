// Package feature maps the points of a finite metric to vectors of integers,
// and computes how steep such a map is.
package feature

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/emd/internal/leastsquares"
)

// Map sends each point to a sparse vector of integers >= 0, a column.
type Map struct{ leastsquares.Columns[int64] }

// NewMap returns a map of no points.
func NewMap(rows int) *Map { return &Map{leastsquares.NewColumns[int64](rows)} }

// Add adds count times the vector of x to dst.
func (m *Map) Add(dst []int64, x int, count int64) {
	rows, weights := m.Of(x)
	for k, r := range rows {
		dst[r] += weights[k] * count
	}
}

// Steepest returns the largest |Phi(x)-Phi(y)|_1/d(x,y) over all pairs of points of f, rounded up: +Inf
// where points at distance 0 have different vectors, NaN where a distance is NaN. Sums of weights are
// below 2^62. O(n^2) merges of two sparse vectors.
func (m *Map) Steepest(ctx context.Context, f finite.Metric) (float64, error) {
	const size = 8
	n := m.Len()
	steepest := make([]float64, (n+size-1)/size)
	err := parallel.Chunks(ctx, n, size, 0, nil, func(c, lo, hi int) {
		// The vector of x lies spread out, so that a merge costs the other's
		// entries: |u-v|_1 = |u|_1 + sum over v's entries of |u_r-v_r| - u_r.
		spread := make([]int64, m.Rows)
		var dist []float64
		for x := lo; x < hi; x++ {
			m.Add(spread, x, 1)
			all := int64(0)
			_, weights := m.Of(x)
			for _, w := range weights {
				all += w
			}
			dist = finite.Row(f, x, dist)
			for y := x + 1; y < n; y++ {
				apart := all
				rows, weights := m.Of(y)
				for k, r := range rows {
					apart += max(weights[k]-spread[r], spread[r]-weights[k]) - spread[r]
				}
				if apart == 0 && dist[y] == dist[y] {
					continue
				}
				up := float64(apart)
				if int64(up) < apart {
					up = directed.Next(up)
				}
				steepest[c] = math.Max(steepest[c], directed.DivUp(up, dist[y]))
			}
			rows, _ := m.Of(x)
			for _, r := range rows {
				spread[r] = 0
			}
		}
	})
	top := 0.0
	for _, s := range steepest {
		top = math.Max(top, s) // NaN stays
	}
	return top, err
}
