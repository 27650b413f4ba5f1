package mechanism

import (
	"errors"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Memoizer is a mechanism that says whether it repeats draws. [Sticky] and [Track] do,
// and so does what [Then], [On], [Labels] or [LabelBoth] makes of one. A mechanism of one's
// own that holds another must have Memoized where the other has, and return the same.
type Memoizer interface {
	// Memoized tells whether a release may repeat the draw of an earlier one, so that
	// the releases are not independent given their inputs.
	Memoized() bool
}

// ErrMemoized reports a mechanism that repeats draws where levels add up because draws are
// independent: equal outputs would show which inputs are equal.
var ErrMemoized = errors.New("the mechanism repeats draws, so that equal outputs show equal inputs")

// CheckIndependent returns nil where the releases of m are independent of one another, given
// their inputs, and otherwise [ErrMemoized] with m's String. It is for what releases by m more
// than once and adds up the levels: [Compose] calls it, words.NewText, and so should others.
// It believes m: one that is no [Memoizer] counts as independent.
func CheckIndependent(m any) error {
	if d, ok := m.(Memoizer); ok && d.Memoized() {
		return fmt.Errorf("%w: %s", ErrMemoized, fault.Describe(m))
	}
	return nil
}

// memoized tells what m says.
func memoized(m any) bool { return CheckIndependent(m) != nil }

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
