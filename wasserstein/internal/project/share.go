package project

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
)

// share splits a mass among children with bounds: the split nearest to their
// wants in the Euclidean norm is clamp(want-tau, lo, hi) for the right tau. It
// keeps its memory from one split to the next.
type share struct {
	mass         float64
	want, lo, hi []float64
	events       []event
	got          []float64
}

// event: as tau falls past at, the number of children strictly within their
// bounds changes by change.
type event struct{ at, change float64 }

// reset begins a split of mass.
func (s *share) reset(mass float64) {
	s.mass = mass
	s.want, s.lo, s.hi, s.events, s.got = s.want[:0], s.lo[:0], s.hi[:0], s.events[:0], s.got[:0]
}

// add adds a child.
func (s *share) add(want, lo, hi float64) {
	s.want, s.lo, s.hi = append(s.want, want), append(s.lo, lo), append(s.hi, hi)
	if lo < hi {
		s.events = append(s.events, event{want - lo, 1}, event{want - hi, -1})
	}
}

// split returns the shares, valid until the next reset. Where the bounds allow
// the mass up to rounding only, the shares are the bounds. O(n log n).
func (s *share) split() []float64 {
	slices.SortFunc(s.events, func(a, b event) int { return cmp.Compare(b.at, a.at) })
	sum, free := 0.0, 0.0
	for _, lo := range s.lo {
		sum += lo
	}
	// Between two events, at tau in [next, last], the same children are free.
	last, next := math.Inf(1), math.Inf(-1)
	for _, e := range s.events {
		then := sum
		if free > 0 {
			then += float64(free * (last - e.at))
		}
		if then >= s.mass {
			next = e.at
			break
		}
		sum, last, free = then, e.at, free+e.change
	}
	// tau is what the free ones want, and the others have, beyond the mass,
	// split evenly. In double-double, because wants may be far above the mass.
	over := exact.DD{Hi: -s.mass}
	free = 0
	for c, want := range s.want {
		switch {
		case want-s.lo[c] <= next || s.lo[c] >= s.hi[c]:
			over = over.AddFloat(s.lo[c])
		case want-s.hi[c] >= last:
			over = over.AddFloat(s.hi[c])
		default:
			over = over.AddFloat(want)
			free++
		}
	}
	tau := exact.DD{Hi: last}
	if free > 0 {
		tau.Hi = over.Hi / free
		tau.Lo = (math.FMA(-tau.Hi, free, over.Hi) + over.Lo) / free
	}
	for c, want := range s.want {
		m := s.lo[c]
		if m < s.hi[c] {
			m = min(max((want-tau.Hi)-tau.Lo, m), s.hi[c])
		}
		s.got = append(s.got, m)
	}
	// Whoever wants far more than the mass may be blind to tau's last digits:
	// the rest goes where there is room.
	rest := exact.DD{Hi: s.mass}
	for _, m := range s.got {
		rest = rest.AddFloat(-m)
	}
	for c, m := range s.got {
		d := min(max(rest.Hi, s.lo[c]-m), s.hi[c]-m)
		s.got[c] += d
		rest = rest.AddFloat(-d)
	}
	return s.got
}
