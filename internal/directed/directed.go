// Package directed does float64 arithmetic rounded outward: the Up functions return a number that
// is at least the exact result, the Down functions one that is at most it. Go cannot set the
// rounding mode, so each operation looks at its exact error term (a+b, a*b) or steps one ulp.
//
// Built with the tag coarse, one call site at a time may err further outward:
// what is proved must then move outward too, or stay (internal/outward).
//
// # Fused operations
//
// Go may compute x*y + z with one rounding instead of two, on arm64, ppc64, s390x, riscv64,
// loong64 and amd64 v3; across statements and through inlined calls too. That is never less
// accurate, but it is another number: an error term no longer belongs to its sum, two ways to
// the same value no longer agree, and a proof that counts the roundings of what is written is
// of other code. An explicit conversion rounds and so prevents it. Hence the rule of this
// module: in everything proved, a product that may feed a sum is written float64(x*y). Products
// by a power of two are exact and need no conversion. TestFused in internal/arch compiles the
// module for such machines and names every product that is fused; what it lets pass is solvers,
// whose results are proved apart from them, quantiles, and noise for simulation.
package directed

import "math"

// Next and Prev are the neighboring float64 values. NaN maps to NaN, the
// infinities to themselves where there is no neighbor.
func Next(x float64) float64 { return up(math.Nextafter(x, math.Inf(1))) }
func Prev(x float64) float64 { return -up(-math.Nextafter(x, math.Inf(-1))) }

// AddUp returns an upper bound of a+b, exact where a+b is a float64.
func AddUp(a, b float64) float64 {
	s, e := TwoSum(a, b)
	if e > 0 || math.IsNaN(e) {
		return Next(s)
	}
	return up(s)
}

// AddDown returns a lower bound of a+b, exact where a+b is a float64.
func AddDown(a, b float64) float64 { return -AddUp(-a, -b) }

// SubUp and SubDown bound a-b.
func SubUp(a, b float64) float64   { return AddUp(a, -b) }
func SubDown(a, b float64) float64 { return -AddUp(-a, b) }

// MulUp returns an upper bound of a*b.
func MulUp(a, b float64) float64 {
	p := float64(a * b)
	if math.FMA(a, b, -p) > 0 || (math.Abs(p) < tiny && a != 0 && b != 0) {
		return Next(p)
	}
	return up(p)
}

// MulDown returns a lower bound of a*b.
func MulDown(a, b float64) float64 { return -MulUp(-a, b) }

// DivUp returns an upper bound of a/b for b != 0.
func DivUp(a, b float64) float64 {
	q := a / b
	r := math.FMA(-q, b, a) // a - q*b, exact unless it underflows
	if a == 0 || r == 0 && math.Abs(q) >= tiny && math.Abs(a) >= tiny {
		return up(q)
	}
	return Next(q)
}

// DivDown returns a lower bound of a/b for b != 0.
func DivDown(a, b float64) float64 { return -DivUp(-a, b) }

// tiny is 2^-960: below it the error term of a product or quotient may itself
// underflow, so the bounds step an ulp without looking.
const tiny = 0x1p-960

// TwoSum returns s = fl(a+b) and the exact error e = a+b-s (Knuth). Where s is infinite e is NaN.
func TwoSum(a, b float64) (s, e float64) {
	a, b = float64(a), float64(b) // products of a caller into which this is inlined
	s = a + b
	bb := s - a
	e = (a - (s - bb)) + (b - bb)
	return s, e
}

// TwoProd returns p = fl(a*b) and the exact error e = a*b-p.
func TwoProd(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// Go's math.Exp, Log, Log1p and Expm1 document errors below 1 ulp (FreeBSD msun and its
// assembly ports). The bounds below step libmUlps of them, which leaves room for a port that is
// worse; the package's tests compare them with math/big at many thousand points.
const libmUlps = 4

// widen moves v outward unless it is exact.
func widen(v float64, exact, up bool) float64 {
	if exact {
		return v
	}
	for range libmUlps {
		if up {
			v = Next(v)
		} else {
			v = Prev(v)
		}
	}
	return v
}

// Log is math.Log, right for subnormal x too: Go's amd64 assembly reads their
// exponent wrongly (math.Log(5e-324) gives -709.09 instead of -744.44).
func Log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}

// LogUp and LogDown bound the natural logarithm. ln 1 is exactly 0.
func LogUp(x float64) float64   { return widen(Log(x), x == 1 || x == 0, true) }
func LogDown(x float64) float64 { return widen(Log(x), x == 1 || x == 0, false) }

// Log1pUp and Log1pDown bound ln(1+x).
func Log1pUp(x float64) float64   { return widen(math.Log1p(x), x == 0 || x == -1, true) }
func Log1pDown(x float64) float64 { return widen(math.Log1p(x), x == 0 || x == -1, false) }

// ExpUp and ExpDown bound e^x; ExpDown is never negative.
func ExpUp(x float64) float64   { return widen(math.Exp(x), x == 0, true) }
func ExpDown(x float64) float64 { return max(0, widen(math.Exp(x), x == 0, false)) }

// Expm1Up and Expm1Down bound e^x - 1.
func Expm1Up(x float64) float64   { return widen(math.Expm1(x), x == 0, true) }
func Expm1Down(x float64) float64 { return max(-1, widen(math.Expm1(x), x == 0, false)) }

// Sum adds float64 numbers in about 106 bits and bounds what that loses. The
// zero value is the empty sum.
type Sum struct{ hi, lo, err float64 }

// Add adds x.
func (s *Sum) Add(x float64) {
	var e, f float64
	s.hi, e = TwoSum(s.hi, x)
	s.lo, f = TwoSum(s.lo, e)
	s.err = AddUp(s.err, math.Abs(f))
}

// AddProduct adds a*b, with what the product loses.
func (s *Sum) AddProduct(a, b float64) {
	p, e := TwoProd(a, b)
	s.Add(p)
	s.Add(e)
	// Below 2^-960 the error term may underflow, to a multiple of 2^-1074.
	if math.Abs(p) < 0x1p-960 && a != 0 && b != 0 {
		s.err = AddUp(s.err, 0x1p-1073)
	}
}

// Bounds returns numbers below, next to and above the exact sum, equal where it
// is a float64 and nothing was lost.
func (s *Sum) Bounds() (lower, near, upper float64) {
	lower = AddDown(s.hi, SubDown(s.lo, s.err))
	upper = AddUp(s.hi, AddUp(s.lo, s.err))
	return lower, min(max(s.hi+s.lo, lower), upper), upper
}
