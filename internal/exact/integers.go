package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// BernoulliExp returns true with probability exactly e^-x, for x >= 0 taken as an exact real;
// +Inf gives false. It reads one word of r, and more about once in 2^48 calls.
func BernoulliExp(rng *rand.Rand, x float64) bool {
	return BernoulliExpMul(rng, x, 1)
}

// BernoulliExpMul is [BernoulliExp] of the exact product of a, b >= 0, of which b is finite.
func BernoulliExpMul(rng *rand.Rand, a, b float64) bool {
	u, x := rng.Uint64(), float64(a*b)
	if y, ok := expTrial(u, x, float64(x*0x1p-53)+0x1p-1074); ok {
		return y
	}
	e := new(big.Float).SetPrec(106).Mul(big.NewFloat(a), big.NewFloat(b))
	return expTrialBig(u, rng, func(uint) (lo, hi *big.Float) { return e, e })
}

// expTrial decides U < e^-x in float64 for every U in [u, u+1)/2^64 and every
// exponent within err of x, or says ok = false.
//
// With t = 2^64 e^-x and |x - exact| <= err <= 1/4: Exp has relative error 2^-50 ([ExpErr];
// where the result is subnormal, far below one unit of t), the exponent e^err - 1 <= 2 err, the
// conversion of u to float64 2^-53, and so have the sums below. u+1 instead of u adds one unit.
// In all less than t(2^-49 + 2 err) + 2.
func expTrial(u uint64, x, err float64) (below, ok bool) {
	if !(err <= 0.25) {
		return false, false
	}
	t := float64(Exp(-x) * 0x1p64)
	width := float64(t*(0x1p-49+2*err)) + 2
	f := float64(u)
	return f < t, f < t-width || f > t+width
}

// expTrialBig decides U < e^-x; exponent's bounds on x tighten as prec grows.
func expTrialBig(u uint64, rng *rand.Rand, exponent func(prec uint) (lo, hi *big.Float)) bool {
	k := newUniform(u, rng).decide(func(ulo, uhi *big.Float, prec uint) (int64, bool) {
		lo, hi := exponent(prec)
		if p, _ := ExpBounds(new(big.Float).Neg(hi), prec); uhi.Cmp(p) <= 0 {
			return 1, true
		}
		_, p := ExpBounds(new(big.Float).Neg(lo), prec)
		return 0, ulo.Cmp(p) >= 0
	})
	return k == 1
}

// geometric returns min(K, 2^64-1), where P{K = k} = (1 - e^-s) e^(-sk) for k =
// 0, 1, ..., exactly, for a finite s > 0 taken as an exact real; in arbitrary
// precision only where exact is set, as a test.
//
// It inverts the survival function: K >= k when U < e^(-sk). About one draw in s*2^47 is
// decided in arbitrary precision, about 20 microseconds, so that down to s = 2^-32 the cost is
// that of a logarithm; from 2^-48 on every draw takes the long way.
//
// The float64 way: -ln U for U in [u, u+1)/2^64 is e up to e*2^-50 (math.Log, with the four
// ulps that package directed allows it), 2^-52 (conversion of u) and 1/u (the interval);
// inverting s and multiplying adds 2^-52 relative. So K = floor(q) unless an integer other than
// 0 lies within width of q. Where q passes 2^50 the width passes 1 and the exact way is taken.
func geometric(rng *rand.Rand, s float64, exact bool) uint64 {
	u := rng.Uint64()
	e := -math.Log(float64(u) * 0x1p-64)
	width := e*0x1p-49 + 0x1p-50
	if u < 1<<52 {
		width += 1 / float64(u)
	}
	inv := 1 / s
	q := float64(e * inv)
	width *= inv
	k := math.Floor(q)
	if !exact && (k == 0 || q-k > width) && k+1-q > width {
		return uint64(k)
	}
	return geometricBig(u, rng, s, q, width)
}

// geometricBig finds K by bisection of the integers within width of q, or of
// all where that is NaN or infinite.
func geometricBig(u uint64, rng *rand.Rand, s, q, width float64) uint64 {
	first, last := toUint64(q-width-1), toUint64(q+width+1)
	if math.IsNaN(q-width) || math.IsNaN(q+width) {
		first, last = 0, math.MaxUint64
	}
	minus := new(big.Float).SetFloat64(-s)
	survival := func(k uint64, prec uint) (lo, hi *big.Float) {
		x := new(big.Float).SetPrec(53 + 64).SetUint64(k)
		return ExpBounds(x.Mul(x, minus), prec) // the product is exact
	}
	k := newUniform(u, rng).decide(func(ulo, uhi *big.Float, prec uint) (int64, bool) {
		// The largest k with K >= k for certain; then K < k+1 must be certain.
		// The saturated end needs no second test.
		a, b := first, last
		for a < b {
			mid := b - (b-a)/2
			if lo, _ := survival(mid, prec); uhi.Cmp(lo) <= 0 {
				a = mid
			} else {
				b = mid - 1
			}
		}
		if a == math.MaxUint64 {
			return int64(a), true
		}
		_, hi := survival(a+1, prec)
		return int64(a), ulo.Cmp(hi) >= 0
	})
	return uint64(k)
}

