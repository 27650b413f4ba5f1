package additive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// Gaussian adds independent normal noise of one standard deviation to every coordinate of a point of R^d.
// It is (alpha, delta)-private per unit of the Euclidean distance between inputs at a distance up to the
// target's diameter. Two inputs farther apart are not covered, and Release cannot see them: if in doubt,
// clip the data to a ball of that diameter first. The noise is exact: see [Options]. Immutable and safe
// for concurrent use.
type Gaussian struct {
	dim int
	out rounding // its scale is the deviation
	g   mechanism.Guarantee
}

// NewGaussian returns the mechanism on R^dim with the least noise for t.
func NewGaussian(dim int, t GaussianTarget, o *Options) (*Gaussian, error) {
	const op = "additive: NewGaussian"
	opt := orZero(o)
	if err := checkDim(op, dim); err != nil {
		return nil, err
	}
	sigma, err := t.sigma(op)
	if err != nil {
		return nil, err
	}
	out, err := newRounding(op, opt, sigma)
	if err != nil {
		return nil, err
	}
	return &Gaussian{dim, out, t.guarantee(opt.Unit)}, nil
}

func (m *Gaussian) check(op string) error {
	return fault.Made(m != nil && m.dim != 0, op, "Gaussian", "NewGaussian")
}

// Guarantee is the target's alpha and delta, with the diameter as its reach.
func (m *Gaussian) Guarantee() mechanism.Guarantee { return orZero(m).g }

// String gives the noise and its guarantee.
func (m *Gaussian) String() string {
	z := orZero(m)
	return describe(m.check("additive"), z.g, "Gaussian noise of deviation %.6g in R^%d", z.out.scale, z.dim)
}

// Sigma is the standard deviation of the noise on each coordinate, which
// rounding to the grid changes by at most half a step.
func (m *Gaussian) Sigma() float64 {
	fault.Must(m, m.check("additive: Gaussian.Sigma"))
	return m.out.scale
}

// Release returns x plus noise in a new slice; see [Gaussian.ReleaseTo].
func (m *Gaussian) Release(rng *rand.Rand, x []float64) ([]float64, error) {
	y := make([]float64, len(x))
	if err := m.releaseTo("additive: Gaussian.Release", y, rng, x); err != nil {
		return nil, err
	}
	return y, nil
}

// ReleaseTo writes x plus noise to dst, which may be x itself. Both must have
// the mechanism's dimension. A coordinate too large for [Options.Grid] is a
// [*metric.ValueError]. O(dim), without allocation where rng is given.
func (m *Gaussian) ReleaseTo(dst []float64, rng *rand.Rand, x []float64) error {
	return m.releaseTo("additive: Gaussian.ReleaseTo", dst, rng, x)
}

func (m *Gaussian) releaseTo(op string, dst []float64, rng *rand.Rand, x []float64) error {
	if err := m.check(op); err != nil {
		return err
	}
	if err := m.out.checkVector(op, "x", x, m.dim); err != nil {
		return fault.Private(err)
	}
	if err := checkLen(op, "dst", len(dst), m.dim); err != nil {
		return err
	}
	rng, done := random.Get(rng)
	defer done()
	m.out.lattice().AddNormal(dst, rng, x, m.out.scale)
	return nil
}

// RadiusQuantile returns the Euclidean norm that the noise does not exceed with
// probability q, before rounding to the grid: half its square over sigma^2 has
// the distribution Gamma(dim/2). NaN where q is outside [0, 1].
func (m *Gaussian) RadiusQuantile(q float64) float64 {
	fault.Must(m, m.check("additive: Gaussian.RadiusQuantile"))
	return m.out.scale * math.Sqrt(2*gammaQuantile(float64(m.dim)/2, q))
}
