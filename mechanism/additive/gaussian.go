package additive

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism"
)

// Gaussian adds independent normal noise of one standard deviation to every
// coordinate of a point of R^d. It is (alpha, delta)-private per unit of the
// Euclidean distance for inputs at a distance up to a diameter that the caller
// states: two inputs farther apart are not covered, and Release cannot see
// them. Clip the data to a ball of that diameter first if in doubt.
//
// The deviation is exact for the two numbers ([GaussianSigma]), where the
// classical sqrt(1.25 ln(1/delta))/alpha and sqrt(2 ln(1.25/delta))/alpha are
// not private for large alpha.
//
// The claim is about real arithmetic: see the package comment. A Gaussian is
// immutable and safe for concurrent use.
type Gaussian struct {
	dim         int
	sigma, grid float64
	g           mechanism.Guarantee
}

// NewGaussian returns the mechanism on R^dim with the least noise for the
// target.
func NewGaussian(dim int, t GaussianTarget, o *Options) (*Gaussian, error) {
	const op = "additive: NewGaussian"
	if err := checkDim(op, dim); err != nil {
		return nil, err
	}
	opt := o.orDefault()
	if err := checkGrid(op, opt.Grid); err != nil {
		return nil, err
	}
	sigma, err := GaussianSigma(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	g, err := t.guarantee(opt.Unit)
	if err != nil {
		return nil, err
	}
	return &Gaussian{dim, sigma, opt.Grid, g}, nil
}

// Guarantee is the target's alpha and delta, with the diameter as its reach.
func (m *Gaussian) Guarantee() mechanism.Guarantee { return m.g }

// String gives the noise and its guarantee.
func (m *Gaussian) String() string {
	return fmt.Sprintf("Gaussian noise of deviation %.6g in R^%d, %v", m.sigma, m.dim, m.g)
}

// Sigma is the standard deviation of the noise on each coordinate.
func (m *Gaussian) Sigma() float64 { return m.sigma }

// Release returns x plus noise in a new slice; see [Gaussian.ReleaseTo].
func (m *Gaussian) Release(r *rand.Rand, x []float64) ([]float64, error) {
	if err := checkVector("additive: Gaussian.Release", x, m.dim); err != nil {
		return nil, err
	}
	y := make([]float64, len(x))
	m.addNoise(y, r, x)
	return y, nil
}

// ReleaseTo writes x plus noise to dst, which may be x itself. Both must have
// the mechanism's dimension and x finite coordinates. O(dim), without
// allocation where r is given.
func (m *Gaussian) ReleaseTo(dst []float64, r *rand.Rand, x []float64) error {
	const op = "additive: Gaussian.ReleaseTo"
	if err := checkVector(op, x, m.dim); err != nil {
		return err
	}
	if err := checkDst(op, dst, m.dim); err != nil {
		return err
	}
	m.addNoise(dst, r, x)
	return nil
}

func (m *Gaussian) addNoise(dst []float64, r *rand.Rand, x []float64) {
	r, done := rng.Get(r)
	defer done()
	d := len(x)
	for i := 0; i+1 < d; i += 2 {
		a, b := rng.Normals(r)
		dst[i], dst[i+1] = x[i]+m.sigma*a, x[i+1]+m.sigma*b
	}
	if d%2 == 1 {
		a, _ := rng.Normals(r)
		dst[d-1] = x[d-1] + m.sigma*a
	}
	toGridAll(dst, m.grid)
}

// RadiusQuantile returns the Euclidean norm that the noise does not exceed with
// probability q, before rounding to a grid: half its square over sigma^2 has
// the law Gamma(dim/2). NaN where q is outside [0, 1].
func (m *Gaussian) RadiusQuantile(q float64) float64 {
	return m.sigma * math.Sqrt(2*gammaQuantile(float64(m.dim)/2, q))
}
