package entropy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Kind is the side of the optimal accuracy that a [Bound] is on.
type Kind int

// The optimal accuracy is at least every Lower and at most every Upper bound.
const (
	Lower Kind = iota
	Upper
)

func (k Kind) String() string {
	if k == Upper {
		return "upper"
	}
	return "lower"
}

// Bound is a number on one side of the optimal accuracy of a bimetric space at
// a privacy level, in units of its utility metric, and why it is there.
type Bound struct {
	Kind   Kind
	Value  float64
	Name   string // "pairs"
	Source string // the theorem, as in "BSV24 Theorem 3.1"
	// Witness computes the value afresh. It is nil where the value came from
	// outside: a mechanism's loss.
	Witness Witness
}

// Witness is what proves a bound: some points of the space, and numbers.
type Witness interface {
	// Prove returns what the witness proves about b at level alpha, computed
	// from the distances alone and rounded to the safe side. A witness found
	// elsewhere proves something, if less, about any space with its points.
	Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error)
}

// checkWitness checks the arguments of Prove and the points that the witness
// names: x, its field X, and others, its fields arg; not distances.
func checkWitness(op string, b metric.Bimetric, alpha float64, x int, arg string, others ...int) error {
	if err := spaces.CheckSizes(op, b); err != nil {
		return err
	}
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), fault.Index(op, "X", x, b.Len())); err != nil {
		return err
	}
	return fault.Indices(op, arg, others, b.Len())
}

// String is the kind, value, name and source on one line.
func (b Bound) String() string {
	s := fmt.Sprintf("%v %.6g by %s", b.Kind, b.Value, b.Name)
	if b.Source != "" {
		s += " (" + b.Source + ")"
	}
	return s
}

// Bracket encloses the optimal accuracy of a bimetric space at the level Alpha,
// in units of the utility metric (BSV24).
type Bracket struct {
	scale.Interval
	Alpha float64
	// Bounds are the lower bounds, the largest first, then the upper bounds,
	// the smallest first: each list starts with an end of the interval.
	Bounds []Bound
}

// ranked sorts bounds in place as Bracket has them.
func ranked(bounds []Bound) []Bound {
	slices.SortStableFunc(bounds, func(p, q Bound) int {
		if p.Kind == Lower && q.Kind == Lower {
			p, q = q, p
		}
		return cmp.Or(cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.Value, q.Value))
	})
	return bounds
}

// newBracket takes at least one bound of each kind.
func newBracket(alpha float64, bounds []Bound) Bracket {
	b := Bracket{Alpha: alpha, Bounds: ranked(bounds)}
	b.Interval = scale.Interval{Lo: b.Best(Lower).Value, Hi: b.Best(Upper).Value}
	return b
}

// Best returns the best bound of a kind: that of Lo or of Hi.
func (b Bracket) Best(k Kind) Bound {
	for _, v := range b.Bounds {
		if v.Kind == k {
			return v
		}
	}
	return Bound{Kind: k}
}

// Ratio is Hi/Lo, how far from the best possible the best known mechanism may
// be: 1 where both are 0.
func (b Bracket) Ratio() float64 {
	if b.Exact() {
		return 1
	}
	return b.Hi / b.Lo
}

// String is the interval and what its ends rest on.
func (b Bracket) String() string {
	return fmt.Sprintf("%v: %v, %v", b.Interval, b.Best(Lower), b.Best(Upper))
}

// Loss is the worst expected loss of an alpha-private mechanism in units of the utility metric, or
// an upper bound on it. Package entropy takes the number at its word.
type Loss struct {
	Name  string  // what to call the mechanism
	Value float64 // a finite number >= 0
}

// lossTol is how far below a lower bound a loss may lie, relatively, before it
// is called wrong: a loss summed in float64 over 10^6 outputs errs by less.
const lossTol = 1e-9

// With returns a copy of the bracket with the losses of mechanisms among its upper bounds.
// A loss that is NaN, +Inf or below the best lower bound is a [*metric.ValueError]: its
// mechanism is not alpha-private, has outputs outside the space, or its loss is not the
// worst. A relative 1e-9 is put down to rounding.
func (b Bracket) With(losses ...Loss) (Bracket, error) {
	bounds := slices.Clone(b.Bounds)
	best := b.Best(Lower)
	for i, l := range losses {
		if !(l.Value >= best.Value*(1-lossTol)) || math.IsInf(l.Value, 1) {
			return Bracket{}, &fault.ValueError{Op: "entropy: Bracket.With", Arg: "losses", Index: i, Value: l.Value,
				Want: fmt.Sprintf("a finite number, at least the %v", best)}
		}
		bounds = append(bounds, Bound{Kind: Upper, Value: max(l.Value, best.Value), Name: l.Name, Source: "exact loss"})
	}
	return newBracket(b.Alpha, bounds), nil
}
