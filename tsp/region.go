package tsp

import (
	"cmp"
	"slices"
)

// fixed is the length of an edge that stays: it stands for a part of the tour outside a region.
const fixed = -1

// regions cuts a large tour into searches of a few nodes, which it takes time in
// proportion to their number, not to that of all, to change.
type regions struct {
	s     *search
	had   []bool  // node -> it was in a region of this round
	least int     // all nodes before were
	place []int32 // node -> its place in the region under way, or -1
}

func newRegions(s *search) *regions {
	n := len(s.order)
	return &regions{s: s, had: make([]bool, n), place: slices.Repeat([]int32{-1}, n)}
}

// next returns up to m nodes, in the order of the tour: the first that no region
// of this round has had and those that it leads to, step by step.
func (r *regions) next(m int) []int32 {
	s := r.s
	for r.least < len(r.had) && r.had[r.least] {
		r.least++
	}
	if r.least == len(r.had) {
		clear(r.had)
		r.least = 0
	}
	nodes := make([]int32, 0, m)
	add := func(v int32) {
		if r.place[v] < 0 && len(nodes) < m {
			r.place[v], r.had[v] = 0, true
			nodes = append(nodes, v)
		}
	}
	add(int32(r.least))
	for k := 0; k < len(nodes) && len(nodes) < m; k++ {
		p := s.pos[nodes[k]]
		add(s.order[s.wrap(p+1)])
		add(s.order[s.wrap(p-1)])
		near, _ := s.candidates(nodes[k])
		for _, v := range near {
			add(v)
		}
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Compare(s.pos[a], s.pos[b]) })
	return nodes
}

// search returns the search among nodes, of which it numbers the k-th k. What
// lies between two of them that are not neighbors becomes a fixed edge.
func (r *regions) search(nodes []int32) *search {
	s, m := r.s, len(nodes)
	t := newTourOf(s.f, m)
	most := m * (1 + len(s.near)/len(s.order))
	t.near, t.dist = make([]int32, 0, most), make([]float64, 0, most)
	for k, v := range nodes {
		r.place[v] = int32(k)
	}
	for k, v := range nodes {
		t.point[k] = s.point[v]
		if v == s.dummy {
			t.dummy = int32(k)
		}
		t.edge[k] = fixed
		if p := s.pos[v]; s.order[s.wrap(p+1)] == nodes[(k+1)%m] {
			t.edge[k] = s.edge[p]
		}
		near, dist := s.candidates(v)
		for h, w := range near {
			if j := r.place[w]; j >= 0 {
				t.near, t.dist = append(t.near, j), append(t.dist, dist[h])
			}
		}
		t.start[k+1] = int32(len(t.near))
	}
	for _, v := range nodes {
		r.place[v] = -1
	}
	return t
}

// merge gives the nodes the order that they have in t, the search among them.
func (r *regions) merge(nodes []int32, t *search) {
	s, m := r.s, int32(len(nodes))
	n := int32(len(s.order))
	b := s.blocks[:0]
	for k, a := range t.order {
		p := s.pos[nodes[a]]
		b = append(b, block{p, p})
		if t.edge[k] != fixed {
			continue
		}
		// What the fixed edge stands for is read forward or backward.
		if c := t.order[(k+1)%len(t.order)]; c == (a+1)%m {
			q := s.pos[nodes[c]]
			if q < p {
				q += n
			}
			b = append(b, block{p + 1, q - 1})
		} else {
			q := s.pos[nodes[c]]
			if p < q {
				p += n
			}
			b = append(b, block{p - 1, q + 1})
		}
	}
	s.blocks = b
	s.put(b)
	for s.n > 0 { // nothing has changed that t has not looked at
		s.pop()
	}
}
