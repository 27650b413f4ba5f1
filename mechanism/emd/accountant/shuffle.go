package accountant

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// Shuffle describes a release of items. Each of Records items goes through a randomizer that draws
// independently of all others and is pure Alpha0-private per unit of distance. A trusted shuffler
// publishes only how often each output came up. One user holds Items of the records. The release M
// is (alpha, delta)-private under the earth mover's distance if for all data sets that differ in one
// user's items, whose distributions are mu and mu', and all sets S of multisets,
//
//	P{M(x) in S} <= exp(alpha*d_EM(mu,mu')) P{M(x') in S} + delta.
//
// A number outside its range is a [*metric.ValueError]. A question takes up to two seconds.
//
// Sources: Feldman, McMillan, Talwar, "Hiding among the clones", 2021; IRC24, Theorems 4.3 and
// 4.4; Loader 2000, for binomial probabilities.
type Shuffle struct {
	Records     int64   // N >= 1, the number of all records in the multiset
	Items       int64   // m in [1, N] of them are the user's; at most 2^53
	Alpha0      float64 // level of the randomizer per unit of distance: in [1e-100, 700]/Diameter; not read by Budget
	Diameter    float64 // bounds the distance between two items: in [1e-100, 1e100]
	MinDistance float64 // of different items at least, 0 where unknown: [MetricRandomizer] gains from it
	Clones      Clones  // how the other records hide one that changes

	// Randomizer has the probabilities where they are known, and with them Alpha0, Diameter and
	// MinDistance, which then stay 0.
	Randomizer *Randomizer
}

// Promise is what a release is to keep.
type Promise struct {
	Alpha float64 // level per unit of d_EM, in [1e-100, 1e100]/Diameter
	Delta float64 // slack: 0 or in [1e-300, 1)
}

// Check refuses what is no promise, as an error of the call op.
func (p Promise) Check(op string) error {
	return cmp.Or(fault.Positive(op, "target.Alpha", p.Alpha), fault.Delta(op, "target.Delta", p.Delta))
}

// Level returns the least alpha for which the release has level (alpha, delta), rounded up, by the
// better of [PureComposition] and [Joint] (or [SingleItem]). delta is 0 or in [1e-300, 1). Where it
// is 0, and where Alpha0 > 0 is outside its range, the level is pure composition's.
//
// It is within a relative 1e-3 of its bound in exact arithmetic, and mostly 1e-7, and not below 2^-40
// of pure composition's. With a Randomizer it is the best that level and probabilities prove, the
// latter within a relative 1e-3, for more items some 1e-2.
func (s Shuffle) Level(ctx context.Context, delta float64) (Bound, error) {
	const op = "accountant: Shuffle.Level"
	return answer(s, op, func(a answers) (Bound, error) { return a.level(ctx, op, delta) })
}

func (s Shuffle) level(ctx context.Context, op string, delta float64) (Bound, error) {
	b, err := s.check(op)
	if err := cmp.Or(err, slack(op, "delta", delta)); err != nil {
		return Bound{}, err
	}
	pure := s.pure()
	if !(s.Alpha0 > 0) || math.IsInf(pure, 1) {
		return Bound{}, fault.Value(op, "Shuffle.Alpha0", s.Alpha0, "a positive number, finite times Items")
	}
	best := Bound{pure, PureComposition} // not rounded by the diameter
	if delta == 0 || b.setAlpha0(op, "", s.Alpha0) != nil {
		return best, nil
	}
	a, err := b.level(ctx, directed.LogDown(delta), b.pure())
	if err != nil {
		return Bound{}, err
	}
	if a < b.pure() {
		best = Bound{directed.DivUp(a, s.Diameter), b.theorem()}
	}
	return best, nil
}

// Delta returns the least delta for which the release has level (alpha, delta), alpha in
// [1e-100, 1e100]/Diameter, rounded up; 1 if the bounds prove nothing. It is within a relative 1e-2
// of its bound in exact arithmetic, mostly 1e-6; but for that it does not grow with alpha.
func (s Shuffle) Delta(ctx context.Context, alpha float64) (Bound, error) {
	const op = "accountant: Shuffle.Delta"
	return answer(s, op, func(a answers) (Bound, error) { return a.delta(ctx, op, alpha) })
}

func (s Shuffle) delta(ctx context.Context, op string, alpha float64) (Bound, error) {
	b, err := s.check(op)
	err = cmp.Or(err, b.setAlpha0(op, "Shuffle.Alpha0", s.Alpha0))
	a, low := b.alpha(op, "alpha", alpha)
	if err := cmp.Or(err, low); err != nil {
		return Bound{}, err
	}
	if alpha >= s.pure() {
		return Bound{0, PureComposition}, nil
	}
	log, err := b.value(ctx, a)
	if err != nil {
		return Bound{}, err
	}
	return Bound{min(1, directed.ExpUp(log)), b.theorem()}, nil
}

// Budget returns the largest level of the randomizer for which the bounds prove the promise p,
// rounded down: [Shuffle.Level] at it is at most p.Alpha.
func (s Shuffle) Budget(ctx context.Context, p Promise) (Bound, error) {
	const op = "accountant: Shuffle.Budget"
	if s.Randomizer != nil {
		return Bound{}, fmt.Errorf("%s: a budget is that of a level alone, and there is a Randomizer", op)
	}
	b, err := s.check(op)
	alpha, low := b.alpha(op, "p.Alpha", p.Alpha)
	if err := cmp.Or(err, slack(op, "p.Delta", p.Delta), low); err != nil {
		return Bound{}, err
	}
	best := Bound{directed.DivDown(p.Alpha, float64(s.Items)), PureComposition}
	if p.Delta == 0 {
		return best, nil
	}
	pure := directed.DivDown(alpha, float64(s.Items))
	a, err := b.budget(ctx, directed.LogDown(p.Delta), alpha, pure)
	if err != nil {
		return Bound{}, err
	}
	if a > pure {
		best = Bound{directed.DivDown(a, s.Diameter), b.theorem()}
	}
	return best, nil
}

