package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// The functions of this file make metrics out of metrics. The results forward
// Check to the spaces they were made of, and are as safe for concurrent use.

// Scale returns s with every distance multiplied by c > 0: a change of unit, to
// one without a name. It is an [Embedder] where s is one. An extreme c can make
// distances overflow.
func Scale[P any](s Space[P], c float64) (Space[P], error) {
	const op = "metric: Scale"
	if err := fault.Positive(op, "c", c); err != nil {
		return nil, err
	}
	return newTransform(op, s, "", true, func(d float64) float64 { return c * d })
}

// Power returns s with every distance raised to the power p, 0 < p <= 1: the
// snowflake of s, which spreads near points apart. It has no unit, and is an
// [Embedder] where s is one.
func Power[P any](s Space[P], p float64) (Space[P], error) {
	const op = "metric: Power"
	if !(p > 0 && p <= 1) {
		return nil, fault.Value(op, "p", p, "a number in (0, 1]")
	}
	return newTransform(op, s, "", false, func(d float64) float64 { return math.Pow(d, p) })
}

// Cap returns min(s, c), c > 0, in the unit of s. It is an [Embedder] where s is
// one.
func Cap[P any](s Space[P], c float64) (Space[P], error) {
	const op = "metric: Cap"
	if err := fault.Positive(op, "c", c); err != nil {
		return nil, err
	}
	return newTransform(op, s, UnitOf(s), false, func(d float64) float64 { return min(d, c) })
}

// WithUnit returns s with a name for the unit of its distances, so that levels
// under it are per that unit. s has no unit yet, or that one.
func WithUnit[P any](s Space[P], unit Unit) (Space[P], error) {
	const op = "metric: WithUnit"
	unit, err := fault.Unit(op, unit, UnitOf(s))
	if err != nil {
		return nil, err
	}
	return newTransform(op, s, unit, true, func(d float64) float64 { return d })
}

// transform is f of a metric, which is again one for f concave, nondecreasing
// and 0 only at 0.
type transform[P any] struct {
	s    Space[P]
	unit Unit
	f    func(float64) float64
	lin  bool // f multiplies
}

func newTransform[P any](op string, s Space[P], unit Unit, linear bool, f func(float64) float64) (Space[P], error) {
	if s == nil {
		return nil, fmt.Errorf("%s: s is nil: %w", op, fault.ErrEmpty)
	}
	t := transform[P]{s, unit, f, linear}
	if e, ok := s.(Embedder[P]); ok {
		return embeddedTransform[P]{t, e}, nil
	}
	return t, nil
}

func (t transform[P]) Distance(x, y P) float64 { return t.f(t.s.Distance(x, y)) }
func (t transform[P]) Check(x, y P) error      { return check(t.s, x, y) }
func (t transform[P]) Unit() Unit              { return t.unit }

type embeddedTransform[P any] struct {
	transform[P]
	e Embedder[P]
}

func (t embeddedTransform[P]) Append(dst []float64, p P) []float64 { return t.e.Append(dst, p) }

func (t embeddedTransform[P]) Norm() (float64, func(float64) float64) {
	p, from := t.e.Norm()
	return p, func(v float64) float64 { return t.f(from(v)) }
}

func (t embeddedTransform[P]) linear() bool { return t.lin && isLinear(t.e) }

// Sum returns the sum of one or more metrics on the same points, in the unit that
// all of them have, if there is one.
func Sum[P any](spaces ...Space[P]) (Space[P], error) {
	return newMany("metric: Sum", spaces, func(a, b float64) float64 { return a + b })
}

// Max returns the largest of one or more metrics, with the unit of their [Sum].
func Max[P any](spaces ...Space[P]) (Space[P], error) {
	return newMany("metric: Max", spaces, func(a, b float64) float64 { return max(a, b) })
}

// many folds the distances of several spaces with join.
type many[P any] struct {
	spaces []Space[P]
	join   func(a, b float64) float64
}

func newMany[P any](op string, spaces []Space[P], join func(a, b float64) float64) (Space[P], error) {
	if err := fault.Empty(op, "spaces", len(spaces)); err != nil {
		return nil, err
	}
	for i, s := range spaces {
		if s == nil {
			return nil, fmt.Errorf("%s: spaces[%d] is nil: %w", op, i, fault.ErrEmpty)
		}
	}
	return many[P]{slices.Clone(spaces), join}, nil
}

func (m many[P]) Distance(x, y P) float64 {
	d := m.spaces[0].Distance(x, y)
	for _, s := range m.spaces[1:] {
		d = m.join(d, s.Distance(x, y))
	}
	return d
}

func (m many[P]) Unit() Unit {
	unit := UnitOf(m.spaces[0])
	for _, s := range m.spaces[1:] {
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

func (m many[P]) Check(x, y P) error {
	for _, s := range m.spaces {
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

// Product returns the metric on pairs whose distance is the p-norm, p in
// [1, +Inf], of the two distances (a of First, b of Second): their sum for p = 1,
// the larger for p = +Inf. Products of more spaces nest. The unit is as of [Sum].
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
