package domain

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/hierarchy"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
)

// HierarchyOptions are the settings of [NewTaxonomy] and [NewUltrametric]. Nil
// and the zero value mean the defaults.
type HierarchyOptions struct {
	// Ratio merges a node of the hierarchy into the one above where its diameter is more than Ratio
	// times that one's. 0 means 1/2; 1 merges only those with one child or no smaller diameter.
	Ratio float64
}

func (o *HierarchyOptions) ratio(op string) (float64, error) {
	if o == nil || o.Ratio == 0 {
		return 0.5, nil
	}
	if !(o.Ratio > 0 && o.Ratio <= 1) {
		return 0, fault.Value(op, "Ratio", o.Ratio, "a number in [0, 1]")
	}
	return o.Ratio, nil
}

// NewTaxonomy uses a given hierarchy as the tree: a taxonomy, a phylogeny, regions. A record is the
// number of a leaf, point k of t.PathMetric() being leaf t.Leaves()[k], and distances are along the
// tree's edges. Nodes with one child, and those that Ratio merges, are passed over. See [Labels]
// for records that are words. Errors are [metric.ErrEmpty] and *[metric.ValueError] for options.
// O(n times height) distances.
func NewTaxonomy(ctx context.Context, t *metric.Tree, o *HierarchyOptions) (*Domain[int], error) {
	const op = "domain: NewTaxonomy"
	if t == nil || t.Len() == 0 {
		return nil, fault.Empty(op, "t", 0)
	}
	ratio, err := o.ratio(op)
	if err != nil {
		return nil, err
	}
	n, err := newNet(op, t.PathMetric())
	if err != nil {
		return nil, err
	}
	parent, point, diameter := contracted(t, ratio)
	n.diameter = diameter * region.RoundUp
	return n.domain(ctx, op, fmt.Sprintf("taxonomy of %d leaves", n.f.Len()), parent, point)
}

// contracted returns the tree without the nodes that [hierarchy.Contract] leaves
// out, and the diameter of all.
func contracted(t *metric.Tree, ratio float64) (parent, point []int, all float64) {
	// The diameter of what is below a node is that of its two longest ways down, or of a child.
	reach, diameter := make([]float64, t.Len()), make([]float64, t.Len())
	pre := t.Preorder()
	for i := len(pre) - 1; i > 0; i-- {
		v := pre[i]
		p, r := t.Parent(v), reach[v]+t.Length(v)
		diameter[p] = max(diameter[p], diameter[v], reach[p]+r)
		reach[p] = max(reach[p], r)
	}
	point, parent = make([]int, t.Len()), make([]int, t.Len())
	for v := range parent {
		parent[v], point[v] = t.Parent(v), -1
	}
	leaves := t.Leaves()
	for k, v := range leaves {
		point[v] = k
	}
	parent, point = hierarchy.Contract(pre, parent, point, diameter, ratio)
	return parent, point, diameter[t.Root()]
}

// NewUltrametric arranges the points of an ultrametric by the tree of its balls, with those that
// Ratio merges passed over. All else is as for [NewFinite]. O(n times height) distances.
func NewUltrametric(ctx context.Context, u *metric.Ultrametric, o *HierarchyOptions) (*Domain[int], error) {
	return newUltrametric(ctx, "domain: NewUltrametric", u, o)
}

func newUltrametric(ctx context.Context, op string, u *metric.Ultrametric, o *HierarchyOptions) (*Domain[int], error) {
	ratio, err := o.ratio(op)
	if err != nil {
		return nil, err
	}
	n, err := newNet(op, u)
	if err != nil {
		return nil, err
	}
	for _, h := range u.Heights() {
		n.diameter = max(n.diameter, h)
	}
	parent, point := hierarchy.Dendrogram(u, ratio)
	return n.domain(ctx, op, fmt.Sprintf("hierarchy over %d points", u.Len()), parent, point)
}
