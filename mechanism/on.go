package mechanism

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// ErrNotAPoint reports an input that is not one of the points, or of the labels,
// of a mechanism.
var ErrNotAPoint = errors.New("the input is not a point of the space")

// On lifts a mechanism on the indices of pts to the points themselves. An input
// must be one of the points, equal to it or at distance 0; any other is refused
// with [ErrNotAPoint] (or with the reason why it has no distance). Moving it to
// the nearest point instead would add up to twice the way to the loss of
// privacy, so that is left to the caller, who can find the point with
// [metric.Locator]. Outputs must be indices of pts too.
//
// Points of a comparable type are looked up in O(1); others cost a
// nearest-point query. It panics where m or pts is nil.
func On[P any](m Mechanism[int, int], pts *metric.Points[P]) Mechanism[P, P] {
	if m == nil || pts == nil {
		panic("mechanism: On: m or pts is nil")
	}
	o := &on[P]{m: m, pts: pts}
	if t := reflect.TypeFor[P](); t.Comparable() && t.Kind() != reflect.Interface {
		o.index = make(map[any]int, pts.Len())
		for i := pts.Len() - 1; i >= 0; i-- { // the first of equals stays
			o.index[any(pts.At(i))] = i
		}
	}
	o.locate = metric.NewLocator(pts)
	return o
}

type on[P any] struct {
	m      Mechanism[int, int]
	pts    *metric.Points[P]
	index  map[any]int // nil where P is not comparable
	locate *metric.Locator[P]
}

func (o *on[P]) Guarantee() Guarantee { return o.m.Guarantee() }

func (o *on[P]) String() string { return fmt.Sprintf("on %v: %v", o.pts, o.m) }

func (o *on[P]) Release(rng *rand.Rand, x P) (y P, err error) {
	i, err := o.find(x)
	if err != nil {
		return y, err
	}
	j, err := o.m.Release(rng, i)
	if err != nil {
		return y, err
	}
	if j < 0 || j >= o.pts.Len() {
		return y, fmt.Errorf("mechanism: On: output %d is no index of the %d points", j, o.pts.Len())
	}
	return o.pts.At(j), nil
}

func (o *on[P]) find(x P) (int, error) {
	if o.index != nil {
		if i, ok := o.index[any(x)]; ok {
			return i, nil
		}
	}
	if c, ok := o.pts.Space().(metric.Checker[P]); ok {
		if err := c.Check(o.pts.At(0), x); err != nil {
			return 0, err
		}
	}
	if i, d := o.locate.Nearest(x); d == 0 {
		return i, nil
	}
	return 0, fmt.Errorf("mechanism: On: %w", ErrNotAPoint)
}

// Labels lifts a mechanism on indices to labels: index i is labels[i], as input
// and as output. Words, places or keys go in and come out, and the guarantee is
// m's. The labels are public, different from one another, and copied.
//
// Every label stands for a point of m: where m tells its size, as a [Channel]
// and all that embeds one do, labels of another number are a
// [*metric.SizeError]. (Outputs that stand for points beyond the inputs have
// labels too, which are no inputs.) Release refuses any other input with
// [ErrNotAPoint]. That error has the input in its text: it is for the caller,
// who gave it, and not to be published. O(1) a release more than m takes.
func Labels[K comparable](m Mechanism[int, int], labels []K) (Mechanism[K, K], error) {
	const op = "mechanism: Labels"
	if m == nil {
		return nil, fault.Empty(op, "m", 0)
	}
	if err := fault.Empty(op, "labels", len(labels)); err != nil {
		return nil, err
	}
	l := &labeled[K]{m: m, labels: append([]K(nil), labels...), index: make(map[K]int, len(labels))}
	for i, label := range l.labels {
		if !hashable(label) || label != label {
			return nil, fmt.Errorf("%s: labels[%d] = %s cannot be compared with itself", op, i, show(label))
		}
		if j, ok := l.index[label]; ok {
			return nil, fmt.Errorf("%s: labels[%d] = %s is labels[%d] too", op, i, show(label), j)
		}
		l.index[label] = i
	}
	c, ok := m.(interface {
		Len() int
		Outputs() int
		Output(y int) int
	})
	if !ok {
		return l, nil
	}
	n := fault.Len(c)
	if err := fault.Empty(op, "m", n); err != nil {
		return nil, err
	}
	for y := range c.Outputs() {
		n = max(n, c.Output(y)+1)
	}
	if len(labels) != n {
		return nil, &fault.SizeError{Op: op, Arg: "labels", Got: len(labels), Want: fmt.Sprint(n)}
	}
	return l, nil
}

type labeled[K comparable] struct {
	m      Mechanism[int, int]
	labels []K
	index  map[K]int
}

func (l *labeled[K]) Guarantee() Guarantee { return l.m.Guarantee() }

func (l *labeled[K]) String() string { return fmt.Sprintf("on %d labels: %v", len(l.labels), l.m) }

func (l *labeled[K]) Release(rng *rand.Rand, x K) (y K, err error) {
	i, ok := 0, hashable(x)
	if ok {
		i, ok = l.index[x]
	}
	if !ok {
		return y, fmt.Errorf("mechanism: Labels: %w: %s is none of the %d labels", ErrNotAPoint, show(x), len(l.labels))
	}
	j, err := l.m.Release(rng, i)
	if err != nil {
		return y, fmt.Errorf("mechanism: Labels: labels[%d] = %s: %w", i, show(x), err)
	}
	if j < 0 || j >= len(l.labels) {
		return y, fmt.Errorf("mechanism: Labels: output %d has none of the %d labels", j, len(l.labels))
	}
	return l.labels[j], nil
}

// hashable tells whether a map can look x up: an interface, which K may be or
// hold, can have a slice in it.
func hashable[K comparable](x K) bool {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.Interface, reflect.Struct, reflect.Array:
		return reflect.ValueOf(&x).Elem().Comparable()
	}
	return true
}

// show is a label for an error message.
func show(label any) string {
	if s, ok := label.(string); ok {
		return fmt.Sprintf("%.40q", s)
	}
	return fmt.Sprintf("%.40s", fmt.Sprint(label))
}
