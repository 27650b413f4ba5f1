package tsp

import (
	"slices"

	"github.com/metricdp/metricdp/metric"
)

// search holds a tour under local search, as an array with the place of every
// node. Nodes are the points in the order of the first tour. A path is a closed
// tour through one more node, the last, at distance 0 from all others.
type search struct {
	f     metric.Finite
	point []int32 // node -> point of f
	dummy int32   // the node that closes a path, or -1

	start []int32   // node -> the first of its candidates
	near  []int32   // candidates, the best first
	dist  []float64 // their distances

	order []int32   // place -> node
	pos   []int32   // node -> place
	edge  []float64 // place -> distance from the node there to the next

	queue   []int32 // a ring of the nodes worth a look: don't-look bits unset
	waiting []bool
	head, n int

	// Of the chain under way: the tour is read from the node after end, in
	// direction dir, as a sequence that ends with end; turns are the lengths of
	// the beginnings of it that the chain has turned round, one after the other.
	end   int32
	base  int32 // the place after that of end, or before
	dir   int   // 0 forward, 1 backward
	turns []int32

	blocks []block // scratch of apply
	nodes  []int32 // scratch of put
	edges  []float64

	logging bool
	log     []change
	oldNode []int32 // what the changes have overwritten
	oldEdge []float64
}

// block is a run of places or of the sequence of a chain, from after to where it
// is turned round; both ends belong to it.
type block struct{ from, to int32 }

func (b block) len() int32 {
	if b.from > b.to {
		return b.from - b.to + 1
	}
	return b.to - b.from + 1
}

// change is a run of m places from at that was overwritten.
type change struct{ at, m int32 }

// newTourOf returns a search of n nodes, none of them queued and without
// candidates, in the order of their numbers.
func newTourOf(f metric.Finite, n int) *search {
	s := &search{f: f, dummy: -1, point: make([]int32, n), start: make([]int32, n+1),
		order: make([]int32, n), pos: make([]int32, n), edge: make([]float64, n),
		queue: make([]int32, n), waiting: make([]bool, n)}
	for v := range int32(n) {
		s.order[v], s.pos[v] = v, v
	}
	return s
}

// newSearch starts from a valid order with the candidates of f, all nodes queued.
func newSearch(f metric.Finite, order []int, kind Kind, c *candidates) *search {
	n := len(order)
	nodes := n
	if kind == Open {
		nodes++
	}
	s := newTourOf(f, nodes)
	if kind == Open {
		s.dummy = int32(n)
	}
	node := make([]int32, n)
	for v, i := range order {
		s.point[v], node[i] = int32(i), int32(v)
	}
	s.near, s.dist = make([]int32, 0, len(c.id)), make([]float64, 0, len(c.id))
	for v := range nodes {
		if v < n {
			id, d := c.lists(order[v])
			s.dist = append(s.dist, d...)
			for _, j := range id {
				s.near = append(s.near, node[j])
			}
		}
		s.start[v+1] = int32(len(s.near))
		s.edge[v] = s.distance(int32(v), int32((v+1)%nodes))
		s.push(int32(v))
	}
	return s
}

// tour returns the points in order; a path begins at the lower of its ends.
func (s *search) tour() []int {
	out, at := make([]int, 0, len(s.order)), 0
	if s.dummy >= 0 {
		at = int(s.pos[s.dummy]) + 1
	}
	for h := range s.order {
		if v := s.order[(at+h)%len(s.order)]; v != s.dummy {
			out = append(out, int(s.point[v]))
		}
	}
	if s.dummy >= 0 && out[0] > out[len(out)-1] {
		slices.Reverse(out)
	}
	return out
}

// distance asks for each pair one way round only, as the candidates do: a
// search ends even where f is not symmetric to the last bit.
func (s *search) distance(a, b int32) float64 {
	if a == s.dummy || b == s.dummy {
		return 0
	}
	return ordered(s.f, int(s.point[a]), int(s.point[b]))
}

// candidates returns the candidates of node a, but for the extra one, with distances.
func (s *search) candidates(a int32) ([]int32, []float64) {
	lo, hi := s.start[a], s.start[a+1]
	return s.near[lo:hi], s.dist[lo:hi]
}

// wrap returns the place that p counts, from -n to 2n-1.
func (s *search) wrap(p int32) int32 {
	if p < 0 {
		return p + int32(len(s.order))
	}
	if p >= int32(len(s.order)) {
		return p - int32(len(s.order))
	}
	return p
}

// begin starts a chain at the edge from t1 to the node after it in direction
// dir, which it returns with its distance.
func (s *search) begin(t1 int32, dir int) (t2 int32, d float64) {
	s.end, s.dir, s.turns = t1, dir, s.turns[:0]
	p := s.pos[t1]
	if dir == 0 {
		s.base = s.wrap(p + 1)
		return s.order[s.base], s.edge[p]
	}
	s.base = s.wrap(p - 1)
	return s.order[s.base], s.edge[s.base]
}

// index returns where in the sequence node a is.
func (s *search) index(a int32) int32 {
	x := s.pos[a] - s.base
	if s.dir != 0 {
		x = -x
	}
	if x < 0 {
		x += int32(len(s.order))
	}
	for _, l := range s.turns {
		if x < l {
			x = l - 1 - x
		}
	}
	return x
}

