package tsp

// gainSlack is the least gain of a chain as a fraction of the length that it
// removes.
const gainSlack = 0x1p-46

const (
	maxTurnsX = 24
)

var breadths = []int{5, 3, 1}
var breadthsCut = []int{5, 3, 0}
var maxDepth = 12

type option struct {
	g, gone float64
	c       int32 // turn
	a, m    int32 // turn: m; others split m at a
	kind    int8
	front   int32
}

func (s *search) descend(stop func() bool) (saved float64) {
	const pause = 256
	for h := 1; s.n > 0; h++ {
		if h%pause == 0 && stop() {
			return saved
		}
		a := s.pop()
		for {
			g := s.from(a, 0)
			if g == 0 {
				g = s.from(a, 1)
			}
			if g == 0 {
				break
			}
			if !s.apply() {
				break
			}
			saved += g
		}
	}
	return saved
}

func (s *search) from(t1 int32, dir int) float64 {
	t2, d := s.begin(t1, dir)
	if d == fixed {
		return 0
	}
	return s.chain(t2, d, d, 0)
}

func (s *search) chain(t2 int32, g, gone float64, depth int) float64 {
	var best [8]option
	n := 0
	width := breadths[min(depth, len(breadths)-1)]
	cut := breadthsCut[min(depth, len(breadthsCut)-1)]
	offer := func(o option) {
		if n == width {
			if o.g <= best[n-1].g {
				return
			}
			n--
		}
		k := n
		for k > 0 && best[k-1].g < o.g {
			best[k] = best[k-1]
			k--
		}
		best[k] = o
		n++
	}
	near2, dist2 := s.candidates(t2)
	last := int32(len(s.order) - 1)
	for h, t3 := range near2 {
		g1 := g - dist2[h]
		if g1 <= gainSlack*gone {
			break
		}
		if _, ok := s.joined(t2, t3); ok || t3 == s.end {
			continue
		}
		y := s.index(t3)
		if y > 1 {
			t4 := s.at(y - 1)
			if d, ok := s.joined(t4, t3); ok {
				offer(option{g: g1 + d, gone: gone + d, m: y, front: t4})
			}
		}
		if cut == 0 || y >= last {
			continue
		}
		t4 := s.at(y + 1)
		d34, ok := s.joined(t3, t4)
		if !ok {
			continue
		}
		near4, dist4 := s.candidates(t4)
		for k, t5 := range near4[:min(cut, len(near4))] {
			g2 := g1 + d34 - dist4[k]
			if g2 <= gainSlack*(gone+d34) {
				break
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
				if d, ok := s.joined(t6, t5); ok {
					offer(option{g: g2 + d, gone: gone + d34 + d, kind: 1, a: z, m: y + 1, front: t6})
				}
			}
			t6 := s.at(z + 1)
			if d, ok := s.joined(t6, t5); ok {
				offer(option{g: g2 + d, gone: gone + d34 + d, kind: 2, a: z + 1, m: y + 1, front: t6})
			}
		}
	}
	turns := len(s.turns)
	for _, o := range best[:n] {
		gain := o.g - s.distance(o.front, s.end)
		switch o.kind {
		case 0:
			s.turns = append(s.turns, o.m)
		case 1:
			s.turns = append(s.turns, o.m, o.m-o.a, o.m, o.a)
		case 2:
			s.turns = append(s.turns, o.a, o.m, o.m-o.a)
		}
		if gain > gainSlack*o.gone {
			return gain
		}
		if depth+1 < maxDepth && len(s.turns) < maxTurns {
			if gain := s.chain(o.front, o.g, o.gone, depth+1); gain > 0 {
				return gain
			}
		}
		s.turns = s.turns[:turns]
	}
	return 0
}

var maxTurns = 24