// Moved is a change of the records: Items of them move, by Distance in all, as the items of
// one day out of a user's month.
type Moved struct {
	Items    int64   // no more than so many: in [1, Records], at most 2^53
	Distance float64 // no more than this sum: in (0, Items*Diameter]
}

// MovedLevel returns the least eps for which the release has level (eps, delta) against the
// change v, delta 0 or in [1e-300, 1), rounded up. Of a user's items it is at most what
// [Shuffle.Level] grants for the change, and less where few move far. Shuffle.Items is not read.
// Precision is that of Level. Source: IRC24, Theorem 4.3, with the bound of [Joint] for its formula.
func (s Shuffle) MovedLevel(ctx context.Context, v Moved, delta float64) (Bound, error) {
	const op = "accountant: Shuffle.MovedLevel"
	return answer(s, op, func(a answers) (Bound, error) { return a.movedLevel(ctx, op, v, delta) })
}

func (s Shuffle) movedLevel(ctx context.Context, op string, v Moved, delta float64) (Bound, error) {
	b, w, err := s.moved(op, v)
	if err := cmp.Or(err, slack(op, "delta", delta)); err != nil {
		return Bound{}, err
	}
	best := Bound{directed.MulUp(s.Alpha0, v.Distance), PureComposition}
	if delta == 0 || best.Value < minUnit { // nothing less differs from 0
		return best, nil
	}
	t := b.thresholds(directed.LogDown(delta), w, w)
	eps, err := lowest(best.Value, rootTol, func(eps float64) (bool, error) {
		g, err := t.least(ctx, eps)
		return g <= t.target, err
	})
	if err == nil && eps < best.Value {
		best = Bound{eps, b.theorem()}
	}
	return best, err
}

// MovedDelta returns the least delta for which the release has level (eps, delta) against
// the change v, eps >= 0, rounded up: with k = v.Items, p that of [Clones] and (.)_+ the
// positive part, the least over tau of
//
//	(e^E-1) Psi(tau)/tau, E = 2k artanh(tau tanh(Alpha0 v.Distance/2k)) <= eps,
//	Psi(tau) = E (2B/n-1-tau)_+, n-1 ~ Bin(Records-1, p), B ~ Bin(n, 1/2),
//
// or less, see [Joint]; 0 from eps = Alpha0 v.Distance on. See [Shuffle.MovedLevel].
func (s Shuffle) MovedDelta(ctx context.Context, v Moved, eps float64) (Bound, error) {
	const op = "accountant: Shuffle.MovedDelta"
	return answer(s, op, func(a answers) (Bound, error) { return a.movedDelta(ctx, op, v, eps) })
}

func (s Shuffle) movedDelta(ctx context.Context, op string, v Moved, eps float64) (Bound, error) {
	b, w, err := s.moved(op, v)
	if err := cmp.Or(err, fault.NonNegative(op, "eps", eps)); err != nil {
		return Bound{}, err
	}
	if eps >= directed.MulUp(s.Alpha0, v.Distance) {
		return Bound{0, PureComposition}, nil
	}
	if eps < minUnit { // a smaller one promises more, and math.Log errs below 2^-1022
		eps = 0
	}
	log, err := b.thresholds(0, w, w).least(ctx, eps)
	if err != nil {
		return Bound{}, err
	}
	return Bound{min(1, directed.ExpUp(log)), b.theorem()}, nil
}

// moved checks s and v, of which w is the mean distance of an item over the diameter,
// rounded up.
func (s Shuffle) moved(op string, v Moved) (b joint, w float64, err error) {
	s.Items = 1
	b, err = s.check(op)
	if err := cmp.Or(err, b.setAlpha0(op, "Shuffle.Alpha0", s.Alpha0)); err != nil {
		return b, 0, err
	}
	if v.Items < 1 || v.Items > min(s.Records, maxNumber) {
		return b, 0, fault.Value(op, "v.Items", float64(v.Items), "a number in [1, Records] and at most 2^53")
	}
	b.items = float64(v.Items)
	if !(v.Distance > 0 && v.Distance <= b.items*s.Diameter) {
		return b, 0, fault.Value(op, "v.Distance", v.Distance, "a number in (0, Items*Diameter]")
	}
	// A longer change shows more, and products with levels are normal.
	return b, min(1, max(minUnit, directed.DivUp(v.Distance, directed.MulDown(b.items, s.Diameter)))), nil
}

// pure is the level of pure composition, rounded up; attained is it rounded down.
func (s Shuffle) pure() float64 { return directed.MulUp(float64(s.Items), s.Alpha0) }

func (s Shuffle) attained() float64 { return directed.MulDown(float64(s.Items), s.Alpha0) }

// check returns s in the units of joint, without its alpha0, or what is wrong with it.
func (s Shuffle) check(op string) (joint, error) {
	bad := func(arg string, v float64, want string) (joint, error) {
		return joint{}, fault.Value(op, "Shuffle."+arg, v, want)
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
	case s.Clones != Dominated && s.Clones != MetricRandomizer:
		return bad("Clones", float64(s.Clones), "Dominated or MetricRandomizer")
	}
	b := joint{items: float64(s.Items), others: min(s.Records, maxRecords) - 1, clones: s.Clones, diameter: s.Diameter}
	if near := directed.DivDown(s.MinDistance, s.Diameter); near >= minUnit {
		b.near = near
	}
	return b, nil
}
