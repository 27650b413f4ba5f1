package additive

import (
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
)

var plane = Norm{P: 2, Dim: 2}

// PlanarLaplace adds noise to a point of a flat map. The output lies at distance r in any direction with
// density alpha^2/(2 pi) e^(-alpha r), at 2/alpha on average: geo-indistinguishability (Andrés, Bordenabe,
// Chatzikokolakis, Palamidessi 2013). It is alpha-private per unit of the Euclidean distance, and exact:
// see [Options]. It is [KNorm] with P = 2 and Dim = 2 for points that are arrays.
//
// Both coordinates are in one unit of length. Degrees of latitude and longitude are not:
// use [Sphere]. A PlanarLaplace is immutable and safe for concurrent use.
type PlanarLaplace struct{ k *KNorm }

// NewPlanarLaplace returns the mechanism of level alpha, a number in [1e-100,
// 1e100]. [PlanarAlpha] finds alpha from a wanted accuracy.
func NewPlanarLaplace(alpha float64, o *Options) (*PlanarLaplace, error) {
	k, err := newKNorm("additive: NewPlanarLaplace", plane, alpha, o)
	if err != nil {
		return nil, err
	}
	return &PlanarLaplace{k}, nil
}

func (p *PlanarLaplace) check(op string) error {
	return fault.Made(p != nil && p.k != nil, op, "PlanarLaplace", "NewPlanarLaplace")
}

// PlanarAlpha returns the level at which the noise of [PlanarLaplace] stays
// within radius with probability prob: see [Norm.AlphaFor].
func PlanarAlpha(radius, prob float64) (float64, error) {
	return plane.alphaFor("additive: PlanarAlpha", radius, prob)
}

// Guarantee is alpha per unit of the Euclidean distance, delta 0.
func (p *PlanarLaplace) Guarantee() mechanism.Guarantee { return orZero(p).k.Guarantee() }

// String gives the noise and its guarantee.
func (p *PlanarLaplace) String() string {
	return describe(p.check("additive"), p.Guarantee(), "planar Laplace noise")
}

// Release returns x plus noise: see [KNorm.ReleaseTo] for errors.
func (p *PlanarLaplace) Release(rng *rand.Rand, x [2]float64) ([2]float64, error) {
	const op = "additive: PlanarLaplace.Release"
	if err := p.check(op); err != nil {
		return [2]float64{}, err
	}
	if err := p.k.releaseTo(op, x[:], rng, x[:]); err != nil {
		return [2]float64{}, err
	}
	return x, nil
}

// RadiusQuantile is [KNorm.RadiusQuantile]: the grid adds at most 0.71 steps.
func (p *PlanarLaplace) RadiusQuantile(q float64) float64 {
	fault.Must(p, p.check("additive: PlanarLaplace.RadiusQuantile"))
	return p.k.RadiusQuantile(q)
}

// RadiusProb returns the probability that the output lies within radius of the
// input, before rounding to the grid: 1 - (1 + alpha*radius) e^(-alpha*radius).
func (p *PlanarLaplace) RadiusProb(radius float64) float64 {
	fault.Must(p, p.check("additive: PlanarLaplace.RadiusProb"))
	return p.k.RadiusProb(radius)
}
