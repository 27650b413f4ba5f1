package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// The methods of [Choose] beside those of package exponential.
const (
	MethodConstOPT = exponential.Method("ConstOPT")
	MethodOptimal  = exponential.Method("optimal")
	MethodSpanner  = exponential.Method("spanner")

	// MethodProgram is that of a [Solution] whose channel a linear program gave.
	MethodProgram = exponential.Method("linear program")
	// MethodKernel is that of one whose channel is the balanced kernel of [Optimal].
	MethodKernel = exponential.Method("balanced kernel")
)

// errNeedless says that [Optimal] had reached its tolerance before.
var errNeedless = errors.New("lp: an optimal mechanism was found before")

// TimeError says that a method was left out because it takes too long.
type TimeError struct {
	Method      exponential.Method
	Needs, Left time.Duration // an estimate, and what was left of the allowance
}

func (e *TimeError) Error() string {
	if e.Left <= 0 {
		return fmt.Sprintf("lp: %s: takes about %v, and no time is left", e.Method, about(e.Needs))
	}
	return fmt.Sprintf("lp: %s: takes about %v, and %v is left", e.Method, about(e.Needs), about(e.Left))
}

// about is d to a digit, or from 10 s on to the second.
func about(d time.Duration) time.Duration {
	digit := time.Duration(1)
	for 10*digit <= d && digit < time.Second {
		digit *= 10
	}
	return d.Round(digit)
}

// Choose builds alpha-private mechanisms on b by the methods that fit the time and returns the
// one of least loss, with a proved bound on how much better another can be: the constant
// mechanism, tight weights, snapped noise and the tuned exponential; where an estimate fits,
// remapped noise, the relaxed mechanism and ConstOPT; then Optimal from the best of these, and
// Spanner unless the optimum was found.
//
// Losses are those of the audited channels, rounded up. Options are as in [Optimal]; a
// TimeLimit of 0 is a minute; Progress gets, after every method, its number and the gap.
//
// It ends as Optimal does, with its errors. That of a method is in
// its Candidate: a [*TimeError] or a [*metric.MemoryError] where it was left out. Half a minute
// for 2,400 points, if the time allows, and some 100 n^2 bytes.
func Choose(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) (*exponential.Choice, error) {
	const op = "lp: Choose"
	began := time.Now()
	c, err := newChooser(ctx, op, b, alpha, o)
	if err != nil {
		return nil, err
	}
	for k, m := range c.methods() {
		if ctx.Err() != nil {
			break
		}
		c.try(m)
		if k == 0 { // the constant one, which there always is
			c.begin()
			c.early = limit(c.late, max(lateness, time.Duration(startShare*float64(c.o.TimeLimit))))
			c.star(c.late, c.cells, c.proof)
		}
		c.progress(k+1, c.gap(), time.Since(began))
	}
	s := c.choice
	s.LowerBound, s.BoundBy = c.proof.DualBound, c.proof.BoundBy
	s.Elapsed = time.Since(began)
	if s.Channel == nil { // stopped, or even the constant one failed
		for _, k := range s.Candidates {
			if ctx.Err() == nil {
				return nil, fmt.Errorf("%s: %w", op, k.Err)
			}
		}
		s = nil
	} else {
		s.Gap = c.gap()
	}
	if ctx.Err() != nil {
		return s, fmt.Errorf("%s: stopped: %w", op, context.Cause(ctx))
	}
	return s, nil
}

// chooser is the state of Choose.
type chooser struct {
	*problem
	// call is the context of the call; early ends where the methods that are tried
	// whatever the time leave some for the others.
	call, early context.Context
	cells       *cells
	progress    func(method int, gap float64, elapsed time.Duration)
	choice      *exponential.Choice
	proof       *Solution // has the bound
	optimal     bool      // within the tolerance of Optimal
}

const defaultTime = time.Minute

// newChooser checks what was asked and fills in defaults.
func newChooser(ctx context.Context, op string, b metric.Bimetric, alpha float64, o *Options) (*chooser, error) {
	var set Options
	if o != nil {
		set = *o
	}
	set.TimeLimit = cmp.Or(set.TimeLimit, defaultTime)
	p, err := read(ctx, op, b, alpha, &set)
	if err != nil {
		return nil, err
	}
	c := &chooser{problem: p, call: ctx, early: ctx, cells: p.cells(p.m, p.loss), progress: p.o.Progress, proof: p.solution()}
	p.o.Progress = func(int, float64, time.Duration) {}
	c.choice = &exponential.Choice{Objective: math.Inf(1), Adversary: math.NaN()}
	return c, nil
}

