package accountant

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
)

// Shuffle describes a release of items: each of Records items goes through a
// randomizer that draws independently of all others and is pure Alpha0-private
// per unit of the distance between items, and only the multiset of the outputs
// is published. One user holds Items of the records.
type Shuffle struct {
	// Records is N >= 1, the number of all records in the multiset.
	Records int64
	// Items is m in [1, N], the number of records that are the user's; at most
	// 2^53.
	Items int64
	// Diameter bounds the distance between two items: a positive number.
	Diameter float64
	// MinDistance is a lower bound of the distance between different items, 0
	// where none is known. [MetricRandomizer] gains from it.
	MinDistance float64
	// Clones is how the other records hide one that changes.
	Clones Clones
}

// LevelAt is what [Shuffle.Level] is asked about.
type LevelAt struct {
	Alpha0 float64 // level of the randomizer, per unit of distance: > 0
	Delta  float64 // slack of the release: 0 or in [1e-300, 1)
}

// DeltaAt is what [Shuffle.Delta] is asked about.
type DeltaAt struct {
	Alpha0 float64 // level of the randomizer, in [1e-100, 700]/Diameter
	Alpha  float64 // level of the release, in [1e-100, 1e100]/Diameter
}

// BudgetFor is the promise that [Shuffle.Budget] is to keep.
type BudgetFor struct {
	Alpha float64 // level of the release, in [1e-100, 1e100]/Diameter
	Delta float64 // slack of the release: 0 or in [1e-300, 1)
}

// Change is one item that moves, and the level at which that is judged.
type Change struct {
	Alpha0   float64 // level of the randomizer, in [1e-100, 700]/Diameter
	Distance float64 // by which the item moves, in (0, Diameter]
	Eps      float64 // >= 0
}

// Level is a level per unit of the earth mover's distance, and the theorem that
// proves it.
type Level struct {
	Alpha   float64 // rounded up
	Theorem Theorem
}

// Slack is a delta, and the theorem that proves it.
type Slack struct {
	Delta   float64 // rounded up
	Theorem Theorem
}

// Budget is a level that the randomizer may have per unit of the distance
// between items, and the theorem that proves it.
type Budget struct {
	Alpha0  float64 // rounded down
	Theorem Theorem
}

// Clones says with which probability p another record's output can be taken for
// that of the record that changes.
type Clones int

const (
	// Dominated is p = exp(-Alpha0*Diameter): the distribution of every other
	// record's output is at least p times the average of the changed record's
	// two. The proof is that of IRC24.
	Dominated Clones = iota
	// MetricRandomizer is p = 2exp(-Alpha0*Diameter)/(1+exp(-Alpha0*d)) for a
	// change by the distance d, the variation-ratio theorem for metric-private
	// randomizers (Wang, VLDB 2024). With one item d is that item's; with more
	// it is MinDistance, as some may move by no more.
	MetricRandomizer
)

// String is "dominated" or "metric randomizer".
func (c Clones) String() string {
	switch c {
	case Dominated:
		return "dominated"
	case MetricRandomizer:
		return "metric randomizer"
	}
	return fmt.Sprintf("Clones(%d)", int(c))
}

// probability returns p, rounded down, for a change by d; distances are over
// the diameter.
func (c Clones) probability(alpha0, d float64) float64 {
	p := directed.ExpDown(-alpha0)
	if c == MetricRandomizer {
		p = directed.DivDown(2*p, directed.AddUp(1, directed.ExpUp(directed.MulUp(-alpha0, d))))
	}
	return min(p, maxClone)
}

// Theorem names what proves a figure.
type Theorem int

const (
	// PureComposition adds the levels of the items: Alpha = Items*Alpha0 with
	// Delta = 0. The shuffling plays no part.
	PureComposition Theorem = iota + 1
	// Joint treats all items of the user at once, every step of the hybrid
	// argument of IRC24 at the same threshold of the likelihood ratio: the best
	// one for every earth mover's distance.
	Joint
	// SingleItem is Joint for Items = 1, where it is the exact divergence of
	// the mixture of clones of FMT21.
	SingleItem
	// Theorem44 is Theorem 4.4 of IRC24 with the condition that it omits:
	// Alpha0*Diameter <= ln(N/(16 ln(2m/delta_int))). Without it the formula is
	// false. [Shuffle.Theorem44] alone gives it.
	Theorem44
)

