package walk

import (
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// equalWalk is the walk of equal scales on tree at level 1 per unit of rel.
func equalWalk(tree *Tree, dist Distribution, rel Relation) *Walk {
	return testkit.Must(New(tree, dist, testkit.Must(tree.EqualScales(rel))))
}

// shapeTree is a tree as its children; nil is a leaf.
type shapeTree []shapeTree

func (s shapeTree) tree() *Tree {
	var parent []int
	var add func(s shapeTree, p int)
	add = func(s shapeTree, p int) {
		v := len(parent)
		parent = append(parent, p)
		for _, c := range s {
			add(c, v)
		}
	}
	add(s, -1)
	t, _, err := NewTree(parent)
	return testkit.Must(t, err)
}

// allShapes returns every ordered tree with 1 to n leaves in which an inner
// node has 2 to arity children, by its number of leaves.
func allShapes(n, arity int) [][]shapeTree {
	trees := make([][]shapeTree, n+1)
	trees[1] = []shapeTree{nil}
	// forests calls f with every row of k trees with m leaves in all.
	var forests func(m, k int, row shapeTree, f func(shapeTree))
	forests = func(m, k int, row shapeTree, f func(shapeTree)) {
		if k == 0 {
			if m == 0 {
				f(append(shapeTree(nil), row...))
			}
			return
		}
		for first := 1; first <= m-k+1; first++ {
			for _, c := range trees[first] {
				forests(m-first, k-1, append(row, c), f)
			}
		}
	}
	for m := 2; m <= n; m++ {
		for k := 2; k <= min(arity, m); k++ {
			forests(m, k, nil, func(s shapeTree) { trees[m] = append(trees[m], s) })
		}
	}
	return trees
}

// randomTree has n nodes, only children included: item i is below any
// earlier one.
func randomTree(rng *rand.Rand, n int) *Tree {
	parent := make([]int, n)
	parent[0] = -1
	for i := 1; i < n; i++ {
		parent[i] = rng.IntN(i)
	}
	t, _, err := NewTree(parent)
	return testkit.Must(t, err)
}

// randomBinary has n leaves and anything between balanced and a chain.
func randomBinary(rng *rand.Rand, n int) *Tree {
	var grow func(n int) shapeTree
	grow = func(n int) shapeTree {
		if n == 1 {
			return nil
		}
		m := 1 + rng.IntN(n-1)
		return shapeTree{grow(m), grow(n - m)}
	}
	return grow(n).tree()
}

func mustPanic(t *testing.T, name string, f func()) {
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	f()
}
