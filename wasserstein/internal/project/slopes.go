package project

import (
	"math"

	"github.com/metricdp/metricdp/internal/exact"
)

// slopes holds convex piecewise linear functions on [0, +Inf), each as the list of its linear
// pieces (slope, length) from left to right. Lists are treaps by position; a list is the number of
// its root, 0 the empty one. In order of n = all pieces, an operation costs O(log n), and all
// unions together O(n log n), as each is a union of two ordered sets (Brown and Tarjan 1979).
//
// Slopes are exact (see grid), so that equal ones are seen to be equal.
type slopes struct{ at []piece }

type piece struct {
	slope       exact.DD
	add         exact.DD // to be added to the slopes of both children
	length, sum float64  // of the piece, of it and both children
	left, right int32
}

// one returns the list of one piece.
func (s *slopes) one(slope exact.DD, length float64) int32 {
	if len(s.at) == 0 {
		s.at = append(s.at, piece{}) // the empty list
	}
	s.at = append(s.at, piece{slope: slope, length: length, sum: length})
	return int32(len(s.at) - 1)
}

// priority makes the shape of the treap that of a random search tree: the
// mixing function of splitmix64. It moves nothing but the running time.
func priority(i int32) uint64 {
	z := uint64(i) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// raise adds d to all slopes of list i.
func (s *slopes) raise(i int32, d exact.DD) {
	if i != 0 {
		p := &s.at[i]
		p.slope, p.add = p.slope.Add(d), p.add.Add(d)
	}
}

// open passes what is to be added on to the children, and returns the root.
func (s *slopes) open(i int32) *piece {
	p := &s.at[i]
	if p.add != (exact.DD{}) {
		s.raise(p.left, p.add)
		s.raise(p.right, p.add)
		p.add = exact.DD{}
	}
	return p
}

// attach makes l and r the children of i.
func (s *slopes) attach(i, l, r int32) int32 {
	p := &s.at[i]
	p.left, p.right = l, r
	p.sum = s.at[l].sum + p.length + s.at[r].sum
	return i
}

// cut splits list i at position m > 0, which may lie within a piece.
func (s *slopes) cut(i int32, m float64) (a, b int32) {
	if i == 0 {
		return 0, 0
	}
	p := s.open(i)
	l, r, before := p.left, p.right, s.at[p.left].sum
	switch {
	case m == before:
		return l, s.attach(i, 0, r)
	case m < before:
		a, b = s.cut(l, m)
		return a, s.attach(i, b, r)
	case m-before >= p.length:
		a, b = s.cut(r, m-before-p.length)
		return s.attach(i, l, a), b
	}
	rest := s.one(p.slope, p.length-(m-before))
	s.at[i].length = m - before // p may have moved
	return s.attach(i, l, 0), s.join(rest, r)
}

// join puts list b behind list a.
func (s *slopes) join(a, b int32) int32 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	case priority(a) > priority(b):
		p := s.open(a)
		return s.attach(a, p.left, s.join(p.right, b))
	default:
		p := s.open(b)
		return s.attach(b, s.join(a, p.left), p.right)
	}
}

// union merges two lists by slope. As functions that is the infimal convolution: the least cost of
// splitting an amount between two takers is to serve the lowest slopes first.
func (s *slopes) union(a, b int32) int32 {
	if a == 0 || b == 0 {
		return a + b
	}
	if priority(a) < priority(b) {
		a, b = b, a
	}
	p := s.open(a)
	l, r := p.left, p.right
	bl, br := s.divide(b, p.slope)
	l, r = s.union(l, bl), s.union(r, br)
	return s.attach(a, l, r)
}

// divide splits list i into the slopes below d and the others.
func (s *slopes) divide(i int32, d exact.DD) (a, b int32) {
	if i == 0 {
		return 0, 0
	}
	p := s.open(i)
	if less(p.slope, d) {
		a, b = s.divide(p.right, d)
		return s.attach(i, p.left, a), b
	}
	a, b = s.divide(p.left, d)
	return a, s.attach(i, b, p.right)
}

// first and last return the slopes at the ends of list i, -Inf and +Inf for the
// empty list: the slope beyond the end of the domain.
func (s *slopes) first(i int32) exact.DD {
	d := exact.DD{Hi: math.Inf(1)}
	for i != 0 {
		p := s.open(i)
		d, i = p.slope, p.left
	}
	return d
}

func (s *slopes) last(i int32) exact.DD {
	d := exact.DD{Hi: math.Inf(-1)}
	for i != 0 {
		p := s.open(i)
		d, i = p.slope, p.right
	}
	return d
}

func less(a, b exact.DD) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }
