package walk

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestAt_KeepsTheLevel: equal scales divided by alpha have a loss of alpha at
// most, as the outward rounding of Loss sees it.
func TestAt_KeepsTheLevel(t *testing.T) {
	rng := random.Seeded(11)
	for range 2000 {
		tree := testkit.Must(Balanced(2+rng.IntN(1000), 2+rng.IntN(20)))
		alpha := math.Exp(rng.NormFloat64())
		s := testkit.Must(testkit.Must(tree.EqualScales(ReplaceOne)).At(alpha))
		if loss := testkit.Must(tree.Loss(ReplaceOne, s)); loss > alpha || loss < alpha*(1-1e-15) {
			t.Fatalf("alpha %v: loss %v", alpha, loss)
		}
	}
}

func TestNormalize_LossIsOne(t *testing.T) {
	rng := random.Seeded(12)
	for range 500 {
		tree := randomTree(rng, 2+rng.IntN(60))
		s := randomScales(rng, tree)
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			n := testkit.Must(tree.Normalize(rel, s))
			loss := testkit.Must(tree.Loss(rel, n))
			if tree.Sensitivity(rel) == 0 {
				continue
			}
			if loss > 1 || loss < 1-1e-12 {
				t.Fatalf("%v: loss %v", rel, loss)
			}
			if (n.Total == 0) != (rel == ReplaceOne) {
				t.Fatalf("%v: total %v", rel, n.Total)
			}
			for l, b := range n.Level {
				if ratio := b / n.Level[0]; math.Abs(ratio-s.Level[l]/s.Level[0]) > 1e-14*ratio {
					t.Fatalf("level %d: ratio %v", l, ratio)
				}
			}
		}
	}
	deep := chain(3000) // many additions, each rounded
	s := testkit.Must(deep.Normalize(ReplaceOne, randomScales(rng, deep)))
	if loss := testkit.Must(deep.Loss(ReplaceOne, s)); loss > 1 || loss < 1-1e-10 {
		t.Errorf("chain: loss %v", loss)
	}
}

// chain is the binary tree of n leaves and the greatest height.
func chain(n int) *Tree {
	parent := []int{-1}
	for len(parent) < 2*n-1 {
		v := max(0, len(parent)-1)
		parent = append(parent, v, v)
	}
	t, _, err := NewTree(parent)
	return testkit.Must(t, err)
}
