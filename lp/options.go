package lp

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Options are the settings of [Optimal]; nil and zeros mean the defaults.
type Options struct {
	// Prior has a weight >= 0 for every input, sum 1 within 1e-9: the mean loss under it is
	// minimized (BCP14). nil is the worst case.
	Prior []float64

	// Outputs lists the points that may be released; nil is every input. The utility metric
	// may then have further points after the inputs. Release returns a point of the list;
	// Prob and Row number the outputs by their places in it.
	Outputs []int

	// Loss, where not nil, takes the place of the utility metric: a finite number >= 0 for
	// input x and an entry y of Outputs, the same at every call. Outputs are then any labels
	// >= 0, and the utility metric serves Adversary alone and may be nil.
	Loss func(x, y int) float64

	// Tolerance is the Gap at which to stop. 0 means 1e-6 up to 150 inputs or outputs and
	// 1e-3 above. Below 1e-8 or so rounding may be in the way.
	Tolerance float64

	// TimeLimit ends the search after that long, without an error; 0 is no limit. It begins
	// when the distances have been read; half of it at most is kept to make what was found
	// private and to audit it.
	TimeLimit time.Duration

	// MemoryLimit is how many bytes may be used; 0 means 16 GiB. Where the distances of 4,096 inputs
	// or more do not fit they are read again when they are needed. The runtime's garbage is not
	// counted: see runtime/debug.SetMemoryLimit.
	MemoryLimit float64

	// Unit is that of the privacy metric, by default what [metric.UnitOf] says; another is
	// refused.
	Unit metric.Unit

	Workers int // 0: all processors; the result does not depend on it
	// Progress, where not nil, is called after every iteration with the gap and the time so
	// far, by the goroutine of the caller; with iteration 0 before the program.
	Progress func(iteration int, gap float64, elapsed time.Duration)
}

const (
	fineTolerance   = 1e-6
	coarseTolerance = 1e-3
	fineSize        = 150 // the largest problem solved to fineTolerance unasked

	// priorTol is how far a prior's sum may be from 1, as in package mechanism.
	priorTol = 1e-9
)

// spaces checks b, and Outputs or their default, for the number of inputs.
func (o *Options) spaces(op string, b metric.Bimetric) (n int, err error) {
	if o.Loss == nil && (o.Outputs == nil || b.Privacy == nil || b.Utility == nil) {
		if err := b.Check(); err != nil {
			return 0, fault.Within(op, err)
		}
	}
	n = fault.Len(b.Privacy)
	if err := fault.Empty(op, "Privacy", n); err != nil {
		return 0, err
	}
	if o.Outputs == nil {
		o.Outputs = make([]int, n)
		for y := range o.Outputs {
			o.Outputs[y] = y
		}
	}
	labels := math.MaxInt
	if o.Loss == nil {
		labels = fault.Len(b.Utility)
		if err := cmp.Or(fault.Empty(op, "Utility", labels), fault.AtLeast(op, "Utility", labels, n)); err != nil {
			return 0, err
		}
	}
	return n, cmp.Or(fault.Empty(op, "Outputs", len(o.Outputs)), fault.Indices(op, "Outputs", o.Outputs, labels))
}

// losses returns what writes the loss of each output at an input.
func (o *Options) losses(op string, utility metric.Finite) func(x int, dst []float64) error {
	if o.Loss != nil {
		return func(x int, dst []float64) error {
			for w, y := range o.Outputs {
				dst[w] = o.Loss(x, y)
			}
			return fault.AllNonNegative(op, fmt.Sprintf("Loss[%d]", x), dst)
		}
	}
	var row []float64
	return func(x int, dst []float64) (err error) {
		row, err = distances(op, "Utility", utility, x, row)
		for w, y := range o.Outputs {
			dst[w] = row[y]
		}
		return err
	}
}

// defaults checks o against b and fills in its defaults.
func (o *Options) defaults(op string, b metric.Bimetric, alpha float64) (Options, error) {
	var s Options
	if o != nil {
		s = *o
	}
	n, err := s.spaces(op, b)
	if err != nil {
		return s, err
	}
	if err := fault.Positive(op, "alpha", alpha); err != nil {
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
