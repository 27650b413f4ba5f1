package walk

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// Relation says which two inputs a privacy loss compares.
type Relation int

const (
	// ReplaceOne compares two data sets of the same size, of which one record
	// differs, and two probability measures, per unit of their total variation
	// distance. The total is the same and needs no noise.
	ReplaceOne Relation = iota

	// AddRemoveOne compares two data sets of which one has a record more, and two measures of any
	// masses, per unit of the l1 distance of their weights. The total needs noise too.
	AddRemoveOne
)

// String returns the name of the constant.
func (r Relation) String() string {
	if r.check("") != nil {
		return fmt.Sprintf("Relation(%d)", int(r))
	}
	return [...]string{"ReplaceOne", "AddRemoveOne"}[r]
}

func (r Relation) check(op string) error {
	if r != ReplaceOne && r != AddRemoveOne {
		return fault.Value(op, "relation", float64(r), "ReplaceOne or AddRemoveOne")
	}
	return nil
}

// Sensitivity returns how much the Haar coefficients of a binary tree, or the counts of its nodes
// on any tree, change at most in l1 from one input to a neighbor, counting neither the total under
// ReplaceOne nor only children ever.
//
// Under AddRemoveOne that is 1 more than the height, without only children; under ReplaceOne the
// largest sum of the heights of two branches that meet in one node. It panics at another rel.
// O(nodes).
func (t *Tree) Sensitivity(rel Relation) int {
	const op = "walk: Tree.Sensitivity"
	fault.Must(t, t.check(op))
	if err := rel.check(op); err != nil {
		panic(err)
	}
	return int(t.loss(rel, 1, slices.Repeat([]float64{1}, t.Height())))
}

// Loss returns the privacy loss per unit of rel of noise with these scales, of any [Distribution]:
// the number a such that two inputs at distance d have densities, or probabilities, within a factor
// e^(a*d). It is attained, and rounded up. +Inf where rel is AddRemoveOne and the total has no
// noise.
//
// A record below the leaf i counts in all nodes above i. Moving it to j changes what is below the
// node v where the branches part: by 2/b at v, of scale b, and by 1/b at each node below v on the
// branches. Loss is the largest such sum. Adding it, the sum is 1/b over its branch and for the
// total. Loss is convex in the difference of two inputs, so moves of single records, and of masses
// between two leaves, are the worst per unit of total variation. O(nodes).
func (t *Tree) Loss(rel Relation, s Scales) (float64, error) {
	return t.lossOf("walk: Tree.Loss", rel, s)
}

func (t *Tree) lossOf(op string, rel Relation, s Scales) (float64, error) {
	if err := t.check(op); err != nil {
		return 0, err
	}
	if err := cmp.Or(rel.check(op), s.check(op, t.Height())); err != nil {
		return 0, err
	}
	if b, ok := s.equal(rel); ok { // exact for scales such as 20 or 1/3
		return quotientUp(float64(t.Sensitivity(rel)), b), nil
	}
	rates := make([]float64, len(s.Level))
	for l, b := range s.Level {
		rates[l] = quotientUp(1, b)
	}
	return t.loss(rel, quotientUp(1, s.Total), rates), nil
}

// loss sums the levels' rates and, for AddRemoveOne, the total's, rounding up.
func (t *Tree) loss(rel Relation, total float64, rates []float64) float64 {
	branch := make([]float64, t.Nodes()) // largest sum of rates from v down
	worst := 0.0
	for l, r := range slices.Backward(rates) {
		lo, hi := t.Level(l)
		for v := lo; v < hi; v++ {
			below := branch[t.first[v]:t.first[v+1]]
			if len(below) < 2 {
				copy(branch[v:], below)
				continue
			}
			first, second := 0.0, 0.0
			for _, x := range below {
				if x > first {
					first, second = x, first
				} else if x > second {
					second = x
				}
			}
			branch[v] = directed.AddUp(r, first)
			worst = max(worst, directed.AddUp(branch[v], directed.AddUp(r, second)))
		}
	}
	if rel == ReplaceOne {
		return worst
	}
	return directed.AddUp(total, branch[0])
}

// quotientUp returns the least float64 >= a/b, for a >= 0 and b > 0 in the range
// of scales, where the remainder is exact; +Inf for 1/0.
func quotientUp(a, b float64) float64 {
	q := a / b
	if math.FMA(-q, b, a) > 0 {
		return directed.Next(q)
	}
	return q
}

// Potential returns V(z) for the increments z of a walk of the distribution KNorm or DiscreteHaar:
// their density, or probability, is prop. to e^-V(z), on the z of sum 0 where the total has no
// noise. So V(z-x') - V(z-x) is the log of the ratio of the densities at z that the inputs x and x'
// give. The other distributions are a [*ValueError]. O(nodes * log(arity)).
func (w *Walk) Potential(z []float64) (float64, error) {
	const op = "walk: Walk.Potential"
	if err := w.check(op); err != nil {
		return 0, err
	}
	if w.dist == Laplace || w.dist == DiscreteLaplace {
		return 0, fault.Value(op, "dist", float64(w.dist), "KNorm or DiscreteHaar")
	}
	if err := cmp.Or(fault.Size(op, "z", len(z), w.tree.Len()), fault.AllFinite(op, "z", z)); err != nil {
		return 0, err
	}
	sums := make([]float64, w.tree.Nodes())
	counts(w.tree, sums, z)
	if err := fault.AllFinite(op, "counts of z", sums); err != nil {
		return 0, err
	}
	return w.potential(sums), nil
}

