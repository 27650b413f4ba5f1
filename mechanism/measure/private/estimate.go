package private

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// nearestExact bounds the cells for nearest in the metric itself, at n^2 steps.
const nearestExact = 2048

// measureFrom turns the noisy masses of all nodes, whose root is 1, into weights of
// the cells. y is overwritten.
func (p *plan) measureFrom(y []float64) (weights []float64, err error) {
	t := p.Tree
	weights = make([]float64, t.Len())
	switch p.opt.Estimator {
	case Signed, Nearest:
		if err := t.Center(y); err != nil {
			return nil, err
		}
		for c := range weights {
			weights[c] = y[t.LeafNode(c)]
		}
		if p.opt.Estimator == Signed {
			return weights, nil
		}
		weights, err = p.nearest(weights)
	default:
		err = projectDown(t, y, weights)
	}
	if err != nil {
		return nil, err
	}
	sample.Mass(weights)
	return weights, nil
}

// projectDown gives nodes' masses to their children, in place: see [Weighted].
func projectDown(t *walk.Tree, y, weights []float64) error {
	buf := make([]float64, t.Arity())
	for v := range y {
		lo, hi := t.Children(v)
		if lo == hi {
			c, _ := t.LeafRange(v)
			weights[c] = y[v]
			continue
		}
		q, err := wasserstein.ProjectSimplex(y[lo:hi], y[v], buf)
		if err != nil {
			return err
		}
		copy(y[lo:hi], q)
	}
	return nil
}

// nearest projects g, of total 1 up to rounding, as [Nearest] says.
func (p *plan) nearest(g []float64) ([]float64, error) {
	if p.Line != nil {
		w, _, err := wasserstein.ProjectLine(p.Line, g)
		return w, err
	}
	// The other two want a total within rounding of 1; what the sums lost goes
	// to the largest weight.
	sum, top := 0.0, 0
	for c, x := range g {
		sum += x
		if x > g[top] {
			top = c
		}
	}
	g[top] += 1 - sum
	if p.cells > nearestExact {
		t, err := hst(p.Geometry)
		if err != nil {
			return nil, err
		}
		cells, h := t.Leaves(), make([]float64, len(g)) // of t, whose nodes are those of p.Tree
		for k, v := range cells {
			cells[k], _ = p.Tree.LeafRange(v)
			h[k] = g[cells[k]]
		}
		q, _, err := wasserstein.ProjectTree(t, h)
		if err != nil {
			return nil, err
		}
		for k, c := range cells {
			g[c] = q[k]
		}
		return g, nil
	}
	f, err := p.points(p.cells)
	if err != nil {
		return nil, err
	}
	if f, err = metric.Densify(context.Background(), f); err != nil {
		return nil, err
	}
	q, err := wasserstein.Project(context.Background(), f, g, nil)
	if err != nil {
		return nil, fmt.Errorf("private: Nearest: %w", err)
	}
	return q.P, nil
}

// hst is the tree as a metric that is no less than the domain's: the edge above
// a node is half of what its diameter is less than its parent's, so that the
// way from a node down to a point is half its diameter at least.
func hst(g *region.Geometry) (*metric.Tree, error) {
	t := g.Tree
	parent, length := make([]int, t.Nodes()), make([]float64, t.Nodes())
	for v := range parent {
		if parent[v] = t.Parent(v); v > 0 {
			l := t.Depth(v)
			length[v] = max(0, g.DiameterOf(parent[v], l-1)-g.DiameterOf(v, l)) / 2
		}
	}
	return metric.NewTree(parent, length)
}
