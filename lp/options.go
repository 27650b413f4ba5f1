package lp

import (
	"cmp"
	"fmt"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Options are the settings of [Optimal]; nil and zeros mean the defaults.
type Options struct {
	// Prior has a weight >= 0 for every input, sum 1 within 1e-9: the least mean
	// loss under it is asked for (BCP14). nil is the worst case.
	Prior []float64

	// Outputs lists the points that may be released; nil is every input. The
	// utility metric may then have more points than the privacy metric: the first
	// ones are the inputs, and the others can only be released.
	Outputs []int

	// Tolerance is the relative gap, (objective - bound)/objective, at which to
	// stop. 0 means 1e-6 up to 150 inputs or outputs and 1e-3 above. Below 1e-8
	// or so rounding may be in the way.
	Tolerance float64

	// TimeLimit ends the search after that long, without an error; 0 is no limit.
	// The result then depends on the speed of the machine.
	TimeLimit time.Duration

	// MemoryLimit is how many bytes may be used; 0 means 16 GiB. A problem that
	// is known to need more is refused with a [*metric.MemoryError]; one that
	// turns out to ends with [StatusMemoryLimit].
	MemoryLimit float64

	// Unit names the unit of the privacy metric, for the guarantee; the default is
	// that of the metric itself ([metric.UnitOf]), and another is refused.
	Unit metric.Unit

	Workers int // 0: all processors; the result does not depend on it
	// Progress, where not nil, is told after every iteration the relative gap
	// so far and the time since the start, by the goroutine of the caller.
	Progress func(iteration int, gap float64, elapsed time.Duration)
}

const (
	fineTolerance   = 1e-6
	coarseTolerance = 1e-3
	fineSize        = 150 // the largest problem solved to fineTolerance unasked

	// priorTol is how far a prior's sum may be from 1, as in package mechanism.
	priorTol = 1e-9
)

// defaults checks o against b and fills in its defaults.
func (o *Options) defaults(op string, b metric.Bimetric, alpha float64) (Options, error) {
	var s Options
	if o != nil {
		s = *o
	}
	if s.Outputs == nil || b.Privacy == nil || b.Utility == nil {
		if err := b.Check(); err != nil {
			return s, fault.Within(op, err)
		}
		s.Outputs = make([]int, b.Len())
		for y := range s.Outputs {
			s.Outputs[y] = y
		}
	}
	n, m := fault.Len(b.Privacy), fault.Len(b.Utility)
	if err := cmp.Or(fault.Empty(op, "Privacy", n), fault.Empty(op, "Utility", m)); err != nil {
		return s, err
	}
	if m < n {
		return s, &fault.SizeError{Op: op, Arg: "Utility", Got: m, Want: fmt.Sprintf("at least %d", n)}
	}
	err := cmp.Or(
		fault.Empty(op, "Outputs", len(s.Outputs)),
		fault.Indices(op, "Outputs", s.Outputs, m),
		fault.Positive(op, "alpha", alpha),
	)
	if err != nil {
		return s, err
	}
	if s.Unit, err = fault.Unit(op, s.Unit, metric.UnitOf(b.Privacy)); err != nil {
		return s, err
	}
	if s.Prior != nil {
		if err := fault.Distribution(op, "Prior", s.Prior, n, priorTol); err != nil {
			return s, err
		}
	}
	if !(s.Tolerance >= 0 && s.Tolerance < 1) {
		return s, fault.Value(op, "Tolerance", s.Tolerance, "a number in [0, 1)")
	}
	if s.Tolerance > 0 {
		s.Tolerance = max(s.Tolerance, 0x1p-1000) // shares of it are multiplied up to it
	} else {
		s.Tolerance = coarseTolerance
		if max(n, len(s.Outputs)) <= fineSize {
			s.Tolerance = fineTolerance
		}
	}
	if s.TimeLimit < 0 {
		return s, fault.Value(op, "TimeLimit", s.TimeLimit.Seconds(), "a duration >= 0")
	}
	if err := fault.NonNegative(op, "MemoryLimit", s.MemoryLimit); err != nil {
		return s, err
	}
	if s.MemoryLimit == 0 {
		s.MemoryLimit = fault.MemoryLimit
	}
	if s.Progress == nil {
		s.Progress = func(int, float64, time.Duration) {}
	}
	return s, nil
}
