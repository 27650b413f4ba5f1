package private

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// Estimator turns the noisy counts of a [Measure] into a measure. All of them are post-processing.
type Estimator int

const (
	// Weighted gives every node's mass to its children such that they are >= 0 and nearest in l2,
	// from the top down. Nearest to the truth for nearly all data.
	Weighted Estimator = iota
	// Nearest makes counts consistent, so that those of a node's children sum to its own, and takes
	// a probability measure nearest in W1: on the line as in BSV22, Proposition 5.2; up to 2,048
	// cells by wasserstein.Project, and above that in a tree metric that is no less than the
	// metric. Its error is at most twice that of Signed.
	Nearest
	// Signed makes counts consistent and leaves negative ones as they are: unbiased for the mean of
	// every function of the cells, but not a probability measure.
	Signed
)

// Options are for [New]. Nil and zero mean the defaults.
type Options struct {
	// Distribution of the noise, real numbers: [walk.Laplace] or [walk.KNorm], which errs
	// about 5 % less at arity 16; 0 means KNorm.
	Distribution walk.Distribution
	// Scales divides the budget among the levels: a number > 0 for every level, to which its noise
	// is proportional; nil means equal ones on a line, the fourth root of a node's side in other
	// boxes, and C^(-1/2) elsewhere, C a bound on what noise of scale 1 costs there in W1.
	Scales []float64
	// Estimator turns the noisy counts into a measure.
	Estimator Estimator
}

// check says what is wrong for the domain.
func (o *Options) check(op string, height int) error {
	switch {
	case o.Distribution != walk.Laplace && o.Distribution != walk.KNorm:
		return fault.Value(op, "Distribution", float64(o.Distribution), "Laplace or KNorm")
	case o.Estimator < Weighted || o.Estimator > Signed:
		return fault.Value(op, "Estimator", float64(o.Estimator), region.Constant)
	case o.Scales != nil && len(o.Scales) != height:
		return &fault.SizeError{Op: op, Arg: "Scales", Got: len(o.Scales), Want: fmt.Sprintf("%d, one a level", height)}
	}
	for l, b := range o.Scales {
		if !(b >= 1e-20 && b <= 1e20) {
			return &fault.ValueError{Op: op, Arg: "Scales", Index: l, Value: b, Want: "a number in [1e-20, 1e20]"}
		}
	}
	return nil
}