// String is the name in words.
func (t Theorem) String() string {
	switch t {
	case PureComposition:
		return "pure composition"
	case Joint:
		return "joint bound"
	case SingleItem:
		return "single item"
	case Theorem44:
		return "Theorem 4.4 of IRC24"
	}
	return fmt.Sprintf("Theorem(%d)", int(t))
}

const (
	// maxRecords is where more records stop to count. Bounds decrease in N, so
	// that a release of more is safe; their time grows with the root of N.
	maxRecords = 1 << 34
	// maxNumber bounds the number of items of a user, so that it is a float64.
	maxNumber = 1 << 53
	// rootTol is the relative width to which levels and budgets are bisected;
	// varyRootTol goes with varyTol.
	rootTol, varyRootTol = 1e-9, 1e-6
	// maxLevel bounds the levels of the randomizer, in units of 1/Diameter:
	// exp(-maxLevel) is still a normal float64.
	maxLevel = 700
	// minUnit keeps products of levels and distances normal float64s; minSlack
	// is below every use, and its logarithm far from where e^x is subnormal.
	minUnit, minSlack = 1e-100, 1e-300
)

// Level returns the least alpha for which the release has level (alpha,
// at.Delta), rounded up, by the better of [PureComposition], which holds with
// delta 0, and [Joint] (or [SingleItem]). Without Delta, and where
// Alpha0*Diameter is outside [1e-100, 700], it is pure composition's.
//
// It is within a relative 1e-7 of what its bound gives in exact arithmetic, for
// levels up to 400/Diameter, and within 1e-5 for one item and
// [MetricRandomizer].
func (s Shuffle) Level(ctx context.Context, at LevelAt) (Level, error) {
	const op = "accountant: Shuffle.Level"
	u, err := s.unit(op)
	if err == nil {
		err = slack(op, "LevelAt.Delta", at.Delta)
	}
	if err != nil {
		return Level{}, err
	}
	pure := s.pure(at.Alpha0)
	if !(at.Alpha0 > 0) || math.IsInf(pure, 1) {
		return Level{}, fault.Value(op, "LevelAt.Alpha0", at.Alpha0, "a positive number, finite times Items")
	}
	best := Level{pure, PureComposition} // not rounded by the diameter
	u.alpha0 = directed.MulUp(at.Alpha0, s.Diameter)
	if at.Delta == 0 || !(u.alpha0 >= minUnit && u.alpha0 <= maxLevel) {
		return best, nil
	}
	a, err := u.level(ctx, directed.LogDown(at.Delta), u.pure())
	if err != nil {
		return Level{}, err
	}
	if a < u.pure() {
		best = Level{directed.DivUp(a, s.Diameter), u.theorem()}
	}
	return best, nil
}

// Delta returns the least delta for which the release has level (at.Alpha,
// delta), rounded up; 1 if the bounds prove nothing. It is within a relative
// 1e-6 of what its bound gives in exact arithmetic (1e-3 for one item and
// [MetricRandomizer]); but for that it does not grow with at.Alpha.
func (s Shuffle) Delta(ctx context.Context, at DeltaAt) (Slack, error) {
	const op = "accountant: Shuffle.Delta"
	u, err := s.unit(op)
	if err == nil {
		err = u.setAlpha0(op, "DeltaAt.Alpha0", at.Alpha0)
	}
	if err != nil {
		return Slack{}, err
	}
	alpha, err := u.alpha(op, "DeltaAt.Alpha", at.Alpha)
	if err != nil {
		return Slack{}, err
	}
	if at.Alpha >= s.pure(at.Alpha0) {
		return Slack{0, PureComposition}, nil
	}
	log, err := u.joint().value(ctx, alpha)
	if err != nil {
		return Slack{}, err
	}
	return Slack{min(1, directed.ExpUp(log)), u.theorem()}, nil
}

