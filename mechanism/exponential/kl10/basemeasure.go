package kl10

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// BaseMeasure describes the exponential mechanism on output spaces that need not be finite: the density of
// y at input x, against a probability measure mu on Y, is proportional to exp(-Beta*sigma(Map(x), y)).
//
// Source: KL10, Definition 2.6, and Theorem 2.7 for the level.
type BaseMeasure[X, Y any] struct {
	// Map takes an input to its ideal output. Lipschitz > 0 bounds the ratio of the Sigma distance
	// of two ideal outputs to the privacy distance of their inputs: the caller's claim, on which
	// privacy rests. A release hides Map's errors behind [errors.Unwrap].
	Map       func(X) (Y, error)
	Lipschitz float64
	Sigma     metric.Space[Y] // a metric; only what is NaN, infinite or negative is noticed
	// Draw samples mu, the public base measure, such as [Nets.Draw]. Its errors end the release;
	// they may depend on the draw alone.
	Draw func(*rand.Rand) (Y, error)
	Beta float64     // > 0, per unit of Sigma
	Unit metric.Unit // of the privacy metric

	// MaxDraws bounds the draws of one release; 0 is no bound. With a bound MinMass is needed, in
	// (0, 1]: a lower bound, for every y0, on the acceptance probability, the integral of
	// exp(-Beta*sigma(y0,y)) dmu(y), such as exp(-Beta*diameter of Y).
	MaxDraws int
	MinMass  float64
}

// ErrExhausted reports that a release used up its draws. It is one of the
// mechanism's outputs: its probability is part of the guarantee's delta.
var ErrExhausted = errors.New("no draw from the base measure was accepted within MaxDraws")

// NewBaseMeasure returns the mechanism, sampled by exact rejection. Its level is 2*Lipschitz*Beta,
// rounded up, per unit of the privacy metric, as far as Sigma's float64 keeps the triangle
// inequality. A field of b that is missing or out of its domain is an error.
//
// With MaxDraws = T its delta is (1-MinMass)^T, rounded up, which bounds the probability that a
// release fails with [ErrExhausted]. Without, delta is 0 and the time depends on the input.
func NewBaseMeasure[X, Y any](b BaseMeasure[X, Y]) (mechanism.Mechanism[X, Y], error) {
	// A draw y of mu is accepted with probability exp(-Beta*sigma) exactly, sigma as float64
	// returns it. Let a(x) be the acceptance probability and T = MaxDraws. An accepted output has
	// density h(a(x)) exp(-Beta*sigma), h(a) = (1-(1-a)^T)/a. As a*h(a) increases in a, h grows by
	// at most the factor by which a falls, and the accepted part is level-private by itself. An
	// error of Draw is one more output that mu may have, at distance 0 of all inputs. Without a
	// bound the expected number of draws is 1/a(x).
	const op = "kl10: NewBaseMeasure"
	if b.Map == nil || b.Sigma == nil || b.Draw == nil {
		return nil, fmt.Errorf("%s: Map, Sigma and Draw are required", op)
	}
	if err := cmp.Or(fault.Positive(op, "Beta", b.Beta), fault.Positive(op, "Lipschitz", b.Lipschitz)); err != nil {
		return nil, err
	}
	delta := 0.0
	switch {
	case b.MaxDraws < 0:
		return nil, fault.Value(op, "MaxDraws", float64(b.MaxDraws), "an integer >= 0")
	case b.MaxDraws > 0:
		if !(b.MinMass > 0 && b.MinMass <= 1) {
			return nil, fault.Value(op, "MinMass", b.MinMass, "a number in (0, 1] with MaxDraws")
		}
		if b.MinMass < 1 {
			delta = directed.ExpUp(directed.MulUp(float64(b.MaxDraws), directed.Log1pUp(-b.MinMass)))
		}
		if delta >= 1 {
			return nil, fault.Value(op, "MaxDraws", float64(b.MaxDraws), "more draws: the failure probability rounds to 1")
		}
	}
	level := directed.MulUp(2*b.Lipschitz, b.Beta)
	g, err := mechanism.NewGuarantee(level, delta, b.Unit)
	if err != nil {
		return nil, err
	}
	return &baseMeasure[X, Y]{b, g}, nil
}

type baseMeasure[X, Y any] struct {
	BaseMeasure[X, Y]
	g mechanism.Guarantee
}

func (b *baseMeasure[X, Y]) Guarantee() mechanism.Guarantee { return b.g }

func (b *baseMeasure[X, Y]) Release(rng *rand.Rand, x X) (y Y, err error) {
	ideal, err := b.Map(x)
	if err != nil {
		return y, fmt.Errorf("kl10: BaseMeasure: Map: %w", fault.Private(err))
	}
	rng, done := random.Get(rng)
	defer done()
	for t := 0; b.MaxDraws == 0 || t < b.MaxDraws; t++ {
		c, err := b.Draw(rng)
		if err != nil {
			return y, err
		}
		d := b.Sigma.Distance(ideal, c)
		if !(d >= 0) || math.IsInf(d, 1) {
			return y, fault.Private(fault.Value("kl10: BaseMeasure", "Sigma", d, "a finite distance >= 0"))
		}
		// A rounded product would be no metric, though sigma is one.
		if exact.BernoulliExpMul(rng, b.Beta, d) {
			return c, nil
		}
	}
	return y, fmt.Errorf("kl10: BaseMeasure: %w", ErrExhausted)
}
