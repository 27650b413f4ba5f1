package exponential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// BestOptions tune [Best]. Nil and the zero value mean the defaults.
type BestOptions struct {
	// Prior is the distribution of the inputs, sum 1 within 1e-9, under which the
	// objective is the expected loss; nil: the largest over the inputs.
	Prior []float64
	// Remap replaces every output by the point that minimizes the expected loss under
	// Prior, which it needs, given that output.
	Remap    bool
	Outputs  []int                                // as in [Options]; before Remap
	Unit     metric.Unit                          // of the privacy metric, as in [Options]
	Progress func(method Method, done, total int) // of the method's audit
	Workers  int                                  // 0: all processors
}

// Best builds alpha-private mechanisms on b and returns the one with the least loss under b.Utility, the
// first of equals: [Constant]; [Tight], without Outputs; [Remapped]; [Tuned]; [Relaxed], tuned, where the
// two metrics differ or b.Utility is an ultrametric; and [Standard] where they differ. A construction that
// fails is listed with its reason. Errors are those of the arguments, a [*metric.ValueError] for a
// distance that is none, and that of ctx.
//
// O(n^2*k + n^3) time for n points and k outputs, and that of Remapped, which is most of it. lp.Choose has
// a TimeLimit and leaves out what does not fit.
func Best(ctx context.Context, b metric.Bimetric, alpha float64, o *BestOptions) (*Choice, error) {
	const op = "exponential: Best"
	w, err := newWanted(ctx, op, b, alpha, o)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	choice := &Choice{Objective: math.Inf(1), Adversary: math.NaN(), Gap: 1}
	for _, m := range constructors {
		if !m.fits(w) {
			continue
		}
		c, built := w.weigh(ctx, m)
		if err := ctx.Err(); c.Err != nil && err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		choice.Candidates = append(choice.Candidates, c)
		if c.Loss < choice.Objective {
			choice.Mechanism, choice.Objective, choice.Adversary = *built, c.Loss, c.Adversary
		}
	}
	if choice.Channel == nil {
		return nil, fmt.Errorf("%s: no mechanism: %w", op, cmp.Or(choice.Candidates[0].Err, errOverflow))
	}
	if choice.Objective == 0 {
		choice.Gap = 0
	}
	choice.Elapsed = time.Since(began)
	return choice, nil
}

// constructor is a method that [Best] weighs where it fits.
type constructor struct {
	Method
	fits  func(*wanted) bool
	build func(*wanted, context.Context) (*Mechanism, error)
}

// constructors are those of [Best], in the order in which they are weighed.
var constructors = []constructor{
	{MethodConstant, (*wanted).always, (*wanted).constant},
	{MethodTight, (*wanted).everyOutput, (*wanted).tight},
	{MethodRemapped, (*wanted).always, (*wanted).remapped},
	{MethodTuned, (*wanted).always, (*wanted).tuned},
	{MethodRelaxedTuned, (*wanted).coarser, (*wanted).relaxed},
	{MethodStandard, (*wanted).twoMetrics, (*wanted).standard},
}

// wanted is what a call of [Best] asks every constructor for.
type wanted struct {
	BestOptions
	b     metric.Bimetric
	alpha float64
	unit  metric.Unit
	tree  *metric.Ultrametric // the utility metric, where it is one
}

// newWanted checks the arguments of [Best].
func newWanted(ctx context.Context, op string, b metric.Bimetric, alpha float64, o *BestOptions) (*wanted, error) {
	if o == nil {
		o = &BestOptions{}
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	n := b.Len()
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), checkPrior(op, o.Prior, n), checkOutputs(op, o.Outputs, n)); err != nil {
		return nil, err
	}
	if o.Remap && o.Prior == nil {
		return nil, fmt.Errorf("%s: Remap: want a Prior, under which to minimize", op)
	}
	unit, err := fault.Unit(op, o.Unit, metric.UnitOf(b.Privacy))
	if err != nil {
		return nil, err
	}
	if err := checkSpaces(ctx, op, b, o.Workers); err != nil {
		return nil, err
	}
	tree, _ := metric.AsUltrametric(ctx, b.Utility) // nil where it is none
	return &wanted{BestOptions: *o, b: b, alpha: alpha, unit: unit, tree: tree}, nil
}

// weigh builds the mechanism of m and evaluates it.
func (w *wanted) weigh(ctx context.Context, m constructor) (Candidate, *Mechanism) {
	c := Candidate{Method: m.Method, Loss: math.Inf(1), Level: math.NaN(), Adversary: math.NaN()}
	began := time.Now()
	built, err := m.build(w, ctx)
	if err == nil {
		err = c.evaluate(ctx, built, w.b.Utility, &w.BestOptions)
	}
	if err == nil {
		c.Level = built.Guarantee().Alpha()
	}
	c.Err, c.Took = err, time.Since(began)
	return c, built
}

