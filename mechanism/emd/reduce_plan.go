package emd

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
)

// ReducePlan says which mechanism to build for bounded users so that [NewReduced] turns it into one
// with a wanted discrete promise.
type ReducePlan struct {
	// Model is the bounded model to build it for; Model.Items is the number of samples.
	Model Model
	// Promise is what it may promise.
	Promise
	// Sampling is for NewReduced.
	Sampling Sampling
	// SampleDistance is how far apart samples of users within the radius are at most, but for
	// Sampling.Delta: Alpha*SampleDistance is the wanted Eps.
	SampleDistance float64
	// Value is PlanOptions.Value of the plan, or Alpha where there is none.
	Value float64
}

// PlanOptions tune [PlanReduction]. Nil and the zero value mean the defaults.
type PlanOptions struct {
	// Samples are the numbers of items a user that are tried; nil are the powers of 2 from 16 to 65,536.
	Samples []int
	// Value is what the plan is to make large: for item-wise release what frequency.ItemWiseBudget allows
	// at its Model and Promise if the number of samples is fixed; to compare several, an expected error,
	// negated. -Inf or NaN marks a plan that cannot be used. nil is Alpha, for mechanisms without delta.
	Value func(ReducePlan) float64
}

// splitLogits bounds the shares of delta: e^-14, about 1e-6, for either side.
// Levels change with ln delta, so that smaller shares gain nothing.
const splitLogits = 14

// splitTol finds a share to 2 parts in 100.
const splitTol = 0.002

// PlanReduction splits the delta of a wanted discrete promise (target, for users up to radius apart in
// the unbounded model) between sampling and mechanism, and chooses the number of samples, the best of
// those tried by o.Value, which it asks about some 20 splits for each. target.Eps > 0 and 0 <
// target.Delta < 1; a bounded model is [ErrModel].
func PlanReduction(ctx context.Context, model Model, radius float64, target DP, o *PlanOptions) (ReducePlan, error) {
	const op = "emd: PlanReduction"
	o = cmp.Or(o, &PlanOptions{})
	model, err := model.Check(op)
	if err := cmp.Or(err, fault.Positive(op, "radius", radius), fault.Positive(op, "target.Eps", target.Eps), inside(op, "target.Delta", target.Delta)); err != nil {
		return ReducePlan{}, err
	}
	if model.Bounded() {
		return ReducePlan{}, fmt.Errorf("%s: %w: users already hold %d items each", op, ErrModel, model.Items)
	}
	samples := o.Samples
	if samples == nil {
		for s := 16; s <= 1<<16; s *= 2 {
			samples = append(samples, s)
		}
	}
	p := planner{radius: radius, target: target, value: o.Value, best: ReducePlan{Value: math.Inf(-1)}}
	for i, s := range samples {
		if s < 1 {
			return ReducePlan{}, &fault.ValueError{Op: op, Arg: "Samples", Index: i, Value: float64(s), Want: "a number >= 1"}
		}
		p.model = model
		p.model.Items = s
		if err := p.split(ctx); err != nil {
			return ReducePlan{}, err
		}
	}
	if math.IsInf(p.best.Value, -1) {
		return ReducePlan{}, fmt.Errorf("%s: no plan has a value", op)
	}
	return p.best, nil
}

type planner struct {
	model  Model
	radius float64
	target DP
	value  func(ReducePlan) float64
	best   ReducePlan
}

// split tries splits of delta for p.model.
func (p *planner) split(ctx context.Context) error {
	p.try(p.target.Delta) // all of it to the sampling
	if p.value == nil {
		return nil
	}
	// The logit is shifted away from 0, where no relative width is reached.
	const shift = 3 * splitLogits
	_, _, err := search.Least(shift-splitLogits, shift+splitLogits, splitTol, func(x float64) (float64, error) {
		return -p.try(p.target.Delta / (1 + math.Exp(x-shift))), ctx.Err()
	})
	return err
}

// planMargin keeps the plan's level below target.Eps/SampleDistance by more than the roundings between
// a plan and NewReduced: a few units of 2^-53 each, also in the root. Its terms of size gap = q-mean
// cancel to kl ~ gap^2/(2 mean), with an error of some 2^-50*gap; over the slope kl' ~ gap/mean that
// moves the root by 2^-50*mean < 2^-50*q.
const planMargin = 0x1p-40

// try values the plan that leaves sampling of delta to sampling.
func (p *planner) try(sampling float64) float64 {
	plan := ReducePlan{Model: p.model, Sampling: Sampling{Radius: p.radius, Delta: sampling}}
	plan.Promise.Delta = max(0, directed.SubDown(p.target.Delta, sampling))
	c := sampleMean{samples: float64(p.model.Items), mean: directed.DivUp(p.radius, p.model.Diameter)}
	// The level of the mechanism is what makes the whole promise Eps at q.
	q, capped := c.root(func(q float64) float64 { return directed.DivUp(p.target.Eps, q) }, sampling)
	plan.SampleDistance = min(p.model.Diameter, directed.MulUp(q, p.model.Diameter))
	if capped {
		plan.SampleDistance = p.model.Diameter
	}
	plan.Alpha = p.target.Eps / plan.SampleDistance * (1 - planMargin)
	plan.Value = plan.Alpha
	if p.value != nil {
		plan.Value = p.value(plan)
	}
	if math.IsNaN(plan.Value) {
		return math.Inf(-1)
	}
	if plan.Value > p.best.Value {
		p.best = plan
	}
	return plan.Value
}
