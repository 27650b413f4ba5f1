package tsp

import (
	"cmp"
	"slices"
)

// fixed is the length of an edge that a search must keep: it stands for a part of
// the tour that the search does not see.
const fixed = -1

// regions hands out parts of a large tour.
type regions struct {
	s     *search
	seen  []bool  // node -> it was in a region of this round
	place []int32 // node -> its node in the region under way, or -1
	next  int
}

func newRegions(s *search) *regions {
	n := len(s.order)
	return &regions{s: s, seen: make([]bool, n), place: slices.Repeat([]int32{-1}, n)}
}

// take returns up to m nodes around the next one that no region of this round
// has had, in the order of the tour.
func (r *regions) take(m int) []int32 {
	s := r.s
	for r.next < len(r.seen) && r.seen[r.next] {
		r.next++
	}
	if r.next == len(r.seen) {
		clear(r.seen)
		r.next = 0
	}
	ball := []int32{int32(r.next)}
	add := func(v int32) {
		if r.place[v] < 0 && len(ball) < m {
			r.place[v] = 0
			ball = append(ball, v)
		}
	}
	r.place[r.next] = 0
	for k := 0; k < len(ball); k++ {
		v := ball[k]
		r.seen[v] = true
		p := s.pos[v]
		add(s.order[s.wrap(p+1)])
		add(s.order[s.wrap(p-1)])
		near, _ := s.candidates(v)
		for _, w := range near {
			add(w)
		}
	}
	slices.SortFunc(ball, func(a, b int32) int { return cmp.Compare(s.pos[a], s.pos[b]) })
	return ball
}

// search returns the search of the nodes of a region: each is numbered by its
// place in it.
func (r *regions) search(ball []int32) *search {
	s, m := r.s, len(ball)
	t := &search{f: s.f, dummy: -1, point: make([]int32, m), start: make([]int32, m+1),
		order: make([]int32, m), pos: make([]int32, m), edge: make([]float64, m),
		queue: make([]int32, m), waiting: make([]bool, m)}
	for k, v := range ball {
		r.place[v] = int32(k)
	}
	for k, v := range ball {
		if v == s.dummy {
			t.dummy = int32(k)
		} else {
			t.point[k] = s.point[v]
		}
		t.order[k], t.pos[k] = int32(k), int32(k)
		t.edge[k] = fixed
		if p := s.pos[v]; s.order[s.wrap(p+1)] == ball[(k+1)%m] {
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
	for _, v := range ball {
		r.place[v] = -1
	}
	return t
}

// merge puts the order of t, which began as the nodes of ball, into the tour.
func (r *regions) merge(ball []int32, t *search) {
	s, m := r.s, len(ball)
	n := int32(len(s.order))
	var b []block
	start := func(k int32) int32 { // the place after node k of the region, and the end before the next
		return s.pos[ball[k]]
	}
	for k := range m {
		a, c := t.order[k], t.order[(k+1)%m]
		p := start(a)
		b = append(b, block{p, p})
		if t.edge[k] >= 0 {
			continue
		}
		q := start(c)
		if int(a)+1 == int(c) || int(a)+1 == m && c == 0 { // forward
			if q < p {
				q += n
			}
			b = append(b, block{p + 1, q - 1})
		} else {
			if q > p {
				p += n
			}
			b = append(b, block{p - 1, q + 1})
		}
	}
	// Runs that follow one another are one.
	s.put(b)
	for s.n > 0 {
		s.pop()
	}
}
