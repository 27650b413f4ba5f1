package walk

import (
	"math"

	"github.com/metricdp/metricdp/internal/fault"
)

// EqualScales returns scales that are all alike and have a loss of exactly 1 per
// unit of rel: each is t.Sensitivity(rel), as an integer. Under ReplaceOne the
// total has none.
func (t *Tree) EqualScales(rel Relation) (Scales, error) {
	const op = "walk: Tree.EqualScales"
	if err := t.check(op); err != nil {
		return Scales{}, err
	}
	if err := rel.check(op); err != nil {
		return Scales{}, err
	}
	// At least 1: where nothing can differ, any scale will do.
	return t.allScales(rel, float64(max(1, t.Sensitivity(rel)))), nil
}

func (t *Tree) allScales(rel Relation, b float64) Scales {
	s := Scales{Level: make([]float64, t.Height())}
	for l := range s.Level {
		s.Level[l] = b
	}
	if rel == AddRemoveOne {
		s.Total = b
	}
	return s
}

// PowerScales returns scales prop. to K^-p, of loss 1 per unit of rel, where
// 1/K is the share of the whole that a node of the level has: K is the product,
// over the levels above, of the mean number of children of their inner nodes.
// The total has that of the root. p must be a number in [-8, 8].
//
// Useful where nodes are cells that tile a body of R^d, of side K^(-1/d): p = 0
// gives [Tree.EqualScales], best for d = 1; p = [DimensionPower](d) is optimal
// in theory; p = 1/(4d), scales prop. to the fourth root of the side, did best
// in simulation for d = 2 and 3.
func (t *Tree) PowerScales(rel Relation, p float64) (Scales, error) {
	const op = "walk: Tree.PowerScales"
	if err := t.check(op); err != nil {
		return Scales{}, err
	}
	if err := rel.check(op); err != nil {
		return Scales{}, err
	}
	if !(math.Abs(p) <= 8) {
		return Scales{}, &ValueError{Op: op, Arg: "p", Index: -1, Value: p, Want: "a number in [-8, 8]"}
	}
	if p == 0 {
		return t.EqualScales(rel)
	}
	s := t.allScales(rel, 1)
	logK := 0.0
	for l := range s.Level {
		s.Level[l] = math.Exp(-p * logK)
		lo, hi := t.Level(l)
		inner := 0
		for v := lo; v < hi; v++ {
			if t.first[v] < t.first[v+1] {
				inner++
			}
		}
		logK += math.Log(float64(t.first[hi]-t.first[lo]) / float64(inner))
	}
	return t.Normalise(rel, s)
}

// DimensionPower returns (1-1/d)/2 for d >= 1, the power p of
// [Tree.PowerScales] that minimises the sum over the levels of the noise of
// their cells times their side in d dimensions: on a binary tree the scales are
// prop. to 2^(-l(1-1/d)/2), l the level.
func DimensionPower(d float64) float64 { return (1 - 1/d) / 2 }

// GapScales returns the scales, of loss 1 per unit of rel, that minimise the
// mean square of the partial sums weighted by gaps, see [Walk.RMS]: prop. to
// C^(-1/3), C being the mean square that unit noise on the level alone would
// give. So they minimise sum C b^2 where the sum of 1/b over the levels is
// given, which is the loss where all leaves are equally deep.
//
// gaps has one number >= 0 a leaf and must be public: the gaps of a net, not
// of data. A discrete law is treated as its continuous counterpart. O(n *
// height).
func (t *Tree) GapScales(rel Relation, law Law, gaps []float64) (Scales, error) {
	const op = "walk: Tree.GapScales"
	if err := t.check(op); err != nil {
		return Scales{}, err
	}
	if err := rel.check(op); err != nil {
		return Scales{}, err
	}
	if err := law.check(op); err != nil {
		return Scales{}, err
	}
	if law == DiscreteHaar && !t.binary {
		return Scales{}, notBinary(op, t)
	}
	if err := checkGaps(op, gaps, t.Len()); err != nil {
		return Scales{}, err
	}
	total, level := t.levelSquares(law, gaps)
	if rel == ReplaceOne {
		total = 0
	}
	top := total
	for _, c := range level {
		top = max(top, c)
	}
	if top == 0 { // nothing weighs: all scales are as good
		return t.EqualScales(rel)
	}
	s := t.allScales(rel, 1)
	for l, c := range level {
		s.Level[l] = 1 / math.Cbrt(max(c/top, leastSquare))
	}
	if rel == AddRemoveOne {
		s.Total = 1 / math.Cbrt(max(total/top, leastSquare))
	}
	return t.Normalise(rel, s)
}

// leastSquare keeps the scale of a level that does not weigh finite: such a
// level takes a thousandth of the share of the weightiest, so less than that of
// the loss is wasted on it.
const leastSquare = 1e-9

// Normalise returns scales prop. to s whose loss per unit of rel, as [Tree.Loss]
// computes it, is at most 1 and above 1 - (Height()+2)*2^-48. The entries of s must be
// positive, and Total too where rel is AddRemoveOne; under ReplaceOne it is dropped.
// The results must be in the bounds of [NewNoise]. A tree that cannot tell any
// two inputs apart has scales of 1. O(nodes).
func (t *Tree) Normalise(rel Relation, s Scales) (Scales, error) {
	const op = "walk: Tree.Normalise"
	if err := t.check(op); err != nil {
		return Scales{}, err
	}
	if rel == ReplaceOne {
		s.Total = 0
	} else if err := checkScale(op, "Total", -1, s.Total); err != nil {
		return Scales{}, err
	}
	loss, err := t.Loss(rel, s)
	if err != nil {
		return Scales{}, err
	}
	if loss == 0 {
		return t.allScales(rel, 1), nil
	}
	// Loss rounds up, by about one ulp an addition; a few steps of the factor
	// bring it to 1 or below. Deep trees need larger steps.
	step := float64(0x1p-52 * float64(t.Height()+2))
	out := Scales{Level: make([]float64, len(s.Level))}
	for f := loss; ; f *= 1 + step {
		out.Total = s.Total * f
		for l, b := range s.Level {
			out.Level[l] = b * f
		}
		loss, err := t.Loss(rel, out)
		if err != nil {
			return Scales{}, err
		}
		if loss <= 1 {
			return out, nil
		}
	}
}

func checkGaps(op string, gaps []float64, n int) error {
	if err := checkLen(op, "gaps", len(gaps), n); err != nil {
		return err
	}
	return fault.AllNonNegative(op, "gaps", gaps)
}
