package mechanism

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// ErrNotAPoint reports an input that is no point or label of a mechanism.
var ErrNotAPoint = errors.New("the input is not a point of the space")

// On lifts a mechanism on the indices of pts to the points themselves. An input
// must be one of the points, equal to it or at distance 0; any other is refused
// with [ErrNotAPoint] (or with the reason why it has no distance). Moving it to
// the nearest point would add up to twice the way to the loss of privacy, and
// is left to the caller. Outputs must be indices of pts too. O(1) for points of
// a comparable type, else a nearest-point query. It panics where m or pts is
// nil.
func On[P any](m Mechanism[int, int], pts *metric.Points[P]) Mechanism[P, P] {
	if m == nil || pts == nil {
		panic("mechanism: On: m or pts is nil")
	}
	index := map[any]int{}
	if t := reflect.TypeFor[P](); t.Comparable() && t.Kind() != reflect.Interface {
		for i := pts.Len() - 1; i >= 0; i-- { // the first of equals stays
			index[any(pts.At(i))] = i
		}
	}
	locate := metric.NewLocator(pts)
	return &lifted[P]{"On", m, fmt.Sprint(pts), pts.Len(), pts.At, func(x P) (int, error) {
		if len(index) > 0 {
			if i, ok := index[any(x)]; ok {
				return i, nil
			}
		}
		if c, ok := pts.Space().(metric.Checker[P]); ok {
			if err := c.Check(pts.At(0), x); err != nil {
				return 0, err
			}
		}
		if i, d := locate.Nearest(x); d == 0 {
			return i, nil
		}
		return 0, fmt.Errorf("mechanism: On: %w", ErrNotAPoint)
	}}
}

// lifted is a mechanism on n indices that takes and gives what they stand for.
type lifted[P any] struct {
	op   string
	m    Mechanism[int, int]
	what string // they stand for
	n    int
	at   func(i int) P
	find func(x P) (int, error)
}

func (l *lifted[P]) Guarantee() Guarantee { return l.m.Guarantee() }

func (l *lifted[P]) String() string { return fmt.Sprintf("on %s: %s", l.what, fault.Describe(l.m)) }

func (l *lifted[P]) Release(rng *rand.Rand, x P) (y P, err error) {
	i, err := l.find(x)
	if err != nil {
		return y, err
	}
	j, err := l.m.Release(rng, i)
	if err != nil {
		return y, fmt.Errorf("mechanism: %s: %w", l.op, err)
	}
	if j < 0 || j >= l.n {
		return y, fmt.Errorf("mechanism: %s: output %d is none of %s", l.op, j, l.what)
	}
	return l.at(j), nil
}

// Labels lifts a mechanism on indices to labels: words, places or keys. Index i
// is labels[i], as input and as output, and the guarantee is m's. The labels
// are public, different from one another, and copied; those of a taxonomy are
// [metric.Tree.LeafNames].
//
// Where m tells its size, as a [Channel] and all that embeds one do, labels of
// another number are a [*metric.SizeError]. (Outputs beyond the inputs have
// labels too, which are no inputs.) Release refuses any other input with
// [ErrNotAPoint], which has the input in its text: do not publish it. O(1) a
// release more than m takes.
func Labels[K comparable](m Mechanism[int, int], labels []K) (Mechanism[K, K], error) {
	const op = "mechanism: Labels"
	if m == nil {
		return nil, fault.Empty(op, "m", 0)
	}
	if err := fault.Empty(op, "labels", len(labels)); err != nil {
		return nil, err
	}
	labels = slices.Clone(labels)
	index := make(map[K]int, len(labels))
	for i, label := range labels {
		if !hashable(label) || label != label {
			return nil, fmt.Errorf("%s: labels[%d] = %s cannot be compared with itself", op, i, show(label))
		}
		if j, ok := index[label]; ok {
			return nil, fmt.Errorf("%s: labels[%d] = %s is labels[%d] too", op, i, show(label), j)
		}
		index[label] = i
	}
	c, ok := m.(interface {
		Len() int
		Outputs() int
		Output(y int) int
	})
	if ok {
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
	}
	what := fmt.Sprintf("%d labels", len(labels))
	return &lifted[K]{"Labels", m, what, len(labels), func(i int) K { return labels[i] }, func(x K) (int, error) {
		if hashable(x) {
			if i, ok := index[x]; ok {
				return i, nil
			}
		}
		return 0, fmt.Errorf("%s: %w: %s is none of the %s", op, ErrNotAPoint, show(x), what)
	}}, nil
}

// hashable is false where an interface in x holds a slice or the like.
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
