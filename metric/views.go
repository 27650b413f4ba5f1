package metric

import (
	"cmp"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Scaled returns f with every distance multiplied by c > 0, in a unit without a name.
func Scaled(f Finite, c float64) (Finite, error) {
	const op = "metric: Scaled"
	if err := cmp.Or(fault.Empty(op, "f", fault.Len(f)), fault.Positive(op, "c", c)); err != nil {
		return nil, err
	}
	return &scaled{f, c}, nil
}

type scaled struct {
	f Finite
	c float64
}

func (s *scaled) Len() int                  { return s.f.Len() }
func (s *scaled) Distance(i, j int) float64 { return s.c * s.f.Distance(i, j) }

func (s *scaled) DistancesFrom(i int, dst []float64) []float64 {
	dst = finite.Row(s.f, i, dst)
	for j := range dst {
		dst[j] *= s.c
	}
	return dst
}

func (s *scaled) Dim() int { return finite.Dim(s.f) }

func (s *scaled) Embed() (Embedding, bool) {
	e, ok := finite.Embed[Embedding](s.f)
	if ok {
		from := e.FromNorm
		e.FromNorm = func(v float64) float64 { return s.c * from(v) }
	}
	return e, ok
}

// Subset returns f restricted to the points idx, which is copied, renumbered in that order. An
// index may repeat: the copies are points at distance 0.
func Subset(f Finite, idx []int) (Finite, error) {
	const op = "metric: Subset"
	n := fault.Len(f)
	if err := cmp.Or(fault.Empty(op, "idx", len(idx)), fault.Empty(op, "f", n), fault.Indices(op, "idx", idx, n)); err != nil {
		return nil, err
	}
	return &subset{f, slices.Clone(idx)}, nil
}

type subset struct {
	f   Finite
	idx []int
}

func (s *subset) Len() int                  { return len(s.idx) }
func (s *subset) Distance(i, j int) float64 { return s.f.Distance(s.idx[i], s.idx[j]) }

// Unit returns that of the whole.
func (s *subset) Unit() Unit { return UnitOf(s.f) }

func (s *subset) Dim() int { return finite.Dim(s.f) }

func (s *subset) Embed() (Embedding, bool) {
	e, ok := finite.Embed[Embedding](s.f)
	if ok {
		coords := make([]float64, 0, len(s.idx)*e.Dim)
		for _, i := range s.idx {
			coords = append(coords, e.Coords[i*e.Dim:(i+1)*e.Dim]...)
		}
		e.Coords = coords
	}
	return e, ok
}
