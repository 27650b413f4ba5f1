package lp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/median"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// ChooseOptions are the settings of [Choose]; nil and zeros mean the defaults.
type ChooseOptions struct {
	// TimeLimit is the allowance for what may be left out; 0 means a minute. The
	// choice depends on it and, near the limits, on the speed of the machine.
	TimeLimit time.Duration
	// These are as in [Options].
	Prior       []float64
	MemoryLimit float64
	Unit        metric.Unit
	Workers     int
	// Progress, where not nil, is told every method that is about to run, and
	// "lower bound" before that is computed, by the goroutine of the caller.
	Progress func(method Method)
}

// Choice is what [Choose] took and what it passed over.
//
// The Choice within has the mechanism, audited to at most the alpha that was
// asked for, and its Objective: worst case or expected, rounded up;
// probabilities below 1e-308 do not count. Candidates that were left out have a
// [*TimeError], a [*metric.MemoryError] or the word that an optimal mechanism
// had been found.
type Choice struct {
	exponential.Choice
	// LowerBound is proved: no alpha-private mechanism on the points has a
	// smaller loss. BoundBy says by what: "linear program" is a DualBound of
	// [Optimal] or [Spanner], the others are those of entropy.LowerBounds. It is 0, by
	// nothing, under a prior that no linear program was solved for.
	LowerBound float64
	BoundBy    string
	Gap        float64 // (Objective - LowerBound)/Objective, 0 where both are 0
	Elapsed    time.Duration
}

// MarshalJSON implements json.Marshaler.
func (c Choice) MarshalJSON() ([]byte, error) {
	within, err := json.Marshal(c.Choice)
	bound, boundErr := json.Marshal(struct {
		LowerBound float64 `json:"lowerBound"`
		BoundBy    string  `json:"boundBy,omitempty"`
		Gap        float64 `json:"gap"`
		Elapsed    float64 `json:"seconds"`
	}{c.LowerBound, c.BoundBy, c.Gap, c.Elapsed.Seconds()})
	if err := cmp.Or(err, boundErr); err != nil {
		return nil, err
	}
	return append(append(bound[:len(bound)-1], ','), within[1:]...), nil
}

// String is a line for loss, bound and mechanism, and one for each candidate.
func (c *Choice) String() string {
	s := c.Choice.String()
	if c.BoundBy != "" {
		s = strings.Replace(s, " by ", fmt.Sprintf(", bound %.6g (%s), by ", c.LowerBound, c.BoundBy), 1)
	}
	return s
}

// Method names a construction that [Choose] considers.
type Method = exponential.Method

// Candidate is a method that [Choose] considered.
type Candidate = exponential.Candidate

// The methods of [Choose]: those of package exponential, and linear programs.
const (
	MethodConstant     = exponential.MethodConstant
	MethodTight        = exponential.MethodTight
	MethodTuned        = exponential.MethodTuned
	MethodRelaxedTuned = exponential.MethodRelaxedTuned
	MethodConstOPT     = Method("ConstOPT")
	MethodOptimal      = Method("optimal")
	MethodSpanner      = Method("spanner")
)

