package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Tree is a rooted tree with a length on every edge, as a taxonomy. Its nodes are 0, ..., Len()-1.
// It is immutable and safe for concurrent use; methods panic where there is no such node. Its
// metrics sum lengths of edges and name no unit.
type Tree struct {
	parent []int
	length []float64
	names  []string // nil where there are none
	child  []int    // the children of v are child[start[v]:start[v+1]]
	start  []int
	pre    []int // every node before its children, families from left to right
	leaves []int
	root   int
}

// NewTree returns the tree in which an edge of length[v], in [0, 1e300], attaches node v to
// parent[v]. The root has the parent -1; its length enters no distance. A nil length makes all
// edges 1. Slices are copied. A parent that is no node, a second root, a cycle or no root, or a bad
// length is a [*ValueError] with the node as Index; the other errors are [ErrEmpty], [*SizeError]
// and [*MemoryError]. O(n).
func NewTree(parent []int, length []float64) (*Tree, error) {
	parent = slices.Clone(parent)
	if length == nil {
		length = make([]float64, len(parent))
		for v, p := range parent {
			if p != -1 {
				length[v] = 1
			}
		}
	} else {
		length = slices.Clone(length)
	}
	return newTree("metric: NewTree", parent, length, nil)
}

// newTree checks its slices and keeps them.
func newTree(op string, parent []int, length []float64, names []string) (*Tree, error) {
	n := len(parent)
	// The metrics of the tree need a table of this size. At the limit there are
	// fewer than 8e7 nodes, so that no path of edges up to 1e300 overflows.
	if err := cmp.Or(tableSize(op, "parent", n), fault.Size(op, "length", len(length), n)); err != nil {
		return nil, err
	}
	bad := func(v int, want string) error {
		return &ValueError{Op: op, Arg: "parent", Index: v, Value: float64(parent[v]), Want: want}
	}
	t := &Tree{parent: parent, length: length, names: names, root: -1, start: make([]int, n+1)}
	for v, p := range parent {
		if err := checkLength(op, "length", v, length[v]); err != nil {
			return nil, err
		}
		switch {
		case p == -1 && t.root >= 0:
			return nil, bad(v, fmt.Sprintf("a node, because the root is %d", t.root))
		case p == -1:
			t.root = v
		case p < 0 || p >= n:
			return nil, bad(v, fmt.Sprintf("-1 or an index in [0, %d)", n))
		default:
			t.start[p+1]++
		}
	}
	for v := range n {
		if t.start[v+1] == 0 {
			t.leaves = append(t.leaves, v)
		}
		t.start[v+1] += t.start[v]
	}
	t.child = make([]int, t.start[n])
	fill := slices.Clone(t.start)
	for v, p := range parent {
		if p >= 0 {
			t.child[fill[p]] = v
			fill[p]++
		}
	}
	t.pre = make([]int, 0, n)
	reached := make([]bool, n)
	for stack := []int{t.root}; t.root >= 0 && len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		reached[v] = true
		t.pre = append(t.pre, v)
		for _, c := range slices.Backward(t.Children(v)) {
			stack = append(stack, c)
		}
	}
	if v := slices.Index(reached, false); v >= 0 {
		return nil, bad(v, "a way up to a root: it leads into a cycle")
	}
	return t, nil
}

