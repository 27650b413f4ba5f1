package emd

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// Shuffle describes a release of items: each of Records items goes through a
// channel of its own random choices that is pure Alpha0-private under the
// distance between items, and only the multiset of the outputs is published.
// One user holds Items of the records. The question is at which (Alpha, Delta)
// the release is private under the user's earth mover's distance:
// [ShuffleLevel], [ShuffleDelta] and [ShuffleBudget] each find one of the
// three from the others.
type Shuffle struct {
	// Records is N >= 1, all records in the multiset: the user's own in the Local
	// trust, those of all users in the Central one.
	Records int64
	// Items is m in [1, N], the number of records that are the user's; at most 2^53.
	Items int64
	// Alpha0 is the level of the channel, per unit of distance between items.
	Alpha0 float64
	// Alpha and Delta are the level of the release, Alpha per unit of the earth
	// mover's distance, and its slack in [0,1).
	Alpha, Delta float64
	// Diameter bounds the distance between two items: a positive number.
	Diameter float64
	// MinDistance is a lower bound of the distance between different items, 0
	// where none is known. [MetricRandomiser] gains from it.
	MinDistance float64
	// Clones is how the other records hide one that changes.
	Clones Clones
}

// Clones says with which probability p another record's output can be taken for
// the changed one's.
type Clones int

const (
	// Dominated is p = exp(-Alpha0*Diameter): every other record's output law is at least p
	// times the average of the changed record's two. The proof is that of
	// IRC24.
	Dominated Clones = iota
	// MetricRandomiser is p = 2exp(-Alpha0*Diameter)/(1+exp(-Alpha0*d)) for a
	// change by the distance d, the variation-ratio theorem for metric-private
	// randomisers (Wang, VLDB 2024). With one item d is that item's; with more
	// it is MinDistance, as some may move by no more.
	MetricRandomiser
)

// String is "dominated" or "metric randomiser".
func (c Clones) String() string {
	switch c {
	case Dominated:
		return "dominated"
	case MetricRandomiser:
		return "metric randomiser"
	}
	return fmt.Sprintf("Clones(%d)", int(c))
}

// probability returns p, rounded down, for a change by d; distances are over the diameter.
func (c Clones) probability(alpha0, d float64) float64 {
	p := directed.ExpDown(-alpha0)
	if c == MetricRandomiser {
		p = directed.DivDown(2*p, directed.AddUp(1, directed.ExpUp(directed.MulUp(-alpha0, d))))
	}
	return min(p, maxClone)
}

// Bound names the theorem that gave a figure.
type Bound int

const (
	// PureComposition adds the levels of the items: Alpha = Items*Alpha0 with Delta
	// = 0. The shuffling plays no part.
	PureComposition Bound = iota + 1
	// Theorem44 is Theorem 4.4 of IRC24 with the condition that it omits:
	// Alpha0*Diameter <= ln(N/(16 ln(2m/delta_int))). Without it the formula is false.
	Theorem44
	// Joint treats all items of the user at once, every step of the
	// hybrid argument at the same threshold of the likelihood ratio: the best one for
	// every earth mover's distance.
	Joint
	// SingleItem is Joint for Items = 1, where it is the exact divergence of
	// the mixture of clones.
	SingleItem
)

// String is the name of the bound in words.
func (b Bound) String() string {
	switch b {
	case PureComposition:
		return "pure composition"
	case Theorem44:
		return "Theorem 4.4 of IRC24"
	case Joint:
		return "joint bound"
	case SingleItem:
		return "single item"
	}
	return fmt.Sprintf("Bound(%d)", int(b))
}

// Accounted is a figure on the safe side and the bound that it comes from.
type Accounted struct {
	Value float64 // a level, a delta or a budget, as asked
	Bound Bound
}

const (
	// maxRecords is where more records stop to count. Bounds are decreasing in N,
	// so a release of more is safe; their time grows with the root of N.
	maxRecords = 1 << 34
	// rootTol is the relative width to which levels and budgets are bisected;
	// varyRootTol goes with varyTol.
	rootTol, varyRootTol = 1e-9, 1e-6
	// maxLevel bounds the levels accepted, in units of 1/Diameter: exp(-maxLevel)
	// is still a normal float64.
	maxLevel = 700
)

// ShuffleLevel returns the least Alpha that the bounds prove for s.Alpha0 and
// s.Delta, rounded up: the best of [PureComposition], [Theorem44] and [Joint] (or
// [SingleItem]). s.Alpha must be 0.
//
// It is within a relative 1e-7 of what its bound gives in exact arithmetic, for levels
// up to 400/Diameter, and takes some 500 sums of about 16 sqrt(N p) terms, p =
// exp(-Alpha0*Diameter): 0.1 s at N = 1e8 and 5 s at most. For one item and
// [MetricRandomiser], whose p varies, that is 1e-5 and ten times as long.
func ShuffleLevel(s Shuffle) (Accounted, error) {
	const op = "emd: ShuffleLevel"
	if err := unasked(op, "Shuffle.Alpha", s.Alpha); err != nil {
		return Accounted{}, err
	}
	u, err := s.unit(op, true, false, true)
	if err != nil {
		return Accounted{}, err
	}
	best := Accounted{u.pure(), PureComposition}
	if s.Delta > 0 {
		logDelta := directed.LogDown(s.Delta)
		if a := u.theorem44Level(logDelta); a < best.Value {
			best = Accounted{a, Theorem44}
		}
		if a := u.jointLevel(logDelta, best.Value); a < best.Value {
			best = Accounted{a, u.jointName()}
		}
	}
	if best.Bound == PureComposition {
		return Accounted{s.pure(), PureComposition}, nil // no rounding by the diameter
	}
	best.Value = directed.DivUp(best.Value, u.Diameter)
	return best, nil
}

