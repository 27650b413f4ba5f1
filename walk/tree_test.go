package walk

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// checkTree checks every law of the numbering.
func checkTree(t *testing.T, tree *Tree) {
	t.Helper()
	n, nodes := tree.Len(), tree.Nodes()
	leaves, arity, next := 0, 0, 1
	for v := range nodes {
		lo, hi := tree.Children(v)
		if lo != next || hi < lo || hi > nodes {
			t.Fatalf("node %d has the children %d..%d, want them from %d", v, lo, hi, next)
		}
		next = hi
		arity = max(arity, hi-lo)
		a, b := tree.LeafRange(v)
		if lo == hi {
			leaves++
			if b != a+1 || tree.LeafNode(a) != v {
				t.Fatalf("leaf %d has the range %d..%d", v, a, b)
			}
		}
		at := a
		for c := lo; c < hi; c++ {
			ca, cb := tree.LeafRange(c)
			if tree.Parent(c) != v || ca != at || tree.Depth(c) != tree.Depth(v)+1 {
				t.Fatalf("child %d of %d: parent %d, leaves from %d, depth %d", c, v, tree.Parent(c), ca, tree.Depth(c))
			}
			at = cb
		}
		if lo < hi && at != b {
			t.Fatalf("leaves of %d end at %d, those of its children at %d", v, b, at)
		}
		if l, h := tree.Level(tree.Depth(v)); v < l || v >= h {
			t.Fatalf("node %d of depth %d is not in %d..%d", v, tree.Depth(v), l, h)
		}
	}
	if leaves != n || tree.Arity() != arity || tree.Parent(0) != -1 {
		t.Fatalf("%d leaves of %d, arity %d of %d", leaves, n, tree.Arity(), arity)
	}
	if a, b := tree.LeafRange(0); a != 0 || b != n || tree.Depth(nodes-1) != tree.Height() {
		t.Fatalf("root %d..%d of %d, height %d of %d", a, b, n, tree.Depth(nodes-1), tree.Height())
	}
}

func TestNewTree_OrderMapsParents(t *testing.T) {
	rng := random.Seeded(5)
	for range 300 {
		n := 1 + rng.IntN(60)
		label := rng.Perm(n) // item label[i] is the i-th of a tree that grows
		parent := make([]int, n)
		parent[label[0]] = -1
		for i := 1; i < n; i++ {
			parent[label[i]] = label[rng.IntN(i)]
		}
		given := slices.Clone(parent)
		tree, order, err := NewTree(parent)
		testkit.Check(t, err)
		checkTree(t, tree)
		if !slices.Equal(parent, given) || len(order) != n {
			t.Fatal("parent changed, or order is short")
		}
		for v, i := range order {
			if p := tree.Parent(v); p < 0 != (parent[i] < 0) || p >= 0 && order[p] != parent[i] {
				t.Fatalf("node %d is item %d, its parent %d is not item %d", v, i, p, parent[i])
			}
			lo, hi := tree.Children(v)
			if !slices.IsSorted(order[lo:hi]) {
				t.Fatalf("children of %d are the items %v", v, order[lo:hi])
			}
		}
	}
}

// TestSuperregular_Theorem: V is 1-Lipschitz in l1, attained where n is a power of two, by the
// exact formula; and each partial sum has a deviation within a multiple of (log n)^(3/2).
func TestSuperregular_Theorem(t *testing.T) {
	rng := random.Seeded(23)
	for n := 1; n <= 70; n++ {
		w := testkit.Must(Superregular(n))
		x, y := make([]float64, n), make([]float64, n)
		worst := 0.0
		for trial := range 200 {
			for i := range x {
				x[i] = []float64{0, 1, 100}[trial%3] * rng.NormFloat64()
			}
			copy(y, x)
			if trial%2 == 0 {
				y[rng.IntN(n)] += rng.NormFloat64()
			} else {
				for i := range y {
					y[i] += rng.NormFloat64()
				}
			}
			worst = max(worst, math.Abs(testkit.Must(w.Potential(x))-testkit.Must(w.Potential(y)))/floats.Distance(x, y, 1))
		}
		if worst > 1+1e-9 {
			t.Fatalf("n = %d: V rises by %v per unit of l1", n, worst)
		}
		if n&(n-1) == 0 && worst < 1-1e-9 {
			t.Errorf("n = %d: the steepest rise found is %v, want 1", n, worst)
		}
		if loss := testkit.Must(w.Tree().Loss(AddRemoveOne, w.Scales())); loss > 1 || n&(n-1) == 0 && loss < 1 {
			t.Errorf("n = %d: loss %v", n, loss)
		}
		if L := w.Tree().Height(); w.Scales().Total != float64(L+1) {
			t.Errorf("n = %d: scale %v", n, w.Scales().Total)
		}
	}
	for _, n := range []int{2, 5, 64, 1000, 1 << 12} {
		w := testkit.Must(Superregular(n))
		v := make([]float64, n)
		testkit.Check(t, w.Variances(v))
		L := float64(w.Tree().Height())
		// Each level adds b^2 phi^2/2 or b^2 (1-phi)^2/2, phi in [0, 1], and the
		// total at most 2b^2.
		if top := slices.Max(v); top > (L+1)*(L+1)*(L/2+2) {
			t.Errorf("n = %d: variance %v at height %v", n, top, L)
		}
	}
}

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

// randomTree has n nodes, only children included: item i is below any earlier one.
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
