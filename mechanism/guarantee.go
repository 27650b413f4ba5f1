package mechanism

import (
	"fmt"
	"math"
	"strconv"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Guarantee is the promise of (alpha, delta)-metric privacy (see the overview), for inputs up
// to a distance apart, [Guarantee.Reach]. alpha is per unit of the metric; Unit names it. The
// zero value promises nothing: its Alpha is +Inf. Guarantees are comparable values.
type Guarantee struct {
	alpha, delta float64
	reach        float64 // 0: all distances
	unit         metric.Unit
	set          bool
}

// ErrUnit reports levels in different units, which do not add, or a Unit other than
// that of the metric it is stated for.
var ErrUnit = fault.ErrUnit

// NewGuarantee returns the promise of level alpha >= 0 per unit, 0 <= delta < 1; other
// numbers are a [*metric.ValueError]. An alpha of +Inf is allowed and promises nothing.
func NewGuarantee(alpha, delta float64, unit metric.Unit) (Guarantee, error) {
	const op = "mechanism: NewGuarantee"
	if !(alpha >= 0) {
		return Guarantee{}, fault.Value(op, "alpha", alpha, "a number >= 0")
	}
	if err := fault.Delta(op, "delta", delta); err != nil {
		return Guarantee{}, err
	}
	return Guarantee{alpha: alpha, delta: delta, unit: unit, set: true}, nil
}

// Alpha is the level per unit of the metric, +Inf where nothing is promised.
func (g Guarantee) Alpha() float64 {
	if !g.set {
		return math.Inf(1)
	}
	return g.alpha
}

// Delta is the additive slack; 0 is pure metric privacy.
func (g Guarantee) Delta() float64 { return g.delta }

// Unit names the unit of the metric.
func (g Guarantee) Unit() metric.Unit { return g.unit }

// Within returns the same promise for inputs at a distance up to reach > 0
// only, or up to the reach g has already if that is less.
func (g Guarantee) Within(reach float64) (Guarantee, error) {
	if !(reach > 0) {
		return Guarantee{}, fault.Value("mechanism: Guarantee.Within", "reach", reach, "a number > 0")
	}
	if reach < g.Reach() {
		g.reach = reach
	}
	return g, nil
}

// Reach is the distance up to which two inputs are covered: +Inf but where delta
// grows with the distance, as for Gaussian noise.
func (g Guarantee) Reach() float64 {
	if g.reach == 0 {
		return math.Inf(1)
	}
	return g.reach
}

// At returns the differential-privacy pair that holds between two inputs at
// distance d >= 0: eps = alpha*d, rounded up, and delta. Where nothing is promised,
// beyond the reach, or at a d that is no distance, eps is +Inf.
func (g Guarantee) At(d float64) (eps, delta float64) {
	if math.IsInf(g.Alpha(), 1) || !(d >= 0 && d <= g.Reach()) || math.IsInf(d, 1) {
		return math.Inf(1), g.delta
	}
	return directed.MulUp(g.alpha, d), g.delta
}

// Plus is sequential composition: the guarantee of releasing both results on the same input. Levels and
// deltas add, rounded up, and the smaller reach stays; a delta that reaches 1 is kept at 1. Many releases
// have far less together at a delta ([NewComposition]). Different units are refused with [ErrUnit].
func (g Guarantee) Plus(h Guarantee) (Guarantee, error) {
	if !g.set || !h.set {
		return Guarantee{}, nil
	}
	if g.unit != h.unit {
		return Guarantee{}, fmt.Errorf("mechanism: Guarantee.Plus: %w: %q and %q", ErrUnit, g.unit, h.unit)
	}
	if h.Reach() < g.Reach() {
		g.reach = h.reach
	}
	g.alpha = directed.AddUp(g.alpha, h.alpha)
	g.delta = min(1, directed.AddUp(g.delta, h.delta))
	return g, nil
}

// Times is [Guarantee.Plus] of n >= 0 equal ones: n results on the same input. Level and
// delta are multiplied, rounded up, the delta kept at 1. Below 0 nothing is promised.
func (g Guarantee) Times(n int) Guarantee {
	switch {
	case !g.set || n < 0:
		return Guarantee{}
	case n == 0:
		g.alpha, g.delta = 0, 0
		return g
	}
	return g.times(count(n))
}

// times is Times of n >= 1.
func (g Guarantee) times(n float64) Guarantee {
	if g.set {
		g.alpha = directed.MulUp(n, g.alpha)
		g.delta = min(1, directed.MulUp(n, g.delta))
	}
	return g
}

// count is n, rounded up where float64 has no such number.
func count(n int) float64 {
	if int64(n) > 1<<53 {
		return directed.Next(float64(n))
	}
	return float64(n)
}

// Group is group privacy: the pair that holds between two inputs joined by a chain of k >= 0
// steps of length at most d each, rounded up. eps is k*alpha*d; a positive delta grows to
// delta*(e^eps-1)/(e^(eps/k)-1), kept at 1, which is weaker than At(k*d), and what holds where
// the guarantee was proved for neighbors only. Below 0 steps nothing is promised.
func (g Guarantee) Group(k int, d float64) (eps, delta float64) {
	switch {
	case k < 0:
		return math.Inf(1), 1
	case k == 0:
		return 0, 0
	}
	steps := count(k)
	step, delta := g.At(d)
	eps = directed.MulUp(steps, step)
	if delta == 0 {
		return eps, 0
	}
	// The sum of e^(i*step) over i < k is at most k*e^eps, which is the closer
	// bound where e^step-1 has no digits left; that is at least step.
	grow := directed.MulUp(steps, directed.ExpUp(eps))
	if q := directed.DivUp(directed.Expm1Up(eps), max(step, directed.Expm1Down(step))); q < grow { // false for 0/0 and Inf/Inf
		grow = q
	}
	return eps, min(1, directed.MulUp(delta, grow))
}

// String is for people: "0.5-private per km", "(0.5 per km, 1e-06)-private up to 20
// km", or "no guarantee". It is rounded so that what it says, holds.
func (g Guarantee) String() string {
	if math.IsInf(g.Alpha(), 1) {
		return "no guarantee"
	}
	unit := "unit"
	if g.unit != "" {
		unit = string(g.unit)
	}
	alpha := outward(g.alpha, 6, true)
	s := fmt.Sprintf("%s-private per %s", alpha, unit)
	if g.delta != 0 {
		s = fmt.Sprintf("(%s per %s, %s)-private", alpha, unit, outward(g.delta, 3, true))
	}
	if g.reach != 0 {
		s += " up to " + outward(g.reach, 6, false)
		if g.unit != "" {
			s += " " + unit
		}
	}
	return s
}

// outward prints v >= 0 with that many digits (all that it has near 0),
// rounded up or down: read back, the number is at least or at most v.
func outward(v float64, digits int, up bool) string {
	if !(v >= 1e-300 && v <= math.MaxFloat64) { // subnormal, or nearly: the steps below are for others
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	// From a number that was rounded the wrong way the next is one unit of the
	// last digit away, and a step here is a tenth of one to one.
	step := math.Pow10(-digits)
	if !up {
		step = -step
	}
	for k := 0.0; ; k++ {
		s := strconv.FormatFloat(v+float64(k*step*v), 'g', digits, 64)
		w, _ := strconv.ParseFloat(s, 64) // +Inf beyond the largest
		if up && w >= v || !up && w <= v {
			return s
		}
	}
}
