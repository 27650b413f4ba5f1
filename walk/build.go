package walk

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
)

// ErrEmpty reports a tree without nodes; see errors.Is. It is metric.ErrEmpty.
var ErrEmpty = fault.ErrEmpty

// The error types of this package; see errors.As.
type (
	// ValueError reports one number outside its domain. It is metric.ValueError,
	// whose doc has the fields.
	ValueError = fault.ValueError
	// SizeError reports a length that does not fit the tree. It is
	// metric.SizeError, whose doc has the fields.
	SizeError = fault.SizeError
	// MemoryError reports a tree refused before it was allocated. It is
	// metric.MemoryError, whose doc has the fields.
	MemoryError = fault.MemoryError
)

// zeroError reports a value that no constructor made.
func zeroError(op, what, makers string) error {
	return fmt.Errorf("%s: a %s that is not from %s", op, what, makers)
}

// maxNodes bounds the number of nodes so that one more fits the int32 arrays.
const maxNodes = math.MaxInt32 - 1

// Balanced returns the tree with n >= 1 leaves in which every node with m > 1
// leaves has min(m, arity) children whose leaf numbers differ by at most one,
// the larger first. Its height is the least possible, log n to the base arity
// rounded up. O(n).
func Balanced(n, arity int) (*Tree, error) {
	const op = "walk: Balanced"
	if n < 1 || n > maxNodes/2 {
		return nil, &ValueError{Op: op, Arg: "n", Index: -1, Value: float64(n), Want: fmt.Sprintf("an integer in [1, %d]", maxNodes/2)}
	}
	if arity < 2 {
		return nil, &ValueError{Op: op, Arg: "arity", Index: -1, Value: float64(arity), Want: "an integer >= 2"}
	}
	// Nodes of a level, as their leaf numbers, in a queue: 2n-1 nodes at most.
	size := make([]int32, 1, 2*n-1)
	degree := make([]int32, 0, 2*n-1)
	size[0] = int32(n)
	for v := 0; v < len(size); v++ {
		m := int(size[v])
		if m == 1 {
			degree = append(degree, 0)
			continue
		}
		k := min(m, arity)
		degree = append(degree, int32(k))
		for i := range k {
			s := m / k
			if i < m%k {
				s++
			}
			size = append(size, int32(s))
		}
	}
	return build(op, degree)
}

// Levels returns the tree in which every node of depth l has arities[l]
// children: Levels(10, 10, 10) has 1,000 leaves. Without arguments it is a
// single leaf. O(nodes).
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
		for range w {
			degree = append(degree, int32(k))
		}
		w *= k
	}
	return build(op, degree[:int(nodes)]) // the leaves are zeros
}

// NewTree returns the tree in which item i has the parent parent[i], -1 for the
// one root, for a hierarchy, a taxonomy or a net of any shape. The children of
// a node are ordered by their index. Because a Tree numbers its nodes level by
// level, order[v] says which item node v is; the items that are leaves come in
// the order of a walk around the tree.
//
// An empty parent is [ErrEmpty]; an entry outside [-1, len(parent)), a second
// root or a cycle is a [*ValueError]. O(len(parent)).
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
	next := append([]int(nil), start[:n]...)
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
		for i, p := range parent {
			if !reached[i] {
				return nil, nil, &ValueError{Op: op, Arg: "parent", Index: i, Value: float64(p), Want: "no cycle"}
			}
		}
	}
	t, err = build(op, degree)
	return t, order, err
}

// build makes the tree whose nodes, level by level, have these numbers of
// children. They must describe a tree of at most maxNodes nodes.
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
		binary: true,
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
		} else if k != 2 {
			t.binary = false
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
