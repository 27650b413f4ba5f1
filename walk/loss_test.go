package walk

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// bruteLoss is the largest weighted l1 norm of the change of the counts, or of
// the Haar coefficients, over all pairs of neighbors: by the transforms
// themselves, with no thought about branches. rate[v] weighs the node v.
func bruteLoss(t testing.TB, tree *Tree, rel Relation, haar bool, total float64, rate []float64) float64 {
	n := tree.Len()
	x := make([]int64, n)
	counts := make([]int64, tree.Nodes())
	norm := func() float64 {
		sum := 0.0
		if haar {
			testkit.Check(t, tree.HaarInt(x))
			sum = total * math.Abs(float64(x[0]))
			for v, b := range rate {
				if lo, hi := tree.Children(v); lo < hi {
					sum += b * math.Abs(float64(x[tree.Split(v)]))
				}
			}
			return sum
		}
		testkit.Check(t, tree.CountsInt(counts, x))
		sum = total * math.Abs(float64(counts[0]))
		for v, b := range rate {
			if lo, hi := tree.Children(v); hi-lo > 1 {
				for _, c := range counts[lo:hi] {
					sum += b * math.Abs(float64(c))
				}
			}
		}
		return sum
	}
	worst := 0.0
	for i := range n {
		if rel == AddRemoveOne {
			clear(x)
			x[i] = 1
			worst = max(worst, norm())
			continue
		}
		for j := range i {
			clear(x)
			x[i], x[j] = 1, -1
			worst = max(worst, norm())
		}
	}
	return worst
}

// TestSensitivity_EveryBinaryShape: all 6,918 binary trees of up to 10 leaves (with
// METRICDP_LONG all 82,500 of up to 12) and both relations, for Haar coefficients; up
// to 9 leaves for counts too.
func TestSensitivity_EveryBinaryShape(t *testing.T) {
	limit := testkit.Sweep(10, 12)
	seen := 0
	for n, shapes := range allShapes(limit, 2) {
		for _, s := range shapes {
			tree := s.tree()
			seen++
			rate := slices.Repeat([]float64{1}, tree.Nodes())
			for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
				total := float64(rel)
				got := float64(tree.Sensitivity(rel))
				if want := bruteLoss(t, tree, rel, true, total, rate); got != want {
					t.Fatalf("%v, %v: sensitivity %v, want %v", s, rel, got, want)
				}
				if n <= 9 {
					if want := bruteLoss(t, tree, rel, false, total, rate); got != want {
						t.Fatalf("%v, %v: sensitivity of counts %v, want %v", s, rel, got, want)
					}
				}
			}
		}
	}
	if want := map[int]int{10: 6918, 12: 82500}[limit]; seen != want { // sums of Catalan numbers
		t.Errorf("%d shapes, want %d", seen, want)
	}
}

// TestSensitivity_EveryShape: all trees of up to 8 leaves without only children.
func TestSensitivity_EveryShape(t *testing.T) {
	seen := 0
	for _, shapes := range allShapes(8, 8) {
		for _, s := range shapes {
			tree := s.tree()
			seen++
			for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
				want := bruteLoss(t, tree, rel, false, float64(rel), slices.Repeat([]float64{1}, tree.Nodes()))
				if got := float64(tree.Sensitivity(rel)); got != want {
					t.Fatalf("%v, %v: sensitivity %v, want %v", s, rel, got, want)
				}
			}
		}
	}
	if want := 1 + 1 + 3 + 11 + 45 + 197 + 903 + 4279; seen != want { // little Schröder numbers
		t.Errorf("%d shapes, want %d", seen, want)
	}
}

// TestLoss_RandomTreesAndScales has only children, and scales that are powers
// of two, so that all sums are exact.
func TestLoss_RandomTreesAndScales(t *testing.T) {
	rng := random.Seeded(3)
	power := func() float64 { return math.Ldexp(1, rng.IntN(9)-4) }
	for range 3000 {
		tree := randomTree(rng, 1+rng.IntN(24))
		s := Scales{Total: power(), Level: make([]float64, tree.Height())}
		for l := range s.Level {
			s.Level[l] = power()
		}
		rate := make([]float64, tree.Nodes())
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			for v := range rate {
				if l := tree.Depth(v); l < tree.Height() {
					rate[v] = 1 / s.Level[l]
				}
			}
			want := bruteLoss(t, tree, rel, false, 1/s.Total, rate)
			if got := testkit.Must(tree.Loss(rel, s)); got != want {
				t.Fatalf("%v, %v, %v: loss %v, want %v", tree.first, s, rel, got, want)
			}
		}
	}
}

