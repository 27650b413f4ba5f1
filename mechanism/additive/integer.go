package additive

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// DiscreteLaplace adds to an integer the noise Z with P{Z = k} = tanh(alpha/2) e^(-alpha|k|): the
// two-sided geometric mechanism (Ghosh, Roughgarden, Sundararajan 2009, "Universally utility-maximizing
// privacy mechanisms"). It is alpha-private per unit of |x-x'|, exactly. A sum outside int64 becomes the
// nearest int64, which is post-processing. Immutable and safe for concurrent use.
type DiscreteLaplace struct {
	alpha float64
	g     mechanism.Guarantee
}

// NewDiscreteLaplace returns the mechanism of level alpha, a number in [1e-100, 1e100].
func NewDiscreteLaplace(alpha float64, o *DiscreteOptions) (*DiscreteLaplace, error) {
	g, err := pure("additive: NewDiscreteLaplace", alpha, orZero(o).Unit)
	if err != nil {
		return nil, err
	}
	return &DiscreteLaplace{alpha, g}, nil
}

func (l *DiscreteLaplace) check(op string) error {
	return fault.Made(l != nil && l.alpha != 0, op, "DiscreteLaplace", "NewDiscreteLaplace")
}

// Guarantee is alpha per unit of the absolute difference, delta 0.
func (l *DiscreteLaplace) Guarantee() mechanism.Guarantee { return orZero(l).g }

// String gives the noise and its guarantee.
func (l *DiscreteLaplace) String() string {
	return describe(l.check("additive"), l.Guarantee(), "discrete Laplace noise")
}

// Release returns x plus noise. The error is nil but for a zero DiscreteLaplace. A nil rng is
// secure, and the choice for private data. It takes some tens of nanoseconds, and microseconds
// where alpha is below about 2^-48.
func (l *DiscreteLaplace) Release(rng *rand.Rand, x int64) (int64, error) {
	if err := l.check("additive: DiscreteLaplace.Release"); err != nil {
		return 0, err
	}
	rng, done := random.Get(rng)
	defer done()
	return exact.AddDiscreteLaplace(rng, x, l.alpha), nil
}

// RadiusQuantile returns the least integer k >= 0 with P{|Z| <= k} >= q, as a
// float64, where P{|Z| > k} = 2 e^(-alpha(k+1))/(1 + e^-alpha). Rounding may
// move it by one where q falls on a step. NaN where q is outside [0, 1].
func (l *DiscreteLaplace) RadiusQuantile(q float64) float64 {
	fault.Must(l, l.check("additive: DiscreteLaplace.RadiusQuantile"))
	if !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	k := (math.Ln2-math.Log1p(math.Exp(-l.alpha))-math.Log1p(-q))/l.alpha - 1
	return max(0, math.Ceil(k))
}

// TruncatedGeometric is [DiscreteLaplace] with its output clamped to [Lo, Hi]. For counts in that range it
// is universally optimal: post-processing makes of it the best alpha-private mechanism for any prior and
// any loss that grows with |x-y| (Ghosh, Roughgarden, Sundararajan 2009). It is alpha-private, exactly,
// for all inputs, those outside the range included. Immutable and safe for concurrent use.
type TruncatedGeometric struct {
	inner  DiscreteLaplace
	lo, hi int64
}

// Range is the set of integers Lo, ..., Hi.
type Range struct{ Lo, Hi int64 }

// NewTruncatedGeometric returns the mechanism of level alpha, a number in
// [1e-100, 1e100], with outputs in the given range, Lo <= Hi.
func NewTruncatedGeometric(out Range, alpha float64, o *DiscreteOptions) (*TruncatedGeometric, error) {
	const op = "additive: NewTruncatedGeometric"
	if out.Lo > out.Hi {
		return nil, fault.Value(op, "Hi", float64(out.Hi), fmt.Sprintf("an integer >= Lo = %d", out.Lo))
	}
	g, err := pure(op, alpha, orZero(o).Unit)
	if err != nil {
		return nil, err
	}
	return &TruncatedGeometric{DiscreteLaplace{alpha, g}, out.Lo, out.Hi}, nil
}

func (t *TruncatedGeometric) check(op string) error {
	return fault.Made(t != nil && t.inner.alpha != 0, op, "TruncatedGeometric", "NewTruncatedGeometric")
}

// Guarantee is alpha per unit of the absolute difference, delta 0.
func (t *TruncatedGeometric) Guarantee() mechanism.Guarantee { return orZero(t).inner.g }

// String gives the noise and its guarantee.
func (t *TruncatedGeometric) String() string {
	z := orZero(t)
	return describe(t.check("additive"), z.inner.g, "truncated geometric on [%d, %d]", z.lo, z.hi)
}

// Release returns x plus noise, clamped to the range. The error is nil but for a zero TruncatedGeometric.
func (t *TruncatedGeometric) Release(rng *rand.Rand, x int64) (int64, error) {
	if err := t.check("additive: TruncatedGeometric.Release"); err != nil {
		return 0, err
	}
	y, err := t.inner.Release(rng, x)
	return min(max(y, t.lo), t.hi), err
}
