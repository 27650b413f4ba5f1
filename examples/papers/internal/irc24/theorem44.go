package irc24

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/search"
)

// theorem44 is Theorem 4.4 of IRC24 for n records, of which one user has m, no two
// farther apart than 1. Its supremum is the limit at distance 0:
//
//	alpha = (m alpha0/2) K, K = 8 sqrt(e^alpha0 L/n) + 8 e^alpha0/n, L = ln(4m/delta_int),
//	ln delta = ln delta_int + m ln(1+tanh(alpha0/2) K).
//
// The theorem omits a condition without which it is false: alpha0 <= ln(n/(16 ln(2m/delta_int))).
// Below, x is ln delta_int.
type theorem44 struct{ n, m float64 }

// budget returns the largest alpha0 for which the theorem proves (alpha, delta), 0 where
// it proves nothing.
func (t theorem44) budget(alpha, delta float64) float64 {
	fails := func(alpha0 float64) bool { return t.level(alpha0, math.Log(delta)) > alpha }
	hi := min(700, directed.DivDown(alpha, t.m)*t.n) // fails: K >= 8/n, so that level >= 4 m alpha0/n
	for hi > 0 && fails(hi/2) {
		hi /= 2
	}
	alpha0, _ := search.Change(hi/2, hi, 1e-9, fails)
	return alpha0
}

// level returns the theorem's alpha, +Inf without its condition.
func (t theorem44) level(alpha0, logDelta float64) float64 {
	if !t.holds(alpha0, logDelta) { // and then at no smaller delta_int
		return math.Inf(1)
	}
	// ln delta is concave in x and at least x, so it crosses logDelta once below logDelta.
	step := 1.0
	for t.logDelta(alpha0, logDelta-step) > logDelta {
		step *= 2
	}
	_, x := search.Change(-logDelta, step-logDelta, 1e-9, func(x float64) bool { return t.logDelta(alpha0, -x) <= logDelta })
	if !t.holds(alpha0, -x) {
		return math.Inf(1)
	}
	return t.m * alpha0 / 2 * t.factor(alpha0, -x)
}

// holds reports whether the condition does.
func (t theorem44) holds(alpha0, x float64) bool {
	return alpha0 <= math.Log(t.n/(16*(math.Log(2*t.m)-x)))
}

// factor returns K.
func (t theorem44) factor(alpha0, x float64) float64 {
	e := math.Exp(alpha0) / t.n
	return 8 * (math.Sqrt(e*(math.Log(4*t.m)-x)) + e)
}

// logDelta returns ln delta.
func (t theorem44) logDelta(alpha0, x float64) float64 {
	return x + float64(t.m*math.Log1p(math.Tanh(alpha0/2)*t.factor(alpha0, x)))
}
