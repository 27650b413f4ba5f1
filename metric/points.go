package metric

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Points is a list of points under a [Space], as a [Finite]. Distances are
// computed when asked for; [Densify] stores them.
type Points[P any] struct {
	pts   []P
	space Space[P]
}

// NewPoints returns the finite metric of pts under s. It copies the slice, not the points, which
// must not be modified afterwards. The error of a [Checker] names the index; no points, or no
// space, are [ErrEmpty]. O(len(pts)).
func NewPoints[P any](pts []P, s Space[P]) (*Points[P], error) {
	const op = "metric: NewPoints"
	if err := cmp.Or(fault.Empty(op, "pts", len(pts)), fault.Given(op, "s", s != nil)); err != nil {
		return nil, err
	}
	if c, ok := s.(Checker[P]); ok {
		for i, p := range pts {
			if err := c.Check(pts[0], p); err != nil {
				return nil, fault.Within(fmt.Sprintf("%s: pts[%d]", op, i), err)
			}
		}
	}
	return &Points[P]{slices.Clone(pts), s}, nil
}

// Len returns the number of points.
func (p *Points[P]) Len() int { return len(p.pts) }

// String is for people: "300 points under metric.GreatCircle".
func (p *Points[P]) String() string {
	return fmt.Sprintf("%d points under %T", len(p.pts), p.space)
}

// At returns point i.
func (p *Points[P]) At(i int) P { return p.pts[i] }

// Space returns the metric the points were given with.
func (p *Points[P]) Space() Space[P] { return p.space }

// Unit returns that of the space.
func (p *Points[P]) Unit() Unit { return UnitOf(p.space) }

// Distance returns the distance between points i and j, the same either way even
// where the space rounds differently.
func (p *Points[P]) Distance(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	return p.space.Distance(p.pts[i], p.pts[j])
}

// DistancesFrom implements [RowReader].
func (p *Points[P]) DistancesFrom(i int, dst []float64) []float64 {
	dst = finite.Grow(dst, len(p.pts))
	x := p.pts[i]
	for j := range i {
		dst[j] = p.space.Distance(p.pts[j], x)
	}
	for j := i; j < len(dst); j++ {
		dst[j] = p.space.Distance(x, p.pts[j])
	}
	return dst
}

// Dim returns the number of coordinates of a point where the space is an
// [Embedder], and 0 otherwise.
func (p *Points[P]) Dim() int {
	if s, ok := p.space.(Embedder[P]); ok && len(p.pts) > 0 {
		return len(s.Append(nil, p.pts[0]))
	}
	return 0
}

// Embed implements [Embedded] where the space is an [Embedder].
func (p *Points[P]) Embed() (Embedding, bool) {
	s, ok := p.space.(Embedder[P])
	if !ok {
		return Embedding{}, false
	}
	coords := s.Append(nil, p.pts[0])
	d := len(coords)
	if fault.Memory("metric: Embed", float64(d)*float64(len(p.pts)), 8) != nil {
		return Embedding{}, false
	}
	coords = slices.Grow(coords, d*(len(p.pts)-1))
	for _, x := range p.pts[1:] {
		coords = s.Append(coords, x)
	}
	norm, from := s.Norm()
	return Embedding{coords, d, norm, from, isLinear(s)}, true
}

// isLinear tells whether a space promises what [Embedding].Linear says.
func isLinear(space any) bool {
	s, ok := space.(interface{ linear() bool })
	return ok && s.linear()
}
