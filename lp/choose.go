package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// ChooseOptions are the settings of [Choose]. Nil and the zero value mean the
// defaults.
type ChooseOptions struct {
	// Prior, where not nil, has a weight >= 0 for every point, sum 1 within
	// 1e-9, and asks for the least expected loss under it in place of the least
	// worst-case loss.
	Prior []float64
	// TimeLimit is the allowance for what may be left out; 0 means a minute. The
	// choice depends on it and, near the limits, on the speed of the machine.
	TimeLimit time.Duration
	// MemoryLimit is as in [Options].
	MemoryLimit float64
	// Unit names the unit of the privacy metric, for the guarantee.
	Unit    metric.Unit
	Workers int             // 0: all processors
	Context context.Context // nil: never stopped
	// Progress, where not nil, is told every method that is about to run, and
	// "lower bound" before that is computed, by the goroutine of the caller.
	Progress func(method Method)
}

// Choice is what [Choose] took and what it passed over.
type Choice struct {
	// The mechanism. Its guarantee was audited, and is at most the alpha that was
	// asked for.
	*mechanism.Channel
	Method Method // that built it, as in Candidates
	// Objective is the loss of Channel, worst case or expected, rounded up;
	// probabilities below 1e-308 do not count.
	Objective float64
	// LowerBound is proved: no alpha-private mechanism on the points has a
	// smaller loss. BoundBy says by what: "linear program" is a DualBound of
	// [Optimal] or [Spanner], the others are those of entropy.LowerBounds, of which
	// all but "star" take both metrics to obey the triangle inequality. It is 0, by
	// nothing, under a prior that no linear program was solved for.
	LowerBound float64
	BoundBy    string
	Gap        float64 // (Objective - LowerBound)/Objective, 0 where both are 0
	// Candidates are all methods, in the order in which they were considered.
	Candidates []Candidate
	Elapsed    time.Duration
}

// Candidate is a method that [Choose] considered.
type Candidate struct {
	Method Method
	Loss   float64       // by the criterion, rounded up; +Inf where there is none
	Level  float64       // audited; NaN where there is none
	Took   time.Duration // from the start of this construction to its end
	// Err is why there is no mechanism: the construction does not exist on the
	// space, a [*TimeError], a [*metric.MemoryError] or ErrNeedless. Beside a
	// mechanism it says that the context stopped the search for a better one.
	Err error
}

// String is a line for the loss, the bound and the mechanism, and one for each
// candidate.
func (c *Choice) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "loss %.6g", c.Objective)
	if c.BoundBy != "" {
		fmt.Fprintf(&s, ", bound %.6g (%s)", c.LowerBound, c.BoundBy)
	}
	fmt.Fprintf(&s, ", by %s: %v", c.Method, c.Channel)
	for _, k := range c.Candidates {
		fmt.Fprintf(&s, "\n  %v", k)
	}
	return s.String()
}

// String is a line: the method with its loss and level, or why it has none.
func (c Candidate) String() string {
	why := ""
	if c.Err != nil {
		why = fault.Reason(c.Err, "lp", "exponential", string(c.Method))
	}
	switch {
	case math.IsInf(c.Loss, 1):
		return fmt.Sprintf("%s: none: %s", c.Method, why)
	case why != "":
		return fmt.Sprintf("%s: loss %.6g at level %.6g (%s)", c.Method, c.Loss, c.Level, why)
	}
	return fmt.Sprintf("%s: loss %.6g at level %.6g", c.Method, c.Loss, c.Level)
}

// Method names a construction that [Choose] considers.
type Method string

// The methods of [Choose]: those of package exponential by the names they have
// there, and the linear programs of this package.
const (
	MethodConstant     = Method(exponential.MethodConstant)
	MethodTight        = Method(exponential.MethodTight)
	MethodTuned        = Method(exponential.MethodTuned)
	MethodRelaxedTuned = Method(exponential.MethodRelaxedTuned)
	MethodConstOPT     = Method("ConstOPT")
	MethodOptimal      = Method("optimal")
	MethodSpanner      = Method("spanner")
)

// ErrNeedless says that a method was left out because an optimal mechanism, to
// the tolerance of [Optimal], had been found.
var ErrNeedless = errors.New("lp: an optimal mechanism was found before")

