package tsp

import "github.com/metricdp/metricdp/metric"

// search holds a tour under local search, as an array with the place of every
// node. Nodes are the points in the order of the first tour. A path is a closed
// tour through one more node, the last, at distance 0 from all others.
type search struct {
	f     metric.Finite
	point []int32 // node -> point of f
	dummy int32   // the node that closes a path, or -1

	k    int
	near []int32   // node by node: candidates, the nearest first
	dist []float64 // their distances

	order []int32   // place -> node
	pos   []int32   // node -> place
	edge  []float64 // place -> distance from the node there to the next

	queue   []int32 // a ring of the nodes worth a look: don't-look bits unset
	waiting []bool
	head, n int

	log []span // the reversals made, so that they can be undone
}

// span is the run of places from i to j, both included, around the end of the
// array if j < i.
type span struct{ i, j int32 }

// gainSlack is the least gain of a move as a fraction of the length that it
// removes. A gain is computed from at most six distances, by five additions of
// numbers below twice the length removed, r, each off by at most 2^-53 * 2r:
// by 10 * 2^-53 r in all. Whatever passes thus shortens the exact sum of the
// distances, so that no search goes in circles.
const gainSlack = 0x1p-48

// newSearch starts from a valid order with the candidates of f, all nodes queued.
func newSearch(f metric.Finite, order []int, kind Kind, c *candidates) *search {
	n := len(order)
	nodes := n
	s := &search{f: f, dummy: -1, k: c.k, point: make([]int32, n)}
	if kind == Path {
		s.dummy = int32(n)
		nodes++
	}
	s.order, s.pos, s.edge = make([]int32, nodes), make([]int32, nodes), make([]float64, nodes)
	s.queue, s.waiting = make([]int32, nodes), make([]bool, nodes)
	for v := range nodes {
		s.order[v], s.pos[v] = int32(v), int32(v)
	}
	node := make([]int32, n)
	for v, i := range order {
		s.point[v], node[i] = int32(i), int32(v)
	}
	s.near, s.dist = make([]int32, n*c.k), make([]float64, n*c.k)
	for v, i := range order {
		id, d := c.lists(i)
		copy(s.dist[v*c.k:], d)
		for h, j := range id {
			s.near[v*c.k+h] = node[j]
		}
	}
	for v := range nodes {
		s.edge[v] = s.distance(int32(v), int32((v+1)%nodes))
		s.push(int32(v))
	}
	return s
}

// tour returns the points in order; a path begins after its extra node.
func (s *search) tour() []int {
	out, at := make([]int, 0, len(s.point)), 0
	if s.dummy >= 0 {
		at = int(s.pos[s.dummy]) + 1
	}
	for h := range s.point {
		out = append(out, int(s.point[s.order[(at+h)%len(s.order)]]))
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

// candidates returns the candidates of node a, but for the extra one, with
// distances.
func (s *search) candidates(a int32) ([]int32, []float64) {
	if a == s.dummy {
		return nil, nil
	}
	lo, hi := int(a)*s.k, (int(a)+1)*s.k
	return s.near[lo:hi], s.dist[lo:hi]
}

// step returns the node after a, forward (0) or backward (1), and its distance.
func (s *search) step(a int32, dir int) (int32, float64) {
	p := int(s.pos[a])
	if dir == 0 {
		d := s.edge[p]
		if p++; p == len(s.order) {
			p = 0
		}
		return s.order[p], d
	}
	if p--; p < 0 {
		p = len(s.order) - 1
	}
	return s.order[p], s.edge[p]
}

// between reports whether b lies on the way from a to c, ends included.
func (s *search) between(a, b, c int32, dir int) bool {
	if dir != 0 {
		a, c = c, a
	}
	i, j, k := s.pos[a], s.pos[b], s.pos[c]
	if i <= k {
		return i <= j && j <= k
	}
	return i <= j || j <= k
}

// reverse turns round the run of places [i, j] or, where that is shorter, the
// rest of the tour, which gives the same cycle.
func (s *search) reverse(i, j int) {
	n := len(s.order)
	m := j - i + 1
	if m <= 0 {
		m += n
	}
	if 2*m > n {
		i, j = j+1, i-1
		if i == n {
			i = 0
		}
		if j < 0 {
			j = n - 1
		}
	}
	s.flip(i, j)
}

// flip turns round the run of places [i, j] and logs it.
func (s *search) flip(i, j int) {
	s.log = append(s.log, span{int32(i), int32(j)})
	s.turn(i, j)
}

func (s *search) turn(i, j int) {
	m := j - i + 1
	if m <= 0 {
		m += len(s.order)
	}
	order, pos, edge := s.order, s.pos, s.edge
	before := i - 1
	if before < 0 {
		before = len(order) - 1
	}
	after := j
	// Of m places the m-1 edges between them are turned round too.
	for h := m; h > 1; h -= 2 {
		a, b := order[i], order[j]
		order[i], order[j] = b, a
		pos[b], pos[a] = int32(i), int32(j)
		if j--; j < 0 {
			j = len(order) - 1
		}
		edge[i], edge[j] = edge[j], edge[i]
		if i++; i == len(order) {
			i = 0
		}
	}
	edge[before] = s.distance(order[before], order[(before+1)%len(order)])
	edge[after] = s.distance(order[after], order[(after+1)%len(order)])
}

// undo takes back the reversals in the log.
func (s *search) undo() {
	for h := len(s.log) - 1; h >= 0; h-- {
		s.turn(int(s.log[h].i), int(s.log[h].j))
	}
	s.log = s.log[:0]
}

// exchange replaces the edges ab and cd of the tour, b next to a on the same
// side as d to c, by ac and bd.
func (s *search) exchange(a, b, c, d int32) {
	if next, _ := s.step(a, 0); next == b {
		s.reverse(int(s.pos[b]), int(s.pos[c]))
	} else {
		s.reverse(int(s.pos[a]), int(s.pos[d]))
	}
}

// swap exchanges the neighboring runs b...c and d...e of the tour a, b...c,
// d...e, f. Swapping any two of the three runs that the edges ab, cd and ef
// leave comes to the same cycle, so the longest stays.
func (s *search) swap(a, b, c, d, e, f int32) {
	dir := 0
	if next, _ := s.step(a, 0); next != b {
		dir = 1
	}
	x, y, z := s.run(b, c, dir), s.run(d, e, dir), s.run(f, a, dir)
	switch {
	case x >= y && x >= z:
		a, b, c, d, e, f = c, d, e, f, a, b
	case y >= z:
		a, b, c, d, e, f = e, f, a, b, c, d
	}
	s.exchange(a, b, e, f) // a, e...d, c...b, f
	s.exchange(a, e, d, c) // a, d...e, c...b, f
	s.exchange(e, c, b, f)
}

// run returns the number of steps from a to b in direction dir.
func (s *search) run(a, b int32, dir int) int {
	m := int(s.pos[b] - s.pos[a])
	if dir != 0 {
		m = -m
	}
	if m < 0 {
		m += len(s.order)
	}
	return m
}

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
