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

	"github.com/metricdp/metricdp/internal/directed"
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

// DD is an unevaluated sum Hi + Lo of two float64s, |Lo| at most half an ulp of Hi: about 106 bits.
type DD struct{ Hi, Lo float64 }

// AddFloat returns a + x with relative error below 2^-104 for terms of one sign.
func (a DD) AddFloat(x float64) DD {
	s, e := directed.TwoSum(a.Hi, x)
	return fast(s, e+a.Lo)
}

// Add returns a + b with relative error below 2^-103 for terms of one sign,
// and absolute error below 2^-103 (|a| + |b|) always.
func (a DD) Add(b DD) DD {
	s, e := directed.TwoSum(a.Hi, b.Hi)
	t, f := directed.TwoSum(a.Lo, b.Lo)
	d := fast(s, e+t)
	return fast(d.Hi, d.Lo+f)
}

// Neg returns -a.
func (a DD) Neg() DD { return DD{-a.Hi, -a.Lo} }

func (a DD) mul(b DD) DD {
	p, e := directed.TwoProd(a.Hi, b.Hi)
	return fast(p, e+(float64(a.Hi*b.Lo)+float64(a.Lo*b.Hi)))
}

// Quo returns a/b for 0 <= a <= b with relative error below 2^-101, b.Hi a float64 >=
// 2^-500; where a/b is below 2^-400, with absolute error below 2^-500.
//
// The remainder of the first quotient is exact but for underflow. What low parts add to it
// is at most 2^-52 a, rounded three times, as is the second quotient, by b.Hi for b.
func (a DD) Quo(b DD) DD {
	q := a.Hi / b.Hi
	rest := math.FMA(-q, b.Hi, a.Hi) + (a.Lo - float64(q*b.Lo))
	return fast(q, rest/b.Hi)
}

func fast(s, e float64) DD {
	hi := s + e
	return DD{hi, e - (hi - s)}
}

// ExpDDErr bounds the relative error of [ExpDD] for results above 2^-900.
//
// The argument is reduced to |r| < 0.35 with absolute error below 2^-104 (three-part ln 2),
// divided by 2^8 and summed as expm1 to r^10/10!, tail below 2^-115; eight doublings (1+p)^2-1
// = 2p+p^2 in double-double, relative error below 2^-101 each, double the error each time: 8 *
// 2^8 * 2^-101 < 2^-89 with everything included. The test measures about 2^-97.
const ExpDDErr = 0x1p-88

// ln 2 in three parts; the first two have 32 trailing zero bits, so that their
// products with |k| < 2^20 are exact.
const (
	ln2A = 0x1.62e42feep-1
	ln2B = 0x1.a39ef356p-33
	ln2C = 0x1.93c7673007e5fp-65
)

// invFactorial holds 1/n! in double-double, n = 2..10.
var invFactorial = [...]DD{
	{0x1p-1, 0},
	{0x1.5555555555555p-3, 0x1.5555555555555p-57},
	{0x1.5555555555555p-5, 0x1.5555555555555p-59},
	{0x1.1111111111111p-7, 0x1.1111111111111p-63},
	{0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
	{0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
	{0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
	{0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
	{0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
}

// ExpDD returns e^x in double-double, relative error at most [ExpDDErr] for -600 < x < 700. Below
// that the low part loses bits and then underflows: the absolute error is at most 2^-950.
func ExpDD(x float64) DD {
	if x == 0 {
		return DD{1, 0}
	}
	if x < -745 {
		return DD{}
	}
	k := math.Floor(float64(x*log2e) + 0.5)
	a := x - float64(k*ln2A)
	r := DD{a, 0}.AddFloat(-float64(k * ln2B)).AddFloat(-float64(k * ln2C))
	r = DD{r.Hi * 0x1p-8, r.Lo * 0x1p-8}
	p := invFactorial[len(invFactorial)-1]
	for i := len(invFactorial) - 2; i >= 0; i-- {
		p = invFactorial[i].Add(p.mul(r))
	}
	p = r.Add(p.mul(r).mul(r)) // expm1(r)
	for range 8 {
		p = DD{2 * p.Hi, 2 * p.Lo}.Add(p.mul(p))
	}
	p = DD{1, 0}.Add(p)
	return DD{math.Ldexp(p.Hi, int(k)), math.Ldexp(p.Lo, int(k))}
}
