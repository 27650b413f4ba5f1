package additive

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// Norm is the l_p norm on R^Dim, 1 <= P <= +Inf, as in Norm{P: 2, Dim: 3} or Norm{P: math.Inf(1), Dim: 10}.
type Norm struct {
	P   float64
	Dim int
}

// Check says what is wrong with a norm.
func (n Norm) Check() error { return n.check("additive: Norm.Check") }

func (n Norm) check(op string) error {
	if !(n.P >= 1) {
		return fault.Value(op, "P", n.P, "a number in [1, +Inf]")
	}
	return checkDim(op, n.Dim)
}

// AlphaFor returns the level at which the noise of [KNorm] stays within the given radius, in this norm,
// with the given probability: the quantile of the Gamma(Dim) distribution over the radius, rounded down.
// The radius must be a number in [1e-90, 1e90], the probability in (0, 1).
func (n Norm) AlphaFor(radius, prob float64) (float64, error) {
	return n.alphaFor("additive: Norm.AlphaFor", radius, prob)
}

func (n Norm) alphaFor(op string, radius, prob float64) (float64, error) {
	if err := n.check(op); err != nil {
		return 0, err
	}
	if !(radius >= 1e-90 && radius <= 1e90) {
		return 0, fault.Value(op, "radius", radius, "a number in [1e-90, 1e90]")
	}
	if err := fault.Fraction(op, "prob", prob); err != nil {
		return 0, err
	}
	alpha := directed.DivDown(gammaQuantile(float64(n.Dim), prob), radius)
	return alpha, checkScale(op, "alpha", alpha)
}

// KNorm adds noise with density prop. to e^(-alpha*||z||) to a point of R^d, for an l_p norm: the K-norm
// mechanism (Hardt, Talwar 2010, "On the geometry of differential privacy"). It is alpha-private per unit
// of that norm. In the plane with p = 2 it is [PlanarLaplace], with p = 1 independent Laplace noise on
// every coordinate. The noise is exact: see [Options]. Immutable and safe for concurrent use.
type KNorm struct {
	norm  Norm
	alpha float64
	out   rounding // its scale is 1/alpha, rounded up
	g     mechanism.Guarantee
}

// NewKNorm returns the mechanism of level alpha, a number in [1e-100, 1e100], per unit of the
// norm. A wrong argument is a [*metric.ValueError].
func NewKNorm(norm Norm, alpha float64, o *Options) (*KNorm, error) {
	return newKNorm("additive: NewKNorm", norm, alpha, o)
}

// newKNorm's guarantee is the triangle inequality: densities at an output differ by a factor of
// at most e^(alpha*||x-x'||), with the full alpha, as the normalizer is the same for every x.
func newKNorm(op string, norm Norm, alpha float64, o *Options) (*KNorm, error) {
	if err := norm.check(op); err != nil {
		return nil, err
	}
	opt := orZero(o)
	g, err := pure(op, alpha, opt.Unit)
	if err != nil {
		return nil, err
	}
	scale := directed.DivUp(1, alpha)
	out, err := newRounding(op, opt, scale)
	if err != nil {
		return nil, err
	}
	return &KNorm{norm, alpha, out, g}, nil
}

func (k *KNorm) check(op string) error {
	return fault.Made(k != nil && k.norm.Dim != 0, op, "KNorm", "NewKNorm")
}

// Guarantee is alpha per unit of the norm, delta 0.
func (k *KNorm) Guarantee() mechanism.Guarantee { return orZero(k).g }

// String gives the noise and its guarantee.
func (k *KNorm) String() string {
	z := orZero(k)
	return describe(k.check("additive"), z.g, "K-norm noise (p = %v) in R^%d", z.norm.P, z.norm.Dim)
}

// Release returns x plus noise in a new slice; see [KNorm.ReleaseTo].
func (k *KNorm) Release(rng *rand.Rand, x []float64) ([]float64, error) {
	y := make([]float64, len(x))
	if err := k.releaseTo("additive: KNorm.Release", y, rng, x); err != nil {
		return nil, err
	}
	return y, nil
}

// ReleaseTo writes x plus noise to dst, which may be x itself. Both must have length Dim. A coordinate too
// large for [Options.Grid] is a [*metric.ValueError]. A nil rng is secure, and the choice for private data;
// another makes runs repeatable, for tests. O(Dim), without allocation where rng is given.
func (k *KNorm) ReleaseTo(dst []float64, rng *rand.Rand, x []float64) error {
	return k.releaseTo("additive: KNorm.ReleaseTo", dst, rng, x)
}

