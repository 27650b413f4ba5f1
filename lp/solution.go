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

// Engine names the algorithm that solved a program: an interior point method. Privacy
// constraints that shorter distances imply are left out.
type Engine string

// The engines.
const (
	// EngineNone is that of what needed no program.
	EngineNone Engine = "none"
	// EngineDense is the interior point method with dense factors.
	EngineDense Engine = "dense interior point"
	// EngineSparse is the same with sparse factors, for graphs, trees and grids.
	EngineSparse Engine = "sparse interior point"
	// EngineByInput eliminates inputs for outputs, where these are few.
	EngineByInput Engine = "sparse interior point by input"
	// EngineLazy imposes constraints once a step would nearly break them.
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
type Solution struct {
	// The mechanism: its guarantee is the upper end of Audited, at most alpha.
	*mechanism.Channel
	Audited mechanism.Audit
	// Method says what gave the channel: MethodProgram, or what there was to start with.
	Method exponential.Method
	// Objective is the loss of Channel, worst case or mean, rounded up.
	Objective float64
	// DualBound is proved whatever the solver did: no alpha-private mechanism has a
	// smaller loss. BoundBy says by what: "linear program", "local program" with some of
	// the inputs, "mean under a prior", "nearest outputs" or "closed star".
	DualBound float64
	BoundBy   string
	// Gap is (Objective - DualBound)/Objective, 0 where both are 0.
	Gap float64
	// Prior is that of the Options, or one under which no alpha-private mechanism has a
	// mean loss below DualBound.
	Prior []float64
	// Adversary is [mechanism.Channel.AdversaryError] under Options.Prior and the
	// utility metric; NaN without either, and where it was interrupted.
	Adversary float64

	Status Status
	// Refused is the memory that StatusMemoryLimit lacked; nil elsewhere.
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

// String gives the figures in a line.
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
