// Package limit says how many points a ball may hold: exp(alpha*r) for the
// radius r, decided exactly.
package limit

import (
	"math"
	"math/big"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/search"
)

// Exceeded decides whether k >= 2 points are more than exp(alpha*r): for rational alpha*r other
// than 0 the left side is irrational, so some precision tells.
func Exceeded(alpha, r float64, k int) bool {
	x := new(big.Float).SetPrec(106).SetFloat64(alpha)
	x.Mul(x, big.NewFloat(r))
	kf := new(big.Float).SetInt64(int64(k))
	for prec := uint(64); ; prec *= 2 {
		lo, hi := exact.ExpBounds(x, prec)
		switch {
		case hi.Cmp(kf) < 0:
			return true
		case lo.Cmp(kf) >= 0:
			return false
		}
	}
}

// Reach is the largest float64 r with exp(alpha*r) < k, for k >= 2: k points
// within r of a point, and no further, are more than the ball may hold.
func Reach(alpha float64, k int) float64 {
	lo := max(0, directed.DivDown(directed.LogDown(float64(k)), alpha)) // below
	hi := directed.DivUp(directed.LogUp(float64(k)), alpha)             // not below
	if lo >= math.MaxFloat64 {
		return math.MaxFloat64
	}
	if hi > math.MaxFloat64 {
		if Exceeded(alpha, math.MaxFloat64, k) {
			return math.MaxFloat64
		}
		hi = math.MaxFloat64
	}
	lo, _ = search.Change(lo, hi, 0, func(r float64) bool { return !Exceeded(alpha, r, k) })
	return lo
}

// Least is the least k with k > exp(alpha*r), or n+1 where that is larger.
func Least(alpha, r float64, n int) int {
	lo := math.Floor(directed.ExpDown(directed.MulDown(alpha, r)))
	if lo >= float64(n) {
		return n + 1
	}
	k := max(1, int(lo)) + 1
	if hi := directed.ExpUp(directed.MulUp(alpha, r)); hi < float64(k) {
		return k
	}
	for k <= n && !Exceeded(alpha, r, k) {
		k++
	}
	return k
}
