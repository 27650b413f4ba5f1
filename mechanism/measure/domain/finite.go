package domain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/measure/internal/hierarchy"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// FiniteOptions are for [NewFinite]. Nil and the zero value mean the defaults.
type FiniteOptions struct {
	// Separation s, where positive, keeps a maximal s-separated net of the points ([metric.Net])
	// and counts every record at the net point nearest to it.
	Separation float64
	// Arity is the most children a node may have; 0 means 8, and then nodes that are not half as
	// large as the one above are merged into it. 1.25 n^(1/h) makes a tree of height h: for a
	// private.Measure h of about log n to the base 32 is best.
	Arity int
}

func checkArity(op string, arity int) error {
	if arity < 0 || arity == 1 {
		return fault.Value(op, "Arity", float64(arity), "0 or an integer >= 2")
	}
	return nil
}

// NewFinite arranges the points of any finite metric as a net tree, farthest point first. Without
// options a *[metric.Ultrametric] is arranged as by [NewUltrametric]; and unless Arity is given,
// 2^15 points or more with coordinates in at most 3 dimensions by cells of their bounding box. The
// String of the domain says which.
//
// A record is the index of a point of f, and so is Point: of a region, a point near its middle.
// About n*Arity distances a level, n^2/Arity for medoids and bounds, 8 n log n to tell the domain
// from others, and up to 2,048 points n^2/2 for the diameter. Errors are [metric.ErrEmpty],
// *[metric.SizeError] for a negative number of points, *[metric.MemoryError], and
// *[metric.ValueError] for an option, or a negative or non-finite distance among those that are
// read.
func NewFinite(ctx context.Context, f metric.Finite, o *FiniteOptions) (*Domain[int], error) {
	// Centers are chosen farthest first, each is moved to the medoid of the points nearest to it,
	// and gets at most Arity^(levels below) points; and so on within each.
	const op = "domain: NewFinite"
	opt := *cmp.Or(o, &FiniteOptions{})
	if err := checkArity(op, opt.Arity); err != nil {
		return nil, err
	}
	if u, ok := f.(*metric.Ultrametric); ok && opt == (FiniteOptions{}) {
		return newUltrametric(ctx, op, u, nil)
	}
	n, err := separatedNet(ctx, op, f, opt.Separation)
	if err != nil {
		return nil, err
	}
	if n.f.Len() >= cellTreeFrom && opt.Arity == 0 && finite.Dim(n.f) <= cellTreeDim {
		if e, ok := finite.Embed[metric.Embedding](n.f); ok && e.Dim <= cellTreeDim {
			parent, leaf, err := cellTree(op, e, n.f.Len())
			if err != nil {
				return nil, err
			}
			return n.domain(ctx, op, fmt.Sprintf("cells around %d points", n.f.Len()), parent, leaf)
		}
	}
	parent, leaf, size, err := hierarchy.Net(ctx, op, n.f, cmp.Or(opt.Arity, netArity))
	if err != nil {
		return nil, err
	}
	if opt.Arity == 0 {
		order := make([]int, len(parent))
		for v := range order {
			order[v] = v
		}
		parent, leaf = hierarchy.Contract(order, parent, leaf, size, halfAsLarge)
	}
	return n.domain(ctx, op, fmt.Sprintf("net tree over %d points", n.f.Len()), parent, leaf)
}

const (
	// By simulation on cities and words, against 2 to 16 and ratios from .4 to .8.
	netArity    = 8
	halfAsLarge = 0.5
)

// net is a finite metric, or a separated subset of it with the way there.
type net struct {
	all      metric.Finite
	f        metric.Finite // of the net
	points   []int         // of all; nil for all
	nearest  []int         // place in points of the net point that serves a point
	diameter float64       // of f, where a hierarchy knows it, else 0
	cover    float64       // largest distance to it
}

// pointSize is about the bytes that a point takes, with its nodes.
const pointSize = 200

