package measure

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/hierarchy"
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
func NewTaxonomy(ctx context.Context, t *metric.Tree, o *FiniteOptions) (*Domain[int], error) {
	const op = "measure: NewTaxonomy"
	if t == nil || t.Len() == 0 {
		return nil, fault.Empty(op, "t", 0)
	}
	opt, err := o.check(op)
	if err != nil {
		return nil, err
	}
	opt.Separation = 0
	n, err := newNet(ctx, op, t.PathMetric(), opt)
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
	n.diameter = diameter[t.Root()] * roundUp
	point := make([]int, t.Len())
	parent := make([]int, t.Len())
	for v := range parent {
		parent[v], point[v] = t.Parent(v), -1
	}
	leaves := t.Leaves()
	for k, v := range leaves {
		point[v] = k
	}
	parent, point = hierarchy.Contract(pre, parent, point, diameter, opt.Ratio)
	return n.domain(op, fmt.Sprintf("taxonomy of %d leaves", len(leaves)), parent, point)
}
