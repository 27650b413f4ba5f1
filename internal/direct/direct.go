// Package direct finds the pairs of points of a finite metric that no others
// imply. On the shortest-path metric of a graph they are edges: what holds along
// all of them, as privacy does, holds for every pair.
//
// Distances are symmetric, positive off the diagonal; +Inf is allowed.
package direct

import (
	"context"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Two pairs imply a third if each is shorter than it by at least shorter, relative, and they
// add up to it. Thus the implied pairs, taken from the shortest on, follow from the others.
const shorter = 1e-9

// rounding is the relative error within which lengths add up: float64 sums of
// up to n of them differ by less.
func rounding(n int) float64 { return float64(float64(n+8) * 0x1p-52) }

// Pairs returns for every u the points v > u, ascending, such that u, v is not
// implied. d need not obey the triangle inequality: the shortest paths along
// the pairs returned are never longer than d, up to rounding.
//
// Seen from u, the points are taken from the nearest on, and one is implied if the way to it
// through one taken before, itself not implied, is as short. In a metric that finds all: if
// some z is on the way from u to v, then so is the first such point, which nothing implies. A
// pair is implied if it is so from either end. O(n^2 k), k being how many points a point has as
// its neighbors, and O(n^2) where every point sees all others through few.
func Pairs(ctx context.Context, d finite.Metric, workers int) ([][]int32, error) {
	return Nearly(ctx, d, 1, workers)
}

// Nearly is Pairs without those that a way up to stretch times as long implies.
func Nearly(ctx context.Context, d finite.Metric, stretch float64, workers int) ([][]int32, error) {
	n := d.Len()
	near := make([][]int32, n)
	err := parallel.Chunks(ctx, n, 4, workers, nil, func(_, lo, hi int) {
		s := sight{d: d, stretch: stretch, left: make([]int32, 0, n)}
		for u := lo; u < hi; u++ {
			near[u] = s.from(u)
		}
	})
	if err != nil {
		return nil, err
	}
	pairs := make([][]int32, n)
	for u, list := range near {
		for _, v := range list {
			if _, both := slices.BinarySearch(near[v], int32(u)); both && int(v) > u {
				pairs[u] = append(pairs[u], v)
			}
		}
	}
	return pairs, nil
}

// sight looks from points, with scratch.
type sight struct {
	d       finite.Metric
	stretch float64
	left    []int32
	du, dz  []float64
}

// from lists the points that nothing implies from u, ascending.
func (s *sight) from(u int) (list []int32) {
	n, left := s.d.Len(), s.left[:0]
	s.du = finite.Row(s.d, u, s.du)
	du, ulps := s.du, s.stretch*(1+rounding(n))
	next := -1 // the nearest that is left
	for v := range n {
		if v != u {
			left = append(left, int32(v))
			if next < 0 || du[v] < du[next] {
				next = v
			}
		}
	}
	for next >= 0 {
		s.dz = finite.Row(s.d, next, s.dz)
		z, uz, dz := next, du[next], s.dz
		list = append(list, int32(z))
		next = -1
		kept := left[:0]
		for _, v := range left {
			uv, zv := du[v], dz[v]
			if int(v) == z || uz+zv <= uv*ulps && max(uz, zv) < uv*(1-shorter) {
				continue
			}
			kept = append(kept, v)
			if next < 0 || uv < du[next] {
				next = int(v)
			}
		}
		left = kept
	}
	slices.Sort(list)
	return list
}

// Metric tells whether d obeys the triangle inequality up to rounding, given its
// Pairs: enough that no way which ends in one of them is a short cut. O(n) a pair.
func Metric(ctx context.Context, d finite.Metric, pairs [][]int32, workers int) (bool, error) {
	n := d.Len()
	short := make([]bool, n)
	ulps := 1 + rounding(n)
	err := parallel.Chunks(ctx, n, 4, workers, nil, func(_, lo, hi int) {
		var dz, dv []float64
		for z := lo; z < hi; z++ {
			dz = finite.Row(d, z, dz)
			for _, v := range pairs[z] {
				zv := dz[v]
				dv = finite.Row(d, int(v), dv)
				for u, uv := range dv {
					uz := dz[u]
					if uv > (uz+zv)*ulps || uz > (uv+zv)*ulps {
						short[z] = true
					}
				}
			}
		}
	})
	return !slices.Contains(short, true), err
}