func newNet(op string, f metric.Finite) (*net, error) {
	size := fault.Len(f)
	if err := fault.Empty(op, "f", size); err != nil {
		return nil, err
	}
	if err := fault.Memory(op, float64(size), pointSize); err != nil {
		return nil, err
	}
	return &net{all: f, f: f}, nil
}

// separatedNet is the net of points farther apart than the separation.
func separatedNet(ctx context.Context, op string, f metric.Finite, separation float64) (*net, error) {
	if err := fault.NonNegative(op, "Separation", separation); err != nil {
		return nil, err
	}
	n, err := newNet(op, f)
	if err != nil || separation == 0 {
		return n, err
	}
	if n.points, err = metric.Net(ctx, f, separation, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var dist []float64
	if n.nearest, dist, err = metric.Assign(ctx, f, n.points); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	for i, d := range dist {
		if !(d >= 0) || math.IsInf(d, 1) {
			return nil, &fault.ValueError{Op: op, Arg: "distance to the net", Index: i, Value: d, Want: "a finite number >= 0"}
		}
		n.cover = max(n.cover, d)
	}
	n.f, err = metric.Subset(f, n.points)
	return n, err
}

// domain takes the tree's parents; leaf[v] is item v's net point, -1 if inner.
func (n *net) domain(ctx context.Context, op, kind string, parent, leaf []int) (*Domain[int], error) {
	t, order, err := walk.NewTree(parent)
	if err != nil {
		return nil, err
	}
	at := make([]int, t.Len()) // cell to net point
	for c := range at {
		at[c] = leaf[order[t.LeafNode(c)]]
	}
	g, hub, err := measureTree(ctx, op, t, n.f, at)
	if err != nil {
		return nil, err
	}
	return n.over(ctx, op, kind, g, hub, at)
}

// over makes the domain on the indices of n.all whose cell c is net point at[c]; cell hub[v]
// stands for node v.
func (n *net) over(ctx context.Context, op, kind string, g *region.Geometry, hub, at []int) (*Domain[int], error) {
	place := make([]int32, len(at)) // the cell of a net point
	for c, i := range at {
		place[i] = int32(c)
	}
	cell := place // of a record
	if n.nearest != nil {
		cell = make([]int32, n.all.Len())
		for i, j := range n.nearest {
			cell[i] = place[j]
		}
	}
	diameter, err := n.largest(ctx, op, g.Classes[0].Diameter)
	if err != nil {
		return nil, err
	}
	distances, err := sketch(ctx, len(at), len(at), func(i, j int) (float64, error) { return distanceOf(op, n.f, at[i], at[j]) })
	if err != nil {
		return nil, err
	}
	cells := "1 cell"
	if len(at) > 1 {
		cells = layout(fmt.Sprint(len(at), " cells"), g.Tree.Height(), fmt.Sprint("up to ", g.Tree.Arity()))
	}
	space := &region.Space[int]{
		Partition: &region.Partition{
			Identity: region.Identity{Kind: kind, Layout: cells, ID: digest(kind, int64(len(cell)), cell, degrees(g.Tree), distances)},
			Cells:    len(at), Height: g.Tree.Height(), Diameter: diameter, Resolution: n.cover,
			Regions: region.NewGiven(g.Tree, func(v int) float64 { return g.Classes[v].Diameter }),
			Size: func(v node) (diameter, radius float64) {
				d := g.Classes[v.Index].Diameter
				if radius = d; g.Line == nil {
					radius /= 2 // around the hub
				}
				return d + 2*n.cover, radius + n.cover
			},
			Explicit: func(string) (*region.Geometry, error) { return g, nil },
		},
		Locate: func(i int) (int, error) {
			if err := fault.Index("domain: Domain.Cell", "record", i, len(cell)); err != nil {
				return 0, fault.Private(err)
			}
			return int(cell[i]), nil
		},
		At: func(_ *rand.Rand, v node) int {
			i := at[hub[v.Index]]
			if n.points == nil {
				return i
			}
			return n.points[i]
		},
		Distance: n.all.Distance,
	}
	return &Domain[int]{space, len(cell)}, nil
}

// exactDiameter is up to how many points all distances are looked at.
const exactDiameter = 2048

// largest returns the largest distance where a hierarchy or a kd-tree knows it, or points
// are few. Elsewhere it is that of the shape, or the two largest from one point, which are
// at most twice the largest of all.
func (n *net) largest(ctx context.Context, op string, shape float64) (float64, error) {
	if n.diameter > 0 {
		return n.diameter, nil
	}
	dim := finite.Dim(n.f)
	if dim == 0 { // unknown
		e, _ := finite.Embed[metric.Embedding](n.f)
		dim = e.Dim
	}
	if dim > 0 && dim <= cellTreeDim || n.f.Len() <= exactDiameter {
		d, _, _, err := metric.Diameter(ctx, n.f)
		return d, err
	}
	far, next := 0.0, 0.0
	for j := range n.f.Len() {
		d, err := distanceOf(op, n.f, 0, j)
		if err != nil {
			return 0, err
		}
		far, next = max(far, d), max(next, min(far, d))
	}
	return min(shape, directed.AddUp(far, next)), nil
}

// measureTree measures every inner node of a tree whose cell c is point at[c] of f. The
// hub of a node is, of hubTries points of its cells, the one nearest to the others. All
// noise goes through it: with W1 <= sum_i |x_i| r_i, r_i the mean distance of child i's
// mass to the hub, and E|x_i| <= sqrt(s(1-1/k)).
func measureTree(ctx context.Context, op string, t *walk.Tree, f metric.Finite, at []int) (g *region.Geometry, hub []int, err error) {
	hub = make([]int, t.Nodes())
	g = &region.Geometry{Tree: t, ByCost: true, Classes: make([]region.Class, t.Nodes())}
	share := shares(t)
	return g, hub, parallel.Each(ctx, t.Nodes(), 1, func(v int) (err error) {
		g.Classes[v], hub[v], err = measureNode(ctx, op, t, f, at, share, v)
		return err
	})
}

// hubTries is how many cells of a node are tried as its hub.
const hubTries = 32

func measureNode(ctx context.Context, op string, t *walk.Tree, f metric.Finite, at []int, share []float64, v int) (s region.Class, hub int, err error) {
	lo, hi := t.Children(v)
	k := hi - lo
	first, end := t.LeafRange(v)
	if k == 0 {
		return s, first, nil
	}
	s = region.Class{Nodes: 1, Arity: k, Depth: t.Depth(v)}
	best := math.Inf(1)
	step := (end - first + hubTries - 1) / hubTries
	for h := first; h < end; h += step {
		if err := ctx.Err(); err != nil {
			return s, hub, err
		}
		cost, radius := 0.0, 0.0
		for c := lo; c < hi; c++ {
			cf, ce := t.LeafRange(c)
			r, far := 0.0, 0.0
			for x := cf; x < ce; x++ {
				d, err := distanceOf(op, f, at[h], at[x])
				if err != nil {
					return s, hub, err
				}
				r += d * share[t.LeafNode(x)] / share[c]
				far = max(far, d)
			}
			if !(share[c] > 0) || r > far {
				r = far
			}
			cost += r
			radius = max(radius, far)
		}
		if cost < best {
			best, hub, s.Diameter = cost, h, 2*radius
		}
	}
	s.Spread = best * math.Sqrt(1-1/float64(k))
	return s, hub, nil
}

// shares spreads every node's mass evenly over its children; it may underflow.
func shares(t *walk.Tree) []float64 {
	share := make([]float64, t.Nodes())
	share[0] = 1
	for v := range share {
		lo, hi := t.Children(v)
		for c := lo; c < hi; c++ {
			share[c] = share[v] / float64(hi-lo)
		}
	}
	return share
}
