package tsp

// The moves exchange two or three edges of the tour: those at the ends of a
// chain t1 t2 t3 t4 (t5 t6) in which edges to remove (t1t2, t3t4, t5t6) and to
// add (t2t3, t4t5) take turns and the last to add closes it. 2-opt, or-opt
// (moving a run of points elsewhere, either way round) and the other 3-opt
// moves are of this form, the first levels of Lin and Kernighan (1973). Adding
// up the gains along the chain from the right t1, every partial sum is
// positive, so the candidates are tried only while it is. Bentley (1992) has
// the neighbor lists and the don't-look bits.

// move is a chain. "Follows" is meant in the direction in which t2 follows t1.
type move struct {
	kind moveKind
	t    [6]int32 // t1 to t6
	gain float64
}

type moveKind int

const (
	noMove moveKind = iota
	// twoOpt: t3 follows t4. The run t2...t4 is turned round.
	twoOpt
	// twoTwice: twoOpt, and then again with t1t4, the edge that closed it, and
	// t5t6.
	twoTwice
	// The other two have t4 follow t3, so that t2...t3 falls off as a cycle
	// until t5t6, an edge of it, lets it in again:
	// turnBoth: t5 follows t6. t2...t6 and t5...t3 are both turned round.
	turnBoth
	// swapRuns: t6 follows t5. t2...t5 and t6...t3 change places.
	swapRuns
)

// breadth is how many candidates for t5 are tried; of t3 all are.
const breadth = 5

// descend makes moves until the queue is empty or stop returns true, which is
// asked now and then, and returns the length saved.
func (s *search) descend(stop func() bool) (saved float64) {
	const pause = 256
	for h := 1; s.n > 0; h++ {
		if h%pause == 0 && stop() {
			return saved
		}
		a := s.pop()
		for {
			var m move
			s.bestFrom(a, 0, &m)
			s.bestFrom(a, 1, &m)
			if m.kind == noMove {
				break
			}
			s.apply(m)
			saved += m.gain
		}
	}
	return saved
}

// bestFrom looks for a better move than m among those in which t2 follows t1
// in direction dir.
func (s *search) bestFrom(t1 int32, dir int, m *move) {
	t2, d12 := s.step(t1, dir)
	near2, dist2 := s.candidates(t2)
	for h, t3 := range near2 {
		g1 := d12 - dist2[h]
		if g1 <= gainSlack*d12 { // as for t3 = t1, where it is 0
			return
		}
		if t4, d34 := s.step(t3, 1-dir); t4 != t2 {
			s.bestTurned(t1, t2, t3, t4, d12+d34, g1+d34, dir, m)
		}
		t4, d34 := s.step(t3, dir)
		s.bestCut(t1, t2, t3, t4, d12+d34, g1+d34, dir, m)
	}
}

// bestTurned continues the chain where t3 follows t4. So far it has removed
// the length gone and gained g.
func (s *search) bestTurned(t1, t2, t3, t4 int32, gone, g float64, dir int, m *move) {
	s.offer(m, twoOpt, [6]int32{t1, t2, t3, t4}, gone, g-s.distance(t4, t1))
	near4, dist4 := s.candidates(t4)
	for h, t5 := range near4[:min(breadth, len(near4))] {
		g2 := g - dist4[h]
		if g2 <= gainSlack*gone {
			return
		}
		if t5 == t3 || t5 == t1 {
			continue
		}
		// t6 is the point before t5 once t2...t4 is turned round.
		side := 1 - dir
		if s.between(t2, t5, t4, dir) {
			side = dir
		}
		if t6, d56 := s.step(t5, side); t6 != t4 {
			s.offer(m, twoTwice, [6]int32{t1, t2, t3, t4, t5, t6}, gone+d56, g2+d56-s.distance(t6, t1))
		}
	}
}

// bestCut continues the chain where t4 follows t3.
func (s *search) bestCut(t1, t2, t3, t4 int32, gone, g float64, dir int, m *move) {
	near4, dist4 := s.candidates(t4)
	for h, t5 := range near4[:min(breadth, len(near4))] {
		g2 := g - dist4[h]
		if g2 <= gainSlack*gone {
			return
		}
		if t5 == t3 || !s.between(t2, t5, t3, dir) {
			continue
		}
		t6, d56 := s.step(t5, dir)
		s.offer(m, swapRuns, [6]int32{t1, t2, t3, t4, t5, t6}, gone+d56, g2+d56-s.distance(t6, t1))
		if t5 != t2 {
			t6, d56 = s.step(t5, 1-dir)
			s.offer(m, turnBoth, [6]int32{t1, t2, t3, t4, t5, t6}, gone+d56, g2+d56-s.distance(t6, t1))
		}
	}
}

// offer makes m the chain t, if it gains more, and more than rounding may
// feign.
func (s *search) offer(m *move, kind moveKind, t [6]int32, gone, gain float64) {
	if gain > m.gain && gain > gainSlack*gone {
		*m = move{kind, t, gain}
	}
}

// apply carries out a move and queues its ends.
func (s *search) apply(m move) {
	t1, t2, t3, t4, t5, t6 := m.t[0], m.t[1], m.t[2], m.t[3], m.t[4], m.t[5]
	ends := m.t[:]
	switch m.kind {
	case twoOpt:
		s.exchange(t1, t2, t4, t3)
		ends = ends[:4]
	case twoTwice:
		s.exchange(t1, t2, t4, t3)
		s.exchange(t1, t4, t6, t5)
	case turnBoth:
		s.exchange(t1, t2, t6, t5)
		s.exchange(t2, t5, t3, t4)
	case swapRuns:
		s.swap(t1, t2, t5, t6, t3, t4)
	}
	for _, a := range ends {
		s.push(a)
	}
}