// potential returns V for the noise of all nodes' counts before centering, such that their density,
// or probability, is prop. to e^-V. For Laplace and DiscreteLaplace V is the sum of |count|/b over
// the nodes with siblings; for KNorm and DiscreteHaar, where only differences of siblings are
// released, of |count - med|/b, med a median of the siblings. Both add |count|/Total of the root
// where Total is positive.
func (w *Walk) potential(counts []float64) float64 {
	t := w.tree
	sum := 0.0
	if w.scales.Total > 0 {
		sum = math.Abs(counts[0]) * w.total.perUnit()
	}
	var sorted []float64
	for l, n := range w.level {
		lo, hi := t.Level(l)
		rate := n.perUnit()
		for v := lo; v < hi; v++ {
			below := counts[t.first[v]:t.first[v+1]]
			if len(below) < 2 {
				continue
			}
			med := 0.0
			if w.dist == KNorm || w.dist == DiscreteHaar {
				sorted = append(sorted[:0], below...)
				slices.Sort(sorted)
				med = sorted[len(sorted)/2]
			}
			for _, x := range below {
				sum += float64(math.Abs(x-med) * rate)
			}
		}
	}
	return sum
}

// Scales holds the scales of the noise of a tree.
type Scales struct {
	// Total is the scale of the noise on the total, 0 for none.
	Total float64
	// Level holds, for l from 0 to Height()-1, the scale of the noise that the
	// nodes of depth l add to their children.
	Level []float64
}

// At returns the scales divided by alpha, each rounded up: where s has a loss of at most 1 per
// unit, the result has at most alpha. They must be as [NewNoise] takes them.
func (s Scales) At(alpha float64) (Scales, error) {
	const op = "walk: Scales.At"
	if err := checkScale(op, "alpha", -1, alpha); err != nil {
		return Scales{}, err
	}
	s = Scales{quotientUp(s.Total, alpha), slices.Clone(s.Level)}
	for l, b := range s.Level {
		s.Level[l] = quotientUp(b, alpha)
	}
	return s, s.check(op, len(s.Level))
}

func (s Scales) check(op string, height int) error {
	if err := fault.Size(op, "Level", len(s.Level), height); err != nil {
		return err
	}
	if s.Total != 0 {
		if err := checkScale(op, "Total", -1, s.Total); err != nil {
			return err
		}
	}
	for l, b := range s.Level {
		if err := checkScale(op, "Level", l, b); err != nil {
			return err
		}
	}
	return nil
}

// equal returns the scale that all levels, and a needed total, have in common.
func (s Scales) equal(rel Relation) (b float64, ok bool) {
	all := s.Level
	if rel == AddRemoveOne {
		all = append([]float64{s.Total}, all...)
	}
	if len(all) == 0 {
		return 0, false
	}
	return all[0], slices.Min(all) == slices.Max(all)
}

// EqualScales returns scales that are all alike and have a loss of exactly 1 per unit of rel: each
// is t.Sensitivity(rel). Under ReplaceOne the total has none.
func (t *Tree) EqualScales(rel Relation) (Scales, error) {
	const op = "walk: Tree.EqualScales"
	if err := cmp.Or(t.check(op), rel.check(op)); err != nil {
		return Scales{}, err
	}
	// At least 1: where nothing can differ, any scale will do.
	return t.allScales(rel, float64(max(1, t.Sensitivity(rel)))), nil
}

func (t *Tree) allScales(rel Relation, b float64) Scales {
	s := Scales{Level: slices.Repeat([]float64{b}, t.Height())}
	if rel == AddRemoveOne {
		s.Total = b
	}
	return s
}

// Normalize returns scales prop. to s whose [Tree.Loss] per unit of rel is at most 1 and above 1 -
// (Height()+2)*2^-48. Total must be positive where rel is AddRemoveOne; under ReplaceOne it is
// dropped. The results must be as [NewNoise] takes them. A tree that cannot tell any two inputs
// apart has scales of 1. O(nodes).
//
// Equal scales suit cells of an interval. For cells of R^d scales prop. to side^((d-1)/2) have the
// least a-priori bound.
func (t *Tree) Normalize(rel Relation, s Scales) (Scales, error) {
	const op = "walk: Tree.Normalize"
	if rel == ReplaceOne {
		s.Total = 0
	} else if err := checkScale(op, "Total", -1, s.Total); err != nil {
		return Scales{}, err
	}
	loss, err := t.lossOf(op, rel, s)
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
		loss, err := t.lossOf(op, rel, out)
		if err != nil {
			return Scales{}, err
		}
		if loss <= 1 {
			return out, nil
		}
	}
}