// gap is that of the choice so far, 1 without a mechanism.
func (c *chooser) gap() float64 {
	if c.choice.Channel == nil {
		return 1
	}
	return max(0, gap(c.choice.Objective, c.proof.DualBound))
}

// builder is a method with what it is expected to take.
type builder struct {
	name  exponential.Method
	needs time.Duration                                             // 0: it is tried whatever the time
	build func(ctx context.Context) (*exponential.Mechanism, error) // nil: see errLoss
}

// errLoss says that a method is for the loss of a metric only.
var errLoss = errors.New("lp: not for a loss other than a metric between the inputs")

// errNone says that no mechanism audits, rounded up by some 1e-24, to at most
// alpha.
var errNone = errors.New("lp: no private mechanism was found: alpha times the distances is too small")

// try runs a method if it fits and keeps what it built if it is the best.
func (c *chooser) try(m builder) {
	left, ctx := c.left(), c.ctx
	if m.needs == 0 {
		ctx = c.early
	}
	k := exponential.Candidate{Method: m.name, Loss: math.Inf(1), Level: math.NaN(), Adversary: math.NaN()}
	switch {
	case c.optimal:
		k.Err = errNeedless
	case m.build == nil:
		k.Err = errLoss
	case m.needs > max(left, 0):
		k.Err = &TimeError{m.name, m.needs, max(left, 0)}
	default:
		start := time.Now()
		var built *exponential.Mechanism
		if built, k.Err = m.build(ctx); built == nil || !(built.Guarantee().Alpha() <= c.alpha) {
			k.Err = cmp.Or(k.Err, errNone)
		} else {
			loss, err := c.lossOf(built.Channel)
			if k.Err = errors.Join(k.Err, err); err == nil {
				k.Loss, k.Level = loss, built.Guarantee().Alpha()
				k.Adversary = adversary(c.late, built.Channel, c.o.Prior, c.b.Utility)
				if loss < c.choice.Objective {
					c.choice.Mechanism, c.choice.Objective, c.choice.Adversary = *built, loss, k.Adversary
					c.choice.Method = m.name // of the relaxed ones: as among the candidates
				}
			}
		}
		k.Took = time.Since(start)
	}
	c.choice.Candidates = append(c.choice.Candidates, k)
}

// prove takes over the bound of a linear program, and returns its mechanism.
func (c *chooser) prove(s *Solution) *exponential.Mechanism {
	c.proof.prove(s.DualBound, s.BoundBy, nil)
	return &exponential.Mechanism{Channel: s.Channel, Audited: s.Audited}
}

// methods are all there are for the problem, in the order to try them.
func (c *chooser) methods() []builder {
	list := []builder{{exponential.MethodConstant, 0, c.constant}}
	// onInputs adds a method for mechanisms that release inputs.
	onInputs := func(name exponential.Method, needs time.Duration, build func(ctx context.Context) (*exponential.Mechanism, error)) {
		list = append(list, builder{name, needs, func(ctx context.Context) (*exponential.Mechanism, error) {
			m, err := build(ctx)
			if m == nil {
				return nil, err
			}
			channel, relabelErr := c.onOutputs(c.cells, m.Channel)
			m.Channel = channel
			return m, cmp.Or(err, relabelErr)
		}})
	}
	onInputs(exponential.MethodTight, 0, func(ctx context.Context) (*exponential.Mechanism, error) {
		return exponential.Tight(ctx, c.b.Privacy, c.alpha, &exponential.Options{Unit: c.o.Unit, Workers: c.o.Workers})
	})
	onInputs(exponential.MethodSnapped, 0, func(ctx context.Context) (*exponential.Mechanism, error) {
		return c.family(ctx, c.cells, exponential.Snapped)
	})
	onInputs(exponential.MethodTuned, 0, func(ctx context.Context) (*exponential.Mechanism, error) {
		return c.family(ctx, c.cells, exponential.Tuned)
	})
	if c.ofInputs() {
		onInputs(exponential.MethodRemapped, c.remappedNeeds(), func(ctx context.Context) (*exponential.Mechanism, error) {
			return c.remapped(ctx, c.cells)
		})
		if !c.b.OneMetric() {
			onInputs(exponential.MethodRelaxedTuned, cost(relaxedAtThousand, c.n, 1000, 3), c.relaxed)
		}
		onInputs(MethodConstOPT, cost(constPrograms*constAtThousand, c.n, 1000, constPower), c.constOPT)
	} else {
		list = append(list, builder{name: exponential.MethodRemapped}, builder{name: exponential.MethodRelaxedTuned}, builder{name: MethodConstOPT})
	}
	return append(list,
		builder{MethodOptimal, 1, c.best}, // the better the longer
		builder{MethodSpanner, cost(cost(spannerAt400, c.n, 400, 4.1), c.m, c.n, sparseOutputPower), c.spanner},
	)
}

