package measure

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// NewTaxonomy uses a given hierarchy as the tree: a taxonomy, a phylogeny,
// regions. A record is the number of a leaf, point k of t.PathMetric() being
// leaf t.Leaves()[k], and distances are along the tree's edges. Nodes with one
// child, and those that Ratio merges, are passed over. (For the ultrametric of
// a hierarchy pass t.Ultrametric() to [NewFinite].) See [Labels] for records
// that are words.
//
// Separation and Arity are not read. Errors are *[metric.ValueError] for
// options. O(n times height) distances.
func NewTaxonomy(t *metric.Tree, o *FiniteOptions) (*Domain[int], error) {
	const op = "measure: NewTaxonomy"
	if t == nil || t.Len() == 0 {
		return nil, fault.Empty(op, "t", 0)
	}
	opt, err := o.check(op)
	if err != nil {
		return nil, err
	}
	opt.Separation = 0
	n, err := newNet(op, t.PathMetric(), opt)
	if err != nil {
		return nil, err
	}
	// The diameter of what hangs below a node is that of its two longest ways
	// down, or of a child.
	reach, diameter := make([]float64, t.Len()), make([]float64, t.Len())
	pre := t.Preorder()
	for i := len(pre) - 1; i > 0; i-- {
		v := pre[i]
		p, r := t.Parent(v), reach[v]+t.Length(v)
		diameter[p] = max(diameter[p], diameter[v], reach[p]+r)
		reach[p] = max(reach[p], r)
	}
	n.diameter = diameter[t.Root()] * (1 + 0x1p-40) // more than the rounding of sums
	point := make([]int, t.Len())
	parent := make([]int, t.Len())
	for v := range parent {
		parent[v], point[v] = t.Parent(v), -1
	}
	leaves := t.Leaves()
	for k, v := range leaves {
		point[v] = k
	}
	parent, point = contract(pre, parent, point, diameter, opt.Ratio)
	return n.domain(op, fmt.Sprintf("taxonomy of %d leaves", len(leaves)), parent, point)
}

// contract leaves out of a tree the inner nodes with one leaf, and those whose
// diameter is more than ratio times that of the nearest node above that stays, or
// no smaller; order lists parents first. point[v] is what leaf v stands for, -1 for inner nodes.
func contract(order, parent, point []int, diameter []float64, ratio float64) (up, at []int) {
	leaves := make([]int, len(parent))
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		if point[v] >= 0 {
			leaves[v] = 1
		}
		if parent[v] >= 0 {
			leaves[parent[v]] += leaves[v]
		}
	}
	item := make([]int, len(parent)) // the new node that v is or was merged into
	var size []float64               // of new nodes
	for _, v := range order {
		p := -1
		if parent[v] >= 0 {
			p = item[parent[v]]
			if point[v] < 0 && (leaves[v] == 1 || diameter[v] > ratio*size[p] || diameter[v] >= size[p]) {
				item[v] = p
				continue
			}
		}
		item[v] = len(up)
		up, at, size = append(up, p), append(at, point[v]), append(size, diameter[v])
	}
	return up, at
}

// dendrogram returns the tree of an ultrametric's balls, contracted.
//
// The points stand in a row with heights between them, and the balls are the
// runs below a height. A stack holds the balls that are open at a point, of
// falling diameter; a height closes those below it.
func dendrogram(u *metric.Ultrametric, ratio float64) (up, at []int) {
	type ball struct {
		height float64
		kids   []int
	}
	var stack []ball
	var parent, point []int
	var diameter []float64
	add := func(p int, d float64) int {
		parent, point, diameter = append(parent, -1), append(point, p), append(diameter, d)
		return len(parent) - 1
	}
	order, heights := u.Order(), u.Heights()
	last := add(order[0], 0) // what the next height joins to its right
	closeBall := func() {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		v := add(-1, b.height)
		for _, c := range append(b.kids, last) {
			parent[c] = v
		}
		last = v
	}
	for k, h := range heights {
		for len(stack) > 0 && stack[len(stack)-1].height < h {
			closeBall()
		}
		if len(stack) == 0 || stack[len(stack)-1].height > h {
			stack = append(stack, ball{height: h})
		}
		b := &stack[len(stack)-1]
		b.kids = append(b.kids, last)
		last = add(order[k+1], 0)
	}
	for len(stack) > 0 {
		closeBall()
	}
	down := make([]int, len(parent)) // balls close after what they hold
	for i := range down {
		down[i] = len(down) - 1 - i
	}
	return contract(down, parent, point, diameter, ratio)
}
