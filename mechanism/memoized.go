package mechanism

import (
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// ErrMemoized reports a mechanism that repeats draws, as [Sticky] does, where levels add up because
// draws are independent: equal outputs would show which inputs are equal. Such a mechanism has a
// method Memoized() bool that returns true, and so must one of your own that holds it.
var ErrMemoized = fault.ErrMemoized

// memoized tells what m says.
func memoized(m any) bool { return fault.Independent(m) != nil }

// domain is a mechanism that refuses inputs without a draw.
type domain[X any] interface{ inDomain(x X) error }

// inDomain returns the error of m for an x outside its domain, as far as m can tell without
// a draw, and that of an x which is no place, whatever m is.
func inDomain[X, Y any](m Mechanism[X, Y], x X) error {
	if d, ok := m.(domain[X]); ok {
		return d.inDomain(x)
	}
	if p, ok := any(x).(metric.LatLon); ok {
		return fault.Private(metric.GreatCircle{}.Check(p, p))
	}
	return nil
}
