package emd

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
)

// chernoff bounds the mean D of samples independent numbers in [0, 1] with
// mean at most mean: P{D >= q} <= exp(-samples*kl(q||mean)) for q >= mean
// (Chernoff; Hoeffding 1963, Theorem 1).
type chernoff struct{ samples, mean float64 }

// root returns the least q for which delta is proved to cover
// exp(-samples*kl(q)) * alpha/(alpha + samples*kl'(q)), rounded up; see [Reduced].
// a is alpha > 0 or, where budget is set, the level alpha*q of the whole; +Inf
// leaves Chernoff's bound alone. capped says that no q < 1 does.
func (c chernoff) root(a float64, budget bool, delta float64) (q float64, capped bool) {
	if !(c.mean < 1) {
		return 1, true
	}
	want := -directed.LogDown(delta)
	// The left end of the interval fails, the right one holds or is 1. Bounds
	// rounded outward need not be monotone to the last bit; whatever end they
	// stop at was checked itself.
	lo, hi, found := c.mean, 1.0, false
	for {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			return hi, !found
		}
		if c.exponent(mid, a, budget) >= want {
			hi, found = mid, true
		} else {
			lo = mid
		}
	}
}

// exponent is a lower bound of -ln of what root compares with delta, for mean
// < q < 1. With g = (q-mean)/mean and h = (q-mean)/(1-q), kl = q ln(1+g) -
// (1-q) ln(1+h) and its derivative is ln(1+g) + ln(1+h): logarithms of
// quotients near 1 taken where they keep their digits.
func (c chernoff) exponent(q, a float64, budget bool) float64 {
	gapDown, gapUp := directed.SubDown(q, c.mean), directed.SubUp(q, c.mean)
	restDown, restUp := directed.SubDown(1, q), directed.SubUp(1, q)
	g := directed.Log1pDown(directed.DivDown(gapDown, c.mean))
	h := directed.Log1pUp(directed.DivUp(gapUp, restDown))
	kl := directed.SubDown(directed.MulDown(q, g), directed.MulUp(restUp, h))
	e := directed.MulDown(c.samples, max(0, kl))
	slope := directed.MulDown(c.samples, directed.AddDown(g, directed.Log1pDown(directed.DivDown(gapDown, restUp))))
	if budget {
		slope = directed.MulDown(slope, q) // slope/(a/q)
	}
	if s := directed.DivDown(slope, a); s > 0 && !math.IsInf(a, 1) {
		e = directed.AddDown(e, directed.Log1pDown(s))
	}
	return e
}