// TreeFromPaths returns the tree of a taxonomy, given as paths of names down from the root, the
// same for all, with edges of length 1. Paths share a node as long as they agree. Nodes are
// numbered as they first occur, and path k ends in Leaves()[k], which is point k of PathMetric and
// Ultrametric.
//
// A path that is the beginning of another, or comes twice, is an error that gives both indices; so
// are no paths, an empty path or name, one with control characters, marks of the direction of text
// or invalid UTF-8, and a second root. O(names).
func TreeFromPaths(paths [][]string) (*Tree, error) {
	const op = "metric: TreeFromPaths"
	if err := fault.Empty(op, "paths", len(paths)); err != nil {
		return nil, err
	}
	type under struct {
		parent int
		name   string
	}
	nodes := map[under]int{}
	var parent []int
	var length []float64
	var names []string
	var by []int // the first path through a node
	for k, path := range paths {
		if err := fault.Empty(op, fmt.Sprintf("paths[%d]", k), len(path)); err != nil {
			return nil, err
		}
		at := -1
		for depth, name := range path {
			if name == "" {
				return nil, fmt.Errorf("%s: paths[%d][%d]: no name: %w", op, k, depth, fault.ErrEmpty)
			}
			v, ok := nodes[under{at, name}]
			if ok {
				ends, end := depth == len(path)-1, depth == len(paths[by[v]])-1
				switch {
				case ends && end:
					return nil, fmt.Errorf("%s: paths[%d] = %q is paths[%d] again", op, k, path, by[v])
				case ends:
					return nil, fmt.Errorf("%s: paths[%d] = %q ends at an inner node, where paths[%d] goes on", op, k, path, by[v])
				case end:
					return nil, fmt.Errorf("%s: paths[%d] = %q goes on where paths[%d] ends", op, k, path, by[v])
				}
			} else {
				if at, _ := fault.Text(name); at >= 0 {
					return nil, fault.Name(op, fmt.Sprintf("paths[%d][%d]", k, depth), name)
				}
				if at < 0 && k > 0 {
					return nil, fmt.Errorf("%s: paths[%d] begins with %q, want the root %q", op, k, name, names[0])
				}
				v = len(parent)
				nodes[under{at, name}] = v
				parent, length, names = append(parent, at), append(length, float64(min(depth, 1))), append(names, name)
				by = append(by, k)
			}
			at = v
		}
	}
	return newTree(op, parent, length, names)
}

// Len returns the number of nodes.
func (t *Tree) Len() int { return len(t.parent) }

// Root returns the root.
func (t *Tree) Root() int {
	t.made()
	return t.root
}

// made panics for a zero Tree, which has no root and no metric.
func (t *Tree) made() {
	if len(t.parent) == 0 {
		panic("metric: a Tree without nodes: NewTree and TreeFromPaths make one")
	}
}

// Parent returns the node above v, -1 for the root.
func (t *Tree) Parent(v int) int { return t.parent[v] }

// Length returns the length of the edge above v.
func (t *Tree) Length(v int) float64 { return t.length[v] }

// Name returns the name of v, "" where it has none.
func (t *Tree) Name(v int) string {
	if t.names == nil {
		_ = t.parent[v] // panics as documented
		return ""
	}
	return t.names[v]
}

// Children returns the nodes below v, in increasing order. It must not be modified.
func (t *Tree) Children(v int) []int { return t.child[t.start[v]:t.start[v+1]:t.start[v+1]] }

// Leaves returns the nodes without children, in increasing order, as a copy.
func (t *Tree) Leaves() []int { return slices.Clone(t.leaves) }

// Preorder returns all nodes, each followed by all its descendants, as a copy.
func (t *Tree) Preorder() []int { return slices.Clone(t.pre) }

// PathMetric returns the metric on the leaves in which two are as far apart as the path between
// them is long. Point k is node Leaves()[k]. A distance costs O(1), a row O(number of points),
// memory is O(n log n). It has a relative error of at most 2^-51, plus k*2^-103 times the depth of
// the deeper end, k edges below the root: depths are double-double numbers.
func (t *Tree) PathMetric() Finite { return t.pathMetric(t.leaves) }

// NodeMetric is [Tree.PathMetric] on all nodes: point v is node v.
func (t *Tree) NodeMetric() Finite { return t.pathMetric(ascending(t.Len())) }

