package walk

import (
	"fmt"
	"sort"
)

// Tree is a rooted ordered tree. Its leaves are numbered 0 to Len()-1 from
// left to right and stand for the points or cells that carry mass; its nodes
// are numbered 0 to Nodes()-1 level by level from the root, 0, each level from
// left to right. So the children of a node have consecutive numbers, larger
// than its own, and the leaves below a node are consecutive too.
//
// A node may have a single child, as in a taxonomy; it then has nothing to
// divide and gets no noise.
//
// A Tree is flat arrays of int32, at most 20 bytes a node. It is immutable and
// safe for concurrent use. The zero value has no leaves and is refused.
type Tree struct {
	first  []int32 // children of v: first[v] to first[v+1]-1
	parent []int32 // -1 for the root
	lo     []int32 // leaves below v: lo[v] to hi[v]-1
	hi     []int32
	leaf   []int32 // node of each leaf
	level  []int32 // nodes of depth l: level[l] to level[l+1]-1
	arity  int     // largest number of children
	binary bool
}

// check refuses a Tree that no constructor made.
func (t *Tree) check(op string) error {
	if t == nil || len(t.leaf) == 0 {
		return zeroError(op, "Tree", "NewTree, Balanced or Levels")
	}
	return nil
}

// made is check for the methods that return no error.
func (t *Tree) made(op string) *Tree {
	if err := t.check(op); err != nil {
		panic(err)
	}
	return t
}

// Len returns the number of leaves.
func (t *Tree) Len() int { return len(t.made("walk: Tree.Len").leaf) }

// Nodes returns the number of nodes, leaves included.
func (t *Tree) Nodes() int { return len(t.made("walk: Tree.Nodes").parent) }

// Height returns the number of edges on the longest path down from the root.
func (t *Tree) Height() int { return len(t.made("walk: Tree.Height").level) - 2 }

// String is for people: "tree of 1000 leaves, height 3".
func (t *Tree) String() string {
	if t.check("") != nil {
		return "no tree"
	}
	return fmt.Sprintf("tree of %d leaves, height %d", t.Len(), t.Height())
}

// Binary tells whether every node has two children or none, as the Haar
// transform needs.
func (t *Tree) Binary() bool { return t.made("walk: Tree.Binary").binary }

// Arity returns the largest number of children of a node.
func (t *Tree) Arity() int { return t.made("walk: Tree.Arity").arity }

// Children returns the range of the children of v, lo to hi-1; it is empty for
// a leaf. It panics where v is no node, as do the methods below.
func (t *Tree) Children(v int) (lo, hi int) { return int(t.first[v]), int(t.first[v+1]) }

// Parent returns the parent of v, -1 for the root.
func (t *Tree) Parent(v int) int { return int(t.parent[v]) }

// LeafRange returns the range of the leaves at and below v, lo to hi-1.
func (t *Tree) LeafRange(v int) (lo, hi int) { return int(t.lo[v]), int(t.hi[v]) }

// LeafNode returns the node that is leaf i.
func (t *Tree) LeafNode(i int) int { return int(t.leaf[i]) }

// Level returns the range of the nodes of depth l, lo to hi-1, for l from 0 to
// Height().
func (t *Tree) Level(l int) (lo, hi int) { return int(t.level[l]), int(t.level[l+1]) }

// Depth returns the number of edges between the root and v. O(log Height).
func (t *Tree) Depth(v int) int {
	_ = t.made("walk: Tree.Depth").parent[v]
	return sort.Search(len(t.level)-1, func(l int) bool { return int(t.level[l+1]) > v })
}

// Split returns the place of the Haar coefficient of v in the array that
// [Tree.Haar] leaves: the first leaf of its second child. It panics unless v
// has two children.
func (t *Tree) Split(v int) int {
	c := int(t.made("walk: Tree.Split").first[v])
	if int(t.first[v+1]) != c+2 {
		panic("walk: Tree.Split: the node has no two children")
	}
	return int(t.lo[c+1])
}
