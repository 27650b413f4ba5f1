package mechanism

import (
	"math"
	"math/big"

	"github.com/metricdp/metricdp/internal/directed"
)

// ratio bounds the natural logarithm of an extreme w[x,y]/w[x',y] over the
// outputs y, and says at which y.
type ratio struct {
	lo, hi float64
	at     int
}

// logExtremes returns the largest and the smallest a[y]-b[y]. A weight of 0
// (-Inf) in one row only makes an end infinite; in both it is passed over
// (the difference is NaN, which no comparison lets through). Rounding is
// monotone, so the largest rounded difference is the rounded largest.
func logExtremes(a, b []float64) (up, down ratio) {
	hi, lo := math.Inf(-1), math.Inf(1)
	b = b[:len(a)]
	for y, v := range a {
		d := v - b[y]
		if d > hi {
			hi = d
		}
		if d < lo {
			lo = d
		}
	}
	find := func(want float64) ratio {
		if math.IsInf(want, 0) {
			return infinite(a, b, want)
		}
		for y, v := range a {
			if v-b[y] == want {
				// Half an ulp of rounding, and none where the two ends of
				// the subtraction show that it was exact.
				if s, e := directed.TwoSum(v, -b[y]); e == 0 && s == want && !moreAt(a, b, y+1, want) {
					return ratio{want, want, y}
				}
				return ratio{directed.Prev(want), directed.Next(want), y}
			}
		}
		panic("unreachable: every row has a positive weight")
	}
	return find(hi), find(lo)
}

// infinite bounds the extreme a[y]-b[y] that float64 found to be want, +Inf or
// -Inf: exactly that where a weight is 0 in one row, else an overflow.
func infinite(a, b []float64, want float64) ratio {
	at := -1
	for y, v := range a {
		if v-b[y] != want {
			continue
		}
		if math.IsInf(v, 0) || math.IsInf(b[y], 0) {
			return ratio{want, want, y}
		}
		if at < 0 {
			at = y
		}
	}
	end := math.Copysign(math.MaxFloat64, want)
	return ratio{min(want, end), max(want, end), at}
}

// moreAt tells whether a later output has the same rounded difference, and so
// perhaps a larger exact one.
func moreAt(a, b []float64, from int, want float64) bool {
	for y := from; y < len(a); y++ {
		if a[y]-b[y] == want {
			return true
		}
	}
	return false
}

// nearOne is the size of ln(w/w') below which extremes looks at differences
// instead of quotients: a quotient near 1 has lost the digits that count.
const nearOne = 0x1p-6

// extremes returns bounds on the logarithms of the largest and the smallest
// quotient a[y]/b[y]. 0/0 is passed over as NaN.
func extremes(a, b []float64) (up, down ratio) {
	hi, lo := math.Inf(-1), math.Inf(1)
	b = b[:len(a)]
	for y, v := range a {
		q := v / b[y]
		if q > hi {
			hi = q
		}
		if q < lo {
			lo = q
		}
	}
	if lo > 1-nearOne && hi < 1+nearOne {
		return relativeExtremes(a, b)
	}
	return quotient(a, b, hi, true), quotient(a, b, lo, false)
}

// quotient returns bounds on the logarithm of the extreme quotient that float64
// found to be q.
func quotient(a, b []float64, q float64, largest bool) ratio {
	if q < tinyQuotient || q > 1/tinyQuotient {
		return wideRatio(a, b, largest)
	}
	for y, v := range a {
		if v/b[y] == q {
			return ratio{directed.LogDown(directed.Prev(q)), directed.LogUp(directed.Next(q)), y}
		}
	}
	panic("unreachable: every row has a positive weight")
}

// relativeExtremes does the same through (a-b)/b, which keeps its digits near
// 0: the difference and the quotient round by 2^-53 each.
func relativeExtremes(a, b []float64) (up, down ratio) {
	hi, lo := math.Inf(-1), math.Inf(1)
	yh, yl := -1, -1
	for y, v := range a {
		q := (v - b[y]) / b[y]
		if q > hi {
			hi, yh = q, y
		}
		if q < lo {
			lo, yl = q, y
		}
	}
	bound := func(q float64, y int) ratio {
		if q == 0 {
			return ratio{0, 0, y}
		}
		slack := float64(0x1p-51 * math.Abs(q))
		return ratio{directed.Log1pDown(q - slack), directed.Log1pUp(q + slack), y}
	}
	return bound(hi, yh), bound(lo, yl)
}

// tinyQuotient is where a quotient of two positive weights may leave the
// normal range and lose its digits.
const tinyQuotient = 0x1p-1000

// wideRatio finds the extreme quotient in logarithms, for rows whose quotients
// leave the float64 range. A weight of 0 in one row makes the end infinite.
func wideRatio(a, b []float64, largest bool) ratio {
	best, at := math.Inf(1), -1
	if largest {
		best = math.Inf(-1)
	}
	for y, v := range a {
		if v == 0 && b[y] == 0 {
			continue
		}
		d := directed.Log(v) - directed.Log(b[y])
		if at < 0 || largest && d > best || !largest && d < best {
			best, at = d, y
		}
	}
	if math.IsInf(best, 0) {
		return ratio{best, best, at}
	}
	const slack = 0x1p-40 // two logarithms below 746, four ulps each
	return ratio{best - slack, best + slack, at}
}

// proportional tells whether two rows give the same law, exactly: equal up to
// a factor. It decides what an infinite level is at distance 0.
func proportional(a, b row) bool {
	same := true
	for y, v := range a.W {
		same = same && v == b.W[y]
	}
	if same {
		return true
	}
	// Exact arithmetic against the heaviest output of a.
	p := 0
	for y, v := range a.W {
		if v > a.W[p] {
			p = y
		}
	}
	if a.Log && math.IsInf(b.W[p], -1) || !a.Log && b.W[p] == 0 {
		return false
	}
	// 4300 bits hold any product, 2200 any sum, of two float64s exactly.
	big2 := func(x, y float64) *big.Float {
		z := new(big.Float).SetPrec(4300)
		if a.Log {
			return z.Add(big.NewFloat(x), big.NewFloat(y))
		}
		return z.Mul(big.NewFloat(x), big.NewFloat(y))
	}
	for y, v := range a.W {
		if math.IsInf(v, -1) || math.IsInf(b.W[y], -1) {
			if v != b.W[y] {
				return false
			}
			continue
		}
		if big2(v, b.W[p]).Cmp(big2(b.W[y], a.W[p])) != 0 {
			return false
		}
	}
	return true
}
