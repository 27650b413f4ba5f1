package accountant

import "math"

// logBinomial returns ln P(Bin(n,p) = x) for 0 <= x <= n and 0 < p < 1 with an
// absolute error below pmfErr(result).
//
// It is Loader's saddle-point form (2000): with d = x-np and D(y,d) = y
// ln(y/(y-d)) - d >= 0,
//
//	ln P = S(n)-S(x)-S(n-x) - D(x,d) - D(n-x,-d) + (1/2) ln(n/(2 pi x (n-x))),
//
// S the error of Stirling's formula. Nothing cancels; d comes from one fused operation, so
// that neither np nor n(1-p) is rounded.
func logBinomial(n, x int64, p float64) float64 {
	fn, fx := float64(n), float64(x)
	switch x {
	case 0:
		return fn * math.Log1p(-p)
	case n:
		return fn * math.Log(p)
	}
	d, y := math.FMA(-fn, p, fx), float64(n-x)
	dev := deviance(fx, d, float64(fn*p)) + deviance(y, -d, float64(fn*(1-p)))
	return stirling(n) - stirling(x) - stirling(n-x) - dev + (math.Log(fn/(fx*y))-ln2Pi)/2
}

const ln2Pi = 1.837877066409345483560659472811235279722794947275566826

// pmfErr bounds the error of logBinomial for n up to 2^40. The deviances are
// positive, with relative errors below 2^-43 (see there), and their sum is at
// most |log|+1 as the last term is below 1 with the Stirling errors; those have
// absolute errors below 2^-45 (math.Lgamma near 30) and the logarithm, below
// 60, one below 2^-46. ln p and ln(1-p) for x at an end have relative errors
// below 2^-51.
func pmfErr(log float64) float64 { return 0x1p-41 + 0x1p-42*math.Abs(log) }

// logUp rounds up a logarithm v that came from a few sums of terms no larger:
// their roundings are below 2^-50 |v|, the absolute errors of the logarithms
// and exponentials in it below 2^-43.
func logUp(v float64) float64 { return v + 0x1p-40 + 0x1p-48*math.Abs(v) }

// deviance returns D(y,d) = y ln(y/mean) - d for y > 0 and mean = y-d. With u =
// d/y it is y(-ln(1-u)-u); the series of the bracket is u^2/2+u^3/3+..., whose
// rest after u^16/16 is below 2^-50 of the first term for |u| < 1/12. Beyond, D
// > y/300, and the logarithm's absolute error below 1.5 * 2^-52 is a relative
// 2^-43 of it.
func deviance(y, d, mean float64) float64 {
	u := d / y
	if math.Abs(u) >= 1.0/12 {
		return float64(y*math.Log(y/mean)) - d
	}
	s := 0.0
	for k := 16.0; k >= 2; k-- {
		s = float64(s*u) + 1/k
	}
	return float64(y * u * u * s)
}

// stirling returns ln n! - ((n+1/2) ln n - n + ln(2 pi)/2) for n >= 1. The
// series is asymptotic: its error is below the first term left out, 691/(360360
// n^11) < 2^-53 for n >= 16.
func stirling(n int64) float64 {
	x := float64(n)
	if n < 16 {
		l, _ := math.Lgamma(x + 1)
		return l - float64((x+0.5)*math.Log(x)) + x - ln2Pi/2
	}
	y := 1 / (x * x)
	return (1.0/12 - float64(y*(1.0/360-float64(y*(1.0/1260-float64(y*(1.0/1680-float64(y*(1.0/1188))))))))) / x
}

// logAdd returns ln(e^a+e^b).
func logAdd(a, b float64) float64 {
	hi, lo := max(a, b), min(a, b)
	if math.IsInf(lo, -1) {
		return hi
	}
	return hi + math.Log1p(math.Exp(lo-hi))
}

// logExpm1 returns ln(e^x-1) for x > 0.
func logExpm1(x float64) float64 {
	if x > 40 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return math.Log(math.Expm1(x))
}
