package measure

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/apportion"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// nearestExact bounds the cells for nearest in the metric itself, at n^2 steps.
const nearestExact = 2048

// measureFrom turns the noisy counts of all nodes, whose root is the total that
// the measure is relative to, into weights of the cells. y is overwritten.
//
// moved bounds the W1 distance of the weights from the signed measure that the
// counts amount to, centered and without averages: a function of released data.
func (p *plan) measureFrom(ctx context.Context, y []float64) (weights []float64, moved float64, err error) {
	t := p.tree
	total := y[0]
	raw := append([]float64(nil), y...)
	if err := t.Center(raw); err != nil {
		return nil, 0, err
	}
	for v := range raw {
		raw[v] /= total
	}
	weights = make([]float64, t.Len())
	for c := range weights {
		weights[c] = raw[t.LeafNode(c)]
	}
	switch p.opt.Estimator {
	case Signed:
		return weights, 0, nil
	case Nearest:
		weights, err = p.nearest(ctx, weights)
	case Clipped:
		for v, x := range y {
			y[v] = max(0, x)
		}
		err = projectDown(t, y, weights)
	default:
		if p.opt.Distribution == DiscreteLaplace { // other counts are consistent already
			p.average(y)
			y[0] = max(1, y[0])
		}
		err = projectDown(t, y, weights)
	}
	if err != nil {
		return nil, 0, err
	}
	exactMass(weights)
	moved, err = p.distanceBound(raw, weights)
	return weights, moved, err
}

// average replaces each count by the average of it and of the sum of its
// children's, weighted by the inverse variances: Hay et al. 2010, bottom up, for
// any tree and scales. An only child has the count of its parent.
func (p *plan) average(y []float64) {
	t := p.tree
	variance := make([]float64, t.Nodes()) // of y as drawn, and then averaged
	variance[0] = 2 * p.scales.Total * p.scales.Total
	for l, noise := range p.noise {
		drawn := noise.Variance(2)
		lo, hi := t.Level(l)
		for v := lo; v < hi; v++ {
			a, b := t.Children(v)
			for c := a; c < b; c++ {
				variance[c] = drawn
			}
			if b-a == 1 {
				variance[a] = variance[v]
			}
		}
	}
	for v := t.Nodes() - 1; v >= 0; v-- {
		a, b := t.Children(v)
		switch b - a {
		case 0:
			continue
		case 1:
			y[v], variance[v] = y[a], variance[a]
			continue
		}
		own, sum, s := variance[v], 0.0, 0.0
		for c := a; c < b; c++ {
			sum += y[c]
			s += variance[c]
		}
		if own+s > 0 {
			y[v] = (float64(y[v]*s) + float64(sum*own)) / (own + s)
			variance[v] = own * s / (own + s)
		}
	}
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
		q, err := projectSimplex(y[lo:hi], y[v], buf)
		if err != nil {
			return err
		}
		copy(y[lo:hi], q)
	}
	return nil
}

func projectSimplex(g []float64, total float64, dst []float64) ([]float64, error) {
	if total == 0 {
		dst = dst[:len(g)]
		clear(dst)
		return dst, nil
	}
	return wasserstein.ProjectSimplex(g, total, dst)
}

// nearest projects g, of total 1 up to rounding, as [Nearest] says.
func (p *plan) nearest(ctx context.Context, g []float64) ([]float64, error) {
	if p.line != nil {
		w, _, err := wasserstein.ProjectLine(p.line, g)
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
		t, err := p.hst()
		if err != nil {
			return nil, err
		}
		cells, h := t.Leaves(), make([]float64, len(g)) // of t, whose nodes are those of p.tree
		for k, v := range cells {
			cells[k], _ = p.tree.LeafRange(v)
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
	if f, err = metric.Densify(ctx, f); err != nil {
		return nil, err
	}
	q, err := wasserstein.Project(ctx, f, g, nil)
	if err != nil {
		return nil, fmt.Errorf("measure: Nearest: %w", err)
	}
	return q.P, nil
}

// hst is the tree as a metric that is no less than the domain's: the edge above
// a node is half of what its diameter is less than its parent's, so that the
// way from a node down to a point is half its diameter at least.
func (a *arrangement) hst() (*metric.Tree, error) {
	t := a.tree
	parent, length := make([]int, t.Nodes()), make([]float64, t.Nodes())
	for v := range parent {
		if parent[v] = t.Parent(v); v > 0 {
			l := t.Depth(v)
			length[v] = max(0, a.diameterOf(parent[v], l-1)-a.diameterOf(v, l)) / 2
		}
	}
	return metric.NewTree(parent, length)
}

// diameterOf returns the diameter of node v of depth l, 0 for a leaf.
func (a *arrangement) diameterOf(v, l int) float64 {
	switch lo, hi := a.tree.Children(v); {
	case lo == hi:
		return 0
	case a.arities != nil:
		return a.shape[l].diameter
	}
	return a.shape[v].diameter
}

// distanceBound returns an upper bound on the W1 distance between the measure
// whose nodes have the masses raw, of total 1, and the weights of the cells. On
// a line it is the distance along it. Otherwise surplus and want among the
// children of a node cancel there, at no more than its diameter.
func (p *plan) distanceBound(raw, weights []float64) (float64, error) {
	t := p.tree
	moved := 0.0
	if p.line != nil {
		sum := 0.0
		for c := range len(weights) - 1 {
			sum += weights[c] - raw[t.LeafNode(c)]
			moved += float64(math.Abs(sum) * (p.line[c+1] - p.line[c]))
		}
		return moved, nil
	}
	mass := make([]float64, t.Nodes())
	if err := t.Counts(mass, weights); err != nil {
		return 0, err
	}
	for l := range t.Height() {
		lo, hi := t.Level(l)
		for v := lo; v < hi; v++ {
			surplus, want := 0.0, 0.0
			a, b := t.Children(v)
			for c := a; c < b; c++ {
				if d := mass[c] - raw[c]; d > 0 {
					surplus += d
				} else {
					want -= d
				}
			}
			if a < b {
				moved += float64(min(surplus, want) * p.diameterOf(v, l))
			}
		}
	}
	return moved, nil
}

// unitMass is the number of parts that released weights are multiples of: all
// sums of them are then exact, in any order.
const unitMass = 1 << 52

// exactMass rounds weights to multiples of 2^-52 with sum 1.
func exactMass(weights []float64) {
	n := make([]int64, len(weights))
	apportion.Divide(weights, unitMass, n)
	for k, c := range n {
		weights[k] = float64(c) / unitMass
	}
}
