package emd

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// unitShuffle is a checked Shuffle whose distances are over the diameter: Alpha0
// rounded up, Alpha and MinDistance rounded down. Diameter stays what it was.
type unitShuffle struct{ Shuffle }

// unit checks s; alpha0, alpha and delta say which of them the call reads.
func (s Shuffle) unit(op string, alpha0, alpha, delta bool) (unitShuffle, error) {
	bad := func(arg string, v float64, want string) (unitShuffle, error) {
		return unitShuffle{}, &fault.ValueError{Op: op, Arg: "Shuffle." + arg, Index: -1, Value: v, Want: want}
	}
	switch {
	case s.Records < 1:
		return bad("Records", float64(s.Records), "a number >= 1")
	case s.Items < 1 || s.Items > min(s.Records, maxNumber):
		return bad("Items", float64(s.Items), "a number in [1, Records] and at most 2^53")
	case !(s.Diameter >= minUnit && s.Diameter <= 1/minUnit):
		return bad("Diameter", s.Diameter, "a number in [1e-100, 1e100]")
	case !(s.MinDistance >= 0 && s.MinDistance <= s.Diameter):
		return bad("MinDistance", s.MinDistance, "a number in [0, Diameter]")
	case s.Clones != Dominated && s.Clones != MetricRandomiser:
		return bad("Clones", float64(s.Clones), "Dominated or MetricRandomiser")
	case delta && !(s.Delta == 0 || s.Delta >= minSlack && s.Delta < 1):
		return bad("Delta", s.Delta, "0 or a number in [1e-300, 1)")
	}
	u := unitShuffle{s}
	u.Alpha0, u.Alpha = directed.MulUp(s.Alpha0, s.Diameter), directed.MulDown(s.Alpha, s.Diameter)
	if u.MinDistance = directed.DivDown(s.MinDistance, s.Diameter); u.MinDistance < minUnit {
		u.MinDistance = 0
	}
	const level = "a number in [1e-100, 700]/Diameter"
	switch {
	case alpha0 && !(u.Alpha0 >= minUnit && u.Alpha0 <= maxLevel):
		return bad("Alpha0", s.Alpha0, level)
	case alpha && !(u.Alpha >= minUnit && u.Alpha <= 1/minUnit):
		return bad("Alpha", s.Alpha, "a number in [1e-100, 1e100]/Diameter")
	}
	u.Records = min(u.Records, max(maxRecords, u.Items))
	return u, nil
}

// minUnit keeps products of levels and distances normal float64s; minSlack is below every
// use, and its logarithm far from where e^x is subnormal.
const minUnit, minSlack = 1e-100, 1e-300

// pure is the level of pure composition, in the units of s. As it is the least number that
// will do, and ShuffleBudget's the largest, the one of the other is no more than asked for.
func (s Shuffle) pure() float64 { return directed.MulUp(float64(s.Items), s.Alpha0) }

func (u unitShuffle) jointName() Bound {
	if u.Items == 1 {
		return SingleItem
	}
	return Joint
}

func (u unitShuffle) joint() joint {
	return joint{
		alpha0: u.Alpha0,
		items:  float64(u.Items),
		others: min(u.Records, maxRecords) - 1,
		least:  directed.DivDown(u.MinDistance, float64(u.Items)),
		clones: u.Clones,
		near:   u.MinDistance,
	}
}

// rootTol is the relative width to which the joint bound's roots are bisected.
func (u unitShuffle) rootTol() float64 {
	if u.joint().varies() {
		return varyRootTol
	}
	return rootTol
}