// What methods take on two cores, to the tolerance that [Optimal] has by
// default, by the benchmarks of this package. An estimate that is too low costs
// little: at the end of the time there is a mechanism all the same.
const (
	snappedAtThousand = 2 * time.Second  // the law of noise in as many cells as there are inputs
	gameAtThousand    = 22 * time.Second // for as many cells and outputs as inputs
	relaxedAtThousand = 30 * time.Second // eight tunings, and the separations
	spannerAt400      = 25 * time.Second // eight programs of a sparse graph

	// A single program, which tuning solves 3 to 6 times.
	constAtThousand = 88 * time.Second
	constPrograms   = 5
	constPower      = 3.7

	// How spanners' programs grow with the outputs.
	sparseOutputPower = 0.4
)

// cost extrapolates what n points, or outputs, take from what at many do, by a power law.
func cost(known time.Duration, n, at int, power float64) time.Duration {
	seconds := known.Seconds() * math.Pow(float64(n)/float64(at), power)
	// At least a nanosecond: 0 would be no limit.
	return time.Duration(max(1, min(seconds*float64(time.Second), math.MaxInt64/2)))
}

// remappedNeeds estimates remapped noise: a game of about a hundred rounds, or fewer
// where a round is long, but twenty.
func (c *chooser) remappedNeeds() time.Duration {
	cells := noiseCells(c.n, c.m)
	integrals := cost(cost(snappedAtThousand, c.n, 1000, 1), cells, 1000, 1)
	round := cost(cost(cost(gameAtThousand, c.n, 1000, 1), cells, 1000, 1), c.m, 1000, 1)
	return integrals + max(min(round, gameAtThousand), round/4)
}

// constant releases the one best output.
func (c *chooser) constant(ctx context.Context) (*exponential.Mechanism, error) {
	r, err := c.problem.constant(ctx)
	if err != nil {
		return nil, err
	}
	return &exponential.Mechanism{Channel: r.channel, Audited: r.audit}, nil
}

// relaxed is the relaxed mechanism at the best separation and rate.
func (c *chooser) relaxed(ctx context.Context) (*exponential.Mechanism, error) {
	o := &exponential.RelaxedOptions{Options: exponential.Options{Unit: c.o.Unit, Workers: c.o.Workers}, Tuned: true, Prior: c.o.Prior}
	m, err := exponential.Relaxed(ctx, c.b, c.alpha, o)
	if err != nil {
		return nil, err
	}
	return &m.Mechanism, nil
}

// constOPT is the mechanism of ConstOPT; it ignores the prior.
func (c *chooser) constOPT(context.Context) (*exponential.Mechanism, error) {
	s, err := ConstOPT(c.late, c.b, c.alpha, &ConstOptions{TimeLimit: max(1, c.left()-c.kept), MemoryLimit: c.o.MemoryLimit,
		Unit: c.o.Unit, Workers: c.o.Workers})
	if s == nil {
		return nil, err
	}
	return &exponential.Mechanism{Channel: s.Channel, Audited: s.Audited}, c.stopped(err)
}

// stopped is the error of a program that was stopped with a mechanism, nil where only time
// was up.
func (c *chooser) stopped(err error) error {
	if c.call.Err() == nil && c.late.Err() != nil {
		return nil
	}
	return err
}

// spanner is the mechanism of Spanner; its programs may prove a bound too.
func (c *chooser) spanner(context.Context) (*exponential.Mechanism, error) {
	o := &SpannerOptions{Options: c.o}
	o.TimeLimit = max(1, c.left()-c.kept)
	s, err := Spanner(c.late, c.b, c.alpha, o)
	if s == nil || s.Channel == nil {
		return nil, err
	}
	return c.prove(&s.Solution), c.stopped(err)
}

// best is the mechanism of Optimal in the time left, from what there is.
func (c *chooser) best(context.Context) (*exponential.Mechanism, error) {
	s, m := c.proof, &c.choice.Mechanism
	s.keep(&released{m.Channel, m.Audited, c.choice.Objective, c.choice.Method})
	err := c.improve(c.call, s, time.Now())
	c.optimal = s.Status == StatusOptimal && err == nil
	return &exponential.Mechanism{Channel: s.Channel, Audited: s.Audited}, err
}
