package tsp

import (
	"context"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// candidates are for every point the points that an edge may lead to, with their distances, the
// nearest first: those of point i are entries [start[i], start[i+1]).
type candidates struct {
	k     int // of them are the nearest neighbors
	start []int32
	id    []int32
	d     []float64
}

// newCandidates lists min(k, n-1) neighbors of each of the n points of f.
func newCandidates(ctx context.Context, f metric.Finite, k int) (*candidates, error) {
	n := f.Len()
	c := &candidates{k: min(k, n-1)}
	if c.k < 1 {
		return c, nil
	}
	near, err := metric.NewIndex(f).NearestNeighbors(ctx, c.k)
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
	c.start = make([]int32, n+1)
	for i := range c.start {
		c.start[i] = int32(i * c.k)
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
	lo, hi := c.start[i], c.start[i+1]
	return c.id[lo:hi], c.d[lo:hi]
}

// distinct returns one point of every class of points at distance 0 from one
// another and, for every point, the place of its class in that list. Where no
// two points coincide, class is nil. A class would fill the neighbor lists of its
// members; by the triangle inequality a shortest tour visits it in one go.
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

// widen returns the candidates of c and others in all directions: the nearest
// neighbors of a point in a cluster are all of that cluster.
func (c *candidates) widen(ctx context.Context, f metric.Finite) (*candidates, error) {
	n := f.Len()
	if c.k >= n-1 {
		return c, nil
	}
	more, err := orthants(ctx, f)
	if err == nil && more == nil && (n <= mostHeldKarp || heldkarp.HasTree(f)) {
		var tree []spanning.Edge
		tree, err = heldkarp.SpanningTree(ctx, f)
		more = make([][]int32, n)
		for _, e := range tree {
			more[e.I], more[e.J] = append(more[e.I], e.J), append(more[e.J], e.I)
		}
	}
	if err != nil || more == nil {
		return c, err
	}
	w := &candidates{k: c.k, start: make([]int32, n+1)}
	for i, add := range more {
		near, dist := c.lists(i)
		lo := len(w.id)
		w.id, w.d = append(w.id, near...), append(w.d, dist...)
		for _, j := range add {
			if !slices.Contains(w.id[lo:], j) {
				w.insert(lo, j, ordered(f, i, int(j)))
			}
		}
		w.start[i+1] = int32(len(w.id))
	}
	return w, nil
}

// insert puts j at distance d into the list that begins at lo, the last one.
func (c *candidates) insert(lo int, j int32, d float64) {
	c.id, c.d = append(c.id, j), append(c.d, d)
	for h := len(c.d) - 1; h > lo && c.d[h-1] > d; h-- {
		c.id[h], c.d[h] = c.id[h-1], c.d[h-1]
		c.id[h-1], c.d[h-1] = j, d
	}
}
