package exact

import (
	"math/big"
	"math/rand/v2"
)

// MaxGaussianSigma is the largest sigma of [AddDiscreteGaussian].
const MaxGaussianSigma = 1 << 50

// AddDiscreteGaussian returns x + K with P{K = k} prop. to e^(-k^2/(2 sigma^2)), exactly, for 0
// < sigma <= [MaxGaussianSigma] taken as an exact real, and the nearest int64 where the sum is
// none. It rejects from the discrete Laplace distribution (Canonne, Kamath, Steinke 2020,
// Algorithm 3, with rate 1/sigma): about 1.3 trials of it, up to 1.7 at small sigma. The
// distribution is conditional on |K| < 2^63, whose complement has a probability below
// 2^-(2^24), less than any positive float64.
func AddDiscreteGaussian(rng *rand.Rand, x int64, sigma float64) int64 {
	n, neg := discreteGaussian(rng, sigma, false)
	return addSaturated(x, n, neg)
}

// discreteGaussian returns |K| and the sign of K. A proposal Y of the discrete
// Laplace distribution with rate s is kept with probability e^-x, where
//
//	x = (|Y| - sigma^2 s)^2 / (2 sigma^2) = (|Y|/sigma - sigma s)^2 / 2,
//
// since -s|y| - x = -y^2/(2 sigma^2) - constant. Any s > 0 is right. Near
// 1/sigma few proposals are lost; from 64 on all of them are 0 anyway.
func discreteGaussian(rng *rand.Rand, sigma float64, exact bool) (n uint64, neg bool) {
	s := min(1/sigma, 64)
	for {
		n, neg = discreteLaplace(rng, s, exact)
		if n >= 1<<63 {
			continue
		}
		// sigma*s <= 1 + 2^-52. The quotient has relative error 2^-52, the
		// product and the difference 2^-53 each: z errs by less than w*2^-51,
		// |z| <= w, and x by less than w^2*2^-50.
		q := float64(n) / sigma
		w, z := q+1, q-float64(sigma*s)
		u := rng.Uint64()
		keep, ok := expTrial(u, z*z/2, w*w*0x1p-50)
		if !ok || exact {
			keep = expTrialBig(u, rng, func(prec uint) (lo, hi *big.Float) {
				return gaussianExponent(n, sigma, s, prec, big.ToZero), gaussianExponent(n, sigma, s, prec, big.AwayFromZero)
			})
		}
		if keep {
			return n, neg
		}
	}
}

// gaussianExponent returns x of discreteGaussian, rounded in one direction.
func gaussianExponent(n uint64, sigma, s float64, prec uint, mode big.RoundingMode) *big.Float {
	f := func() *big.Float { return new(big.Float).SetPrec(max(prec, 256)).SetMode(mode) }
	variance := f().SetFloat64(sigma)
	variance.Mul(variance, variance) // exact: 106 bits
	shift := f().Mul(variance, big.NewFloat(s))
	d := f().Sub(f().SetUint64(n), shift) // shift is exact: 159 bits
	d.Mul(d, d)
	return d.Quo(d, variance.Add(variance, variance))
}
