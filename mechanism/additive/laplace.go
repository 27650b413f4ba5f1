package additive

import (
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// Laplace adds noise with density (alpha/2) e^(-alpha|z|) to a number. It is alpha-private per
// unit of |x-x'|, and exact: see [Options]. Integers have [DiscreteLaplace], whose noise is an
// integer too. A Laplace is immutable and safe for concurrent use.
type Laplace struct{ k *KNorm }

// NewLaplace returns the mechanism of level alpha, a number in [1e-100, 1e100].
func NewLaplace(alpha float64, o *Options) (*Laplace, error) {
	k, err := newKNorm("additive: NewLaplace", Norm{P: 1, Dim: 1}, alpha, o)
	if err != nil {
		return nil, err
	}
	return &Laplace{k}, nil
}

func (l *Laplace) check(op string) error {
	return fault.Made(l != nil && l.k != nil, op, "Laplace", "NewLaplace")
}

// Guarantee is alpha per unit of the absolute difference, delta 0.
func (l *Laplace) Guarantee() mechanism.Guarantee { return orZero(l).k.Guarantee() }

// String gives the noise and its guarantee.
func (l *Laplace) String() string {
	return describe(l.check("additive"), l.Guarantee(), "Laplace noise")
}

// Release returns x plus noise, a multiple of the grid. An x too large for [Options.Grid] is a
// [*metric.ValueError]. A nil rng is secure, and the choice for private data.
func (l *Laplace) Release(rng *rand.Rand, x float64) (float64, error) {
	const op = "additive: Laplace.Release"
	if err := l.check(op); err != nil {
		return 0, err
	}
	if err := l.k.out.check(op, "x", -1, x); err != nil {
		return 0, fault.Private(err)
	}
	rng, done := random.Get(rng)
	defer done()
	return l.k.out.lattice().AddLaplace(rng, x, l.k.alpha), nil
}

// RadiusQuantile is [KNorm.RadiusQuantile], here -ln(1-q)/alpha.
func (l *Laplace) RadiusQuantile(q float64) float64 {
	fault.Must(l, l.check("additive: Laplace.RadiusQuantile"))
	return l.k.RadiusQuantile(q)
}