// Budget returns the largest level of the randomizer for which the bounds prove
// the promise p, rounded down: [Shuffle.Level] of it is at most p.Alpha, and
// less where the least delta of any level is what decides.
func (s Shuffle) Budget(ctx context.Context, p BudgetFor) (Budget, error) {
	const op = "accountant: Shuffle.Budget"
	u, alpha, err := s.unitFor(op, p)
	if err != nil {
		return Budget{}, err
	}
	best := Budget{directed.DivDown(p.Alpha, float64(s.Items)), PureComposition}
	if p.Delta == 0 {
		return best, nil
	}
	pure := directed.DivDown(alpha, float64(s.Items))
	// Level, which ends up to its tolerance above the least level, is to say no
	// more than p.Alpha of the result.
	a, err := u.budget(ctx, directed.LogDown(p.Delta), alpha*(1-float64(3*u.rootTol())), pure)
	if err != nil {
		return Budget{}, err
	}
	if a > pure {
		best = Budget{directed.DivDown(a, s.Diameter), u.theorem()}
	}
	return best, nil
}

// ItemDelta returns the least delta for which the release has level (c.Eps,
// delta) against one item that moves by d = c.Distance, as far as the clones
// hide it:
//
//	(1+e^eps) t Psi(tanh(eps/2)/t), t = tanh(Alpha0 d/2),
//	Psi(tau) = E (2B/n-1-tau)_+, n-1 ~ Bin(Records-1, p), B ~ Bin(n, 1/2),
//
// rounded up; 0 from eps = Alpha0 d on. p is that of [Clones]. It does not
// depend on Items.
func (s Shuffle) ItemDelta(c Change) (float64, error) {
	const op = "accountant: Shuffle.ItemDelta"
	s.Items = 1
	u, err := s.unit(op)
	if err == nil {
		err = u.setAlpha0(op, "Change.Alpha0", c.Alpha0)
	}
	if err == nil {
		err = fault.NonNegative(op, "Change.Eps", c.Eps)
	}
	if err != nil {
		return 0, err
	}
	if !(c.Distance > 0 && c.Distance <= s.Diameter) {
		return 0, fault.Value(op, "Change.Distance", c.Distance, "a number in (0, Diameter]")
	}
	if c.Eps >= directed.MulUp(c.Alpha0, c.Distance) {
		return 0, nil
	}
	d := max(c.Distance, minUnit*s.Diameter) // a longer change shows more, and t is normal
	others := cloneCount{u.records - 1, s.Clones.probability(u.alpha0, directed.DivDown(c.Distance, s.Diameter))}
	t := math.Tanh(c.Alpha0*d/2) * (1 + tauErr/4)
	log := logAdd(0, c.Eps) + math.Log(t) + others.logPsi(math.Tanh(c.Eps/2)/t*(1-tauErr))
	return min(1, directed.ExpUp(logUp(log))), nil
}

// pure is the level of pure composition. As it is the least number that will
// do, and Budget's the largest, the one of the other is no more than asked for.
func (s Shuffle) pure(alpha0 float64) float64 { return directed.MulUp(float64(s.Items), alpha0) }

// unit is a checked Shuffle whose distances are over the diameter: alpha0 is
// rounded up, near rounded down.
type unit struct {
	records, items int64
	diameter       float64 // what it was
	near           float64 // least distance > 0 of two items
	clones         Clones
	alpha0         float64
}

