package additive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism"
)

// Laplace adds noise with density (alpha/2) e^(-alpha|z|) to a number: the
// [KNorm] mechanism of the line, alpha-private per unit of |x-x'|. Integers
// have [DiscreteLaplace], which is exact.
//
// The claim is about real arithmetic: see the package comment. A Laplace is
// immutable and safe for concurrent use.
type Laplace struct {
	scale, grid float64
	g           mechanism.Guarantee
}

// NewLaplace returns the mechanism of level alpha, a number in [1e-100, 1e100].
func NewLaplace(alpha float64, o *Options) (*Laplace, error) {
	const op = "additive: NewLaplace"
	opt := o.orDefault()
	if err := checkGrid(op, opt.Grid); err != nil {
		return nil, err
	}
	g, err := pure(op, alpha, opt.Unit)
	if err != nil {
		return nil, err
	}
	return &Laplace{directed.DivUp(1, alpha), opt.Grid, g}, nil
}

// Guarantee is alpha per unit of the absolute difference, delta 0.
func (l *Laplace) Guarantee() mechanism.Guarantee { return l.g }

// String gives the noise and its guarantee.
func (l *Laplace) String() string { return "Laplace noise, " + l.g.String() }

// Release returns x plus noise; x must be finite.
func (l *Laplace) Release(r *rand.Rand, x float64) (float64, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, &fault.ValueError{Op: "additive: Laplace.Release", Arg: "x", Index: -1, Value: x, Want: "a finite number"}
	}
	r, done := rng.Get(r)
	defer done()
	return toGrid(x+l.scale*rng.Laplace(r), l.grid), nil
}

// RadiusQuantile returns the radius that the noise does not exceed with
// probability q, before rounding to a grid: -ln(1-q)/alpha. NaN where q is
// outside [0, 1].
func (l *Laplace) RadiusQuantile(q float64) float64 { return l.scale * gammaQuantile(1, q) }