// TestLoss_RoundsUp: with scales that are powers of two of very different sizes
// the sums are not float64s, and Loss is the next one.
func TestLoss_RoundsUp(t *testing.T) {
	rng := random.Seeded(5)
	tree := testkit.Must(Levels(2, 2, 2))
	scale := func() float64 { return math.Ldexp(1, rng.IntN(150)) }
	for range 500 {
		s := Scales{Total: scale(), Level: []float64{scale(), scale(), scale()}}
		branch := new(big.Rat)
		for _, b := range s.Level {
			branch.Add(branch, new(big.Rat).SetFloat64(1/b))
		}
		for rel, want := range map[Relation]*big.Rat{
			ReplaceOne:   new(big.Rat).Add(branch, branch),
			AddRemoveOne: new(big.Rat).Add(branch, new(big.Rat).SetFloat64(1/s.Total)),
		} {
			got := testkit.Must(tree.Loss(rel, s))
			if new(big.Rat).SetFloat64(got).Cmp(want) < 0 {
				t.Fatalf("%v, %v: loss %v is below the sum", s, rel, got)
			}
			if least, _ := want.Float64(); got > least*(1+0x1p-50) {
				t.Fatalf("%v, %v: loss %v, want %v", s, rel, got, least)
			}
		}
	}
}

func randomScales(rng *rand.Rand, tree *Tree) Scales {
	s := Scales{Total: .5 + rng.Float64(), Level: make([]float64, tree.Height())}
	for l := range s.Level {
		s.Level[l] = .5 + rng.Float64()
	}
	return s
}

// TestLoss_BoundsMeasures: for measures of any kind the weighted change of the
// coefficients is at most the loss times the distance that the relation names.
func TestLoss_BoundsMeasures(t *testing.T) {
	r := random.Seeded(4)
	for range 500 {
		tree := randomTree(r, 2+r.IntN(40))
		n := tree.Len()
		s := randomScales(r, tree)
		x := make([]float64, n) // difference of two measures
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, rel := range []Relation{AddRemoveOne, ReplaceOne} {
			if rel == ReplaceOne { // subtract the mean
				sum := 0.0
				for _, v := range x {
					sum += v
				}
				for i := range x {
					x[i] -= sum / float64(n)
				}
			}
			dist := 0.0
			for _, v := range x {
				dist += math.Abs(v)
			}
			if rel == ReplaceOne {
				dist /= 2
				s.Total = 0
			}
			counts := make([]float64, tree.Nodes())
			testkit.Check(t, tree.Counts(counts, x))
			change := testkit.Must(New(tree, Laplace, s)).potential(counts)
			if loss := testkit.Must(tree.Loss(rel, s)); change > loss*dist*(1+1e-12) {
				t.Fatalf("%v: change %v, loss %v, distance %v", rel, change, loss, dist)
			}
		}
	}
}

func TestSensitivity_KnownAnswers(t *testing.T) {
	for _, c := range []struct{ n, replace int }{{1, 0}, {2, 2}, {3, 3}, {5, 5}, {8, 6}, {9, 7}, {129, 15}, {1024, 20}} {
		tree := testkit.Must(Balanced(c.n, 2))
		if got := tree.Sensitivity(ReplaceOne); got != c.replace {
			t.Errorf("n = %d: %d, want %d", c.n, got, c.replace)
		}
		if got := tree.Sensitivity(AddRemoveOne); got != tree.Height()+1 {
			t.Errorf("n = %d: add or remove %d, want %d", c.n, got, tree.Height()+1)
		}
	}
	if got := testkit.Must(Levels(16, 16, 16)).Sensitivity(ReplaceOne); got != 6 {
		t.Errorf("16-ary of height 3: %d, want 6", got)
	}
	// The worst pair need not part at the root: a leaf beside a tree of height
	// 5.
	deep := shapeTree{nil, nil}
	for range 4 {
		deep = shapeTree{deep, deep}
	}
	if got := (shapeTree{nil, deep}).tree().Sensitivity(ReplaceOne); got != 10 {
		t.Errorf("lopsided: %d, want 10", got)
	}
}