// jointLevel returns an alpha at which the joint bound reaches delta: the
// upper end of a bracket of relative width rootTol, below which it does not. top is
// returned if that is below no such level.
func (u unitShuffle) jointLevel(logDelta, top float64) float64 {
	b, tol := u.joint(), u.rootTol()
	hi := top
	if b.varies() { // start from the quick bound, which p(d) can only better
		quick := u
		quick.Clones = Dominated
		hi = quick.jointLevel(logDelta, top)
	}
	t := b.thresholds(logDelta)
	lo := hi / 2
	for t.reaches(lo) {
		// Levels this small are of no interest, and the search must end: at
		// delta near 1 it may hold down to 0.
		if lo < top*0x1p-40 {
			return lo
		}
		lo, hi = lo/2, lo
	}
	for hi-lo > tol*hi {
		mid := lo + (hi-lo)/2
		if t.reaches(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// jointBudget is budget for the joint bound.
func (u unitShuffle) jointBudget(logDelta, lo float64) float64 {
	if u.joint().varies() {
		quick := u
		quick.Clones = Dominated
		lo = quick.jointBudget(logDelta, lo)
	}
	return u.budget(lo, u.rootTol(), func(u unitShuffle) bool { return u.joint().thresholds(logDelta).reaches(u.Alpha) })
}

// budget returns the largest alpha0 found at which ok holds, from lo up, where
// it is known to be private. A channel of a lower level is private at every higher one, so
// that ok need not hold below.
func (u unitShuffle) budget(lo, tol float64, ok func(unitShuffle) bool) float64 {
	at := func(alpha0 float64) bool {
		v := u
		v.Alpha0 = alpha0
		return alpha0 <= maxLevel && ok(v)
	}
	hi := 2 * lo
	for at(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > tol*hi {
		mid := lo + (hi-lo)/2
		if at(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Theorem 4.4 of IRC24. Its supremum is the limit at distance 0:
//
//	alpha = (m alpha0/2) K, K = 8 sqrt(e^alpha0 L/N) + 8 e^alpha0/N, L = ln(4m/delta_int),
//	ln delta = ln delta_int + m ln(1+tanh(alpha0/2) K).
//
// theoremErr widens what the formulas below give, some ten roundings of terms of one
// sign.
const theoremErr = 0x1p-44

// condition44 is the theorem's condition at ln delta_int = x.
func (u unitShuffle) condition44(x float64) bool {
	return float64(u.Alpha0*(1+theoremErr))+theoremErr <= math.Log(float64(u.Records)/(16*(math.Log(2*float64(u.Items))-x)))
}

// factor44 returns K, rounded up.
func (u unitShuffle) factor44(x float64) float64 {
	e := math.Exp(u.Alpha0) / float64(u.Records)
	return 8 * (math.Sqrt(e*(math.Log(4*float64(u.Items))-x)) + e) * (1 + theoremErr)
}

// group44 returns ln delta, rounded up.
func (u unitShuffle) group44(x float64) float64 {
	k := u.factor44(x)
	return x + float64(float64(u.Items)*math.Log1p(math.Tanh(u.Alpha0/2)*k)*(1+theoremErr)) + float64(theoremErr*math.Abs(x))
}

// theorem44Level returns the theorem's alpha, +Inf without its condition.
// ln delta is concave in x = ln delta_int and at least x, so it
// crosses logDelta once below logDelta.
func (u unitShuffle) theorem44Level(logDelta float64) float64 {
	hi := logDelta
	if !u.condition44(hi) { // and then at no smaller delta_int
		return math.Inf(1)
	}
	step := 1.0
	for u.group44(hi-step) > logDelta {
		step *= 2
	}
	lo := hi - step
	for hi-lo > rootTol*(1-lo) {
		mid := lo + (hi-lo)/2
		if u.group44(mid) <= logDelta {
			lo = mid
		} else {
			hi = mid
		}
	}
	if !u.condition44(lo) {
		return math.Inf(1)
	}
	return u.pure() / 2 * u.factor44(lo) * (1 + theoremErr)
}

// theorem44Delta returns the theorem's ln delta at level alpha, +Inf without its
// condition: K gives delta_int, rounded up.
func (u unitShuffle) theorem44Delta(alpha float64) float64 {
	e := math.Exp(u.Alpha0) / float64(u.Records)
	k := float64(2 * alpha / u.pure() * (1 - theoremErr))
	root := (k - float64(8*e*(1+theoremErr))) / (8 * math.Sqrt(e))
	x := math.Log(4*float64(u.Items)) - float64(root*root*(1-theoremErr))
	if !(root > 0) || !(x < 0) || !u.condition44(x) {
		return math.Inf(1)
	}
	return u.group44(x + float64(theoremErr*math.Abs(x)))
}
