package walk

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
)

// Tree is a rooted ordered tree. Its leaves are numbered 0 to Len()-1 from left to right and stand
// for the points or cells that carry mass; its nodes 0 to Nodes()-1 level by level from the root,
// each level from left to right. So the children of a node have consecutive numbers, larger than
// its own, and so have the leaves below it. An only child gets no noise.
//
// It takes at most 20 bytes a node, and is immutable and safe for concurrent use. The zero value
// has no leaves and is refused.
type Tree struct {
	first  []int32 // children of v: first[v] to first[v+1]-1
	parent []int32 // -1 for the root
	lo     []int32 // leaves below v: lo[v] to hi[v]-1
	hi     []int32
	leaf   []int32 // node of each leaf
	level  []int32 // nodes of depth l: level[l] to level[l+1]-1
	arity  int     // largest number of children
}

func (t *Tree) check(op string) error {
	return fault.Made(t != nil && len(t.leaf) > 0, op, "Tree", "NewTree, Balanced or Levels")
}

// Len returns the number of leaves.
func (t *Tree) Len() int { return len(fault.Must(t, t.check("walk: Tree.Len")).leaf) }

// Nodes returns the number of nodes, leaves included.
func (t *Tree) Nodes() int { return len(fault.Must(t, t.check("walk: Tree.Nodes")).parent) }

// Height returns the number of edges on the longest path down from the root.
func (t *Tree) Height() int { return len(fault.Must(t, t.check("walk: Tree.Height")).level) - 2 }

// String is for people: "tree of 1000 leaves, height 3".
func (t *Tree) String() string {
	if t.check("") != nil {
		return "no tree"
	}
	return fmt.Sprintf("tree of %d leaves, height %d", t.Len(), t.Height())
}

// Arity returns the largest number of children of a node.
func (t *Tree) Arity() int { return fault.Must(t, t.check("walk: Tree.Arity")).arity }

// Children returns the range of the children of v, lo to hi-1, empty for a leaf. It panics where v
// is no node, as do the methods below.
func (t *Tree) Children(v int) (lo, hi int) { return int(t.first[v]), int(t.first[v+1]) }

// Parent returns the parent of v, -1 for the root.
func (t *Tree) Parent(v int) int { return int(t.parent[v]) }

// LeafRange returns the range of the leaves at and below v, lo to hi-1.
func (t *Tree) LeafRange(v int) (lo, hi int) { return int(t.lo[v]), int(t.hi[v]) }

// LeafNode returns the node that is leaf i.
func (t *Tree) LeafNode(i int) int { return int(t.leaf[i]) }

// Level returns the range of the nodes of depth l, lo to hi-1, for l from 0 to Height().
func (t *Tree) Level(l int) (lo, hi int) { return int(t.level[l]), int(t.level[l+1]) }

// Depth returns the number of edges between the root and v. O(log Height).
func (t *Tree) Depth(v int) int {
	_ = fault.Must(t, t.check("walk: Tree.Depth")).parent[v]
	return sort.Search(len(t.level)-1, func(l int) bool { return int(t.level[l+1]) > v })
}

// Split returns the place of the Haar coefficient of v in the array that [Tree.Haar] leaves: the
// first leaf of its second child. It panics unless v has two children.
func (t *Tree) Split(v int) int {
	c := int(fault.Must(t, t.check("walk: Tree.Split")).first[v])
	if int(t.first[v+1]) != c+2 {
		panic("walk: Tree.Split: the node has no two children")
	}
	return int(t.lo[c+1])
}

// maxNodes bounds the number of nodes so that one more fits the int32 arrays.
const maxNodes = math.MaxInt32 - 1

// Balanced returns the tree with n >= 1 leaves in which every node with m > 1 leaves has min(m,
// arity) children whose leaf numbers differ by at most one, the larger first: of the least height.
// O(n).
func Balanced(n, arity int) (*Tree, error) { return balanced("walk: Balanced", n, arity) }

func balanced(op string, n, arity int) (*Tree, error) {
	if n < 1 || n > maxNodes/2 {
		return nil, fault.Value(op, "n", float64(n), fmt.Sprintf("an integer in [1, %d]", maxNodes/2))
	}
	if arity < 2 {
		return nil, fault.Value(op, "arity", float64(arity), "an integer >= 2")
	}
	// Nodes of a level, as their leaf numbers, in a queue: 2n-1 nodes at most.
	size := make([]int32, 1, 2*n-1)
	degree := make([]int32, 0, 2*n-1)
	size[0] = int32(n)
	for v := 0; v < len(size); v++ {
		m, k := int(size[v]), 0
		if m > 1 {
			k = min(m, arity)
		}
		degree = append(degree, int32(k))
		for i := range k {
			size = append(size, int32((m-i+k-1)/k))
		}
	}
	return build(op, degree)
}

