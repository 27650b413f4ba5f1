package tsp

import (
	"context"
	"math"
)

// hkLink is the cheapest edge found so far that leaves a component or a place.
type hkLink struct {
	c    float64
	a, b int32 // places
}

// search improves best, an edge from any place of the component of a, by the
// edges of a.
func (t *hkKD) search(op string, a, node, lo, hi int, bound float64, best *hkLink) error {
	if bound >= best.c || t.one[node] == t.set[a] {
		return nil
	}
	if node < t.leaves {
		l, r, mid := 2*node, 2*node+1, (lo+hi)/2
		bl, br := t.bound(a, l), t.bound(a, r)
		if bl <= br {
			if err := t.search(op, a, l, lo, mid, bl, best); err != nil {
				return err
			}
			return t.search(op, a, r, mid, hi, br, best)
		}
		if err := t.search(op, a, r, mid, hi, br, best); err != nil {
			return err
		}
		return t.search(op, a, l, lo, mid, bl, best)
	}
	d := t.e.Dim
	x := t.coords[a*d : (a+1)*d]
	for b := lo; b < hi; b++ {
		if t.set[b] == t.set[a] {
			continue
		}
		for k, v := range t.coords[b*d : (b+1)*d] {
			t.gaps[k] = math.Abs(v - x[k])
		}
		if hkCost(t.below(t.gaps), t.pi[a], t.pi[b]) >= best.c {
			continue
		}
		i, j := int(t.id[a]), int(t.id[b])
		dist := t.f.Distance(i, j)
		if err := hkCheck(op, i, j, dist); err != nil {
			return err
		}
		if c := hkCost(dist, t.pi[a], t.pi[b]); c < best.c {
			*best = hkLink{c, int32(a), int32(b)}
		}
	}
	return nil
}

// spanning returns a minimum spanning tree of all points under hkCost. The
// better the hints, edges that may belong to it, the less there is to search.
//
// In every round each component takes a cheapest edge that leaves it, and those
// that would close a cycle are dropped. Edges of equal cost do no harm, however
// they are chosen: a closed cycle of choices has one cost throughout, and
// without its dropped edge there is an order of the equal ones under which
// every choice that was kept is the unique best.
func (t *hkKD) spanning(ctx context.Context, op string, pi []float64, hints []hkEdge) ([]hkEdge, error) {
	n := len(t.id)
	place := make([]int32, n)
	for a, i := range t.id {
		place[i] = int32(a)
		t.pi[a], t.set[a] = pi[i], int32(a)
	}
	links := make([]hkLink, len(hints))
	for k, e := range hints {
		links[k] = hkLink{hkCost(t.f.Distance(int(e.i), int(e.j)), pi[e.i], pi[e.j]), place[e.i], place[e.j]}
	}
	t.lowest(1, 0, n)
	// No edge from place a to another component costs less than known[a].
	known := make([]float64, n)
	for a := range known {
		known[a] = math.Inf(-1)
	}
	best := make([]hkLink, n)
	root := make([]int32, n)
	for a := range root {
		root[a] = int32(a)
	}
	tree := make([]hkEdge, 0, n-1)
	for len(tree) < n-1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := len(tree)
		t.uniform(1, 0, n)
		for a := range best {
			best[a] = hkLink{c: math.Inf(1)}
		}
		kept := links[:0]
		for _, l := range links {
			s, r := t.set[l.a], t.set[l.b]
			if s == r {
				continue
			}
			kept = append(kept, l)
			if l.c < best[s].c {
				best[s] = l
			}
			if l.c < best[r].c {
				best[r] = l
			}
		}
		links = kept
		for a := range n {
			b := &best[t.set[a]]
			if known[a] >= b.c {
				continue
			}
			if err := t.search(op, a, 1, 0, n, math.Inf(-1), b); err != nil {
				return nil, err
			}
			known[a] = b.c
		}
		for s, l := range best {
			if int(t.set[s]) != s && math.IsInf(l.c, 1) {
				continue
			}
			u, v := hkFind(root, l.a), hkFind(root, l.b)
			if u != v {
				root[u] = v
				tree = append(tree, hkEdge{t.id[l.a], t.id[l.b]})
			}
		}
		if len(tree) == before { // only costs that overflowed are left
			return hkPrim(ctx, op, t.f, pi)
		}
		for a := range n {
			t.set[a] = hkFind(root, int32(a))
		}
	}
	return tree, nil
}

// lowest fills low.
func (t *hkKD) lowest(node, lo, hi int) float64 {
	m := math.Inf(1)
	if node < t.leaves {
		mid := (lo + hi) / 2
		m = min(t.lowest(2*node, lo, mid), t.lowest(2*node+1, mid, hi))
	} else {
		for _, p := range t.pi[lo:hi] {
			m = min(m, p)
		}
	}
	t.low[node] = m
	return m
}

// uniform fills one.
func (t *hkKD) uniform(node, lo, hi int) int32 {
	s := t.set[lo]
	if node < t.leaves {
		mid := (lo + hi) / 2
		l, r := t.uniform(2*node, lo, mid), t.uniform(2*node+1, mid, hi)
		if s = l; l != r {
			s = -1
		}
	} else {
		for _, q := range t.set[lo:hi] {
			if q != s {
				s = -1
			}
		}
	}
	t.one[node] = s
	return s
}

// hkFind returns the root of a, halving the way there.
func hkFind(root []int32, a int32) int32 {
	for root[a] != a {
		root[a] = root[root[a]]
		a = root[a]
	}
	return a
}
