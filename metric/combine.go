package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// The functions of this file make metrics out of metrics. The results forward
// Check to the spaces they were made of, and are as safe for concurrent use.

// Scale returns s with every distance multiplied by c > 0, in the given unit: "km" where c = 1.6
// and s measures miles, "" for one without a name. c = 1 only names the unit of s, which has none
// yet, or that one. It is an [Embedder] where s is one. An extreme c can make distances overflow.
func Scale[P any](s Space[P], c float64, unit Unit) (Space[P], error) {
	const op = "metric: Scale"
	if err := fault.Positive(op, "c", c); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("%s: s is nil: %w", op, fault.ErrEmpty)
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
		if s == nil {
			return nil, fmt.Errorf("%s: spaces[%d] is nil: %w", op, i, fault.ErrEmpty)
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
		unit = common(unit, UnitOf(s))
	}
	return unit
}

// common is the unit of what adds or compares distances in units a and b.
func common(a, b Unit) Unit {
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
	if a == nil || b == nil {
		return nil, fmt.Errorf("%s: a space is nil: %w", op, fault.ErrEmpty)
	}
	if err := checkExponent(op, "p", p); err != nil {
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

func (s product[A, B]) Unit() Unit { return common(UnitOf(s.a), UnitOf(s.b)) }

func (s product[A, B]) Check(x, y Pair[A, B]) error {
	if err := check(s.a, x.First, y.First); err != nil {
		return fault.Within("metric: Product: First", err)
	}
	if err := check(s.b, x.Second, y.Second); err != nil {
		return fault.Within("metric: Product: Second", err)
	}
	return nil
}

func check[P any](s Space[P], x, y P) error {
	if c, ok := s.(Checker[P]); ok {
		return c.Check(x, y)
	}
	return nil
}
