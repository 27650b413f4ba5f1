package additive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// DiscreteGaussian adds to an integer the noise Z with P{Z = k} prop. to e^(-k^2/(2 sigma^2)) (Canonne,
// Kamath, Steinke 2020, "The discrete Gaussian for differential privacy"). It is (alpha, delta)-private
// per unit of |x-x'|, exactly, for integers at a distance up to the target's diameter; Release cannot see
// inputs farther apart. A sum outside int64 becomes the nearest int64, which is post-processing. Immutable
// and safe for concurrent use.
type DiscreteGaussian struct {
	sigma float64
	g     mechanism.Guarantee
}

// NewDiscreteGaussian returns the mechanism whose sigma is the least for the target, to a relative 1e-9 on
// the safe side: [DiscreteGaussianDelta] at the Diameter, a number in [1, 2^53] that is rounded down to an
// integer, is at most Delta. A target that needs a sigma above 2^38 is a [*metric.ValueError]. Up to 0.1
// seconds, for large sigma.
func NewDiscreteGaussian(t GaussianTarget, o *DiscreteOptions) (*DiscreteGaussian, error) {
	sigma, err := t.discreteSigma("additive: NewDiscreteGaussian")
	if err != nil {
		return nil, err
	}
	return &DiscreteGaussian{sigma, t.guarantee(orZero(o).Unit)}, nil
}

func (m *DiscreteGaussian) check(op string) error {
	return fault.Made(m != nil && m.sigma != 0, op, "DiscreteGaussian", "NewDiscreteGaussian")
}

// Guarantee is the target's alpha and delta, with the diameter as its reach.
func (m *DiscreteGaussian) Guarantee() mechanism.Guarantee { return orZero(m).g }

// String gives the noise and its guarantee.
func (m *DiscreteGaussian) String() string {
	return describe(m.check("additive"), m.Guarantee(), "discrete Gaussian noise of sigma %.6g", orZero(m).sigma)
}

// Sigma is the parameter of the noise, to many digits its standard deviation where it exceeds 1.
func (m *DiscreteGaussian) Sigma() float64 {
	fault.Must(m, m.check("additive: DiscreteGaussian.Sigma"))
	return m.sigma
}

// Release returns x plus noise. The error is nil but for a zero DiscreteGaussian.
func (m *DiscreteGaussian) Release(rng *rand.Rand, x int64) (int64, error) {
	if err := m.check("additive: DiscreteGaussian.Release"); err != nil {
		return 0, err
	}
	rng, done := random.Get(rng)
	defer done()
	return exact.AddDiscreteGaussian(rng, x, m.sigma), nil
}

// maxDiscreteSigma keeps all integers that matter exact in float64.
const maxDiscreteSigma = 1 << 40

