package lp

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Engine names the algorithm that solved a problem: an interior point method that
// eliminates one output after another, as outputs are tied only through the n row sums and
// the n losses. Constraints that those of shorter distances imply are left out, which is
// exact. Where few remain the factors are sparse, and where outputs are few too, inputs are
// eliminated instead. Elsewhere, above 64 inputs, an output imposes constraints once a step
// would nearly break them.
type Engine string

// The engines.
const (
	// EngineNone is that of what needs no program: what there was to start with is
	// optimal, or time was up.
	EngineNone Engine = "none"
	// EngineDense is the interior point method with dense factors.
	EngineDense Engine = "dense interior point"
	// EngineSparse is the same with sparse factors, for graphs, trees and grids.
	EngineSparse Engine = "sparse interior point"
	// EngineByInput is the same with sparse factors of the inputs, for graphs
	// and few outputs.
	EngineByInput Engine = "sparse interior point by input"
	// EngineLazy is the same with few constraints at first, and those that its
	// solutions come near to breaking.
	EngineLazy Engine = "lazy interior point"
)

// Status says why a search ended. The mechanism and its gap are valid with any.
type Status string

// The reasons.
const (
	StatusOptimal     Status = "within tolerance"
	StatusTimeLimit   Status = "time limit"
	StatusCanceled    Status = "canceled"
	StatusMemoryLimit Status = "memory limit"        // constraints that the solution breaks would not fit
	StatusStalled     Status = "stalled by rounding" // before the tolerance was reached
)

// Solution is a mechanism with its proof, immutable and safe for concurrent use.
//
// The solver ends with a number lambda >= 0 for each privacy constraint and z >= 0 for
// each input, the z of sum 1. Whatever they are, every private mechanism M has
//
//	loss >= sum_x z_x sum_y rho2(x,y) M[x,y] >= sum_x min_y c[x,y],
//
// c[x,y] being z_x rho2(x,y) less what lambda counts at (x,y): the constraints make that
// part >= 0 in all, and a row of M, whose entries sum to 1, costs no less than its least
// entry of c. The right-hand side, rounded down, is DualBound, and z is Prior: an
// adversary who draws inputs from it causes at least that loss.
type Solution struct {
	// The mechanism: its guarantee is the upper end of Audited, at most alpha.
	*mechanism.Channel
	Audited mechanism.Audit
	// Method says what gave the channel: MethodProgram, or what there was to start with.
	Method exponential.Method
	// Objective is the loss of Channel, worst case or expected, rounded up: in the unit
	// of the utility metric, and that of Options.Loss where it is set.
	Objective float64
	// DualBound is proved, by weak duality with outward rounding, whatever the
	// solver did: no alpha-private mechanism has a smaller loss. 0 where
	// nothing is proved. BoundBy says by what: "linear program", "local program" with
	// some of the inputs, or before those "nearest outputs" or "closed star".
	DualBound float64
	BoundBy   string
	// Gap is (Objective - DualBound)/Objective, 0 where both are 0.
	Gap float64
	// Prior has a weight for every input, sum 1: the least favorable prior,
	// under which no mechanism has an expected loss below DualBound; or the
	// prior that was asked for.
	Prior []float64
	// Adversary is, where a prior was asked for, the error of the best guess of the
	// input from the output, under that prior and the utility metric
	// ([mechanism.Channel.AdversaryError]); NaN elsewhere, without a utility metric,
	// and where it was interrupted.
	Adversary float64

	Status Status
	// Refused says what it would have taken to go on where Status is
	// StatusMemoryLimit; nil elsewhere.
	Refused    *metric.MemoryError
	Engine     Engine
	Iterations int
	Elapsed    time.Duration

	prices   *prices     // nil where there are none
	lossUnit metric.Unit // of Objective and DualBound, "" where it is not known
}

// prices are a proof of a bound: with the weights z >= 0 of the inputs there are
// multipliers that leave no cost below y at any output, so that no mechanism loses less
// than sum(y)/sum(z).
type prices struct{ z, y []float64 }

// String gives the figures in a line, in the unit of the utility metric if it has one. A
// loss of the caller's own has no unit here.
func (s *Solution) String() string {
	guess := ""
	if s.Adversary > 0 {
		guess = ", adversary's error " + fault.Quantity(s.Adversary, 6, s.lossUnit)
	}
	bound := ""
	if s.BoundBy != "" {
		bound = " (" + s.BoundBy + ")"
	}
	return fmt.Sprintf("loss %s (%s), bound %s%s, gap %s%s: %s (%s, %d iterations)", fault.Quantity(s.Objective, 9, s.lossUnit), s.Method,
		fault.Quantity(s.DualBound, 9, s.lossUnit), bound, fault.AtMost(s.Gap, 2), guess, s.Status, s.Engine, s.Iterations)
}

// adversary is the error of the best guess under a prior, as far as late allows; NaN
// without a prior or a metric.
func adversary(late context.Context, c *mechanism.Channel, prior []float64, rho metric.Finite) float64 {
	if prior != nil && rho != nil {
		if v, err := c.AdversaryError(late, prior, rho); err == nil {
			return v
		}
	}
	return math.NaN()
}
