package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// The functions of this file make metrics out of metrics. The results forward
// Check to the spaces they were made of, and are as safe for concurrent use.

// Scale returns s with every distance multiplied by c > 0, in the given unit: "km" where c = 1.6
// and s measures miles, "" for one without a name. c = 1 only names the unit of s, which has none
// yet, or that one. It is an [Embedder] where s is one. An extreme c can make distances overflow.
func Scale[P any](s Space[P], c float64, unit Unit) (Space[P], error) {
	const op = "metric: Scale"
	if err := cmp.Or(fault.Positive(op, "c", c), fault.Given(op, "s", s != nil)); err != nil {
		return nil, err
	}
	had := UnitOf(s)
	if c != 1 {
		had = ""
	}
	unit, err := fault.Unit(op, unit, had)
	if err != nil {
		return nil, err
	}
	t := multiple[P]{s, unit, c}
	if e, ok := s.(Embedder[P]); ok {
		return embeddedMultiple[P]{t, e}, nil
	}
	return t, nil
}

// multiple is c times a metric.
type multiple[P any] struct {
	s    Space[P]
	unit Unit
	c    float64
}

func (t multiple[P]) Distance(x, y P) float64 { return t.c * t.s.Distance(x, y) }
func (t multiple[P]) Check(x, y P) error      { return check(t.s, x, y) }
func (t multiple[P]) Unit() Unit              { return t.unit }

func check[P any](s Space[P], x, y P) error {
	if c, ok := s.(Checker[P]); ok {
		return c.Check(x, y)
	}
	return nil
}

type embeddedMultiple[P any] struct {
	multiple[P]
	e Embedder[P]
}

func (t embeddedMultiple[P]) Append(dst []float64, p P) []float64 { return t.e.Append(dst, p) }

func (t embeddedMultiple[P]) Norm() (float64, func(float64) float64) {
	p, from := t.e.Norm()
	return p, func(v float64) float64 { return t.c * from(v) }
}

func (t embeddedMultiple[P]) linear() bool { return isLinear(t.e) }

// Sum returns the sum of one or more metrics on the same points, in the unit that all of them have,
// if any.
func Sum[P any](spaces ...Space[P]) (Space[P], error) {
	const op = "metric: Sum"
	if err := fault.Empty(op, "spaces", len(spaces)); err != nil {
		return nil, err
	}
	for i, s := range spaces {
		if err := fault.Given(op, fmt.Sprintf("spaces[%d]", i), s != nil); err != nil {
			return nil, err
		}
	}
	return sum[P](slices.Clone(spaces)), nil
}

type sum[P any] []Space[P]

func (m sum[P]) Distance(x, y P) float64 {
	d := 0.0
	for _, s := range m {
		d += s.Distance(x, y)
	}
	return d
}

func (m sum[P]) Unit() Unit {
	unit := UnitOf(m[0])
	for _, s := range m[1:] {
		unit = commonUnit(unit, UnitOf(s))
	}
	return unit
}

// commonUnit is that of what adds or compares distances in units a and b.
func commonUnit(a, b Unit) Unit {
	if a == b {
		return a
	}
	return ""
}

func (m sum[P]) Check(x, y P) error {
	for _, s := range m {
		if err := check(s, x, y); err != nil {
			return err
		}
	}
	return nil
}

// Pair is a point of a product of two spaces.
type Pair[A, B any] struct {
	First  A // in the first space
	Second B // in the second
}

// Product returns the metric on pairs whose distance is the p-norm, p in [1, +Inf], of the two
// distances. Products of more spaces nest. The unit is as of [Sum].
func Product[A, B any](a Space[A], b Space[B], p float64) (Space[Pair[A, B]], error) {
	const op = "metric: Product"
	if err := cmp.Or(fault.Given(op, "a", a != nil), fault.Given(op, "b", b != nil), checkExponent(op, "p", p)); err != nil {
		return nil, err
	}
	return product[A, B]{a, b, p}, nil
}

type product[A, B any] struct {
	a Space[A]
	b Space[B]
	p float64
}

func (s product[A, B]) Distance(x, y Pair[A, B]) float64 {
	d, e := s.a.Distance(x.First, y.First), s.b.Distance(x.Second, y.Second)
	switch {
	case s.p == 1:
		return d + e
	case s.p == 2:
		return math.Hypot(d, e)
	}
	hi, lo := max(d, e), min(d, e)
	if lo == 0 || math.IsInf(s.p, 1) {
		return hi
	}
	return hi * math.Pow(1+math.Pow(lo/hi, s.p), 1/s.p)
}

func (s product[A, B]) Unit() Unit { return commonUnit(UnitOf(s.a), UnitOf(s.b)) }

func (s product[A, B]) Check(x, y Pair[A, B]) error {
	if err := check(s.a, x.First, y.First); err != nil {
		return fault.Within("metric: Product: First", err)
	}
	if err := check(s.b, x.Second, y.Second); err != nil {
		return fault.Within("metric: Product: Second", err)
	}
	return nil
}

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