// DiscreteGaussianDelta returns an upper bound on the smallest delta such that discrete Gaussian noise of
// parameter sigma is (alpha, delta)-private between two integers at the given distance D (Canonne, Kamath,
// Steinke 2020, Theorem 7), which increases in D:
//
//	delta = sum over k > t of P{Z = k} (1 - e^(-D(k-t)/sigma^2)), t = alpha sigma^2 - D/2.
//
// Every rounding goes up. Up to sigma = 4096 the bound exceeds the sum by less than a relative 1e-9;
// above, by less than 0.01. NaN where sigma is outside (0, 2^40], alpha is negative or not finite, or D is
// outside [0, 2^53]. At most some 10^5 exponentials.
func DiscreteGaussianDelta(sigma, alpha float64, distance int64) float64 {
	if !(sigma > 0 && sigma <= maxDiscreteSigma && alpha >= 0 && !math.IsInf(alpha, 1)) || distance < 0 || distance > 1<<53 {
		return math.NaN()
	}
	if distance == 0 {
		return 0
	}
	d := float64(distance)
	varUp, varDown := directed.MulUp(sigma, sigma), directed.MulDown(sigma, sigma)
	if varDown < 0x1p-900 { // the noise is 0 but for e^-(2^899)
		return 1
	}
	rate := directed.DivUp(d, varDown)
	t := directed.SubDown(directed.MulDown(alpha, varDown), d/2)
	mass := func(k float64) float64 { // e^(-k^2/(2 sigma^2)), rounded up
		return directed.ExpUp(-directed.DivDown(directed.MulDown(k, k), 2*varUp))
	}
	// beyond bounds the sum of mass over k, k+1, ..., for k > 0: from one to
	// the next it falls by e^(-k/sigma^2) or more.
	beyond := func(k float64) float64 {
		return directed.DivUp(mass(k), -directed.Expm1Up(-directed.DivDown(k, varUp)))
	}

	// 1 - delta is the sum of P{Z = k} min(1, e^(-rate(k-t))). For t < -10 sigma, where rate > 20/sigma,
	// that is at most P{Z <= -10 sigma} and the sum over k > -10 sigma of e^(-(k/sigma+20)^2/2) over the
	// whole mass, together below 1e-20: the only float64 from delta to 1 is 1.
	if t < -10*sigma {
		return 1
	}
	// Above 39 sigma terms are bounded by the mass: the last float64s above 0.
	high := math.Ceil(39 * sigma)
	width := math.Ceil(sigma / 4096)
	sum, k := 0.0, math.Floor(t)
	if k > high {
		return min(1, directed.DivUp(beyond(k), massTotal(sigma)))
	}
	for {
		last := k + width - 1
		// The largest mass in the block times the largest second factor.
		top, term := mass(max(k, -last, 0)), 0.0
		if x := directed.MulUp(rate, directed.SubUp(last, t)); x > 0 {
			term = directed.MulUp(directed.MulUp(top, width), -directed.Expm1Down(-x))
		}
		sum = directed.AddUp(sum, term)
		k = last + 1
		if k > high || k > sigma && term <= 0x1p-40*sum {
			if rest := beyond(k); k > high || rest <= 0x1p-40*sum {
				return min(1, directed.DivUp(directed.AddUp(sum, rest), massTotal(sigma)))
			}
		}
	}
}

// massTotal returns a lower bound on the sum of e^(-k^2/(2 sigma^2)) over all integers. It is sigma sqrt(2
// pi) times 1 + 2e^(-2 pi^2 sigma^2) + ... (Poisson summation), and at sigma >= 2 the bracket is 1 + 1e-34.
func massTotal(sigma float64) float64 {
	if sigma >= 2 {
		const root2PiDown = 2.5066282746310002 // sqrt(2 pi) = 2.50662827463100050...
		return directed.MulDown(sigma, root2PiDown)
	}
	sum := 1.0
	varDown := 2 * directed.MulDown(sigma, sigma)
	for k := 1.0; k <= 20; k++ { // at sigma < 2 the rest is below e^-55
		sum = directed.AddDown(sum, 2*directed.ExpDown(-directed.DivUp(k*k, varDown)))
	}
	return sum
}

// discreteSigma is the sigma of [NewDiscreteGaussian].
func (t GaussianTarget) discreteSigma(op string) (float64, error) {
	if !(t.Diameter >= 1 && t.Diameter <= 1<<53) {
		return 0, fault.Value(op, "Diameter", t.Diameter, "a number in [1, 2^53]")
	}
	t.Diameter = math.Floor(t.Diameter)
	guess, err := t.sigma(op)
	if err != nil {
		return 0, err
	}
	const room = 4 // least doubles its guess a few times at most
	if guess > maxDiscreteSigma/room {
		return 0, fault.Value(op, "sigma", guess, "at most 2^38: the target is too strict")
	}
	return least(guess, 1e-9, func(s float64) bool {
		return DiscreteGaussianDelta(s, t.Alpha, int64(t.Diameter)) <= t.Delta
	}), nil
}
