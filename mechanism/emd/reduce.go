package emd

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
)

// Releaser is what the mechanisms of the packages below have in common.
type Releaser[P, Y any] interface {
	// Release publishes a result about data, which it reads once.
	Release(rng *rand.Rand, data Users[P]) (Y, error)
	// Guarantee is the promise of one release.
	Guarantee() Guarantee
}

// Reduced runs a mechanism for users of s items each on users of any number of items: it replaces every
// user's items by s drawn from them, with replacement. Only the proportions of a user's items count.
// Immutable, and as safe for concurrent use as the mechanism inside.
//
// # Its promise
//
// Let the mechanism inside be (alpha, delta_m)-private, and one user's distribution change from mu to
// mu' at d_EM <= r. Draw the s items of both as independent pairs, as the shortest way from mu to mu'
// pairs them, and those of all other users once for both. The mean D of the pairs' distances bounds the
// d_EM of the two samples, lies in [0, diam] and has mean at most r. Given the samples x and x',
// P{M(x) in S} <= e^(alpha*D) P{M(x') in S} + delta_m. For any c, where D <= c,
//
//	P{M(x) in S} - e^(alpha*c) P{M(x') in S} <= delta_m,
//
// and where D > c it is at most delta_m + 1 - e^(-alpha*(D-c)), because P{M(x') in S} >= e^(-alpha*D)
// (P{M(x) in S} - delta_m). The mean over the samples is a discrete promise of radius r: eps = alpha*c
// and delta = delta_m + delta_s, where for diam = 1, (.)_+ the positive part,
//
//	delta_s = E (1 - e^(-alpha*(D-c)))_+ <= exp(-s*kl(c||r)) * alpha/(alpha + s*kl'(c||r)),
//
// kl(c||r) = c ln(c/r) + (1-c) ln((1-c)/(1-r)) and kl' its derivative in c. The last step integrates
// Chernoff's bound P{D > t} <= exp(-s*kl(t||r)), whose exponent is convex in t.
//
// Source: IRC24, Algorithm 3 and Theorem 5.3, which has a larger c, that of Lemma 5.2.
type Reduced[P, Y any] struct {
	inner Releaser[P, Y]
	g     Guarantee
}

// Sampling says what a [Reduced] mechanism promises.
type Sampling struct {
	// Radius is the distance d_EM between users up to which the promise is made, > 0.
	Radius float64
	// Delta is the part of the promise's delta that the sampling may use, in (0, 1).
	Delta float64
}

// NewReduced returns inner, which promises per unit of d_EM in a bounded model of s items, for users of
// any number of items. Another promise, or one that does not reach to the diameter, is [ErrModel], and
// an inner that repeats draws is [mechanism.ErrMemoized]. [PlanReduction] chooses s and splits delta.
// A release keeps the promises for all Samplings at once: another radius than o's can have a far better
// one of its own than by steps.
// The mean of per-user means needs no sampling: query.Linear takes unbounded central models.
func NewReduced[P, Y any](inner Releaser[P, Y], o Sampling) (*Reduced[P, Y], error) {
	if inner == nil {
		return nil, fault.Empty("emd: NewReduced", "inner", 0)
	}
	if err := fault.Independent(inner); err != nil {
		return nil, fmt.Errorf("emd: NewReduced: inner: %w", err)
	}
	g, err := reduced("emd: NewReduced", inner.Guarantee(), o)
	if err != nil {
		return nil, err
	}
	return &Reduced[P, Y]{inner, g}, nil
}

// reduced is the promise of sampling in front of a mechanism that promises g.
func reduced(op string, g Guarantee, o Sampling) (Guarantee, error) {
	model := g.Model()
	if !model.Bounded() || !(g.Alpha() > 0 && g.Alpha() < math.Inf(1) && g.level.Reach() >= model.Diameter) {
		return Guarantee{}, fmt.Errorf("%s: %w: want a finite level > 0 per unit of d_EM, up to the diameter, in a bounded model, have: %v", op, ErrModel, g)
	}
	if err := cmp.Or(fault.Positive(op, "Sampling.Radius", o.Radius), inside(op, "Sampling.Delta", o.Delta)); err != nil {
		return Guarantee{}, err
	}
	c := sampleMean{samples: float64(model.Items), mean: directed.DivUp(o.Radius, model.Diameter)}
	alpha := directed.MulUp(g.Alpha(), model.Diameter)
	q, capped := c.root(func(float64) float64 { return alpha }, o.Delta)
	// D <= diam always, so a cap there costs nothing.
	delta, distance := g.Delta(), model.Diameter
	if !capped {
		delta = directed.AddUp(delta, o.Delta)
		distance = min(distance, directed.MulUp(q, model.Diameter))
	}
	model.Items = 0
	return NewDiscrete(model, o.Radius, DP{directed.MulUp(g.Alpha(), distance), min(1, delta)})
}

