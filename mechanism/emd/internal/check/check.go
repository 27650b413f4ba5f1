// Package check refuses what more than one of emd's packages must not take: data that do not
// fit a model, units that differ, spaces wider than their model, sums that overflow.
package check

import (
	"fmt"
	"iter"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// OtherUnit reports something in another unit than the model's.
func OtherUnit(op, what string, unit, model metric.Unit) error {
	advice := "bring both to one unit"
	switch {
	case model == "":
		advice = "set Model.Unit"
	case unit == "":
		advice = fmt.Sprintf("name the unit of the %s where it is made", what)
	}
	return fmt.Errorf("%s: %w: %s %q and model %q: %s", op, fault.ErrUnit, what, unit, model, advice)
}

// AnyNumber in place of a number of users lets [Each] pass one or more.
const AnyNumber = 0

// Each calls f with the items of every user, of whom there must be that many, each with
// perUser items, or one or more where that is 0.
func Each[P any](op string, users, perUser int, data iter.Seq[[]P], f func(user int, items []P) error) error {
	if data == nil {
		return fault.Empty(op, "data", 0)
	}
	var err error
	count := 0
	data(func(items []P) bool {
		switch {
		case count == users && users != AnyNumber:
			err = fmt.Errorf("%s: more users than the model's %d", op, users)
		case len(items) == 0:
			err = fmt.Errorf("%s: user %d has no items", op, count)
		case perUser > 0 && len(items) != perUser:
			err = fmt.Errorf("%s: user %d has not the model's %d items", op, count, perUser)
		default:
			err = f(count, items)
			count++
		}
		return err == nil
	})
	if err == nil && count == 0 {
		return fault.Empty(op, "data", 0)
	}
	if err == nil && count < users {
		err = fmt.Errorf("%s: %d users, not the model's %d", op, count, users)
	}
	return err
}

// LeastNoise keeps discrete Laplace noise of that level or more, beyond 700/level with a
// probability below e^-700, within int64.
const LeastNoise = 0x1p-40

// AddSums adds src to dst, which is as long, all or none.
func AddSums(op string, dst, src []int64) error {
	for i, s := range src {
		if s > 0 && dst[i] > math.MaxInt64-s || s < 0 && dst[i] < math.MinInt64-s {
			return &fault.ValueError{Op: op, Arg: "Sums", Index: i, Value: float64(s), Want: "a sum in all within int64"}
		}
	}
	for i, s := range src {
		dst[i] += s
	}
	return nil
}

// SameLevel reports whether the levels a and b of the noise are the same, up to what
// machines differ by in logarithms.
func SameLevel(a, b float64) bool { return math.Abs(a-b) <= float64(0x1p-40*b) }
