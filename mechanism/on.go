package mechanism

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"

	"github.com/metricdp/metricdp/metric"
)

// ErrNotAPoint reports an input that is not one of the points a mechanism was
// built on.
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
