package exponential

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/median"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// BestOptions tune [Best]. Nil and the zero value mean the defaults.
type BestOptions struct {
	// Prior, where not nil, is the distribution of the inputs, sum 1 within 1e-9,
	// and the objective is the expected loss under it. With nil the objective is
	// the largest expected loss over the inputs.
	Prior []float64
	// Remap replaces every output of each candidate by the point that minimizes
	// the expected loss under Prior, given that output. It needs a Prior.
	Remap    bool
	Outputs  []int                                // as in Options, for the methods that allow one
	Unit     metric.Unit                          // of the privacy metric
	Progress func(method Method, done, total int) // of the method's audit
	Workers  int                                  // 0: all processors
}

// Choice is what [Best] or lp.Choose took and what it passed over.
type Choice struct {
	Mechanism
	Objective  float64     // its loss, worst case or under the prior, in the unit of the utility metric
	Candidates []Candidate // all, in the order in which they were considered
}

// Candidate is a construction that was considered.
type Candidate struct {
	Method Method
	Loss   float64       // as Objective; +Inf where there is no mechanism
	Level  float64       // audited; NaN where there is none
	Took   time.Duration // from the start of this construction to its end
	// Err is why there is no mechanism. Beside a mechanism it says that the
	// context stopped the search for a better one.
	Err error
}

// String is a line for the loss and the mechanism, and one for each candidate.
func (c *Choice) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "loss %.6g by %v", c.Objective, &c.Mechanism)
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

// Best builds every mechanism of this package on b that is alpha-private under
// b.Privacy (constant, standard, tuned, constant normalizer, tight weights, and
// where the two metrics differ or b.Utility is an ultrametric the relaxed one
// with and without tuning) and returns the one with the least loss under
// b.Utility: the first of equals. Constructions that a space does not admit are
// listed with their reason; any other failure ends the search. O(n^2*k + n^3)
// time for n points and k outputs.
func Best(ctx context.Context, b metric.Bimetric, alpha float64, o *BestOptions) (*Choice, error) {
	const op = "exponential: Best"
	if o == nil {
		o = &BestOptions{}
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return nil, err
	}
	n := b.Len()
	if err := checkPrior(op, o.Prior, n); err != nil {
		return nil, err
	}
	if o.Remap && o.Prior == nil {
		return nil, fmt.Errorf("%s: Remap: want a Prior, under which to minimize", op)
	}
	options := func(m Method) *Options {
		p := &Options{Unit: o.Unit, Outputs: o.Outputs, Workers: o.Workers}
		if m == MethodTight {
			p.Outputs = nil
		}
		if o.Progress != nil {
			p.Progress = func(done, total int) { o.Progress(m, done, total) }
		}
		return p
	}
	tree, err := metric.AsUltrametric(ctx, b.Utility)
	if ctxErr := ctx.Err(); ctxErr != nil {
		return nil, fmt.Errorf("%s: %w", op, ctxErr)
	}
	if err != nil && !b.OneMetric() && !noUltrametric(err) {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	relaxed := func(tuned bool) func(context.Context, metric.Finite, float64, *Options) (*Mechanism, error) {
		return func(ctx context.Context, _ metric.Finite, _ float64, p *Options) (*Mechanism, error) {
			r := &RelaxedOptions{Tuned: tuned, Prior: o.Prior,
				Outputs: p.Outputs, Unit: p.Unit, Progress: p.Progress, Workers: p.Workers}
			if err := r.check("exponential: Relaxed", b, alpha); err != nil {
				return nil, err
			}
			m, err := relax(ctx, b, tree, alpha, r)
			if err != nil {
				return nil, err
			}
			return m.Mechanism, nil
		}
	}
	type construction struct {
		Method
		build func(context.Context, metric.Finite, float64, *Options) (*Mechanism, error)
	}
	methods := []construction{
		{MethodConstant, func(ctx context.Context, _ metric.Finite, _ float64, _ *Options) (*Mechanism, error) {
			center, err := bestPoint(ctx, b.Utility, o.Prior)
			if err != nil {
				return nil, err
			}
			return Constant(n, center, o.Unit)
		}},
		{MethodTight, Tight},
		{MethodConstantNormalizer, ConstantNormalizer},
		{MethodTuned, Tuned},
		{MethodStandard, Standard},
	}
	if tree != nil || !b.OneMetric() {
		methods = append(methods, construction{MethodRelaxedTuned, relaxed(true)}, construction{MethodRelaxed, relaxed(false)})
	}
	choice := &Choice{Objective: math.Inf(1)}
	for _, m := range methods {
		c := Candidate{Method: m.Method, Loss: math.Inf(1), Level: math.NaN()}
		began := time.Now()
		mech, err := m.build(ctx, b.Privacy, alpha, options(m.Method))
		if err == nil {
			mech, c.Loss, err = evaluate(ctx, mech, b.Utility, o)
		}
		if err != nil {
			if !inapplicable(err) {
				return nil, fmt.Errorf("%s: %w", op, err)
			}
			c.Err = err
		} else {
			c.Level = mech.Guarantee().Alpha()
			if c.Loss < choice.Objective {
				choice.Mechanism, choice.Objective = *mech, c.Loss
			}
		}
		c.Took = time.Since(began)
		choice.Candidates = append(choice.Candidates, c)
	}
	return choice, nil
}

// inapplicable tells a construction that the space does not admit from a
// failure.
func inapplicable(err error) bool {
	var negative *NegativeWeightError
	var normalizer *NormalizerError
	var level *LevelError
	return errors.As(err, &negative) || errors.As(err, &normalizer) || errors.As(err, &level) || errors.Is(err, ErrSingular)
}

// evaluate returns the mechanism, remapped if asked, and its loss.
func evaluate(ctx context.Context, m *Mechanism, rho metric.Finite, o *BestOptions) (*Mechanism, float64, error) {
	if o.Remap {
		labels, err := m.Remap(ctx, o.Prior, rho)
		if err != nil {
			return nil, 0, err
		}
		c, err := m.Relabel(labels)
		if err != nil {
			return nil, 0, err
		}
		r := *m
		r.Channel = c
		m = &r
	}
	losses, err := m.Loss(ctx, rho)
	if err != nil {
		return nil, 0, err
	}
	loss, err := objective(losses, o.Prior)
	return m, loss, err
}

// bestPoint is the point that the constant mechanism should release: the
// center, or the median under the prior.
func bestPoint(ctx context.Context, rho metric.Finite, prior []float64) (int, error) {
	if prior != nil {
		return median.Of(ctx, rho, prior)
	}
	_, center, err := metric.Radius(ctx, rho)
	return center, err
}

// objective is the worst of the losses, or their mean under a prior.
func objective(l mechanism.Losses, prior []float64) (float64, error) {
	if prior != nil {
		return l.Mean(prior)
	}
	worst, _ := l.Worst()
	return worst, nil
}

// checkPrior refuses what objective cannot use, for n points.
func checkPrior(op string, prior []float64, n int) error {
	if prior == nil {
		return nil
	}
	return fault.Distribution(op, "Prior", prior, n, 1e-9)
}
