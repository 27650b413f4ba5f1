package metric

import (
	"cmp"
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Diameter returns the largest distance of f and the lowest pair i <= j that attains it: (0, 0, 0)
// for a single point and (0, -1, -1) for none. A NaN is passed over, here as in [Index.MinDistance]
// and [Radius]. About n log n where [Index] has a kd-tree and few pairs attain the extreme, n^2/2
// distances otherwise (Radius: n^2). With an error, that of ctx, a [*SizeError] where Len is
// negative or a [*MemoryError], d is NaN and the points are -1, in all four functions.
func Diameter(ctx context.Context, f Finite) (d float64, i, j int, err error) {
	ix := NewIndex(f)
	far, err := extreme(ctx, "metric: Diameter", ix, extremum{0, -1, -1}, func() (extremum, step) {
		if n := ix.Len(); ix.tree == nil {
			return nothing, func(best extremum, i int) extremum {
				for j := i; j < n; j++ {
					if d := f.Distance(i, j); -d < best.key {
						best = extremum{-d, i, j}
					}
				}
				return best
			}
		}
		// Twice the farthest point is a distance near the largest.
		end, _ := ix.Farthest(0)
		_, d := ix.Farthest(end)
		return extremum{-d, -1, -1}, func(best extremum, i int) extremum {
			if e := ix.farthest(i, entry{-best.key, -1}, math.Inf(1)); e.i >= 0 {
				return best.least(extremum{-e.d, min(i, e.i), max(i, e.i)})
			}
			return best
		}
	})
	return 0 - far.key, far.i, far.j, err
}

// Radius returns the smallest r such that all of f lies within r of one of its
// points, and the lowest such point; (0, -1) for an empty f.
func Radius(ctx context.Context, f Finite) (r float64, center int, err error) {
	ix := NewIndex(f)
	best, err := extreme(ctx, "metric: Radius", ix, extremum{0, -1, -1}, func() (extremum, step) {
		return nothing, func(best extremum, i int) extremum {
			// A point as far from i as the best radius rules i out, unless a tie would go to i.
			stop := best.key
			if uint(i) < uint(best.i) {
				stop = math.Nextafter(stop, math.Inf(1))
			}
			e := ix.farthest(i, entry{math.Inf(-1), -1}, stop)
			return best.least(extremum{e.d, i, 0})
		}
	})
	return best.key, best.i, err
}

// MinDistance returns the smallest distance between two points of different index, and the lowest
// pair i < j that attains it: 0 where there are duplicates, and (+Inf, -1, -1) below two points.
func (ix *Index) MinDistance(ctx context.Context) (d float64, i, j int, err error) {
	return ix.minDistance(ctx, "metric: Index.MinDistance", -1)
}

// MinPositiveDistance is [Index.MinDistance] over the pairs at a distance > 0, (+Inf, -1, -1) where
// there is none. With a kd-tree a point with m duplicates costs O(m) more.
func (ix *Index) MinPositiveDistance(ctx context.Context) (d float64, i, j int, err error) {
	return ix.minDistance(ctx, "metric: Index.MinPositiveDistance", 0)
}

// minDistance is the smallest distance > floor.
func (ix *Index) minDistance(ctx context.Context, op string, floor float64) (d float64, i, j int, err error) {
	near, err := extreme(ctx, op, ix, nothing, func() (extremum, step) {
		if n := ix.Len(); ix.tree == nil {
			return nothing, func(best extremum, i int) extremum {
				for j := i + 1; j < n; j++ {
					if d := ix.f.Distance(i, j); d < best.key && d > floor {
						best = extremum{d, i, j}
					}
				}
				return best
			}
		}
		return nothing, func(best extremum, i int) extremum {
			if e := ix.nearest(i, entry{best.key, -1}, floor); e.i >= 0 {
				return best.least(extremum{e.d, min(i, e.i), max(i, e.i)})
			}
			return best
		}
	})
	return near.key, near.i, near.j, err
}

// extremum is a pair of points with what is to be minimal; -1, -1 is none yet.
type extremum struct {
	key  float64
	i, j int
}

// least returns the one with the smaller key, or the lower pair.
func (p extremum) least(q extremum) extremum {
	if cmp.Or(cmp.Compare(q.key, p.key), cmp.Compare(uint(q.i), uint(p.i)), cmp.Compare(uint(q.j), uint(p.j))) < 0 {
		return q
	}
	return p
}

// nothing comes after every pair.
var nothing = extremum{math.Inf(1), -1, -1}

// step returns the least of best and the pairs of point i.
type step func(best extremum, i int) extremum

// extreme takes the least of the steps that search returns over all points, from the pair it
// returns with them; none is the answer for no points. Chunks are independent, so that the work is
// the same for any number of workers.
func extreme(ctx context.Context, op string, ix *Index, none extremum, search func() (extremum, step)) (extremum, error) {
	const chunk = 512
	n := ix.Len()
	if n == 0 {
		return none, nil
	}
	bad := extremum{math.NaN(), -1, -1}
	if err := fault.Empty(op, "f", n); err != nil {
		return bad, err
	}
	start, next := search()
	parts := make([]extremum, (n+chunk-1)/chunk)
	err := parallel.Chunks(ctx, n, chunk, 0, nil, func(c, lo, hi int) {
		best := start
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			best = next(best, ix.ordered(k))
		}
		parts[c] = best
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return bad, err
	}
	for _, p := range parts {
		start = start.least(p)
	}
	return start, nil
}
