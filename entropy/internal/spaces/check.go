package spaces

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// OrDefault is o, or where that is nil the zero value.
func OrDefault[T any](o *T) *T {
	if o == nil {
		return new(T)
	}
	return o
}

// checkedPoints is the number of points up to which CheckMetric looks at all
// pairs: a few milliseconds.
const checkedPoints = 1024

// CheckMetric refuses a space without points, nil among them, and a negative or non-finite distance
// with its pair: any of up to checkedPoints points, in a larger space any from the first point.
// The checked types of package metric are believed.
func CheckMetric(op string, f metric.Finite) error {
	if err := fault.Empty(op, "f", fault.Len(f)); err != nil {
		return err
	}
	switch f.(type) {
	case *metric.Dense, *metric.Graph, *metric.Ultrametric, *metric.Clustered:
		return nil
	}
	n := f.Len()
	rows := n
	if n > checkedPoints {
		rows = 1
	}
	var row []float64
	for i := range rows {
		row = finite.Row(f, i, row)
		for j, d := range row {
			if !(d >= 0 && d <= math.MaxFloat64) {
				return fmt.Errorf("%s: %w", op, &metric.Violation{Axiom: metric.FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)})
			}
		}
	}
	return nil
}

// CheckLevels checks a space and ascending levels, at least one.
func CheckLevels(op string, b metric.Bimetric, alphas []float64) error {
	if err := cmp.Or(CheckSpace(op, b), fault.Empty(op, "alphas", len(alphas)), CheckPositive(op, alphas)); err != nil {
		return err
	}
	for i, a := range alphas {
		if i > 0 && a < alphas[i-1] {
			return &fault.ValueError{Op: op, Arg: "alphas", Index: i, Value: a, Want: "levels in ascending order"}
		}
	}
	return nil
}

// CheckPositive refuses levels that are not finite and positive.
func CheckPositive(op string, alphas []float64) error {
	for i, a := range alphas {
		if !(a > 0 && a <= math.MaxFloat64) {
			return &fault.ValueError{Op: op, Arg: "alphas", Index: i, Value: a, Want: "a finite number > 0"}
		}
	}
	return nil
}

// CheckLevel checks a space and one level.
func CheckLevel(op string, b metric.Bimetric, alpha float64) error {
	return cmp.Or(CheckSpace(op, b), fault.Positive(op, "alpha", alpha))
}

// CheckSizes checks that both metrics have the same points, at least one.
func CheckSizes(op string, b metric.Bimetric) error {
	n, m := fault.Len(b.Privacy), fault.Len(b.Utility)
	if n != m && n > 0 {
		return &fault.SizeError{Op: op, Arg: "b.Utility", Got: m, Want: fmt.Sprint(n)}
	}
	return fault.Empty(op, "the space", n)
}

// CheckSpace checks the points and distances of a space.
func CheckSpace(op string, b metric.Bimetric) error {
	if err := CheckSizes(op, b); err != nil {
		return err
	}
	if err := CheckMetric(op, b.Privacy); err != nil || b.OneMetric() {
		return err
	}
	return CheckMetric(op, b.Utility)
}
