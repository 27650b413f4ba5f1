package cells

import (
	"context"

	"github.com/metricdp/metricdp/metric"
)

// tree splits the points into cells, those into smaller cells, and so on
// down to points. A node is a cell: its points lie within radius of its center.
type tree struct {
	nodes []cell
	perm  []int32 // the points of a node are perm[lo:hi]
}

// cell is one node. Its children are the nodes [first, first+count). A node
// without children holds points at distance 0 from each other.
type cell struct {
	center, lo, hi int32
	first, count   int32
	radius         float64 // in the metric of the tree
	privacy        float64 // in rho1
}

func (c *cell) leaf() bool   { return c.count == 0 }
func (c *cell) single() bool { return c.hi-c.lo == 1 }

// newTree builds the tree of f. Every level takes some nine distances a
// point. There are O(log(spread)) levels in low dimension, and up to n where
// points split off one by one. privacy is rho1, or nil where f is that.
func newTree(ctx context.Context, f, privacy metric.Finite) (*tree, error) {
	n := f.Len()
	t := &tree{perm: make([]int32, n)}
	for i := range t.perm {
		t.perm[i] = int32(i)
	}
	b := builder{t, f, privacy, nil}
	t.nodes = append(t.nodes, b.node(0, int32(n)))
	for v := 0; v < len(t.nodes); v++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.nodes[v].radius > 0 {
			b.split(v)
		}
	}
	return t, nil
}

type builder struct {
	*tree
	f, rho1 metric.Finite
	spare   []int32 // of split
}

// node makes the cell of the points perm[lo:hi]. Its center is the point whose
// larger distance from two points far apart is the least.
func (b *builder) node(lo, hi int32) cell {
	pts := b.perm[lo:hi]
	c := cell{center: pts[0], lo: lo, hi: hi}
	if len(pts) == 1 {
		return c
	}
	p, _ := b.farthest(pts[0], pts)
	q, span := b.farthest(p, pts)
	for _, y := range pts {
		if d := max(b.f.Distance(int(p), int(y)), b.f.Distance(int(q), int(y))); d < span {
			c.center, span = y, d
		}
	}
	_, c.radius = b.farthest(c.center, pts)
	c.privacy = c.radius
	if b.rho1 != nil {
		c.privacy = 0
		for _, y := range pts {
			c.privacy = max(c.privacy, b.rho1.Distance(int(c.center), int(y)))
		}
	}
	return c
}

func (b *builder) farthest(x int32, pts []int32) (y int32, d float64) {
	y, d = x, 0
	for _, p := range pts {
		if v := b.f.Distance(int(x), int(p)); v > d {
			y, d = p, v
		}
	}
	return y, d
}

// split gives node v two children: the points nearer to one or to the other of
// two points that are far apart.
func (b *builder) split(v int) {
	c := b.nodes[v]
	pts := b.perm[c.lo:c.hi]
	p, _ := b.farthest(c.center, pts)
	q, _ := b.farthest(p, pts)
	near, far := 0, b.spare[:0]
	for _, y := range pts {
		if b.f.Distance(int(p), int(y)) <= b.f.Distance(int(q), int(y)) {
			pts[near] = y
			near++
		} else {
			far = append(far, y)
		}
	}
	copy(pts[near:], far)
	b.spare = far
	b.nodes[v].first, b.nodes[v].count = int32(len(b.nodes)), 2
	mid := c.lo + int32(near)
	b.nodes = append(b.nodes, b.node(c.lo, mid), b.node(mid, c.hi))
}

// frontier lists the nodes of radius <= r, or leaves, that make up the space.
func (t *tree) frontier(r float64) []int32 {
	var cells []int32
	stack := []int32{0}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		u := &t.nodes[v]
		if u.leaf() || u.radius <= r {
			cells = append(cells, v)
			continue
		}
		for i := range u.count {
			stack = append(stack, u.first+i)
		}
	}
	return cells
}

type trees struct {
	b      metric.Bimetric
	xs, ys *tree // of rho1 and rho2
}

func newTrees(ctx context.Context, b metric.Bimetric) (*trees, error) {
	xs, err := newTree(ctx, b.Privacy, nil)
	s := &trees{b, xs, xs}
	if err == nil && !b.OneMetric() {
		s.ys, err = newTree(ctx, b.Utility, b.Privacy)
	}
	return s, err
}
