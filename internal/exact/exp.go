// Package exact draws from discrete distributions without any rounding: the
// probabilities are exact reals given by float64 parameters, and a draw that
// float64 arithmetic cannot decide is decided in arbitrary precision.
//
// Every sampler reads 64 random bits as an interval [u, u+1)/2^64 of a uniform U. A float64
// computation with a derived error band finds the outcome unless the interval touches a band; then
// further random bits narrow the interval and math/big bounds at rising precision decide. The
// outcome is a function of the real number U alone, so the fast and the slow path never disagree.
package exact

import (
	"math"
	"math/big"
	"sync"
)

// ExpErr bounds the relative error of [Exp] where the result is a normal number.
//
// With u = 2^-53: x - k*ln2Hi is exact (k has at most 11 bits, ln2Hi 33, and the difference is
// exact by Sterbenz for k != 0); subtracting k*ln2Lo adds at most u/2 (|r| < 0.35, so half an ulp
// of r is 2^-55, and the error of the product is below 2^-74). The Taylor tail r^14/14! is below
// 2^-57. Horner's last step 1 + r*q rounds to u relative to a result >= 0.70, and r*q, at most 0.42
// in size, carries at most 3u relative. Together below 4u = 2^-51; the constant doubles that.
const ExpErr = 0x1p-50

const (
	log2e = 1.44269504088896338700e+00
	ln2Hi = 6.93147180369123816490e-01 // 33 bits of ln 2
	ln2Lo = 1.90821492927058770002e-10
)

// Exp returns e^x with relative error at most [ExpErr] where the result is a
// normal number, and absolute error at most 2^-1073 where it is smaller, the
// same on every platform. x must not be NaN; x > 709 gives +Inf.
func Exp(x float64) float64 {
	if x < -746 {
		return 0
	}
	if x > 709 {
		return math.Inf(1)
	}
	k := math.Floor(float64(x*log2e) + 0.5)
	r := x - float64(k*ln2Hi)
	r -= float64(k * ln2Lo)
	q := float64(r*(1.0/6227020800)) + 1.0/479001600
	q = float64(r*q) + 1.0/39916800
	q = float64(r*q) + 1.0/3628800
	q = float64(r*q) + 1.0/362880
	q = float64(r*q) + 1.0/40320
	q = float64(r*q) + 1.0/5040
	q = float64(r*q) + 1.0/720
	q = float64(r*q) + 1.0/120
	q = float64(r*q) + 1.0/24
	q = float64(r*q) + 1.0/6
	q = float64(r*q) + 0.5
	q = float64(r*q) + 1
	v := 1 + float64(r*q)
	if k < -1020 {
		return math.Ldexp(v, int(k))
	}
	return v * math.Float64frombits(uint64(int64(k)+1023)<<52)
}

// maxBigExponent keeps every big.Float below well inside the int32 exponent
// range. An e^x outside 2^±maxBigExponent is bounded by 0 or +Inf on one side.
const maxBigExponent = 1 << 30

// ExpBounds returns lo <= e^x <= hi with hi <= lo*(1 + 2^-prec), x taken as an
// exact real. Where e^x < 2^-(2^30) the bounds are 0 and 2^-(2^30), where e^x >
// 2^(2^30) they are that and +Inf. x = -Inf gives 0 and 0.
func ExpBounds(x *big.Float, prec uint) (lo, hi *big.Float) {
	if x.IsInf() {
		if x.Sign() < 0 {
			return new(big.Float), new(big.Float)
		}
		return new(big.Float).SetInf(false), new(big.Float).SetInf(false)
	}
	if x.Sign() == 0 {
		return big.NewFloat(1), big.NewFloat(1)
	}
	// The decision needs no precision: at |x| near the limit either answer is a true bound.
	if f, _ := x.Float64(); f < -maxBigExponent*math.Ln2*(1+1e-9) {
		return new(big.Float), new(big.Float).SetMantExp(big.NewFloat(1), -maxBigExponent)
	} else if f > maxBigExponent*math.Ln2*(1+1e-9) {
		return new(big.Float).SetMantExp(big.NewFloat(1), maxBigExponent), new(big.Float).SetInf(false)
	}
	// e^x = 2^k (e^(r/2^s))^(2^s), r = x - k ln 2. With w working bits the reduced argument has
	// absolute error below 2^(32-w) (k has at most 31 bits), the Taylor sum of t = r/2^s, |t| <
	// 2^-s, about s terms' rounding, each below 2^-w, and a tail below 2^-w; the s squarings
	// double the relative error each. In total below 2^(s+8+32-w) = 2^-(prec+24).
	s := uint(4)
	for s*s < prec {
		s++
	}
	w := prec + s + 64
	nf := func() *big.Float { return new(big.Float).SetPrec(w) }
	l2 := ln2(w + 32)
	kf := nf().Quo(x, l2)
	k64, _ := kf.Float64()
	k := int64(math.Round(k64))
	kl := new(big.Float).SetPrec(w+64).Mul(new(big.Float).SetInt64(k), l2)
	r := new(big.Float).SetPrec(max(w+64, x.Prec()+64)).Sub(x, kl)
	t := nf().SetMantExp(nf().Set(r), -int(s))
	sum, term := nf().SetInt64(1), nf().SetInt64(1)
	for i := int64(1); ; i++ {
		term.Mul(term, t)
		term.Quo(term, nf().SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -int(w) {
			break
		}
		sum.Add(sum, term)
	}
	for range s {
		sum.Mul(sum, sum)
	}
	sum.SetMantExp(sum, int(k))
	eps := nf().SetMantExp(big.NewFloat(1), -int(prec+3))
	slack := nf().Mul(sum, eps)
	lo = new(big.Float).SetPrec(prec+8).SetMode(big.ToNegativeInf).Sub(sum, slack)
	hi = new(big.Float).SetPrec(prec+8).SetMode(big.ToPositiveInf).Add(sum, slack)
	return lo, hi
}

var ln2Cache struct {
	sync.Mutex
	v *big.Float
}

// ln2 returns ln 2 to at least prec bits, relative error below 2^-prec, from
// 2 atanh(1/3) in integer arithmetic. The longest value computed is kept.
func ln2(prec uint) *big.Float {
	ln2Cache.Lock()
	defer ln2Cache.Unlock()
	if c := ln2Cache.v; c != nil && c.Prec() >= prec+16 {
		return c
	}
	// Each of the fewer than w terms truncates by less than 1 unit of 2^-w.
	w := prec + 32
	pow := new(big.Int).Lsh(big.NewInt(2), w)
	pow.Quo(pow, big.NewInt(3))
	sum, nine := new(big.Int), big.NewInt(9)
	for i := int64(1); pow.Sign() != 0; i += 2 {
		sum.Add(sum, new(big.Int).Quo(pow, big.NewInt(i)))
		pow.Quo(pow, nine)
	}
	v := new(big.Float).SetPrec(w).SetInt(sum)
	v.SetMantExp(v, -int(w))
	ln2Cache.v = v
	return v
}
