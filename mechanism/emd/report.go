package emd

import (
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// Report is what a [Distribution] publishes: noisy sums over users. The zero value
// is that of nobody, to merge others into. Not safe for concurrent use while it
// changes.
type Report struct {
	sum            []int64
	a              float64 // level of the noise
	plan           uint32  // which map: see Distribution.fingerprint
	users, reports int64
}

// Users returns how many users it is about.
func (r *Report) Users() int64 { return r.users }

// Reports returns how many reports it is the sum of.
func (r *Report) Reports() int64 { return r.reports }

// Len returns the number of sums, 0 in the zero value.
func (r *Report) Len() int { return len(r.sum) }

// At returns the i-th sum. It panics where there is none.
func (r *Report) At(i int) int64 { return r.sum[i] }

// Merge adds a report of other users, from a [Distribution] made with the same
// arguments. Different numbers of sums are a [*metric.SizeError]; different levels
// of noise, another domain or map, and a sum beyond int64 a [*metric.ValueError], and r
// itself is an error. All leave r as it is.
func (r *Report) Merge(s *Report) error {
	const op = "emd: Report.Merge"
	switch {
	case s == nil:
		return fault.Empty(op, "Report", 0)
	case s.users == 0:
		return nil
	case s == r:
		return fmt.Errorf("%s: the Report itself, want one of other users", op)
	case r.users == 0:
		*r = *s
		r.sum = slices.Clone(s.sum)
		return nil
	case len(r.sum) != len(s.sum):
		return &fault.SizeError{Op: op, Arg: "sums", Got: len(s.sum), Want: fmt.Sprint(len(r.sum))}
	case !r.hasLevel(s.a):
		return fault.Value(op, "level", s.a, fmt.Sprint(r.a))
	case r.plan != s.plan:
		return fault.Value(op, "plan", float64(s.plan), fmt.Sprintf("%d: the reports are about different domains or maps", r.plan))
	case s.users > maxNumber-r.users:
		return fault.Value(op, "users", float64(s.users), "at most 2^53 in all")
	}
	if err := r.add(op, s.sum); err != nil {
		return err
	}
	r.users += s.users
	r.reports += s.reports
	return nil
}

// hasLevel says whether a is the level up to what machines differ in logarithms.
func (r *Report) hasLevel(a float64) bool { return math.Abs(r.a-a) <= float64(0x1p-40*a) }

// add adds to the sums, all or none.
func (r *Report) add(op string, sum []int64) error {
	for i, s := range sum {
		if s > 0 && r.sum[i] > math.MaxInt64-s || s < 0 && r.sum[i] < math.MinInt64-s {
			return &fault.ValueError{Op: op, Arg: "sum", Index: i, Value: float64(s), Want: "a sum in all within int64"}
		}
	}
	for i, s := range sum {
		r.sum[i] += s
	}
	return nil
}
