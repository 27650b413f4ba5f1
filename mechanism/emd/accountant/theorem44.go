package accountant

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/search"
)

// Theorem44 returns the largest level of the randomizer for which Theorem 4.4
// of IRC24 proves the promise p, with the condition that the theorem omits (see
// [Theorem44]); 0 where it proves nothing. It is there to compare
// [Shuffle.Budget] with.
func (s Shuffle) Theorem44(p BudgetFor) (Budget, error) {
	const op = "accountant: Shuffle.Theorem44"
	b, alpha, err := s.jointFor(op, p)
	if err != nil {
		return Budget{}, err
	}
	best := Budget{0, Theorem44}
	if p.Delta == 0 {
		return best, nil
	}
	logDelta := directed.LogDown(p.Delta)
	proves := func(alpha0 float64) bool {
		b.alpha0 = alpha0
		return b.theorem44(logDelta) <= alpha
	}
	// K >= 8/N, so that the theorem gives no less than 4 m alpha0/N.
	lo := min(maxLevel, directed.DivDown(alpha, b.items)*b.records())
	for lo > minUnit && !proves(lo) {
		lo /= 2
	}
	if lo > minUnit {
		lo, err = largest(lo, rootTol, func(alpha0 float64) (bool, error) { return proves(alpha0), nil })
		best.Alpha0 = directed.DivDown(lo, s.Diameter)
	}
	return best, err
}

// Theorem 4.4 of IRC24. Its supremum is the limit at distance 0:
//
//	alpha = (m alpha0/2) K, K = 8 sqrt(e^alpha0 L/N) + 8 e^alpha0/N, L = ln(4m/delta_int),
//	ln delta = ln delta_int + m ln(1+tanh(alpha0/2) K).
//
// theoremErr widens what the formulas below give, some ten roundings of terms
// of one sign.
const theoremErr = 0x1p-44

// records is N.
func (b joint) records() float64 { return float64(b.others + 1) }

// condition44 is the theorem's condition at ln delta_int = x.
func (b joint) condition44(x float64) bool {
	return float64(b.alpha0*(1+theoremErr))+theoremErr <= math.Log(b.records()/(16*(math.Log(2*b.items)-x)))
}

// factor44 returns K, rounded up.
func (b joint) factor44(x float64) float64 {
	e := math.Exp(b.alpha0) / b.records()
	return 8 * (math.Sqrt(e*(math.Log(4*b.items)-x)) + e) * (1 + theoremErr)
}

// group44 returns ln delta, rounded up.
func (b joint) group44(x float64) float64 {
	k := b.factor44(x)
	return x + float64(b.items*math.Log1p(math.Tanh(b.alpha0/2)*k)*(1+theoremErr)) + float64(theoremErr*math.Abs(x))
}

// theorem44 returns the theorem's alpha, +Inf without its condition. ln delta
// is concave in x = ln delta_int and at least x, so it crosses logDelta once
// below logDelta.
func (b joint) theorem44(logDelta float64) float64 {
	if !b.condition44(logDelta) { // and then at no smaller delta_int
		return math.Inf(1)
	}
	step := 1.0
	for b.group44(logDelta-step) > logDelta {
		step *= 2
	}
	_, x := search.Change(-logDelta, step-logDelta, rootTol, func(x float64) bool { return b.group44(-x) <= logDelta })
	if !b.condition44(-x) {
		return math.Inf(1)
	}
	return b.pure() / 2 * b.factor44(-x) * (1 + theoremErr)
}
