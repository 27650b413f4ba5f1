package tsp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Kind tells closed tours from open paths.
type Kind int

const (
	Closed Kind = iota // returns to the first point in the end
	Open               // a path that begins and ends where it likes
)

// check refuses what is neither of the two.
func (k Kind) check(op string) error {
	if k != Closed && k != Open {
		return fault.Value(op, "kind", float64(k), "Closed or Open")
	}
	return nil
}

// String is "closed" or "open".
func (k Kind) String() string {
	if k == Open {
		return "open"
	}
	return "closed"
}

// Tour is an order in which to visit all points of a finite metric, once each.
// The functions of this package make tours and never modify one.
type Tour struct {
	Order []int // a permutation of the points
	Kind  Kind

	// Length is the sum of the distances along the tour, rounded upward: at
	// least the exact sum of the numbers that Distance returns, and above it by
	// at most len(Order) units in the last place.
	Length float64

	// LowerBound is proved: no tour of the same kind through these points is
	// shorter. 0 where none was computed.
	LowerBound float64

	unit metric.Unit // of the distances
}

// newTour measures and keeps a valid order. Its errors lack the call.
func newTour(f metric.Finite, order []int, kind Kind) (*Tour, error) {
	if err := kind.check(""); err != nil {
		return nil, err
	}
	t := &Tour{Order: order, Kind: kind, unit: metric.UnitOf(f)}
	for k := range order {
		i, j, ok := t.edge(k)
		if !ok {
			break
		}
		d := f.Distance(i, j)
		if notDistance(d) {
			return nil, badDistance(i, j, d)
		}
		t.Length = directed.AddUp(t.Length, d)
	}
	return t, nil
}

// order is t.Order, and none where t is nil.
func (t *Tour) order() []int {
	if t == nil {
		return nil
	}
	return t.Order
}

// edge returns the two ends of the k-th edge; there is none after the last
// point of an open path, nor around a single point.
func (t *Tour) edge(k int) (i, j int, ok bool) {
	n := len(t.Order)
	if k+1 < n {
		return t.Order[k], t.Order[k+1], true
	}
	return t.Order[k], t.Order[0], t.Kind == Closed && n > 1
}

// String is a line: what it is, its length in the unit of the metric and, where there
// is one, the bound with what it proves, rounded up.
func (t *Tour) String() string {
	s := fmt.Sprintf("%v tour of %d points, length %s", t.Kind, len(t.Order), fault.Quantity(t.Length, 6, t.unit))
	if t.LowerBound > 0 {
		s += fmt.Sprintf(", bound %s: at most %s %% longer than the shortest", fault.Quantity(t.LowerBound, 6, t.unit), fault.AtMost(100*max(0, t.Gap()), 2))
	}
	return s
}

// Gap returns how far the tour may be from the shortest, as a fraction of the lower bound: Length
// <= (1+Gap) * optimum. It is 0 for a tour of length 0, and +Inf where LowerBound is 0 otherwise.
func (t *Tour) Gap() float64 {
	switch {
	case t.Length == 0:
		return 0
	case t.LowerBound <= 0:
		return math.Inf(1)
	}
	return t.Length/t.LowerBound - 1
}

// Open returns a closed tour as an open path, cut at its longest edge, the first of several, and a
// path as it is. The cut path has no lower bound: one for closed tours is none for paths. A t that
// does not hold every point of f once is a [*metric.SizeError] or [*metric.ValueError], and a
// negative or non-finite distance along it a [*metric.Violation]. O(n).
func (t *Tour) Open(f metric.Finite) (path *Tour, err error) {
	const op = "tsp: Tour.Open"
	defer name(op, &err)
	if err := checkOrder(op, "tour", fault.Len(f), t.order()); err != nil {
		return nil, err
	}
	if t.Kind == Open {
		return t, nil
	}
	longest, cut := -1.0, 0
	for k := range t.Order {
		if i, j, ok := t.edge(k); ok {
			if d := f.Distance(i, j); d > longest {
				longest, cut = d, k+1
			}
		}
	}
	return newTour(f, slices.Concat(t.Order[cut:], t.Order[:cut]), Open)
}

// checkOrder refuses an empty metric and an order that is no permutation.
func checkOrder(op, arg string, n int, order []int) error {
	if err := checkSize(op, n); err != nil {
		return err
	}
	return fault.Permutation(op, arg, order, n)
}

// checkSize refuses an empty metric, and indices beyond int32.
func checkSize(op string, n int) error {
	if n >= math.MaxInt32 {
		return &fault.SizeError{Op: op, Arg: "f", Got: n, Want: "less than 2^31-1"}
	}
	return fault.Empty(op, "f", n)
}

// name makes op the call that an error of package metric names.
func name(op string, err *error) {
	var violation *metric.Violation
	var value *metric.ValueError
	if errors.As(*err, &violation) {
		violation.Op = op
	} else if errors.As(*err, &value) {
		value.Op = op
	}
}

func notDistance(d float64) bool { return !(d >= 0 && d <= math.MaxFloat64) }

func badDistance(i, j int, d float64) error {
	return &metric.Violation{Axiom: metric.FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
}
