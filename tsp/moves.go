package tsp

// A chain t1 t2 t3 t4 ... t2k exchanges k edges of the tour: those to remove (t1t2, t3t4, ...) and
// to add (t2t3, t4t5, ...) take turns, and t2kt1 closes it (Lin and Kernighan 1973). Adding up the
// gains from the right t1, every partial sum is positive, so the candidates for t3, t5, ... are
// tried only while it is. Bentley (1992) has the neighbor lists and the don't-look bits.
//
// Read from t2 on, the tour is a sequence that ends with t1. A step of the chain begins with a new
// neighbor t3 of t2. Most often t4 stands before t3, and the part t2...t4 is turned round; t4 is
// then the first, and the next step goes on from there. Or t4 stands after t3: then t2...t3 would
// close to a cycle, which an edge t5t6 of it, removed in the same step, lets in again. 2-opt,
// or-opt and all 3-opt moves are chains of one or two steps.

const (
	// maxSteps is the most steps of a chain.
	maxSteps = 6

	// maxLets is for how many candidates for t5 a step with t4 after t3 is tried,
	// and letSteps how many steps at the beginning of a chain may be such.
	maxLets  = 5
	letSteps = 2
)

// widths is how many ways to go on are tried at each step, the last of them at
// all later ones: those of the largest gain if the chain need not be closed.
var widths = [...]int{5, 3, 1}

// gainSlack is the least gain of a chain as a fraction of the length that it removes, r. The first
// letSteps steps each add up to four distances to the gain, the others two, and the end one, each
// time rounding a number of at most r: by (4*2 + 2*4 + 1) * 2^-53 r in all. Whatever passes thus
// shortens the exact sum of the distances, so that no search goes in circles.
const gainSlack = 0x1p-48

// descend makes moves until the queue is empty or stop returns true, which is
// asked now and then, and returns the length saved.
func (s *search) descend(stop func() bool) (saved float64) {
	const pause = 16
	for h := 1; s.n > 0; h++ {
		if h%pause == 0 && stop() {
			return saved
		}
		a := s.pop()
		for dir := 0; dir < 2; {
			gain := s.chain(a, dir)
			if gain == 0 {
				dir++
				continue
			}
			s.apply()
			saved += gain
			dir = 0
		}
	}
	return saved
}

// chain finds one that begins with the edge from t1 to the next node in
// direction dir, and returns what it gains, or 0.
func (s *search) chain(t1 int32, dir int) float64 {
	t2, d := s.begin(t1, dir)
	if d == fixed {
		return 0
	}
	return s.extend(t2, d, d, 0)
}

// option is a step of a chain that could be made.
type option struct {
	gain  float64 // of the chain, but for the edge that closes it
	gone  float64 // the length it has removed
	first int32   // the new first node
	kind  step
	m, a  int32 // it concerns the first m nodes, and splits them into a and m-a
}

type step int8

const (
	turnOne   step = iota // turn all m
	turnBoth              // turn the a and the m-a
	swapParts             // the m-a come first
)

// turn adds the step to the chain.
func (s *search) turn(o option) {
	switch o.kind {
	case turnOne:
		s.turns = append(s.turns, o.m)
	case turnBoth:
		s.turns = append(s.turns, o.m, o.m-o.a, o.m, o.a)
	case swapParts:
		s.turns = append(s.turns, o.a, o.m, o.m-o.a)
	}
}

// extend looks for steps from the first node t2 on that make the chain gain, and returns what it
// gains then, or 0 and the chain as it was. It has removed the length gone and gained g.
func (s *search) extend(t2 int32, g, gone float64, depth int) float64 {
	var best options
	best.width = widths[min(depth, len(widths)-1)]
	lets := depth < letSteps
	near2, dist2 := s.candidates(t2)
	for h, t3 := range near2 {
		g1 := g - dist2[h]
		if g1 <= gainSlack*gone {
			break
		}
		if _, ok := s.joined(t2, t3); ok || t3 == s.end {
			continue
		}
		if !lets && !best.takes(g1+s.longest(t3)) {
			continue
		}
		y := s.index(t3)
		if y > 1 {
			t4 := s.at(y - 1)
			if d, ok := s.joined(t3, t4); ok {
				best.offer(option{g1 + d, gone + d, t4, turnOne, y, 0})
			}
		}
		if lets && int(y)+1 < len(s.order) {
			s.let(y, t3, g1, gone, &best)
		}
	}
	turns := len(s.turns)
	for _, o := range best.list[:best.n] {
		s.turn(o)
		if gain := o.gain - s.distance(o.first, s.end); gain > gainSlack*o.gone {
			return gain
		}
		if depth+1 < maxSteps {
			if gain := s.extend(o.first, o.gain, o.gone, depth+1); gain > 0 {
				return gain
			}
		}
		s.turns = s.turns[:turns]
	}
	return 0
}

// let offers the steps in which t4 stands after t3, which is at y. The chain has
// gained g with the edge to t3.
func (s *search) let(y, t3 int32, g, gone float64, best *options) {
	t4 := s.at(y + 1)
	d, ok := s.joined(t3, t4)
	if !ok {
		return
	}
	g, gone = g+d, gone+d
	near4, dist4 := s.candidates(t4)
	for h, t5 := range near4[:min(maxLets, len(near4))] {
		g2 := g - dist4[h]
		if g2 <= gainSlack*gone {
			return
		}
		if !best.takes(g2 + s.longest(t5)) {
			continue
		}
		z := s.index(t5)
		if z >= y {
			continue
		}
		if _, ok := s.joined(t4, t5); ok {
			continue
		}
		if z > 0 {
			t6 := s.at(z - 1)
			if d, ok := s.joined(t5, t6); ok {
				best.offer(option{g2 + d, gone + d, t6, turnBoth, y + 1, z})
			}
		}
		t6 := s.at(z + 1)
		if d, ok := s.joined(t5, t6); ok {
			best.offer(option{g2 + d, gone + d, t6, swapParts, y + 1, z + 1})
		}
	}
}

// longest returns the length of the longer edge at node a.
func (s *search) longest(a int32) float64 {
	p := s.pos[a]
	return max(s.edge[p], s.edge[s.wrap(p-1)])
}

// options are the best of those offered, up to width.
type options struct {
	list     [5]option
	n, width int
}

// takes reports whether an option of that gain is among them so far.
func (b *options) takes(gain float64) bool { return b.n < b.width || gain > b.list[b.n-1].gain }

func (b *options) offer(o option) {
	if !b.takes(o.gain) {
		return
	}
	k := b.n
	if k == b.width {
		k--
	} else {
		b.n++
	}
	for ; k > 0 && b.list[k-1].gain < o.gain; k-- {
		b.list[k] = b.list[k-1]
	}
	b.list[k] = o
}
