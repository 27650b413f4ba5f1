package measure

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/walk"
)

// Relation says which data sets are neighbors.
type Relation = walk.Relation

const (
	// ReplaceOne makes two data sets of the same size neighbors where they differ
	// in one record. The number of records is public and released as it is, so
	// every record must have a cell, the old one and the new. Where some are left
	// out for what they say, by CountOptions.SkipErrors or before counting, that
	// number is private and only AddRemoveOne protects it.
	ReplaceOne = walk.ReplaceOne
	// AddRemoveOne makes them neighbors where one has a record more. The number
	// of records is private and noised too.
	AddRemoveOne = walk.AddRemoveOne
)

// Noise is a kind of noise. A [Synthesizer] draws exact integers, a [Measure]
// real numbers.
type Noise int

const (
	// AutoNoise is Haar for a Synthesizer on a binary tree, KNorm for a Measure,
	// and Independent otherwise.
	AutoNoise Noise = iota
	// Independent Laplace noise on the count of every child.
	Independent
	// Haar is Laplace noise on the difference of the two children of every node of
	// a binary tree.
	Haar
	// KNorm is the noise of the K-norm mechanism in every node, of least variance,
	// about 5 % better than Independent at arity 16. Real numbers only.
	KNorm
)

// Schedule divides the budget among the levels of the tree.
type Schedule int

const (
	// DomainSchedule is the schedule that suits the domain; see its constructor.
	DomainSchedule Schedule = iota
	// Equal gives all levels the same scale.
	Equal
	// ByCost makes scales prop. to C^(-1/2), C what noise of scale 1 on the level
	// may cost, in the sum over its nodes: the least a-priori bound. On a box cut
	// in two by two this is the schedule of PMM.
	ByCost
)

// Estimate turns noisy counts into a measure. All of them are post-processing.
type Estimate int

const (
	// Weighted first averages the noisy count of every node with the sum of its
	// children's, by their variances from the bottom up (Hay et al. 2010), and
	// then gives every node's mass to its children such that they are >= 0 and
	// nearest in l2, from the top down. Nearest to the truth for nearly all data.
	// [Haar] and [KNorm] noise leave nothing to average.
	Weighted Estimate = iota
	// Clipped sets negative noisy counts to 0 and then, from the top down, adds the
	// same to all children of a node or takes it off as far as they are >= 0, so
	// that they sum to the node. On a box cut in two by two with [Independent] noise
	// and [ByCost] it is PMM, a well-known hierarchical baseline, for comparison.
	Clipped
	// Nearest makes counts consistent and takes a probability measure nearest in
	// W1: on the line by isotonic regression, as in the paper; up to 2,048 cells
	// by wasserstein.Project, and above that nearest in a tree metric that is no
	// less than the metric. Its error is at most twice that of Signed.
	Nearest
	// Signed makes counts consistent and leaves them negative: unbiased for the
	// mean of every function of the cells, but not a probability measure, so that
	// no synthetic records can be made of it.
	Signed
)

// Options are the settings of [NewSynthesizer] and [NewMeasure]. Nil and the
// zero value mean the defaults.
type Options struct {
	// Relation names the neighbors that are protected from one another. A
	// Measure does not read it: its total is 1.
	Relation Relation
	Noise    Noise
	Schedule Schedule
	// Scales, where not nil, takes the place of Schedule: a number > 0 for every
	// level, to which the scale of its noise is proportional.
	Scales   []float64
	Estimate Estimate
	// MaxCells is how many cells a release of a lazy domain may unfold before it
	// stops unfolding more, which is an error where categories are not yet told
	// apart; 0 means 2^22.
	MaxCells int
}

// check applies the defaults, or says what is wrong for the domain.
func (o *Options) check(op string, a *arrangement) error {
	switch bad := func(arg string, v int) error {
		return fault.Value(op, arg, float64(v), "one of the constants of its type")
	}; {
	case o.Relation != ReplaceOne && o.Relation != AddRemoveOne:
		return bad("Relation", int(o.Relation))
	case o.Noise < AutoNoise || o.Noise > KNorm:
		return bad("Noise", int(o.Noise))
	case o.Schedule < DomainSchedule || o.Schedule > ByCost:
		return bad("Schedule", int(o.Schedule))
	case o.Estimate < Weighted || o.Estimate > Signed:
		return bad("Estimate", int(o.Estimate))
	case o.MaxCells < 0:
		return fault.Value(op, "MaxCells", float64(o.MaxCells), "an integer >= 0")
	}
	if o.MaxCells == 0 {
		o.MaxCells = 1 << 22
	}
	if o.Scales != nil {
		if len(o.Scales) != a.height() {
			return &fault.SizeError{Op: op, Arg: "Scales", Got: len(o.Scales), Want: fmt.Sprintf("%d, one a level", a.height())}
		}
		for l, b := range o.Scales {
			if !(b >= 1e-20 && b <= 1e20) {
				return &fault.ValueError{Op: op, Arg: "Scales", Index: l, Value: b, Want: "a number in [1e-20, 1e20]"}
			}
		}
	}
	if a.tree == nil && o.Estimate != Weighted {
		return fault.Value(op, "Estimate", float64(o.Estimate), "Weighted for a lazy domain")
	}
	return nil
}
