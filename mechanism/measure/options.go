package measure

import (
	"cmp"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/walk"
)

// Relation says which data sets are neighbors.
type Relation = walk.Relation

const (
	// ReplaceOne makes two data sets of the same size neighbors where they
	// differ in one record. The number of records is public and released as it
	// is. Where some are left out for what they say, by CountOptions.SkipErrors
	// or before counting, it is private and only AddRemoveOne protects it.
	ReplaceOne = walk.ReplaceOne
	// AddRemoveOne makes them neighbors where one has a record more. The number
	// of records is private and noised too.
	AddRemoveOne = walk.AddRemoveOne
)

// Distribution is that of the noise. A [Synthesizer] draws DiscreteLaplace or
// DiscreteHaar, exactly; a [Measure] draws Laplace or KNorm, real numbers.
type Distribution = walk.Distribution

const (
	// Laplace is independent Laplace noise on the count of every child.
	Laplace = walk.Laplace
	// KNorm is the noise of the K-norm mechanism in every node, of least
	// variance, about 5 % better than Laplace at arity 16. On a binary tree it
	// is Laplace noise on the difference of the two children.
	KNorm = walk.KNorm
	// DiscreteLaplace is Laplace for integers.
	DiscreteLaplace = walk.DiscreteLaplace
	// DiscreteHaar is integer noise on the difference of the two children of
	// every node of a binary tree.
	DiscreteHaar = walk.DiscreteHaar
)

// Schedule divides the budget among the levels of the tree.
type Schedule int

const (
	// DomainSchedule is the schedule that suits the domain; see its constructor.
	DomainSchedule Schedule = iota
	// Equal gives all levels the same scale.
	Equal
	// ByCost makes scales prop. to C^(-1/2), C what noise of scale 1 on the level
	// may cost, in the sum over its nodes: the least a-priori bound.
	ByCost
)

// Estimator turns noisy counts into a measure. All of them are post-processing.
type Estimator int

const (
	// Weighted first averages the noisy count of every node with the sum of its
	// children's, by their variances from the bottom up (Hay et al. 2010), and
	// then gives every node's mass to its children such that they are >= 0 and
	// nearest in l2, from the top down. Nearest to the truth for nearly all
	// data. Noise of [DiscreteHaar] and of a Measure leaves nothing to average.
	Weighted Estimator = iota
	// Clipped sets negative noisy counts to 0 and then, from the top down, adds
	// the same to all children of a node or takes it off as far as they are >= 0,
	// so that they sum to the node. With [DiscreteLaplace] and [ByCost] on a box
	// cut in two by two it is PMM, the baseline.
	Clipped
	// Nearest makes counts consistent and takes a probability measure nearest in
	// W1: on the line by isotonic regression, as in the paper; up to 2,048 cells
	// by wasserstein.Project, and above that nearest in a tree metric that is no
	// less than the metric. Its error is at most twice that of Signed.
	Nearest
	// Signed makes counts consistent and leaves them negative: unbiased for the
	// mean of every function of the cells, but not a probability measure, so
	// that no synthetic records can be made of it.
	Signed
)

// SynthesizerOptions are for [NewSynthesizer]; nil and zero mean the defaults.
type SynthesizerOptions struct {
	// Relation names the neighbors that are protected from one another.
	Relation Relation
	// Distribution of the noise; 0 means DiscreteHaar on a binary tree unless
	// the estimator is Clipped, and DiscreteLaplace otherwise.
	Distribution Distribution
	// Schedule divides the budget among the levels.
	Schedule Schedule
	// Scales, where not nil, says more than a Schedule, which must then be left
	// out: a number > 0 for every level, to which its noise is proportional.
	Scales []float64
	// Estimator turns the counts into a measure; Weighted for a lazy domain.
	Estimator Estimator
	// MaxCells is how many cells a release of a lazy domain may unfold before it
	// stops unfolding more, which is an error where categories are not yet told
	// apart; 0 means 2^22. Other domains have no such limit: it must be 0.
	MaxCells int
}

// MeasureOptions are for [NewMeasure]; nil and zero mean the defaults.
type MeasureOptions struct {
	// Distribution of the noise, Laplace or KNorm; 0 means KNorm.
	Distribution Distribution
	// Schedule, Scales and Estimator are as in [SynthesizerOptions].
	Schedule  Schedule
	Scales    []float64
	Estimator Estimator
}

// orZero returns *o, or a zero T where o is nil.
func orZero[T any](o *T) T {
	if o == nil {
		o = new(T)
	}
	return *o
}

// check applies the defaults, or says what is wrong for the domain.
func (o *SynthesizerOptions) check(op string, a *arrangement) error {
	const constant = "one of the constants of its type"
	switch {
	case o.Relation != ReplaceOne && o.Relation != AddRemoveOne:
		return fault.Value(op, "Relation", float64(o.Relation), constant)
	case o.Schedule < DomainSchedule || o.Schedule > ByCost:
		return fault.Value(op, "Schedule", float64(o.Schedule), constant)
	case o.Scales != nil && o.Schedule != DomainSchedule:
		return fault.Value(op, "Schedule", float64(o.Schedule), "0 where Scales are given")
	case o.Estimator < Weighted || o.Estimator > Signed:
		return fault.Value(op, "Estimator", float64(o.Estimator), constant)
	case a.tree == nil && o.Estimator != Weighted:
		return fault.Value(op, "Estimator", float64(o.Estimator), "Weighted for a lazy domain")
	case o.MaxCells < 0 || a.tree != nil && o.MaxCells > 0:
		return fault.Value(op, "MaxCells", float64(o.MaxCells), "an integer >= 0, and 0 unless the domain is lazy")
	case o.Scales != nil && len(o.Scales) != a.height():
		return &fault.SizeError{Op: op, Arg: "Scales", Got: len(o.Scales), Want: fmt.Sprintf("%d, one a level", a.height())}
	}
	o.MaxCells = cmp.Or(o.MaxCells, 1<<22)
	for l, b := range o.Scales {
		if !(b >= 1e-20 && b <= 1e20) {
			return &fault.ValueError{Op: op, Arg: "Scales", Index: l, Value: b, Want: "a number in [1e-20, 1e20]"}
		}
	}
	return nil
}

// integers chooses the distribution of a Synthesizer's noise.
func (o *SynthesizerOptions) integers(op string, a *arrangement) error {
	binary := a.tree != nil && a.tree.Binary()
	switch d := o.Distribution; {
	case d == 0 && binary && o.Estimator != Clipped:
		o.Distribution = DiscreteHaar
	case d == 0:
		o.Distribution = DiscreteLaplace
	case d == DiscreteHaar && !binary:
		return fault.Value(op, "Distribution", float64(d), "other than DiscreteHaar where the tree is not binary")
	case d != DiscreteLaplace && d != DiscreteHaar:
		return fault.Value(op, "Distribution", float64(d), "DiscreteLaplace or DiscreteHaar for counts, which get integers")
	}
	return nil
}
