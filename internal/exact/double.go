package exact

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
)

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
