package tsp

import (
	"context"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// candidates are the nearest neighbors of every point, with their distances.
// Those of point i are entries [i*k, (i+1)*k), the nearest first.
type candidates struct {
	k  int
	id []int32
	d  []float64
}

// newCandidates lists min(k, n-1) neighbors of each of the n points of f.
func newCandidates(ctx context.Context, f metric.Finite, k int) (*candidates, error) {
	n := f.Len()
	c := &candidates{k: min(k, n-1)}
	if c.k < 1 {
		return c, nil
	}
	near, err := metric.NearestNeighbors(ctx, f, c.k)
	if err != nil {
		return nil, err
	}
	c.id, c.d = make([]int32, len(near)), make([]float64, len(near))
	const chunk = 1024
	bad := make([]int, (len(near)+chunk-1)/chunk)
	err = parallel.Chunks(ctx, len(near), chunk, 0, nil, func(part, lo, hi int) {
		bad[part] = -1
		for h := hi - 1; h >= lo; h-- {
			// A point at distance NaN from most others has no neighbor: -1.
			if c.id[h] = int32(near[h]); near[h] >= 0 {
				c.d[h] = ordered(f, h/c.k, near[h])
			}
			if near[h] < 0 || notDistance(c.d[h]) {
				bad[part] = h
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, h := range bad {
		if h >= 0 {
			return nil, witness(f, h/c.k)
		}
	}
	return c, nil
}

// witness returns the first bad distance from point i.
func witness(f metric.Finite, i int) error {
	for j, d := range finite.Row(f, i, nil) {
		if notDistance(d) {
			return badDistance(i, j, d)
		}
	}
	return badDistance(i, i, 0) // a metric that answers differently each time
}

// lists returns the neighbors of point i and their distances.
func (c *candidates) lists(i int) ([]int32, []float64) {
	return c.id[i*c.k : (i+1)*c.k], c.d[i*c.k : (i+1)*c.k]
}

// distinct returns one point of every class of points at distance 0 from one
// another and, for every point, the place of its class in that list. Where no
// two points coincide, class is nil. A class would fill the neighbor lists of its
// members; a shortest tour visits it in one go.
func (c *candidates) distinct(ctx context.Context, f metric.Finite) (first, class []int, err error) {
	coincide := false
	for i := 0; i < len(c.d); i += max(1, c.k) {
		coincide = coincide || c.d[i] == 0
	}
	if !coincide {
		return nil, nil, nil
	}
	if first, err = metric.Net(ctx, f, 0, nil); err != nil {
		return nil, nil, err
	}
	class, _, err = metric.Assign(ctx, f, first)
	return first, class, err
}

// ordered returns the distance of points i and j, the lower one first.
func ordered(f metric.Finite, i, j int) float64 { return f.Distance(min(i, j), max(i, j)) }