// toUint64 is the integer part of f, saturated at both ends.
func toUint64(f float64) uint64 {
	switch {
	case !(f > 0):
		return 0
	case f >= 0x1p64:
		return math.MaxUint64
	default:
		return uint64(f)
	}
}

// DiscreteLaplace returns K with P{K = k} = tanh(s/2) e^(-s|k|), exactly, for a
// finite s > 0 taken as an exact real, and the nearest int64 where K is none:
// a logarithm down to s = 2^-32, from 2^-48 on some 20 microseconds.
func DiscreteLaplace(rng *rand.Rand, s float64) int64 { return AddDiscreteLaplace(rng, 0, s) }

// AddDiscreteLaplace returns x + K, K as [DiscreteLaplace] but unbounded, and the nearest int64
// where the sum is none. So it is post-processing of the sum over all integers, at any x and s.
func AddDiscreteLaplace(rng *rand.Rand, x int64, s float64) int64 {
	n, neg := discreteLaplace(rng, s, false)
	return addSaturated(x, n, neg)
}

// discreteLaplace returns |K|, saturated at 2^64-1, and the sign of K.
func discreteLaplace(rng *rand.Rand, s float64, exact bool) (n uint64, neg bool) {
	for {
		neg = rng.Uint64()>>63 == 1
		if n = geometric(rng, s, exact); n != 0 || !neg {
			return n, neg
		}
	}
}

// addSaturated returns the int64 nearest to x+n, or to x-n. Since |x| <= 2^63,
// an n of 2^64-1 reaches the end that any larger n would reach.
func addSaturated(x int64, n uint64, neg bool) int64 {
	if neg {
		if n > uint64(x)-1<<63 { // x - MinInt64, without overflow
			return math.MinInt64
		}
		return int64(uint64(x) - n)
	}
	if n > math.MaxInt64-uint64(x) {
		return math.MaxInt64
	}
	return int64(uint64(x) + n)
}

// MaxGaussianSigma is the largest sigma of [AddDiscreteGaussian].
const MaxGaussianSigma = 1 << 50

// AddDiscreteGaussian returns x + K with P{K = k} prop. to e^(-k^2/(2 sigma^2)), exactly, for 0 <
// sigma <= [MaxGaussianSigma] taken as an exact real, and the nearest int64 where the sum is none.
// It rejects from the discrete Laplace distribution (Canonne, Kamath, Steinke 2020, Algorithm 3,
// with rate 1/sigma). The distribution is conditional on |K| < 2^63, whose complement has a
// probability below 2^-(2^24), less than any positive float64.
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

// BernoulliGrowth returns true with probability exactly (e^a - 1)/(2(e^b - 1)), for 0 <= a <= b, b >
// 0, taken as exact reals. It reads one word of rng, and more about once in 2^38 calls.
func BernoulliGrowth(rng *rand.Rand, a, b *big.Float) bool {
	u := rng.Uint64()
	x, _ := a.Float64()
	y, _ := b.Float64()
	// Rounding x and y to float64 moves the quotient, at most 1/2, by x and y times 2^-52 of itself,
	// or where they are small by 2^-51: with all that is computed by less than 2^-40.
	p := math.Expm1(x) / (2 * math.Expm1(y))
	if f := float64(float64(u) * 0x1p-64); y <= 700 && y >= 0x1p-1000 && math.Abs(f-p) > 0x1p-39 {
		return f < p
	}
	k := newUniform(u, rng).decide(func(ulo, uhi *big.Float, prec uint) (int64, bool) {
		// Where exponents are small their digits are those of 1 - e^-b.
		if e := b.MantExp(nil); e < 0 {
			prec += uint(2 * -e)
		}
		// As (e^(a-b) - e^-b)/(2(1 - e^-b)) nothing overflows; what is below 2^-prec is 0 or that.
		power := func(x *big.Float) (lo, hi *big.Float) {
			if x.Cmp(big.NewFloat(-float64(prec))) < 0 {
				return new(big.Float), new(big.Float).SetMantExp(big.NewFloat(1), -int(prec))
			}
			return ExpBounds(x, prec)
		}
		one := big.NewFloat(1)
		lo, _ := power(down(prec).Sub(a, b))
		_, hi := power(up(prec).Sub(a, b))
		least, most := power(new(big.Float).Neg(b))
		lo, hi = down(prec).Sub(lo, most), up(prec).Sub(hi, least)
		if up(prec).Mul(uhi, up(prec).Sub(one, least)).Cmp(lo.SetMantExp(lo, -1)) <= 0 {
			return 1, true
		}
		return 0, down(prec).Mul(ulo, down(prec).Sub(one, most)).Cmp(hi.SetMantExp(hi, -1)) >= 0
	})
	return k == 1
}