func (k *KNorm) releaseTo(op string, dst []float64, rng *rand.Rand, x []float64) error {
	if err := k.check(op); err != nil {
		return err
	}
	if err := k.out.checkVector(op, "x", x, k.norm.Dim); err != nil {
		return fault.Private(err)
	}
	if err := checkLen(op, "dst", len(dst), k.norm.Dim); err != nil {
		return err
	}
	rng, done := random.Get(rng)
	defer done()
	k.out.lattice().AddKNorm(dst, rng, x, k.alpha, k.norm.P)
	return nil
}

// RadiusQuantile returns the radius, in the mechanism's norm, that the noise does not exceed with
// probability q: the quantile of Gamma(Dim) divided by alpha. Rounding to the grid moves a release by at
// most half a step in every coordinate, Dim^(1/P)/2 in the norm. NaN where q is outside [0, 1].
func (k *KNorm) RadiusQuantile(q float64) float64 {
	fault.Must(k, k.check("additive: KNorm.RadiusQuantile"))
	return k.out.scale * gammaQuantile(float64(k.norm.Dim), q)
}

// RadiusProb returns the probability that the norm of the noise is at most
// radius, before rounding to the grid; the inverse of [KNorm.RadiusQuantile].
func (k *KNorm) RadiusProb(radius float64) float64 {
	fault.Must(k, k.check("additive: KNorm.RadiusProb"))
	return gammaProb(float64(k.norm.Dim), radius/k.out.scale)
}

// SecondMoment returns the mean square of the noise on one coordinate, whose root rounding to
// the grid changes by at most half a step. With G the gamma function it is
//
//	d(d+1)/alpha^2 * G(3/p) G(d/p) / (G(1/p) G((d+2)/p)).
func (k *KNorm) SecondMoment() float64 {
	fault.Must(k, k.check("additive: KNorm.SecondMoment"))
	d, p := float64(k.norm.Dim), k.norm.P
	// E ||Z||^2 times the mean of |g|^2/||g||^2, a moment of Beta(1/p, (d-1)/p).
	//
	// x G(x) = G(1+x) keeps the arguments away from the pole at 0; at p = Inf they are all 1.
	lg := func(x float64) float64 { v, _ := math.Lgamma(1 + x); return v }
	quotient := (d + 2) / (3 * d) * math.Exp(lg(3/p)+lg(d/p)-lg(1/p)-lg((d+2)/p))
	return k.out.scale * k.out.scale * d * (d + 1) * quotient
}

func gammaQuantile(a, q float64) float64 {
	switch {
	case !(q >= 0 && q <= 1):
		return math.NaN()
	case q == 0:
		return 0
	case q == 1:
		return math.Inf(1)
	case q < lowerTail:
		return gammaLowerQuantile(a, q)
	}
	return mathext.GammaIncRegInv(a, q)
}

// lowerTail is where [gammaLowerQuantile] takes over from gonum, whose inverse
// loses digits, is NaN or panics for small q.
const lowerTail = 1e-3

// gammaLowerQuantile solves log P(x) = log q for small q by Newton's method in t = log x, where
//
//	P(x) = x^a e^-x S(x) / G(1+a),  S(x) = sum over k of x^k / ((a+1)...(a+k)),
//
// has d log P/dt = a/S. As log P is concave in t, steps from the left stay
// there; the first guess x^a = q*G(1+a) is on the left because S <= e^x.
func gammaLowerQuantile(a, q float64) float64 {
	lg, _ := math.Lgamma(1 + a)
	want := directed.Log(q) + lg
	for t := want / a; ; {
		x := math.Exp(t)
		s := 1.0
		for k, term := 1.0, 1.0; term > 0x1p-60*s; k++ {
			term *= x / (a + k)
			s += term
		}
		next := t + (want-a*t+x-math.Log(s))*s/a
		if !(next > t) || next-t < 0x1p-50*max(1, math.Abs(t)) {
			return x
		}
		t = next
	}
}

func gammaProb(a, x float64) float64 {
	if math.IsInf(x, 1) {
		return 1
	}
	return mathext.GammaIncReg(a, max(0, x))
}
