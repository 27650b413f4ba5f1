package lp

import (
	"fmt"
	"time"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Engine names the algorithm that solved a problem.
type Engine string

// The engines.
const (
	// EngineConstant is none: a constant loses nothing, or time was up.
	EngineConstant Engine = "constant"
	// EngineDense is the interior point method with dense factors.
	EngineDense Engine = "dense interior point"
	// EngineSparse is the same with sparse factors, for graphs, trees and
	// grids.
	EngineSparse Engine = "sparse interior point"
	// EngineLazy adds the constraints that its own solutions break.
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

// Solution is a mechanism with its proof, immutable and safe for concurrent
// use.
type Solution struct {
	// The mechanism: its guarantee is the upper end of Audited, at most alpha.
	*mechanism.Channel
	Audited mechanism.Audit
	// Objective is the loss of Channel, worst case or expected, rounded up.
	Objective float64
	// DualBound is proved, by weak duality with outward rounding, whatever the
	// solver did: no alpha-private mechanism has a smaller loss. 0 where
	// nothing is proved.
	DualBound float64
	// Gap is (Objective - DualBound)/Objective, 0 where both are 0.
	Gap float64
	// Prior has a weight for every input, sum 1: the least favorable prior,
	// under which no mechanism has an expected loss below DualBound; or the
	// prior that was asked for.
	Prior []float64

	Status Status
	// Refused says what it would have taken to go on where Status is
	// StatusMemoryLimit; nil elsewhere.
	Refused    *metric.MemoryError
	Engine     Engine
	Iterations int
	Elapsed    time.Duration
}

// String gives the figures in a line.
func (s *Solution) String() string {
	return fmt.Sprintf("loss %.9g, bound %.9g, gap %.2g: %s (%s, %d iterations)", s.Objective, s.DualBound, s.Gap, s.Status, s.Engine, s.Iterations)
}