// unit checks s. alpha0 stays 0.
func (s Shuffle) unit(op string) (unit, error) {
	bad := func(arg string, v float64, want string) (unit, error) {
		return unit{}, fault.Value(op, "Shuffle."+arg, v, want)
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
	u := unit{
		records: min(s.Records, max(maxRecords, s.Items)), items: s.Items, diameter: s.Diameter,
		near: directed.DivDown(s.MinDistance, s.Diameter), clones: s.Clones,
	}
	if u.near < minUnit {
		u.near = 0
	}
	return u, nil
}

// unitFor checks s and p, whose level per diameter is alpha.
func (s Shuffle) unitFor(op string, p BudgetFor) (u unit, alpha float64, err error) {
	if u, err = s.unit(op); err == nil {
		err = slack(op, "BudgetFor.Delta", p.Delta)
	}
	if err == nil {
		alpha, err = u.alpha(op, "BudgetFor.Alpha", p.Alpha)
	}
	return u, alpha, err
}

// setAlpha0 sets the level of the randomizer, v per unit of distance.
func (u *unit) setAlpha0(op, arg string, v float64) error {
	u.alpha0 = directed.MulUp(v, u.diameter)
	if u.alpha0 >= minUnit && u.alpha0 <= maxLevel {
		return nil
	}
	return fault.Value(op, arg, v, "a number in [1e-100, 700]/Diameter")
}

// alpha is a level of v per unit of distance over the diameter, rounded down.
func (u unit) alpha(op, arg string, v float64) (float64, error) {
	a := directed.MulDown(v, u.diameter)
	if a >= minUnit && a <= 1/minUnit {
		return a, nil
	}
	return 0, fault.Value(op, arg, v, "a number in [1e-100, 1e100]/Diameter")
}

// slack checks a delta.
func slack(op, arg string, v float64) error {
	if v == 0 || v >= minSlack && v < 1 {
		return nil
	}
	return fault.Value(op, arg, v, "0 or a number in [1e-300, 1)")
}

// pure is the level of pure composition.
func (u unit) pure() float64 { return directed.MulUp(float64(u.items), u.alpha0) }

// bound is the name of the joint bound.
func (u unit) theorem() Theorem {
	if u.items == 1 {
		return SingleItem
	}
	return Joint
}

func (u unit) joint() joint {
	return joint{
		alpha0: u.alpha0,
		items:  float64(u.items),
		others: min(u.records, maxRecords) - 1,
		least:  directed.DivDown(u.near, float64(u.items)),
		clones: u.clones,
		near:   u.near,
	}
}

// rootTol is the relative width to which the joint bound's roots are bisected.
func (u unit) rootTol() float64 {
	if u.joint().varies() {
		return varyRootTol
	}
	return rootTol
}

// level returns an alpha at which the joint bound reaches delta: the upper end
// of a bracket of relative width rootTol, below which it does not. top is
// returned if that is below no such level.
func (u unit) level(ctx context.Context, logDelta, top float64) (float64, error) {
	hi := top
	if u.joint().varies() { // start from the quick bound, which p(d) can only better
		quick := u
		quick.clones = Dominated
		var err error
		if hi, err = quick.level(ctx, logDelta, top); err != nil {
			return 0, err
		}
	}
	t := u.joint().thresholds(logDelta)
	reaches := func(alpha float64) (bool, error) { return t.proves(ctx, alpha) }
	lo := hi / 2
	for {
		ok, err := reaches(lo)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		// Levels this small are of no interest, and the search must end: at
		// delta near 1 it may hold down to 0.
		if lo < top*0x1p-40 {
			return lo, nil
		}
		lo, hi = lo/2, lo
	}
	_, hi, err := search.Bisect(lo, hi, u.rootTol(), reaches)
	return hi, err
}

// budget returns the largest alpha0 found at which the joint bound proves alpha
// and delta, from lo up, where something else does.
func (u unit) budget(ctx context.Context, logDelta, alpha, lo float64) (float64, error) {
	if u.joint().varies() {
		quick := u
		quick.clones = Dominated
		var err error
		if lo, err = quick.budget(ctx, logDelta, alpha, lo); err != nil {
			return 0, err
		}
	}
	return largest(lo, u.rootTol(), func(alpha0 float64) (bool, error) {
		u := u
		u.alpha0 = alpha0
		if alpha0 > maxLevel {
			return false, nil
		}
		return u.joint().thresholds(logDelta).proves(ctx, alpha)
	})
}

// largest returns the largest x found at which ok holds, from lo up, where it
// is known to. A randomizer of a lower level is private at every higher one, so
// that ok need not hold below.
func largest(lo, tol float64, ok func(float64) (bool, error)) (float64, error) {
	hi := 2 * lo
	for {
		holds, err := ok(hi)
		if err != nil {
			return 0, err
		}
		if !holds {
			break
		}
		lo, hi = hi, 2*hi
	}
	lo, _, err := search.Bisect(lo, hi, tol, func(x float64) (bool, error) {
		holds, err := ok(x)
		return !holds, err
	})
	return lo, err
}