// inside refuses a p that is no probability between 0 and 1.
func inside(op, arg string, p float64) error {
	if p > 0 && p < 1 {
		return nil
	}
	return fault.Value(op, arg, p, "a number in (0, 1)")
}

// Guarantee is the discrete promise, in an unbounded model.
func (d *Reduced[P, Y]) Guarantee() Guarantee {
	if d == nil {
		return Guarantee{}
	}
	return d.g
}

func (d *Reduced[P, Y]) made(op string) error {
	return fault.Made(d != nil && d.inner != nil, op, "Reduced", "NewReduced")
}

// Samples is the number s of items drawn for every user.
func (d *Reduced[P, Y]) Samples() int {
	return fault.Must(d, d.made("emd: Reduced.Samples")).inner.Guarantee().Model().Items
}

// errStop ends a walk over users that the inner mechanism broke off.
var errStop = errors.New("stopped")

// Release samples every user's items and runs the mechanism inside on them. An item that it would
// refuse is found only if drawn. O(users*s) and a buffer of s items, besides the mechanism inside.
func (d *Reduced[P, Y]) Release(rng *rand.Rand, data Users[P]) (Y, error) {
	const op = "emd: Reduced.Release"
	var none Y
	if err := d.made(op); err != nil {
		return none, err
	}
	// The mechanism inside may draw while it reads: it keeps r to itself.
	own, done := random.Get(nil)
	defer done()
	if rng != nil {
		own = random.Seeded(rng.Uint64())
	}
	sample := make([]P, d.Samples())
	var failed error
	y, err := d.inner.Release(rng, func(yield func([]P) bool) {
		failed = check.Each(op, d.g.model.Users, d.g.model.Items, data, func(_ int, items []P) error {
			n := uint64(len(items))
			for i := range sample {
				sample[i] = items[own.Uint64N(n)]
			}
			if !yield(sample) {
				return errStop
			}
			return nil
		})
	})
	if failed != nil && !errors.Is(failed, errStop) {
		return none, failed
	}
	return y, err
}

// sampleMean bounds the mean D of samples independent numbers in [0, 1] with
// mean at most mean: P{D >= q} <= exp(-samples*kl(q||mean)) for q >= mean
// (Chernoff; Hoeffding 1963, Theorem 1).
type sampleMean struct{ samples, mean float64 }

// root returns the least q for which delta is proved to cover
// exp(-samples*kl(q)) * alpha/(alpha + samples*kl'(q)), alpha = alpha(q) > 0,
// rounded up; see [Reduced]. capped says that no q < 1 does.
func (c sampleMean) root(alpha func(q float64) float64, delta float64) (q float64, capped bool) {
	if !(c.mean < 1) {
		return 1, true
	}
	want := -directed.LogDown(delta)
	// Bounds rounded outward need not be monotone to the last bit; whatever end
	// the search stops at was checked itself, or is 1.
	_, q = search.Change(c.mean, 1, 0, func(q float64) bool { return c.exponent(q, alpha(q)) >= want })
	return q, q == 1
}

// exponent is a lower bound of -ln of what root compares with delta, for mean < q < 1. With g =
// (q-mean)/mean and h = (q-mean)/(1-q), kl = q ln(1+g) - (1-q) ln(1+h) and its derivative is ln(1+g) +
// ln(1+h), which keep their digits.
func (c sampleMean) exponent(q, alpha float64) float64 {
	gapDown, gapUp := directed.SubDown(q, c.mean), directed.SubUp(q, c.mean)
	restDown, restUp := directed.SubDown(1, q), directed.SubUp(1, q)
	g := directed.Log1pDown(directed.DivDown(gapDown, c.mean))
	h := directed.Log1pUp(directed.DivUp(gapUp, restDown))
	kl := directed.SubDown(directed.MulDown(q, g), directed.MulUp(restUp, h))
	e := directed.MulDown(c.samples, max(0, kl))
	slope := directed.MulDown(c.samples, directed.AddDown(g, directed.Log1pDown(directed.DivDown(gapDown, restUp))))
	return directed.AddDown(e, directed.Log1pDown(max(0, directed.DivDown(slope, alpha))))
}
