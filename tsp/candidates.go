package tsp

import (
	"context"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// candidates are for every point the points that an edge may lead to, with their
// distances, the nearest first: those of point i are entries [start[i],
// start[i+1]).
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

// widen adds candidates in all directions, which a cluster's nearest neighbors
// have not: those nearest in each orthant, and the edges of a minimum spanning tree.
func (c *candidates) widen(ctx context.Context, f metric.Finite) (*candidates, error) {
	n := f.Len()
	if c.k < 1 || c.k >= n-1 {
		return c, nil
	}
	more := make([][]int32, n)
	if qPer > 0 {
		if err := orthants(ctx, f, more); err != nil {
			return nil, err
		}
	}
	if useMST && (n <= mostHeldKarp || heldkarp.HasTree(f)) {
		_, parent, err := heldkarp.SpanningTree(ctx, "", f)
		if err != nil {
			return nil, err
		}
		for i, j := range parent {
			if j >= 0 {
				more[i], more[j] = append(more[i], int32(j)), append(more[j], int32(i))
			}
		}
	}
	w := &candidates{k: c.k, start: make([]int32, n+1)}
	for i, add := range more {
		near, dist := c.lists(i)
		lo := len(w.id)
		w.id, w.d = append(w.id, near...), append(w.d, dist...)
		for _, j := range add {
			if slices.Contains(w.id[lo:], j) {
				continue
			}
			d := ordered(f, i, int(j))
			h := len(w.d)
			w.id, w.d = append(w.id, j), append(w.d, d)
			for ; h > lo && w.d[h-1] > d; h-- {
				w.id[h], w.d[h] = w.id[h-1], w.d[h-1]
			}
			w.id[h], w.d[h] = j, d
		}
		w.start[i+1] = int32(len(w.id))
	}
	return w, nil
}

var qPer = 2
var useMST = false

// mostOrthants is the largest dimension in which there are few.
const mostOrthants = 3

// orthants appends to the list of each point the nearest by the norm in each
// orthant around it, if f sits in a space of few dimensions.
func orthants(ctx context.Context, f metric.Finite, more [][]int32) error {
	if d := finite.Dim(f); d > mostOrthants {
		return nil
	}
	e, ok := finite.Embed[metric.Embedding](f)
	if !ok || e.Dim > mostOrthants || len(e.Coords) != e.Dim*len(more) {
		return nil
	}
	t := kdtree.New(e.Coords, e.Dim, e.P, e.FromNorm, nil)
	if t == nil {
		return nil
	}
	return parallel.Chunks(ctx, t.N, 256, 0, nil, func(_, lo, hi int) {
		o := orthant{t: t, gaps: make([]float64, t.Dim)}
		for a := lo; a < hi; a++ {
			o.x = t.At(a)
			i := t.ID[a]
			for o.signs = 0; o.signs < 1<<t.Dim; o.signs++ {
				o.near = o.near[:0]
				o.search(1, 0, t.N)
				for _, h := range o.near {
					more[i] = append(more[i], h.id)
				}
			}
		}
	})
}

// orthant searches for the points nearest to x among those which x does not
// exceed where a bit of signs is 0, and does where it is 1.
type orthant struct {
	t     *kdtree.Tree
	x     []float64
	signs int
	near  []hit
	gaps  []float64
}

type hit struct {
	v  float64
	id int32
}

func (o *orthant) search(node, lo, hi int) {
	least, most := o.t.Box(node)
	for a, v := range o.x {
		if o.signs>>a&1 == 0 && most[a] < v || o.signs>>a&1 != 0 && least[a] >= v {
			return
		}
	}
	if len(o.near) == qPer && o.t.BoxMin(node, o.x, o.gaps) >= o.near[qPer-1].v {
		return
	}
	if node < o.t.Leaves {
		mid := (lo + hi) / 2
		l, r := 2*node, 2*node+1
		if o.t.BoxMin(l, o.x, o.gaps) <= o.t.BoxMin(r, o.x, o.gaps) {
			o.search(l, lo, mid)
			o.search(r, mid, hi)
		} else {
			o.search(r, mid, hi)
			o.search(l, lo, mid)
		}
		return
	}
next:
	for k := lo; k < hi; k++ {
		y, same := o.t.At(k), true
		for a, v := range o.x {
			if (y[a] < v) != (o.signs>>a&1 != 0) {
				continue next
			}
			same = same && y[a] == v
		}
		if same {
			continue
		}
		v := o.t.Norm(k, o.x, o.gaps)
		h := len(o.near)
		if h < qPer {
			o.near = append(o.near, hit{})
		} else if h--; v >= o.near[h].v {
			continue
		}
		for ; h > 0 && o.near[h-1].v > v; h-- {
			o.near[h] = o.near[h-1]
		}
		o.near[h] = hit{v, o.t.ID[k]}
	}
}
