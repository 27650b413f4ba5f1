package mechanism

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// ErrNotAPoint reports an input that is no point or label of a mechanism.
var ErrNotAPoint = errors.New("the input is not a point of the space")

// On lifts a mechanism on the indices of pts to the points themselves. An input must be one of the points,
// equal to it or at distance 0; any other is [ErrNotAPoint], or an error that says why it has no distance.
// (Moving it to the nearest point would add up to twice the way to the loss of privacy.) Outputs must be
// indices of pts too, or the release is spent on an error; for others there is [Labels]. O(1) for points of
// a comparable type, else a nearest-point query. It panics where m or pts is nil.
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
	find := func(x P) (int, error) {
		if len(index) > 0 {
			if i, ok := index[any(x)]; ok {
				return i, nil
			}
		}
		if c, ok := pts.Space().(metric.Checker[P]); ok {
			if err := c.Check(pts.At(0), x); err != nil {
				return 0, fmt.Errorf("mechanism: On: %w", fault.Private(err))
			}
		}
		if i, d := locate.Nearest(x); d == 0 {
			return i, nil
		}
		return 0, fmt.Errorf("mechanism: On: %w", ErrNotAPoint)
	}
	return &lifted[P, P]{"On", m, fmt.Sprint(pts), find, pts.Len(), pts.At}
}

// lifted is a mechanism on indices that takes and gives what they stand for.
type lifted[X, Y any] struct {
	op   string
	m    Mechanism[int, int]
	what string // they stand for
	find func(x X) (int, error)
	n    int // outputs
	at   func(j int) Y
}

func (l *lifted[X, Y]) Guarantee() Guarantee { return l.m.Guarantee() }

func (l *lifted[X, Y]) of() interface{ Guarantee() Guarantee } { return l.m }

func (l *lifted[X, Y]) Memoized() bool { return memoized(l.m) }

func (l *lifted[X, Y]) inDomain(x X) error {
	i, err := l.find(x)
	if err != nil {
		return err
	}
	return inDomain(l.m, i)
}

func (l *lifted[X, Y]) String() string { return fmt.Sprintf("on %s: %s", l.what, fault.Describe(l.m)) }

func (l *lifted[X, Y]) Release(rng *rand.Rand, x X) (y Y, err error) {
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

// Labels lifts a mechanism on indices to labels, as words or places: input i is inputs[i], and output
// j is outputs[j]; for most mechanisms both are one list. The guarantee is m's. Inputs differ from one
// another; outputs need not, and may be of any type. All are public, of valid UTF-8 (other text has no
// JSON), and copied. Where m tells its size, as a [Channel] does, another number of inputs, or an
// output beyond the list, is a [*metric.SizeError]. Release refuses any other input with
// [ErrNotAPoint], which does not say what it was. O(1) a release more than m takes.
func Labels[X comparable, Y any](m Mechanism[int, int], inputs []X, outputs []Y) (Mechanism[X, Y], error) {
	const op = "mechanism: Labels"
	n, k, err := sizes(op, m)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		if err := fault.Size(op, "inputs", len(inputs), n); err != nil {
			return nil, err
		}
	}
	if len(outputs) < k {
		return nil, &fault.SizeError{Op: op, Arg: "outputs", Got: len(outputs), Want: fmt.Sprintf("%d or more", k)}
	}
	if err := fault.Empty(op, "outputs", len(outputs)); err != nil {
		return nil, err
	}
	for j, y := range outputs {
		if !validText(reflect.ValueOf(y)) {
			return nil, errText(op, fmt.Sprintf("outputs[%d]", j), y)
		}
	}
	inputs, outputs = slices.Clone(inputs), slices.Clone(outputs)
	find, err := finder(op, inputs)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d inputs and %d outputs", len(inputs), len(outputs))
	return &lifted[X, Y]{"Labels", m, what, find, len(outputs), func(j int) Y { return outputs[j] }}, nil
}

// sizes is how many inputs m has and how many outputs, up to the last point that one
// stands for; zeros where m does not tell.
func sizes(op string, m Mechanism[int, int]) (inputs, outputs int, err error) {
	if m == nil {
		return 0, 0, fault.Empty(op, "m", 0)
	}
	c, ok := m.(interface {
		Len() int
		Outputs() int
		Output(y int) int
	})
	if !ok {
		return 0, 0, nil
	}
	inputs = fault.Len(c)
	if err := fault.Empty(op, "m", inputs); err != nil {
		return 0, 0, err
	}
	for y := range c.Outputs() {
		outputs = max(outputs, c.Output(y)+1)
	}
	return inputs, outputs, nil
}

// finder looks labels up. They must differ.
func finder[K comparable](op string, labels []K) (func(x K) (int, error), error) {
	const arg = "inputs"
	if err := fault.Empty(op, arg, len(labels)); err != nil {
		return nil, err
	}
	index := make(map[K]int, len(labels))
	for i, label := range labels {
		if !hashable(label) || label != label {
			return nil, fmt.Errorf("%s: %s[%d] = %s cannot be compared with itself", op, arg, i, show(label))
		}
		if !validText(reflect.ValueOf(label)) {
			return nil, errText(op, fmt.Sprintf("%s[%d]", arg, i), label)
		}
		if j, ok := index[label]; ok {
			return nil, fmt.Errorf("%s: %s[%d] = %s is %s[%d] too", op, arg, i, show(label), arg, j)
		}
		index[label] = i
	}
	return func(x K) (int, error) {
		if hashable(x) {
			if i, ok := index[x]; ok {
				return i, nil
			}
		}
		return 0, fmt.Errorf("%s: %w: x is none of the %d labels", op, ErrNotAPoint, len(labels))
	}, nil
}

// errText is about a label with text that is not valid UTF-8.
func errText(op, arg string, label any) error {
	return fmt.Errorf("%s: %s = %s is not valid UTF-8", op, arg, show(label))
}

// validText tells whether all text in v is valid UTF-8, but for that behind pointers and in
// maps. What is not, encoding/json replaces, so that a [Sticky] could not give it.
func validText(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Interface:
		return validText(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if !validText(v.Field(i)) {
				return false
			}
		}
	case reflect.Array, reflect.Slice:
		if k := v.Type().Elem().Kind(); k >= reflect.Bool && k <= reflect.Complex128 {
			return true // numbers
		}
		for i := range v.Len() {
			if !validText(v.Index(i)) {
				return false
			}
		}
	}
	return true
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