// errNeedless says that [Optimal] had reached its tolerance before.
var errNeedless = errors.New("lp: an optimal mechanism was found before")

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
//     exponential, whatever the time;
//   - the relaxed mechanism, where the two metrics differ;
//   - ConstOPT;
//   - the optimal mechanism;
//   - Spanner, unless the optimal one was found.
//
// Of the last four each is compared with the time left by an estimate from n,
// for two cores, and left out where it would not fit. One that was estimated too
// low is stopped at the end of the time, and what it has by then is considered.
// The losses compared are those of the audited channels.
//
// Once ctx is done the best mechanism so far is returned along with an error that
// wraps the context's; the Choice is nil where there is none.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for an alpha,
// prior, TimeLimit or distance outside its domain. The failure of a method is in its
// Candidate. Memory is some 100 n^2 bytes, and that of the methods.
func Choose(ctx context.Context, b metric.Bimetric, alpha float64, o *ChooseOptions) (*Choice, error) {
	const op = "lp: Choose"
	began := time.Now()
	if o == nil {
		o = &ChooseOptions{}
	}
	c := &chooser{b: b, alpha: alpha, ChooseOptions: *o, choice: &Choice{Choice: exponential.Choice{Objective: math.Inf(1)}}}
	if err := c.defaults(ctx, op); err != nil {
		return nil, err
	}
	var done context.CancelFunc
	c.late, done = linger(ctx)
	defer done()
	deadline := began.Add(c.TimeLimit)
	for _, m := range c.methods(ctx) {
		if err := ctx.Err(); err != nil {
			break
		}
		c.try(ctx, m, time.Until(deadline))
	}
	s := c.choice
	if !c.optimal && c.Prior == nil && ctx.Err() == nil {
		if err := c.bound(ctx); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	s.Elapsed = time.Since(began)
	if s.Channel == nil { // stopped, or even the constant one failed
		for _, k := range s.Candidates {
			if ctx.Err() == nil {
				return nil, fmt.Errorf("%s: %w", op, k.Err)
			}
		}
		s = nil
	} else {
		s.Gap = max(0, gap(s.Objective, s.LowerBound))
	}
	if ctx.Err() != nil {
		return s, fmt.Errorf("%s: stopped: %w", op, context.Cause(ctx))
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

const defaultTime = time.Minute

// defaults checks what was asked and fills in defaults.
func (c *chooser) defaults(ctx context.Context, op string) error {
	o, err := c.options().defaults(op, c.b, c.alpha)
	if err != nil {
		return err
	}
	c.Unit = o.Unit
	var row []float64
	for i := range c.b.Len() {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: stopped: %w", op, context.Cause(ctx))
		}
		if row, err = distances(op, "Privacy", c.b.Privacy, i, row); err != nil {
			return err
		}
		if c.b.OneMetric() {
			continue
		}
		if row, err = distances(op, "Utility", c.b.Utility, i, row); err != nil {
			return err
		}
	}
	if c.TimeLimit == 0 {
		c.TimeLimit = defaultTime
	}
	if c.Progress == nil {
		c.Progress = func(Method) {}
	}
	return nil
}

func (c *chooser) options() *Options {
	return &Options{Prior: c.Prior, TimeLimit: c.TimeLimit, MemoryLimit: c.MemoryLimit, Unit: c.Unit, Workers: c.Workers}
}

// builder is a method with what it is expected to take.
type builder struct {
	name  Method
	needs time.Duration // 0: it runs whatever the time
	build func(ctx context.Context, left time.Duration) (*exponential.Mechanism, error)
}

// errNone says that no mechanism audits, rounded up by some 1e-24, to at most
// alpha.
var errNone = errors.New("lp: no private mechanism was found: alpha times the distances is too small")

// try runs a method if it fits and keeps what it built if it is the best.
func (c *chooser) try(ctx context.Context, m builder, left time.Duration) {
	k := Candidate{Method: m.name, Loss: math.Inf(1), Level: math.NaN()}
	switch {
	case c.optimal:
		k.Err = errNeedless
	case m.needs > max(left, 0):
		k.Err = &TimeError{m.name, m.needs, max(left, 0)}
	default:
		c.Progress(m.name)
		start := time.Now()
		var built *exponential.Mechanism
		if built, k.Err = m.build(ctx, left); built == nil || !(built.Guarantee().Alpha() <= c.alpha) {
			k.Err = cmp.Or(k.Err, errNone)
		} else {
			loss, err := c.loss(built.Channel)
			if k.Err = errors.Join(k.Err, err); err == nil {
				k.Loss, k.Level = loss, built.Guarantee().Alpha()
				if loss < c.choice.Objective {
					c.choice.Mechanism, c.choice.Objective = *built, loss
					c.choice.Method = m.name // of the relaxed ones: as among the candidates
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
	losses, err := channel.Loss(c.late, c.b.Utility)
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
func (c *chooser) bound(ctx context.Context) error {
	c.Progress("lower bound")
	bounds, err := entropy.LowerBounds(ctx, c.b, c.alpha, &entropy.PassOptions{Workers: c.Workers})
	if err != nil {
		return err
	}
	if bounds[0].Value > c.choice.LowerBound {
		c.choice.LowerBound, c.choice.BoundBy = bounds[0].Value, bounds[0].Name
	}
	return nil
}

// prove takes over the bound of a linear program, and returns its mechanism.
func (c *chooser) prove(s *Solution) *exponential.Mechanism {
	if s.DualBound > c.choice.LowerBound {
		c.choice.LowerBound, c.choice.BoundBy = s.DualBound, boundByProgram
	}
	return &exponential.Mechanism{Channel: s.Channel, Audited: s.Audited}
}

const boundByProgram = "linear program"

// methods are all there are for the space, in the order to try them.
func (c *chooser) methods(ctx context.Context) []builder {
	n := c.b.Len()
	list := []builder{
		{MethodConstant, 0, c.constant},
		{MethodTight, 0, func(ctx context.Context, _ time.Duration) (*exponential.Mechanism, error) {
			return exponential.Tight(ctx, c.b.Privacy, c.alpha, &exponential.TightOptions{Unit: c.Unit, Workers: c.Workers})
		}},
		{MethodTuned, 0, func(ctx context.Context, _ time.Duration) (*exponential.Mechanism, error) {
			return exponential.Tuned(ctx, c.b.Privacy, c.alpha, &exponential.Options{Unit: c.Unit, Workers: c.Workers})
		}},
	}
	if !c.b.OneMetric() {
		list = append(list, builder{MethodRelaxedTuned, cost(relaxedAtThousand, n, 1000, 3), c.relaxed})
	}
	return append(list,
		builder{MethodConstOPT, cost(constPrograms*constAtThousand, n, 1000, constPower), c.constOPT},
		builder{MethodOptimal, c.optimalNeeds(ctx), c.best},
		builder{MethodSpanner, cost(spannerAt400, n, 400, 4.1), c.spanner},
	)
}

// What methods take on two cores, to the tolerance that [Optimal] has by
// default, by the benchmarks of this package. An estimate that is too low costs
// little: at the end of the time there is a mechanism all the same.
const (
	relaxedAtThousand = 30 * time.Second // eight tunings, and the separations
	spannerAt400      = 25 * time.Second // eight programs of a sparse graph

	// A single program, which tuning solves 3 to 6 times.
	constAtThousand = 88 * time.Second
	constPrograms   = 5
	constPower      = 3.7

	// Points of the plane, dense factors.
	denseAtHundred = 4 * time.Second
	densePower     = 4.1
	// Points of the plane, constraints as they are needed, to 1e-6.
	lazyFineAt150 = 10 * time.Second
	lazyFinePower = 4.1
	// The same to 1e-3.
	lazyCoarseAt400 = 175 * time.Second
	lazyCoarsePower = 3.4

	// Trees, roads and grids.
	sparseAt400 = 10 * time.Second
	sparsePower = 2.95
)

// cost extrapolates what n points take from what at many do, by a power law.
func cost(known time.Duration, n, at int, power float64) time.Duration {
	seconds := known.Seconds() * math.Pow(float64(n)/float64(at), power)
	// At least a nanosecond: 0 would be no limit.
	return time.Duration(max(1, min(seconds*float64(time.Second), math.MaxInt64/2)))
}

// optimalNeeds estimates Optimal, whose factors depend on the space.
func (c *chooser) optimalNeeds(ctx context.Context) time.Duration {
	n := c.b.Len()
	if n <= lazySize {
		return cost(denseAtHundred, n, 100, densePower)
	}
	lazy := cost(lazyFineAt150, n, 150, lazyFinePower)
	if n > fineSize {
		lazy = cost(lazyCoarseAt400, n, 400, lazyCoarsePower)
	}
	sparse := cost(sparseAt400, n, 400, sparsePower)
	if sparse > c.TimeLimit {
		return lazy // without a look, which costs n^2
	}
	p, err := read(ctx, "lp: Choose", c.b, c.alpha, c.options())
	if err != nil {
		return lazy
	}
	defer p.close()
	if (&merged{problem: p}).looksDense() {
		return lazy
	}
	return sparse
}

// constant releases the center of the space, or its median under the prior.
func (c *chooser) constant(ctx context.Context, _ time.Duration) (*exponential.Mechanism, error) {
	var point int
	var err error
	if c.Prior == nil {
		_, point, err = metric.Radius(c.late, c.b.Utility)
	} else {
		point, err = median.Of(c.late, c.b.Utility, c.Prior)
	}
	if err != nil {
		return nil, err
	}
	return exponential.Constant(c.b.Len(), point, c.Unit)
}

// relaxed is the relaxed mechanism at the best separation and rate in that
// time.
func (c *chooser) relaxed(ctx context.Context, left time.Duration) (*exponential.Mechanism, error) {
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	o := &exponential.RelaxedOptions{Tuned: true, Prior: c.Prior, Unit: c.Unit, Workers: c.Workers}
	m, err := exponential.Relaxed(ctx, c.b, c.alpha, o)
	if err != nil {
		return nil, err
	}
	return &m.Mechanism, nil
}

// constOPT is the mechanism of ConstOPT; it ignores the prior.
func (c *chooser) constOPT(ctx context.Context, left time.Duration) (*exponential.Mechanism, error) {
	s, err := ConstOPT(ctx, c.b, c.alpha, &ConstOptions{TimeLimit: left, MemoryLimit: c.MemoryLimit,
		Unit: c.Unit, Workers: c.Workers})
	if s == nil {
		return nil, err
	}
	return &exponential.Mechanism{Channel: s.Channel, Audited: s.Audited}, err
}

// spanner is the mechanism of Spanner; its programs may prove a bound too.
func (c *chooser) spanner(ctx context.Context, left time.Duration) (*exponential.Mechanism, error) {
	s, err := Spanner(ctx, c.b, c.alpha, &SpannerOptions{Prior: c.Prior, TimeLimit: left, MemoryLimit: c.MemoryLimit,
		Unit: c.Unit, Workers: c.Workers})
	if s == nil || s.Channel == nil {
		return nil, err
	}
	return c.prove(&s.Solution), err
}

// best is the mechanism of Optimal, within the time left.
func (c *chooser) best(ctx context.Context, left time.Duration) (*exponential.Mechanism, error) {
	o := c.options()
	o.TimeLimit = left
	s, err := Optimal(ctx, c.b, c.alpha, o)
	if s == nil {
		return nil, err
	}
	c.optimal = s.Status == StatusOptimal
	return c.prove(s), err
}