// at is the inverse of index.
func (s *search) at(x int32) int32 {
	for h := len(s.turns) - 1; h >= 0; h-- {
		if l := s.turns[h]; x < l {
			x = l - 1 - x
		}
	}
	if s.dir != 0 {
		x = -x
	}
	return s.order[s.wrap(s.base+x)]
}

// joined returns the length of the edge between the nodes a and b if they are neighbors in the
// array, and otherwise ok = false: then the chain has added the edge, or there is none.
func (s *search) joined(a, b int32) (d float64, ok bool) {
	p, q := s.pos[a], s.pos[b]
	switch n := int32(len(s.order)); q - p {
	case 1, 1 - n:
		return s.edge[p], s.edge[p] != fixed
	case -1, n - 1:
		return s.edge[q], s.edge[q] != fixed
	}
	return 0, false
}

// apply makes the chain's turns those of the tour, and queues the ends of the
// edges that it exchanges.
func (s *search) apply() {
	b := append(s.blocks[:0], block{0, int32(len(s.order)) - 1})
	for _, l := range s.turns {
		k := 0 // the blocks before are the first l nodes
		for ; l > 0; k++ {
			if b[k].len() > l {
				c := b[k]
				b = slices.Insert(b, k, c)
				if c.from <= c.to {
					b[k].to, b[k+1].from = c.from+l-1, c.from+l
				} else {
					b[k].to, b[k+1].from = c.from-l+1, c.from-l
				}
			}
			l -= b[k].len()
		}
		turn(b[:k])
	}
	for k, c := range b {
		if s.dir == 0 {
			b[k] = block{s.base + c.from, s.base + c.to}
		} else {
			b[k] = block{s.base - c.from, s.base - c.to}
		}
	}
	s.blocks = b
	s.put(b)
}

// turn reads a sequence of blocks backward.
func turn(b []block) {
	slices.Reverse(b)
	for k, c := range b {
		b[k] = block{c.to, c.from}
	}
}

// put makes the tour the sequence b of runs of places, which together are all
// and may count on beyond either end of the array. The longest run stays where
// it is. The ends of all are queued. It returns the length added.
func (s *search) put(b []block) (added float64) {
	stay := 0
	for k, c := range b {
		if c.len() > b[stay].len() {
			stay = k
		}
		added -= s.edge[s.wrap(max(c.from, c.to))]
	}
	if c := b[stay]; c.from > c.to { // the same tour, the other way round
		turn(b)
		stay = len(b) - 1 - stay
	}
	s.nodes, s.edges = s.nodes[:0], s.edges[:0]
	last := s.order[s.wrap(b[stay].to)]
	add := func(p int32) { // the edge from last to the node at place p
		a := s.order[p]
		s.push(last)
		s.push(a)
		d := s.distance(last, a)
		added += d
		s.edges = append(s.edges, d)
	}
	for k := range b[1:] {
		c := b[(stay+1+k)%len(b)]
		p, q := s.wrap(c.from), s.wrap(c.to)
		add(p)
		for s.nodes = append(s.nodes, s.order[p]); p != q; s.nodes = append(s.nodes, s.order[p]) {
			next := s.wrap(p + 1)
			if c.from > c.to {
				next = s.wrap(p - 1)
				p = next
			}
			s.edges = append(s.edges, s.edge[p])
			p = next
		}
		last = s.order[q]
	}
	add(s.wrap(b[stay].from))

	at := s.wrap(s.wrap(b[stay].to) + 1)
	if s.logging {
		s.log = append(s.log, change{at, int32(len(s.nodes))})
		s.oldEdge = append(s.oldEdge, s.edge[s.wrap(at-1)])
		for h := range s.nodes {
			p := s.wrap(at + int32(h))
			s.oldNode, s.oldEdge = append(s.oldNode, s.order[p]), append(s.oldEdge, s.edge[p])
		}
	}
	s.write(at, s.nodes, s.edges)
	return added
}

// write puts nodes at the places from at on, and edges from the one before.
func (s *search) write(at int32, nodes []int32, edges []float64) {
	s.edge[s.wrap(at-1)] = edges[0]
	for h, a := range nodes {
		s.order[at], s.pos[a], s.edge[at] = a, at, edges[h+1]
		if at++; at == int32(len(s.order)) {
			at = 0
		}
	}
}

// undo takes back the changes in the log.
func (s *search) undo() {
	for h := len(s.log) - 1; h >= 0; h-- {
		c := s.log[h]
		k, l := int32(len(s.oldNode))-c.m, int32(len(s.oldEdge))-c.m-1
		s.write(c.at, s.oldNode[k:], s.oldEdge[l:])
		s.oldNode, s.oldEdge = s.oldNode[:k], s.oldEdge[:l]
	}
	s.forget()
}

// forget empties the log.
func (s *search) forget() { s.log, s.oldNode, s.oldEdge = s.log[:0], s.oldNode[:0], s.oldEdge[:0] }

// push puts a node in the queue unless it is there.
func (s *search) push(a int32) {
	if s.waiting[a] {
		return
	}
	s.waiting[a] = true
	at := s.head + s.n
	if at >= len(s.queue) {
		at -= len(s.queue)
	}
	s.queue[at] = a
	s.n++
}

func (s *search) pop() int32 {
	a := s.queue[s.head]
	if s.head++; s.head == len(s.queue) {
		s.head = 0
	}
	s.n--
	s.waiting[a] = false
	return a
}
