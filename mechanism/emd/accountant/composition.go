package accountant

import (
	"cmp"
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
)

// Composition is Count mechanisms run on the same data, each Item-differentially private
// (pure). What they are together is exact: no smaller level or delta holds for all such
// mechanisms, chosen adaptively or not. With B ~ Bin(Count, 1/(1+e^-Item)),
//
//	delta = E (1 - exp(eps - (2B-Count)*Item))_+.
//
// O(sqrt(Count)) for each sum, of which Level and ComposeBudget take some tens. Errors are
// [*metric.ValueError] for numbers out of range. Source: KOV15, Theorem 3.3.
type Composition struct {
	Count int64   // in [1, 2^40]
	Item  float64 // in [1e-100, 700]
}

// Delta returns the least delta for which the mechanisms together have level
// (eps, delta), eps in [0, 1e100], rounded up by a relative 1e-9 or less for
// Count up to 1e9.
func (c Composition) Delta(ctx context.Context, eps float64) (float64, error) {
	const op = "accountant: Composition.Delta"
	if err := cmp.Or(c.check(op), within(op, "eps", eps, 0, 1/minUnit, "a number in [0, 1e100]")); err != nil {
		return 0, err
	}
	log, err := c.logDelta(ctx, eps)
	return min(1, directed.ExpUp(log)), err
}

// Level returns the least eps for which the mechanisms together have level
// (eps, delta), delta 0 or in [1e-300, 1), rounded up.
func (c Composition) Level(ctx context.Context, delta float64) (float64, error) {
	const op = "accountant: Composition.Level"
	if err := cmp.Or(c.check(op), slack(op, "delta", delta)); err != nil {
		return 0, err
	}
	hi := directed.MulUp(float64(c.Count), c.Item)
	if delta == 0 {
		return hi, nil
	}
	target := directed.LogDown(delta)
	ok := func(eps float64) (bool, error) {
		log, err := c.logDelta(ctx, eps)
		return err == nil && log <= target, err
	}
	for _, least := range [...]float64{0, minUnit} {
		if holds, err := ok(least); err != nil || holds {
			return least, err
		}
	}
	_, hi, err := search.Bisect(minUnit, hi, composeTol, ok)
	return hi, err
}

// ComposeBudget returns the largest level that each of count mechanisms may have for all together
// to be (eps, delta)-private, rounded down. eps is in [1e-80, 1e100], delta 0 or in [1e-300, 1).
func ComposeBudget(ctx context.Context, count int64, eps, delta float64) (float64, error) {
	const op = "accountant: ComposeBudget"
	err := cmp.Or(Composition{count, 1}.check(op),
		within(op, "eps", eps, 1e-80, 1/minUnit, "a number in [1e-80, 1e100]"), slack(op, "delta", delta))
	if err != nil {
		return 0, err
	}
	lo := directed.DivDown(eps, float64(count))
	if delta == 0 || lo >= maxLevel {
		return lo, nil
	}
	target := directed.LogDown(delta)
	return largest(lo, composeTol, func(item float64) (bool, error) {
		log, err := Composition{count, item}.logDelta(ctx, eps)
		return err == nil && log <= target, err
	})
}

func within(op, arg string, v, lo, hi float64, want string) error {
	if v >= lo && v <= hi {
		return nil
	}
	return fault.Value(op, arg, v, want)
}

// composeTol is the relative width of the bisections.
const composeTol = 1e-12

func (c Composition) check(op string) error {
	if c.Count < 1 || c.Count > maxCount {
		return fault.Value(op, "Composition.Count", float64(c.Count), "a number in [1, 2^40]")
	}
	return within(op, "Composition.Item", c.Item, minUnit, maxLevel, "a number in [1e-100, 700]")
}

// maxCount keeps a sum below some 10^7 terms.
const maxCount = 1 << 40

// wrong returns the probability of a wrong answer, rounded down.
func (c Composition) wrong() float64 {
	return directed.DivDown(1, directed.AddUp(1, directed.ExpUp(c.Item)))
}

// logDelta returns ln delta, rounded up; -Inf for 0.
//
// F = Count-B ~ Bin(Count, q) wrong answers, q rounded down: the term
// (1-e^x)_+, x = eps-(Count-2F)Item, falls with F, so fewer wrong answers can
// only raise delta. The sum runs both ways from the largest probability with a
// positive term; either way the terms fall faster than a geometric series,
// which bounds the rest and is added.
func (c Composition) logDelta(ctx context.Context, eps float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	const rest = 0x1p-40
	m := float64(c.Count)
	if eps >= directed.MulUp(m, c.Item) {
		return math.Inf(-1), nil
	}
	q := c.wrong()
	odds := q / (1 - q)
	gain := func(f float64) float64 {
		loss := float64((m - 2*f) * c.Item)
		// Product and difference are rounded by less than this.
		x := eps - loss - 0x1p-51*(eps+math.Abs(loss))
		return max(0, -math.Expm1(x)) * (1 + 0x1p-50)
	}
	top := math.Floor(max(0, min(m, (m-eps/c.Item)/2+2))) // no term beyond; 2 for rounding
	start := min(top, math.Floor(m*q))
	log := logBinomial(c.Count, int64(start), q)
	sum, steps := gain(start), 0.0
	add := func(end, step float64, ratio func(f float64) float64) {
		mass := 1.0
		for f := start; f != end; f += step {
			r := ratio(f)
			if r < 1 && mass*r <= rest*sum*(1-r) {
				sum += mass * r / (1 - r)
				return
			}
			mass *= r
			sum += float64(mass * gain(f+step))
			steps++
		}
	}
	add(0, -1, func(f float64) float64 { return f / ((m - f + 1) * odds) })
	add(top, 1, func(f float64) float64 { return float64((m - f) / (f + 1) * odds) })
	return log + math.Log(sum) + pmfErr(log) + float64((steps+16)*stepErr), nil
}
