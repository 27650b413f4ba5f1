package emd

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// Composition is Count mechanisms run on the same data, each Item-differentially
// private (pure), which together are (Eps, Delta)-private. [ComposeLevel],
// [ComposeDelta] and [ComposeBudget] each find one of the last three numbers from the
// other two. They are exact: no smaller one holds for all such mechanisms,
// chosen adaptively or not (Kairouz, Oh, Viswanath 2015, Theorem 3.3), as randomised
// response with B ~ Bin(Count, 1/(1+e^-Item)) right answers attains
//
//	delta = E (1 - exp(Eps - (2B-Count)*Item))_+.
//
// Time is proportional to the root of Count.
type Composition struct {
	Count      int64   // >= 1
	Item       float64 // in [1e-100, 700]
	Eps, Delta float64 // Eps in [0, 1e100], Delta 0 or in [1e-300, 1)
}

// ComposeDelta returns the least Delta for c.Item and c.Eps, rounded up by a relative 1e-9
// or less at Count up to 1e9. c.Delta must be 0.
func ComposeDelta(c Composition) (float64, error) {
	const op = "emd: ComposeDelta"
	if err := unasked(op, "Composition.Delta", c.Delta); err != nil {
		return 0, err
	}
	if err := c.check(op, true, true, false); err != nil {
		return 0, err
	}
	return min(1, directed.ExpUp(c.logDelta())), nil
}

// ComposeLevel returns the least Eps for c.Item and c.Delta, rounded up. c.Eps must
// be 0.
func ComposeLevel(c Composition) (float64, error) {
	const op = "emd: ComposeLevel"
	if err := unasked(op, "Composition.Eps", c.Eps); err != nil {
		return 0, err
	}
	if err := c.check(op, true, false, true); err != nil {
		return 0, err
	}
	hi := directed.MulUp(float64(c.Count), c.Item)
	if c.Delta == 0 {
		return hi, nil
	}
	target := directed.LogDown(c.Delta)
	ok := func(eps float64) bool {
		c.Eps = eps
		return c.logDelta() <= target
	}
	if ok(0) {
		return 0, nil
	}
	lo := 0.0
	for hi-lo > composeTol*hi && hi > minUnit {
		if mid := lo + (hi-lo)/2; ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// ComposeBudget returns the largest Item for c.Eps and c.Delta, rounded down. c.Item
// must be 0, c.Eps at least 1e-80.
func ComposeBudget(c Composition) (float64, error) {
	const op = "emd: ComposeBudget"
	if err := unasked(op, "Composition.Item", c.Item); err != nil {
		return 0, err
	}
	if err := c.check(op, false, true, true); err != nil {
		return 0, err
	}
	if c.Eps < 1e-80 {
		return 0, &fault.ValueError{Op: op, Arg: "Composition.Eps", Index: -1, Value: c.Eps, Want: "a number >= 1e-80"}
	}
	lo := directed.DivDown(c.Eps, float64(c.Count))
	if c.Delta == 0 || lo >= maxLevel {
		return lo, nil
	}
	target := directed.LogDown(c.Delta)
	ok := func(item float64) bool {
		c.Item = item
		return item <= maxLevel && c.logDelta() <= target
	}
	hi := 2 * lo
	for ok(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > composeTol*hi {
		if mid := lo + (hi-lo)/2; ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// composeTol is the relative width of the bisections.
const composeTol = 1e-12

func (c Composition) check(op string, item, eps, delta bool) error {
	bad := func(arg string, v float64, want string) error {
		return &fault.ValueError{Op: op, Arg: "Composition." + arg, Index: -1, Value: v, Want: want}
	}
	switch {
	case c.Count < 1 || c.Count > maxCount:
		return bad("Count", float64(c.Count), "a number in [1, 2^40]")
	case item && !(c.Item >= minUnit && c.Item <= maxLevel):
		return bad("Item", c.Item, "a number in [1e-100, 700]")
	case eps && !(c.Eps >= 0 && c.Eps <= 1/minUnit):
		return bad("Eps", c.Eps, "a number in [0, 1e100]")
	case delta && !(c.Delta == 0 || c.Delta >= minSlack && c.Delta < 1):
		return bad("Delta", c.Delta, "0 or a number in [1e-300, 1)")
	}
	return nil
}

// maxCount keeps a sum below some 10^7 terms.
const maxCount = 1 << 40

// wrong returns the probability of a wrong answer, rounded down.
func (c Composition) wrong() float64 {
	return directed.DivDown(1, directed.AddUp(1, directed.ExpUp(c.Item)))
}

// logDelta returns ln delta, rounded up; -Inf for 0.
//
// F = Count-B ~ Bin(Count, q) wrong answers, q rounded down: the term (1-e^x)_+,
// x = Eps-(Count-2F)Item, falls with F, so fewer wrong answers can only
// raise delta. The sum runs both ways from the largest probability with a positive
// term; either way the terms fall faster than a geometric series, which
// bounds the rest and is added.
func (c Composition) logDelta() float64 {
	const rest = 0x1p-40
	m := float64(c.Count)
	if c.Eps >= directed.MulUp(m, c.Item) {
		return math.Inf(-1)
	}
	q := c.wrong()
	odds := q / (1 - q)
	gain := func(f float64) float64 {
		loss := float64((m - 2*f) * c.Item)
		// Product and difference are rounded by less than this.
		x := c.Eps - loss - 0x1p-51*(c.Eps+math.Abs(loss))
		return max(0, -math.Expm1(x)) * (1 + 0x1p-50)
	}
	top := math.Floor(max(0, min(m, (m-c.Eps/c.Item)/2+2))) // no term beyond; 2 for rounding
	start := min(top, math.Floor(m*q))
	log := logBinomial(c.Count, int64(start), q)
	sum, steps := gain(start), 0.0
	mass := 1.0
	for f := start; f > 0; f-- {
		r := f / ((m - f + 1) * odds)
		if r < 1 && mass*r <= rest*sum*(1-r) {
			sum += mass * r / (1 - r)
			break
		}
		mass *= r
		sum += float64(mass * gain(f-1))
		steps++
	}
	mass = 1.0
	for f := start; f < top; f++ {
		r := float64((m - f) / (f + 1) * odds)
		if r < 1 && mass*r <= rest*sum*(1-r) {
			sum += mass * r / (1 - r)
			break
		}
		mass *= r
		sum += float64(mass * gain(f+1))
		steps++
	}
	return log + math.Log(sum) + pmfErr(log) + float64((steps+16)*stepErr)
}