// Levels returns the tree in which every node of depth l has arities[l] children: Levels(10, 10,
// 10) has 1,000 leaves, Levels() one. O(nodes).
func Levels(arities ...int) (*Tree, error) {
	const op = "walk: Levels"
	nodes, width := 1.0, 1.0
	for l, k := range arities {
		if k < 1 {
			return nil, &ValueError{Op: op, Arg: "arities", Index: l, Value: float64(k), Want: "an integer >= 1"}
		}
		width = float64(width * float64(k))
		nodes += width
		if nodes > maxNodes {
			return nil, &SizeError{Op: op, Arg: "arities", Got: l + 1, Want: fmt.Sprintf("arities with at most %d nodes in all", maxNodes)}
		}
	}
	degree := make([]int32, 0, int(nodes))
	w := 1
	for _, k := range arities {
		degree = append(degree, slices.Repeat([]int32{int32(k)}, w)...)
		w *= k
	}
	return build(op, degree[:int(nodes)]) // the leaves are zeros
}

// NewTree returns the tree in which item i has the parent parent[i], -1 for the one root. The
// children of a node are ordered by their index. order[v] says which item node v is.
//
// An empty parent is [ErrEmpty]; an entry outside [-1, len(parent)), a second root or a cycle is a
// [*ValueError]. O(len(parent)).
func NewTree(parent []int) (t *Tree, order []int, err error) {
	const op = "walk: NewTree"
	n := len(parent)
	if err := fault.Empty(op, "parent", n); err != nil {
		return nil, nil, err
	}
	if n > maxNodes {
		return nil, nil, &SizeError{Op: op, Arg: "parent", Got: n, Want: fmt.Sprintf("at most %d", maxNodes)}
	}
	// Counting sort by parent: the children of i are child[start[i]:start[i+1]].
	start := make([]int, n+1)
	root := -1
	for i, p := range parent {
		switch {
		case p < -1 || p >= n:
			return nil, nil, &ValueError{Op: op, Arg: "parent", Index: i, Value: float64(p), Want: fmt.Sprintf("-1 or an index in [0, %d)", n)}
		case p >= 0:
			start[p+1]++
		case root >= 0:
			return nil, nil, &ValueError{Op: op, Arg: "parent", Index: i, Value: -1, Want: fmt.Sprintf("one root only, which is %d already", root)}
		default:
			root = i
		}
	}
	if root < 0 {
		return nil, nil, &ValueError{Op: op, Arg: "parent", Index: 0, Value: float64(parent[0]), Want: "a root, -1, among the entries"}
	}
	for i := range n {
		start[i+1] += start[i]
	}
	child := make([]int, n-1)
	next := slices.Clone(start[:n])
	for i, p := range parent {
		if p >= 0 {
			child[next[p]] = i
			next[p]++
		}
	}
	order = append(make([]int, 0, n), root)
	degree := make([]int32, 0, n)
	for v := 0; v < len(order); v++ {
		below := child[start[order[v]]:start[order[v]+1]]
		order = append(order, below...)
		degree = append(degree, int32(len(below)))
	}
	if len(order) < n {
		reached := make([]bool, n)
		for _, i := range order {
			reached[i] = true
		}
		i := slices.Index(reached, false)
		return nil, nil, &ValueError{Op: op, Arg: "parent", Index: i, Value: float64(parent[i]), Want: "no cycle"}
	}
	t, err = build(op, degree)
	return t, order, err
}

// build takes the degrees of a tree of at most maxNodes nodes, level by level.
func build(op string, degree []int32) (*Tree, error) {
	n := len(degree)
	if err := fault.Memory(op, float64(n), 5*4); err != nil {
		return nil, err
	}
	t := &Tree{
		first:  make([]int32, n+1),
		parent: make([]int32, n),
		lo:     make([]int32, n),
		hi:     make([]int32, n),
		level:  []int32{0},
	}
	t.parent[0], t.first[0] = -1, 1
	leaves := 0
	for v, k := range degree {
		t.first[v+1] = t.first[v] + k
		for c := t.first[v]; c < t.first[v+1]; c++ {
			t.parent[c] = int32(v)
		}
		if k == 0 {
			leaves++
		}
		t.arity = max(t.arity, int(k))
	}
	for end := int32(1); ; end = t.first[end] { // the children of a level follow it
		t.level = append(t.level, end)
		if int(end) == n {
			break
		}
	}
	// Sizes from the bottom, then places from the top.
	for v := n - 1; v >= 0; v-- {
		if degree[v] == 0 {
			t.hi[v] = 1
		}
		if p := t.parent[v]; p >= 0 {
			t.hi[p] += t.hi[v]
		}
	}
	t.leaf = make([]int32, leaves)
	for v := range n {
		at := t.lo[v]
		if degree[v] == 0 {
			t.leaf[at] = int32(v)
		}
		for c := t.first[v]; c < t.first[v+1]; c++ {
			t.lo[c] = at
			at += t.hi[c]
		}
		t.hi[v] += t.lo[v]
	}
	return t, nil
}

// ErrEmpty reports a tree without nodes; see errors.Is. It is metric.ErrEmpty.
var ErrEmpty = fault.ErrEmpty

// The error types of this package, those of package metric, whose doc has the
// fields; see errors.As.
type (
	// ValueError reports one number outside its domain.
	ValueError = fault.ValueError
	// SizeError reports a length that does not fit the tree.
	SizeError = fault.SizeError
	// MemoryError reports a tree refused before it was allocated.
	MemoryError = fault.MemoryError
)
