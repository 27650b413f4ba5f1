package walk

import (
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// checkTree checks every law of the numbering.
func checkTree(t *testing.T, tree *Tree) {
	t.Helper()
	n, nodes := tree.Len(), tree.Nodes()
	leaves, arity, next, binary := 0, 0, 1, true
	for v := range nodes {
		lo, hi := tree.Children(v)
		if lo != next || hi < lo || hi > nodes {
			t.Fatalf("node %d has the children %d..%d, want them from %d", v, lo, hi, next)
		}
		next = hi
		arity = max(arity, hi-lo)
		binary = binary && (hi == lo || hi == lo+2)
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
	if leaves != n || tree.Arity() != arity || tree.Binary() != binary || tree.Parent(0) != -1 {
		t.Fatalf("%d leaves of %d, arity %d of %d, binary %v of %v", leaves, n, tree.Arity(), arity, tree.Binary(), binary)
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
