package wasserstein

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
)

// ProjectSimplex returns the vector with entries >= 0 and the given total that
// is nearest to g in the Euclidean norm: max(0, g[i]-tau) for the right tau. It
// is written to dst where its capacity allows, which must not overlap g.
//
// g must be finite and not empty, total finite and >= 0. The result sums to
// total within len(g)*2^-52 times it, however large g is. Errors are
// [metric.ErrEmpty] and [*metric.ValueError]. O(n log n) by sorting (Held,
// Wolfe and Crowder 1974); no allocation where dst is large enough.
func ProjectSimplex(g []float64, total float64, dst []float64) ([]float64, error) {
	const op = "wasserstein: ProjectSimplex"
	if err := fault.Empty(op, "g", len(g)); err != nil {
		return nil, err
	}
	if err := fault.AllFinite(op, "g", g); err != nil {
		return nil, err
	}
	if err := fault.NonNegative(op, "total", total); err != nil {
		return nil, err
	}
	return projectSimplex(g, total, slices.Grow(dst[:0], len(g))[:len(g)]), nil
}

// projectSimplex writes to dst, of the length of g.
//
// With g sorted, u_1 >= u_2 >= ..., the first k entries stay positive as long as
// their excess over the k-th, the sum of u_i - u_k, is below total. It is a sum
// of terms >= 0, so large entries do not cancel, as they do in u_k > tau.
func projectSimplex(g []float64, total float64, dst []float64) []float64 {
	copy(dst, g)
	slices.Sort(dst)
	least, excess, count := math.Inf(1), 0.0, 0.0
	for _, u := range slices.Backward(dst) {
		next := excess
		if count > 0 {
			next += float64(count * (least - u))
		}
		if next >= total {
			break
		}
		least, excess, count = u, next, count+1
	}
	for i, w := range g {
		dst[i] = 0
		if w >= least {
			dst[i] = (w - least) + (total-excess)/count
		}
	}
	return dst
}

// treeShare splits a mass among children with bounds: the split nearest to
// their wants in the Euclidean norm is clamp(want-tau, lo, hi) for the right
// tau. It keeps its memory from one split to the next.
type treeShare struct {
	mass         float64
	want, lo, hi []float64
	events       []treeEvent
	got          []float64
}

// treeEvent: as tau falls past at, the number of children strictly within
// their bounds changes by change.
type treeEvent struct{ at, change float64 }

func (s *treeShare) reset(mass float64) {
	s.mass = mass
	s.want, s.lo, s.hi, s.events, s.got = s.want[:0], s.lo[:0], s.hi[:0], s.events[:0], s.got[:0]
}

func (s *treeShare) add(want, lo, hi float64) {
	s.want, s.lo, s.hi = append(s.want, want), append(s.lo, lo), append(s.hi, hi)
	if lo < hi {
		s.events = append(s.events, treeEvent{want - lo, 1}, treeEvent{want - hi, -1})
	}
}

// split returns the shares, valid until the next reset. Where the bounds allow
// the mass up to rounding only, the shares are the bounds. O(n log n).
func (s *treeShare) split() []float64 {
	slices.SortFunc(s.events, func(a, b treeEvent) int { return cmp.Compare(b.at, a.at) })
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
