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

// BaseMeasure describes the exponential mechanism on output spaces that need not be finite:
// the density of the output y at input x, against a probability measure mu on Y, is
// proportional to exp(-Beta*sigma(Map(x), y)).
//
// Source: KL10, Definition 2.6, and Theorem 2.7 for the level.
type BaseMeasure[X, Y any] struct {
	// Map takes an input to its ideal output. Two ideal outputs are at most Lipschitz > 0
	// times as far apart under Sigma as their inputs are under the privacy metric. That is
	// the caller's claim: privacy rests on it. Its errors are as private as the input: a
	// release has them for [errors.Unwrap], and not in its message.
	Map       func(X) (Y, error)
	Lipschitz float64
	Sigma     metric.Space[Y] // must be a metric; checked only where it is NaN or negative
	// Draw samples mu, the public base measure: [Nets.Draw], for one. An error
	// ends the release. It is one more output that mu may have, at distance 0 of
	// all inputs, as long as it depends on what was drawn alone.
	Draw func(*rand.Rand) (Y, error)
	Beta float64     // > 0, per unit of Sigma
	Unit metric.Unit // of the privacy metric

	// MaxDraws bounds the draws from mu that one release may take; 0 is no bound. With a bound
	// MinMass is needed: a number in (0, 1] that the acceptance probability, the integral of
	// exp(-Beta*sigma(y0,y)) dmu(y), is at least, whatever y0; exp(-Beta*diameter of Y) always is.
	MaxDraws int
	MinMass  float64
}

// ErrExhausted reports that a release used up its draws. It is one of the
// mechanism's outputs: its probability is part of the guarantee's delta.
var ErrExhausted = errors.New("no draw from the base measure was accepted within MaxDraws")

// NewBaseMeasure returns the mechanism, sampled by exact rejection: a draw y of mu is accepted with
// probability exp(-Beta*sigma) exactly, sigma as float64 returns it. Its level is 2*Lipschitz*Beta,
// rounded up, per unit of the privacy metric, up to violations of the triangle inequality by
// Sigma's float64. What is missing or out of its domain in b is an error.
//
// With MaxDraws = T a release fails with [ErrExhausted] with probability at most delta =
// (1-MinMass)^T, and is (level, delta)-private. With a(x) the acceptance probability, an accepted
// output has density h(a(x)) exp(-Beta*sigma), h(a) = (1-(1-a)^T)/a. As a*h(a) increases in a, h
// grows by at most the factor by which a falls, and the accepted part is level-private by itself.
// Without a bound the guarantee is pure, the expected number of draws is 1/a(x), and the running
// time depends on the input.
func NewBaseMeasure[X, Y any](b BaseMeasure[X, Y]) (mechanism.Mechanism[X, Y], error) {
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
