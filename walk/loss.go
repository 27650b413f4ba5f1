package walk

import (
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

	// AddRemoveOne compares two data sets of which one has a record more, and
	// two measures of any masses, per unit of the l1 distance of their weights.
	// The total needs noise too.
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

// Sensitivity returns how much the Haar coefficients of a binary tree, or the
// counts of its nodes on any tree, change at most in l1 from one input to a
// neighbor, counting neither the total under ReplaceOne nor only children ever.
//
// Under AddRemoveOne that is 1 more than the height; only children do not add to
// the height here. Under ReplaceOne it is the largest sum of the heights of two
// branches that meet in one node: 2*Height() where all leaves are equally deep.
// It panics at another rel. O(nodes).
func (t *Tree) Sensitivity(rel Relation) int {
	const op = "walk: Tree.Sensitivity"
	fault.Must(t, t.check(op))
	if err := rel.check(op); err != nil {
		panic(err)
	}
	return int(t.loss(rel, 1, slices.Repeat([]float64{1}, t.Height())))
}

// Loss returns the privacy loss per unit of rel of noise with these scales, of
// any [Distribution]: the number a such that two inputs at distance d have
// densities, or probabilities, within a factor e^(a*d). It is attained, and
// rounded up. +Inf where rel is AddRemoveOne and the total has no noise.
//
// A record below the leaf i counts in all nodes above i. Moving it to j changes
// what is below the node v where the two branches part: by 2/b at v, b being
// its scale, since it leaves one child for another, and by 1/b at each node
// below v on the branches. Loss is the largest such sum, over all v and two
// branches. Adding it, the sum is 1/b over its whole branch and for the total.
// Loss is convex in the difference of two inputs, so moves of single records,
// and of masses between two leaves, are the worst per unit of total variation.
// O(nodes).
func (t *Tree) Loss(rel Relation, s Scales) (float64, error) {
	return t.lossOf("walk: Tree.Loss", rel, s)
}

func (t *Tree) lossOf(op string, rel Relation, s Scales) (float64, error) {
	if err := t.check(op); err != nil {
		return 0, err
	}
	if err := rel.check(op); err != nil {
		return 0, err
	}
	if err := s.check(op, t.Height()); err != nil {
		return 0, err
	}
	if rel == AddRemoveOne && s.Total == 0 {
		return math.Inf(1), nil
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
