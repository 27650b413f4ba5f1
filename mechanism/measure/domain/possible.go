package domain

import (
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// masked is the tree of the regions of a box that are possible. One that has a single possible part
// is that part, so that no count is taken twice. Which they are is public, as all of the tree is.
type masked struct {
	*region.Grid
	b *box
}

// scratch is memory for one call.
type scratch struct {
	q      []int
	lo, hi []float64
}

// allowsParts is the user's Possible on parts q of depth l, but true where a value may be
// missing or not.
func (b *box) allowsParts(s *scratch, l int, q []int) bool {
	return !b.bounds(s.lo, s.hi, l, q) || b.possible(s.lo, s.hi)
}

// bounds writes the least and largest entries of parts q of depth l, unless a value may be
// missing or not.
func (b *box) bounds(lo, hi []float64, l int, q []int) bool {
	for a, f := range b.factors {
		first, end := b.from[a], b.from[a+1]
		if !f.Bounds(lo[first:end], hi[first:end], column.Part{Cuts: b.cuts[l][a], Of: b.parts[l][a], Place: q[a]}) {
			return false
		}
	}
	return true
}

// allowsRecord is the user's Possible on a record.
func (b *box) allowsRecord(s *scratch, x []float64) bool {
	copy(s.lo, x)
	copy(s.hi, x)
	return b.possible(s.lo, s.hi)
}

func (m masked) possible(l int, q []int) bool {
	b := m.b
	for a, f := range b.factors {
		if !f.Possible(column.Part{Cuts: b.cuts[l][a], Of: b.parts[l][a], Place: q[a]}) {
			return false
		}
	}
	if b.possible == nil {
		return true
	}
	s := b.buffers.Get().(*scratch)
	defer b.buffers.Put(s)
	return b.allowsParts(s, l, q)
}

// parts returns the places and the parts of columns of up to most possible parts
// of a region of depth l.
func (m masked) parts(l int, q []int, most int) (places []int, parts [][]int) {
	row, next := m.b.splits[l], make([]int, len(q))
	for i := range m.b.arities[l] {
		rest := i
		for a := len(row) - 1; a >= 0; a-- {
			n := row[a]
			next[a] = q[a]*n + rest%n
			rest /= n
		}
		if m.possible(l+1, next) {
			places, parts = append(places, i), append(parts, next)
			if len(places) == most {
				break
			}
			next = make([]int, len(q))
		}
	}
	return places, parts
}

func (m masked) decode(v node) []int {
	q := make([]int, len(m.b.factors))
	m.b.decode(v.Level, v.Index, q)
	return q
}

func (m masked) Height(v node) int {
	height := len(m.b.arities)
	for l, q := v.Level, m.decode(v); l < height; l++ {
		switch _, parts := m.parts(l, q, 2); len(parts) {
		case 0:
			return 0 // Possible was not sure, and then it was
		case 1:
			q = parts[0]
		default:
			return height - l
		}
	}
	return 0
}

// manyParts is from where on Width leaves out what is impossible no more, but for one level.
const manyParts = 64

func (m masked) Width(v node, r int) int {
	most := manyParts
	if r == 1 {
		most = maxCells
	}
	if n := len(m.below(nil, v, m.decode(v), r, most)); n <= most {
		return n
	}
	return m.Grid.Width(v, r)
}

func (m masked) Below(dst []node, v node, r int) []node {
	return m.below(dst, v, m.decode(v), r, maxCells)
}

// below ends where there are more than most.
func (m masked) below(dst []node, v node, q []int, r, most int) []node {
	for r > 0 && v.Level < len(m.b.arities) {
		places, parts := m.parts(v.Level, q, m.b.arities[v.Level])
		if len(parts) == 0 {
			break
		}
		first := node{Level: v.Level + 1, Index: v.Index * m.b.arities[v.Level]}
		if len(parts) > 1 {
			for i, at := range places {
				if dst = m.below(dst, node{Level: first.Level, Index: first.Index + at}, parts[i], r-1, most); len(dst) > most {
					break
				}
			}
			return dst
		}
		v, q = node{Level: first.Level, Index: first.Index + places[0]}, parts[0]
	}
	return append(dst, v)
}

// descend goes down at random to a cell, or as far as it is possible.
func (m masked) descend(l int, q []int, rng *rand.Rand) (int, []int) {
	for ; l < len(m.b.arities); l++ {
		_, parts := m.parts(l, q, m.b.arities[l])
		if len(parts) == 0 {
			break
		}
		q = parts[rng.IntN(len(parts))]
	}
	return l, q
}