func (w *wanted) always() bool { return true }

// everyOutput tells whether all points may be released, as [Tight] does.
func (w *wanted) everyOutput() bool { return w.Outputs == nil }

// coarser tells whether [Relaxed] may differ from [Tuned].
func (w *wanted) coarser() bool { return w.tree != nil || w.twoMetrics() }

func (w *wanted) twoMetrics() bool { return !w.b.OneMetric() }

func (w *wanted) progress(m Method) func(done, total int) {
	if w.Progress == nil {
		return nil
	}
	return func(done, total int) { w.Progress(m, done, total) }
}

func (w *wanted) constant(ctx context.Context) (*Mechanism, error) {
	center, err := bestPoint(ctx, w.b.Utility, &w.BestOptions)
	if err != nil {
		return nil, err
	}
	return Constant(w.b.Len(), center, w.unit)
}

func (w *wanted) tight(ctx context.Context) (*Mechanism, error) {
	return Tight(ctx, w.b.Privacy, w.alpha, w.options(MethodTight))
}

func (w *wanted) remapped(ctx context.Context) (*Mechanism, error) {
	return Remapped(ctx, w.b, w.alpha, &RemappedOptions{Options: *w.options(MethodRemapped), Prior: w.Prior})
}

func (w *wanted) tuned(ctx context.Context) (*Mechanism, error) {
	return Tuned(ctx, w.b.Privacy, w.alpha, w.options(MethodTuned))
}

func (w *wanted) standard(ctx context.Context) (*Mechanism, error) {
	return Standard(ctx, w.b.Privacy, w.alpha, w.options(MethodStandard))
}

func (w *wanted) options(m Method) *Options {
	return &Options{Outputs: w.Outputs, Unit: w.unit, Progress: w.progress(m), Workers: w.Workers}
}

func (w *wanted) relaxed(ctx context.Context) (*Mechanism, error) {
	m, err := relax(ctx, w.b, w.tree, w.alpha, &RelaxedOptions{Options: *w.options(MethodRelaxedTuned), Tuned: true, Prior: w.Prior})
	if err != nil {
		return nil, err
	}
	return &m.Mechanism, nil
}

// errOverflow says that no mechanism has a finite loss.
var errOverflow = errors.New("the losses are beyond float64")

// checkSpaces refuses distances that are none: what fails after that is a construction.
func checkSpaces(ctx context.Context, op string, b metric.Bimetric, workers int) error {
	bad := make([]error, b.Len())
	err := parallel.Chunks(ctx, len(bad), 8, workers, nil, func(_, lo, hi int) {
		var row []float64
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			row = finite.Row(b.Privacy, x, row)
			bad[x] = checkRow(op, "Privacy", x, row, nil)
			if !b.OneMetric() {
				row = finite.Row(b.Utility, x, row)
				bad[x] = cmp.Or(bad[x], checkRow(op, "Utility", x, row, nil))
			}
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return cmp.Or(bad...)
}

// evaluate fills in what m loses, and an adversary; m is remapped if that is asked for.
func (c *Candidate) evaluate(ctx context.Context, m *Mechanism, rho metric.Finite, o *BestOptions) error {
	if o.Remap {
		labels, err := m.Remap(ctx, o.Prior, rho)
		if err != nil {
			return err
		}
		if m.Channel, err = m.Relabel(labels); err != nil {
			return err
		}
	}
	losses, err := m.Loss(ctx, rho)
	if err != nil {
		return err
	}
	loss, err := objective(losses, o.Prior)
	if err != nil {
		return err
	}
	adversary := math.NaN()
	if o.Prior != nil {
		adversary, err = m.AdversaryError(ctx, o.Prior, rho)
	}
	if err == nil {
		c.Loss, c.Adversary = loss, adversary
	}
	return err
}

// bestPoint is what Constant should release: the center or the prior's median.
func bestPoint(ctx context.Context, rho metric.Finite, o *BestOptions) (int, error) {
	outputs := o.Outputs
	switch {
	case outputs == nil && o.Prior == nil:
		_, center, err := metric.Radius(ctx, rho)
		return center, err
	case outputs == nil:
		for x := range rho.Len() {
			outputs = append(outputs, x)
		}
	}
	least, at := math.Inf(1), 0
	var row []float64
	for _, y := range outputs {
		row = finite.Row(rho, y, row)
		loss, err := objective(row, o.Prior)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return 0, err
		}
		if loss < least {
			least, at = loss, y
		}
	}
	return at, nil
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