// ShuffleDelta returns the least Delta that the bounds prove for s.Alpha0 and
// s.Alpha, rounded up; 1 if they prove nothing. s.Delta must be 0. It is
// within a relative 1e-6 of what its bound gives in exact arithmetic (1e-3 for one
// item and [MetricRandomiser]), as far as that it does not grow with s.Alpha, and takes
// some 100 of the sums of [ShuffleLevel].
func ShuffleDelta(s Shuffle) (Accounted, error) {
	const op = "emd: ShuffleDelta"
	if err := unasked(op, "Shuffle.Delta", s.Delta); err != nil {
		return Accounted{}, err
	}
	u, err := s.unit(op, true, true, false)
	if err != nil {
		return Accounted{}, err
	}
	if s.Alpha >= s.pure() {
		return Accounted{0, PureComposition}, nil
	}
	best := Accounted{min(1, directed.ExpUp(u.joint().value(u.Alpha))), u.jointName()}
	if l := u.theorem44Delta(u.Alpha); directed.ExpUp(l) < best.Value {
		best = Accounted{directed.ExpUp(l), Theorem44}
	}
	return best, nil
}

// ShuffleBudget returns the largest Alpha0 for which the bounds prove s.Alpha
// and s.Delta, rounded down: [ShuffleLevel] of the result is at most s.Alpha, and less
// where the least delta of any level is what decides. s.Alpha0 must be 0, s.Alpha
// positive. It takes about the time of [ShuffleLevel].
func ShuffleBudget(s Shuffle) (Accounted, error) {
	const op = "emd: ShuffleBudget"
	if err := unasked(op, "Shuffle.Alpha0", s.Alpha0); err != nil {
		return Accounted{}, err
	}
	u, err := s.unit(op, false, true, true)
	if err != nil {
		return Accounted{}, err
	}
	best := Accounted{directed.DivDown(u.Alpha, float64(u.Items)), PureComposition}
	if s.Delta > 0 {
		logDelta := directed.LogDown(s.Delta)
		// ShuffleLevel, which ends up to its tolerance above the least level, is to
		// say no more than s.Alpha of the result.
		u.Alpha *= 1 - float64(3*u.rootTol())
		if a := u.budget(best.Value, rootTol, func(u unitShuffle) bool { return u.theorem44Level(logDelta) <= u.Alpha }); a > best.Value {
			best = Accounted{a, Theorem44}
		}
		if a := u.jointBudget(logDelta, best.Value); a > best.Value {
			best = Accounted{a, u.jointName()}
		}
	}
	if best.Bound == PureComposition {
		return Accounted{directed.DivDown(s.Alpha, float64(s.Items)), PureComposition}, nil
	}
	best.Value = directed.DivDown(best.Value, u.Diameter)
	return best, nil
}

// Change is one item that moves by Distance > 0, judged at level Eps >= 0.
type Change struct{ Distance, Eps float64 }

// ItemDelta returns the least delta such that the release of s is (c.Eps, delta)-private
// against one item that moves by c.Distance <= Diameter, as far as the
// clones hide it:
//
//	(1+e^eps) t Psi(tanh(eps/2)/t), t = tanh(Alpha0 d/2),
//
// rounded up; 0 from eps = Alpha0 d on. It reads Records, Alpha0, Diameter and Clones
// of s; Alpha and Delta must be 0.
func ItemDelta(s Shuffle, c Change) (float64, error) {
	const op = "emd: ItemDelta"
	for _, a := range [...]struct {
		arg string
		v   float64
	}{{"Shuffle.Alpha", s.Alpha}, {"Shuffle.Delta", s.Delta}} {
		if err := unasked(op, a.arg, a.v); err != nil {
			return 0, err
		}
	}
	s.Items = 1
	u, err := s.unit(op, true, false, false)
	if err != nil {
		return 0, err
	}
	if err := fault.NonNegative(op, "Change.Eps", c.Eps); err != nil {
		return 0, err
	}
	if !(c.Distance > 0 && c.Distance <= u.Diameter) {
		return 0, &fault.ValueError{Op: op, Arg: "Change.Distance", Index: -1, Value: c.Distance, Want: "a number in (0, Diameter]"}
	}
	if c.Eps >= directed.MulUp(s.Alpha0, c.Distance) {
		return 0, nil
	}
	d := max(c.Distance, minUnit*u.Diameter) // a longer change shows more, and t is normal
	law := crowd{u.Records - 1, s.Clones.probability(u.Alpha0, directed.DivDown(c.Distance, u.Diameter))}
	t := math.Tanh(s.Alpha0*d/2) * (1 + tauErr/4)
	log := logAdd(0, c.Eps) + math.Log(t) + law.logPsi(math.Tanh(c.Eps/2)/t*(1-tauErr))
	return min(1, directed.ExpUp(logUp(log))), nil
}

// unasked refuses a number where the question is what it should be.
func unasked(op, arg string, v float64) error {
	if v == 0 {
		return nil
	}
	return &fault.ValueError{Op: op, Arg: arg, Index: -1, Value: v, Want: "0, as the call finds it"}
}