// TimeError says that a method was left out because it takes too long.
type TimeError struct {
	Method      Method
	Needs, Left time.Duration // an estimate, and what was left of the allowance
}

func (e *TimeError) Error() string {
	return fmt.Sprintf("lp: %s: needs about %v, %v is left", e.Method, e.Needs.Round(time.Second), e.Left.Round(time.Second))
}

// Choose builds alpha-private mechanisms on b by the methods that fit the time
// given and returns the one of least loss, with a bound on how far the best
// possible one may be better:
//
//   - the constant mechanism, and package exponential's tight weights and tuned
//     exponential, whatever the time: half a second at n = 600, half a minute at
//     2,400, 5 minutes each at 5,000;
//   - the relaxed mechanism, where the two metrics differ: to n = 1,200 in a
//     minute;
//   - ConstOPT: to n = 580 in a minute, to 1,200 in a quarter of an hour;
//   - the optimal mechanism: to n = 290 in a minute, to 650 in a quarter of an
//     hour, and where the metric is that of a graph, tree or grid to 730 and 1,800;
//   - Spanner, unless the optimal one was found: to n = 500 in a minute.
//
// Of the last four each is compared with the time left by an estimate from n,
// for two cores, and left out where it would not fit. Every method is listed
// with what came of it, or why it was not tried. One that was estimated too low
// is stopped at the end of the time, and what it has by then is considered.
//
// All channels are audited with outward rounding, and the losses compared are
// those of the channels themselves.
//
// When ChooseOptions.Context is done the best mechanism so far is returned along
// with an error that wraps the context's; the Choice is nil where there is none.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for an alpha,
// prior, TimeLimit or distance outside its domain. The failure of a method is in its
// Candidate. Memory is some 100 n^2 bytes, and that of the methods.
func Choose(b metric.Bimetric, alpha float64, o *ChooseOptions) (*Choice, error) {
	const op = "lp: Choose"
	began := time.Now()
	if o == nil {
		o = &ChooseOptions{}
	}
	c := &chooser{b: b, alpha: alpha, ChooseOptions: *o, choice: &Choice{Objective: math.Inf(1)}}
	if err := c.settle(op); err != nil {
		return nil, err
	}
	var done context.CancelFunc
	c.late, done = linger(c.Context)
	defer done()
	deadline := began.Add(c.TimeLimit)
	for _, m := range c.methods() {
		if err := c.Context.Err(); err != nil {
			break
		}
		c.try(m, time.Until(deadline))
	}
	s := c.choice
	if !c.optimal && c.Prior == nil && c.Context.Err() == nil {
		if err := c.bound(); err != nil && c.Context.Err() == nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	s.Elapsed = time.Since(began)
	if s.Channel == nil { // stopped, or even the constant one failed
		for _, k := range s.Candidates {
			if c.Context.Err() == nil {
				return nil, fmt.Errorf("%s: %w", op, k.Err)
			}
		}
		s = nil
	} else if s.Objective > 0 {
		s.Gap = max(0, directed.DivUp(directed.SubUp(s.Objective, s.LowerBound), s.Objective))
	}
	if c.Context.Err() != nil {
		return s, fmt.Errorf("%s: stopped: %w", op, context.Cause(c.Context))
	}
	return s, nil
}

// chooser is the state of Choose.
type chooser struct {
	b     metric.Bimetric
	alpha float64
	ChooseOptions
	late    context.Context // as of a problem
	choice  *Choice
	optimal bool // within the tolerance of Optimal
}

// defaultTime is the allowance that nobody asked for.
const defaultTime = time.Minute

// settle checks what was asked and fills in defaults.
func (c *chooser) settle(op string) error {
	if err := c.b.Check(); err != nil {
		return err
	}
	if _, err := c.options().settle(op, c.b, c.alpha); err != nil {
		return err
	}
	var row []float64
	for i := range c.b.Len() {
		if c.Context != nil && c.Context.Err() != nil {
			return fmt.Errorf("%s: stopped: %w", op, context.Cause(c.Context))
		}
		row = metric.Row(c.b.Privacy, i, row)
		if err := fault.AllNonNegative(op, "Privacy", row); err != nil {
			return err
		}
		if c.b.OneMetric() {
			continue
		}
		row = metric.Row(c.b.Utility, i, row)
		if err := fault.AllNonNegative(op, "Utility", row); err != nil {
			return err
		}
	}
	if c.TimeLimit < 0 {
		return &fault.ValueError{Op: op, Arg: "TimeLimit", Index: -1, Value: c.TimeLimit.Seconds(), Want: "a duration >= 0"}
	}
	if c.TimeLimit == 0 {
		c.TimeLimit = defaultTime
	}
	if c.Context == nil {
		c.Context = context.Background()
	}
	if c.Progress == nil {
		c.Progress = func(Method) {}
	}
	return nil
}

func (c *chooser) options() *Options {
	return &Options{Prior: c.Prior, MemoryLimit: c.MemoryLimit, Unit: c.Unit, Workers: c.Workers, Context: c.Context}
}

// builder is a method with what it is expected to take.
type builder struct {
	name  Method
	needs time.Duration // 0: it runs whatever the time
	build func(left time.Duration) (*mechanism.Channel, error)
}

// errNone says that a method ended without a mechanism whose audit, which rounds
// up by some 1e-24, is at most alpha.
var errNone = errors.New("lp: no private mechanism was found: alpha times the distances is too small")

// try runs a method if it fits and keeps what it built if it is the best.
func (c *chooser) try(m builder, left time.Duration) {
	k := Candidate{Method: m.name, Loss: math.Inf(1), Level: math.NaN()}
	switch {
	case c.optimal:
		k.Err = ErrNeedless
	case m.needs > max(left, 0):
		k.Err = &TimeError{m.name, m.needs, max(left, 0)}
	default:
		c.Progress(m.name)
		start := time.Now()
		var channel *mechanism.Channel
		if channel, k.Err = m.build(left); channel == nil || !(channel.Guarantee().Alpha() <= c.alpha) {
			k.Err = cmp.Or(k.Err, errNone)
		} else {
			loss, err := c.loss(channel)
			if k.Err = errors.Join(k.Err, err); err == nil {
				k.Loss, k.Level = loss, channel.Guarantee().Alpha()
				if loss < c.choice.Objective {
					c.choice.Channel, c.choice.Method, c.choice.Objective = channel, m.name, loss
				}
			}
		}
		k.Took = time.Since(start)
	}
	c.choice.Candidates = append(c.choice.Candidates, k)
}

// lossErr bounds the relative error of the losses of a channel with n inputs
// and m outputs: 2^-42 for each probability ([mechanism.Channel.Prob]), and
// 2^-53 for each operation of sums and products of numbers >= 0.
func lossErr(n, m int) float64 { return 0x1p-42 + float64(n+m+8)*0x1p-52 }

// loss is the loss of a channel by the criterion, rounded up.
func (c *chooser) loss(channel *mechanism.Channel) (float64, error) {
	losses, err := channel.LossContext(c.late, c.b.Utility)
	if err != nil {
		return 0, err
	}
	loss, _ := losses.Worst()
	if c.Prior != nil {
		mean, mass := 0.0, 0.0
		for x, p := range c.Prior {
			mean += float64(p * losses[x])
			mass += p
		}
		loss = mean / mass
	}
	return directed.MulUp(loss, 1+lossErr(channel.Len(), channel.Outputs())), nil
}

// bound fills in the lower bound where no linear program was solved to the end.
func (c *chooser) bound() error {
	c.Progress("lower bound")
	bounds, err := entropy.LowerBounds(c.b, c.alpha, &entropy.Options{Context: c.Context, Workers: c.Workers})
	if err != nil {
		return err
	}
	if len(bounds) > 0 && bounds[0].Value > c.choice.Objective {
		// A dissimilarity that is no metric: star alone does not need it to be one.
		bounds = slices.DeleteFunc(bounds, func(k entropy.Bound) bool { return k.Name != "star" })
	}
	if len(bounds) > 0 && bounds[0].Value > c.choice.LowerBound {
		c.choice.LowerBound, c.choice.BoundBy = bounds[0].Value, bounds[0].Name
	}
	return nil
}

// prove takes over the bound of a linear program.
func (c *chooser) prove(s *Solution) {
	if s.DualBound > c.choice.LowerBound {
		c.choice.LowerBound, c.choice.BoundBy = s.DualBound, boundByProgram
	}
}
