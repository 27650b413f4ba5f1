package heldkarp

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// boruvka finds exact minimum spanning trees under [spanning.Cost] of points
// that sit in R^d, by Borůvka's algorithm on a kd-tree.
type boruvka struct {
	f    metric.Finite
	tree *kdtree.Tree

	// Of the spanning tree under way.
	pi   []float64 // by place
	low  []float64 // by node, the least multiplier
	set  []int32   // by place, the component
	one  []int32   // by node, the component of all its places, or -1
	gaps []float64
	err  error // for the first bad distance: then nothing is searched any more
}

const (
	// minPoints is the number of points from which the kd-tree beats Prim's
	// algorithm, and maxDim the largest dimension to use it in.
	minPoints = 2048
	maxDim    = 4
)

// newBoruvka returns nil where Prim's algorithm is the better choice.
func newBoruvka(f metric.Finite) *boruvka {
	n := f.Len()
	if n < minPoints || n > math.MaxInt32/2 || finite.Dim(f) > maxDim {
		return nil
	}
	e, ok := finite.Embed[metric.Embedding](f)
	if !ok || e.Dim > maxDim || len(e.Coords) != n*e.Dim || !(e.P >= 1) {
		return nil
	}
	if e.P != 1 && e.P != 2 {
		e.P = math.Inf(1) // a norm below it that takes no powers: bounds are from below alone
	}
	tree := kdtree.New(e.Coords, e.Dim, e.P, e.FromNorm, nil)
	if tree == nil {
		return nil
	}
	return &boruvka{f: f, tree: tree, pi: make([]float64, n), low: make([]float64, 2*tree.Leaves),
		set: make([]int32, n), one: make([]int32, 2*tree.Leaves), gaps: make([]float64, e.Dim)}
}

// bound returns a lower bound of the cost of all edges from place a to node.
// Cost rounds monotonically, so it holds for the rounded costs.
func (t *boruvka) bound(a, node int) float64 {
	d := t.tree.Below(t.tree.BoxMin(node, t.tree.At(a), t.gaps))
	return spanning.Cost(d, t.pi[a], t.low[node])
}

// link is the edge of least cost found so far that leaves a component or a place.
type link struct {
	c    float64
	a, b int32 // places
}

// search improves best, an edge from any place of the component of a, by the edges of a.
func (t *boruvka) search(a, node, lo, hi int, bound float64, best *link) {
	if bound >= best.c || t.one[node] == t.set[a] || t.err != nil {
		return
	}
	if node < t.tree.Leaves {
		l, r, mid := 2*node, 2*node+1, (lo+hi)/2
		bl, br := t.bound(a, l), t.bound(a, r)
		if bl <= br {
			t.search(a, l, lo, mid, bl, best)
			t.search(a, r, mid, hi, br, best)
		} else {
			t.search(a, r, mid, hi, br, best)
			t.search(a, l, lo, mid, bl, best)
		}
		return
	}
	x := t.tree.At(a)
	for b := lo; b < hi; b++ {
		if t.set[b] == t.set[a] || spanning.Cost(t.tree.Below(t.tree.Norm(b, x, t.gaps)), t.pi[a], t.pi[b]) >= best.c {
			continue
		}
		i, j := int(t.tree.ID[a]), int(t.tree.ID[b])
		dist := t.f.Distance(i, j)
		if !(dist >= 0 && dist <= math.MaxFloat64) {
			t.err = badDistance(i, j, dist)
			return
		}
		if c := spanning.Cost(dist, t.pi[a], t.pi[b]); c < best.c {
			*best = link{c, int32(a), int32(b)}
		}
	}
}

// spanning returns a minimum spanning tree of all points under spanning.Cost. The
// better the hints, edges that may belong to it, the less there is to search.
//
// In every round each component takes an edge of least cost that leaves it, and those that would
// close a cycle are dropped. Edges of equal cost do no harm, however they are chosen: a closed
// cycle of choices has one cost throughout, and without its dropped edge there is an order of the
// equal ones under which every choice that was kept is the unique best.
func (t *boruvka) spanning(ctx context.Context, pi []float64, hints []spanning.Edge) ([]spanning.Edge, error) {
	n := t.tree.N
	place := make([]int32, n)
	for a, i := range t.tree.ID {
		place[i] = int32(a)
		t.pi[a], t.set[a] = pi[i], int32(a)
	}
	links := make([]link, len(hints))
	for k, e := range hints {
		links[k] = link{spanning.Cost(t.f.Distance(int(e.I), int(e.J)), pi[e.I], pi[e.J]), place[e.I], place[e.J]}
	}
	// No edge from place a to another component costs less than known[a].
	known := slices.Repeat([]float64{math.Inf(-1)}, n)
	best := make([]link, n)
	parts := spanning.NewForest(n)
	tree := make([]spanning.Edge, 0, n-1)
	for len(tree) < n-1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := len(tree)
		t.sum(1, 0, n)
		for a := range best {
			best[a] = link{c: math.Inf(1)}
		}
		kept := links[:0]
		for _, l := range links {
			s, r := t.set[l.a], t.set[l.b]
			if s == r {
				continue
			}
			kept = append(kept, l)
			for _, s := range [2]int32{s, r} {
				if l.c < best[s].c {
					best[s] = l
				}
			}
		}
		links = kept
		for a := range n {
			b := &best[t.set[a]]
			if known[a] >= b.c {
				continue
			}
			t.search(a, 1, 0, n, math.Inf(-1), b)
			if t.err != nil {
				return nil, t.err
			}
			known[a] = b.c
		}
		for s, l := range best {
			if int(t.set[s]) != s && math.IsInf(l.c, 1) {
				continue
			}
			if parts.Join(int(l.a), int(l.b)) {
				tree = append(tree, spanning.Edge{I: t.tree.ID[l.a], J: t.tree.ID[l.b]})
			}
		}
		if len(tree) == before { // only costs that overflowed are left
			return prim(ctx, t.f, pi)
		}
		for a := range n {
			t.set[a] = int32(parts.Root(a))
		}
	}
	return tree, nil
}

// sum fills low and one, from the leaves up.
func (t *boruvka) sum(node, lo, hi int) {
	if l, r := 2*node, 2*node+1; node < t.tree.Leaves {
		mid := (lo + hi) / 2
		t.sum(l, lo, mid)
		t.sum(r, mid, hi)
		t.low[node], t.one[node] = min(t.low[l], t.low[r]), t.one[l]
		if t.one[l] != t.one[r] {
			t.one[node] = -1
		}
		return
	}
	t.low[node], t.one[node] = slices.Min(t.pi[lo:hi]), t.set[lo]
	for _, q := range t.set[lo:hi] {
		if q != t.set[lo] {
			t.one[node] = -1
		}
	}
}
