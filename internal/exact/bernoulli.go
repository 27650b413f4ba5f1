package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// BernoulliExp returns true with probability exactly e^-x, for x >= 0 taken as an exact real;
// +Inf gives false. It reads one word of r, and more about once in 2^48 calls.
func BernoulliExp(rng *rand.Rand, x float64) bool {
	u := rng.Uint64()
	if y, ok := expTrial(u, x, 0); ok {
		return y
	}
	return expTrialBig(u, rng, func(uint) (lo, hi *big.Float) { e := big.NewFloat(x); return e, e })
}

// BernoulliExpMul is [BernoulliExp] of the exact product of finite a, b >= 0. Where float64
// decides, it does so as for the rounded product.
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

// BernoulliGrowth returns true with probability exactly (e^a - 1)/(2(e^b - 1)), for 0 <= a <= b, b >
// 0, taken as exact reals. It reads one word of r, and more about once in 2^38 calls, or where b is
// above 700.
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
		// Where exponents are small their digits are those of e^a - 1.
		if e := b.MantExp(nil); e < 0 {
			prec += uint(2 * -e)
		}
		one := big.NewFloat(1)
		grown := func(x *big.Float) (lo, hi *big.Float) {
			lo, hi = ExpBounds(x, prec)
			return down(prec).Sub(lo, one), up(prec).Sub(hi, one)
		}
		alo, ahi := grown(a)
		blo, bhi := grown(b)
		blo, bhi = blo.SetMantExp(blo, 1), bhi.SetMantExp(bhi, 1)
		if up(prec).Mul(uhi, bhi).Cmp(alo) <= 0 {
			return 1, true
		}
		return 0, down(prec).Mul(ulo, blo).Cmp(ahi) >= 0
	})
	return k == 1
}