// Ultrametric returns the ultrametric on the leaves in which two are as far apart as the longest
// way from their lowest common ancestor down to a leaf. Point k is node Leaves()[k]. O(n log n).
func (t *Tree) Ultrametric() *Ultrametric {
	t.made()
	high := make([]float64, t.Len())
	for _, v := range slices.Backward(t.pre) {
		if p := t.parent[v]; p >= 0 {
			high[p] = max(high[p], high[v]+t.length[v])
		}
	}
	order, joints := t.inRow(t.leaves)
	heights := make([]float64, len(joints))
	for p, r := range joints {
		heights[p] = high[t.pre[-r]]
	}
	return newUltrametric(order, heights)
}

// inRow sorts the points k, each standing for nodes[k], by the ranks of the nodes in preorder,
// and returns with them the lowest common ancestor of each two neighbors, as minus its rank.
// That of any two is the one of least rank in between: all others lie below it.
func (t *Tree) inRow(nodes []int) (order []int, joints []int32) {
	rank, point := inverse(t.pre), make([]int, t.Len())
	for k, v := range nodes {
		point[v] = k + 1
	}
	order, joints = make([]int, 0, len(nodes)), make([]int32, 0, len(nodes)-1)
	joint := int32(math.MinInt32) // of the parents since the last point
	for r, v := range t.pre {
		if r > 0 {
			joint = max(joint, -int32(rank[t.parent[v]]))
		}
		if point[v] == 0 {
			continue
		}
		if len(order) > 0 {
			joints = append(joints, joint)
		}
		order = append(order, point[v]-1)
		joint = math.MinInt32
	}
	return order, joints
}

// pathMetric has its points in a row like an [Ultrametric], with the lowest
// common ancestors in between.
type pathMetric struct {
	tree       *Tree
	nodes      []int // of the points
	order, pos []int
	joints     rangeMax[int32]
	depth      []exact.DD // of a point
	ranked     []exact.DD // of a node, by its rank in preorder
}

func (t *Tree) pathMetric(nodes []int) *pathMetric {
	t.made()
	rank := inverse(t.pre)
	ranked := make([]exact.DD, t.Len())
	for r, v := range t.pre[1:] {
		ranked[r+1] = ranked[rank[t.parent[v]]].AddFloat(t.length[v])
	}
	depth := make([]exact.DD, len(nodes))
	for k, v := range nodes {
		depth[k] = ranked[rank[v]]
	}
	order, joints := t.inRow(nodes)
	return &pathMetric{t, nodes, order, inverse(order), newRangeMax(joints), depth, ranked}
}

// Tree returns the tree and the nodes that the points are, for closed forms. Neither
// must be modified.
func (m *pathMetric) Tree() (t *Tree, nodes []int) { return m.tree, m.nodes }

func (m *pathMetric) Len() int { return len(m.order) }

func (m *pathMetric) Distance(i, j int) float64 {
	p, q := m.pos[i], m.pos[j]
	if p == q {
		return 0
	}
	return m.via(i, j, m.joints.max(min(p, q), max(p, q)))
}

// via returns the length of the path from i to j over the node of rank -joint.
// A side is exactly 0 where its end is that node, and never negative: adding
// an edge does not lower a depth, and rounding is monotone.
func (m *pathMetric) via(i, j int, joint int32) float64 {
	x, y, a := m.depth[i], m.depth[j], m.ranked[-joint]
	return ((x.Hi - a.Hi) + (x.Lo - a.Lo)) + ((y.Hi - a.Hi) + (y.Lo - a.Lo))
}

func (m *pathMetric) DistancesFrom(i int, dst []float64) []float64 {
	dst = finite.Grow(dst, len(m.order))
	joints, p := m.joints.values(), m.pos[i]
	dst[i] = 0
	top := int32(math.MinInt32)
	for q := p; q < len(joints); q++ {
		top = max(top, joints[q])
		dst[m.order[q+1]] = m.via(i, m.order[q+1], top)
	}
	top = math.MinInt32
	for q := p - 1; q >= 0; q-- {
		top = max(top, joints[q])
		dst[m.order[q]] = m.via(i, m.order[q], top)
	}
	return dst
}

// String is for people: "tree of 5 nodes".
func (t *Tree) String() string { return fmt.Sprintf("tree of %d nodes", t.Len()) }
