package wasserstein

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// nearest returns the tree that the points of f lie on and the probability measure on
// them that [ProjectLine] or [ProjectTree] finds, or nil where there is no such tree, or
// points lie at its inner nodes.
func nearest(f metric.Finite, g []float64) (t *pathTree, p []float64, err error) {
	var tree *metric.Tree
	switch s := f.(type) {
	case *metric.Clustered, *metric.Ultrametric:
		t = pathTreeOf(f)
		tree, err = metric.NewTree(t.parent, t.length)
	case interface{ Tree() (*metric.Tree, []int) }:
		var at []int
		if tree, at = s.Tree(); !slices.Equal(at, tree.Leaves()) {
			return nil, nil, nil
		}
		t = nodeTree(tree, at)
	default:
		x, ok := finite.Line(f)
		if !ok || floats.HasNaN(x) || floats.Norm(x, math.Inf(1)) > lineMax {
			return nil, nil, nil
		}
		if t = lineTree(f); t == nil {
			t, _ = straight(x)
		}
		p, _, err = ProjectLine(x, g)
		return t, p, err
	}
	if err == nil {
		p, _, err = ProjectTree(tree, g)
	}
	return t, p, err
}

// projected proves how near p is to g, points lying on t.
//
// For potentials with u_i + v_j <= d(i,j), u <= 0 and v >= 0, every probability measure q
// is at least sum u_i G_i + sum v_j (N_j + q_j) away from g = G - N: see above [Project].
// So v_j q_j may be left out.
func projected(ctx context.Context, op string, f metric.Finite, t *pathTree, p, g []float64, workers int) (*Projection, error) {
	n := len(g)
	move := transport{op: op, cost: metricCost{f}, mu: make([]float64, n), nu: make([]float64, n)}
	less, keep := make([]float64, n+1), exact.DD{}
	for i, w := range g {
		move.mu[i], less[i] = max(0, w), max(0, -w)
		move.nu[i] = p[i] + less[i]
		keep = keep.AddFloat(w)
		if d := (exact.DD{Hi: w}).AddFloat(-p[i]); d.Hi > 0 {
			move.src.add(i, d)
		} else if d.Hi < 0 {
			move.dst.add(i, d.Neg())
		}
		if stay := min(move.mu[i], move.nu[i]); stay > 0 {
			move.plan = append(move.plan, Flow{i, i, stay})
		}
	}
	less[n] = keep.Hi
	plan := append(move.plan, t.plan(&move.src, &move.dst)...)
	v := t.slopes(p, g)
	var u []float64
	var largest float64
	if t.close {
		if u, largest = t.sources(v); largest > rows.Max {
			u = nil
		}
	}
	c, err := certify(ctx, op, move.cost, placesOf(move.cost), move.mu, move.nu, plan, u, v, largest, workers)
	if err != nil {
		return nil, err
	}
	for i := range c.U {
		c.U[i] = min(c.U[i], 0)
	}
	bound, err := boundTotals(op, move.mu, less, 0)
	if err != nil {
		return nil, err
	}
	plan = slices.DeleteFunc(plan, func(w Flow) bool { return w.I == w.J })
	slices.SortFunc(plan, func(a, b Flow) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	r := &Projection{P: p, Plan: plan, Upper: c.Upper, unit: metric.UnitOf(f)}
	r.Lower = lowerBound(move.mu, less, c.U, append(slices.Clone(v), 0), bound)
	r.Cost = min(max(c.Cost, r.Lower), r.Upper)
	return r, nil
}

// slopes returns potentials of the points as sinks, >= 0, that prove p the nearest to g: 0 where p
// has mass, and along every edge that mass must cross as different as the edge is long. An interval
// of what a node can have goes from the leaves up, and from the root down every node takes what is
// nearest to the node above. Masses that rounding explains are taken for none.
func (p *pathTree) slopes(nearest, g []float64) []float64 {
	tol := massTol(len(g), floats.Norm(g, 1))
	below := p.below(g, nearest)
	lo, hi := slices.Repeat([]float64{math.Inf(-1)}, len(below)), slices.Repeat([]float64{math.Inf(1)}, len(below))
	for i, node := range p.at {
		lo[node] = max(lo[node], 0)
		if nearest[i] > tol {
			hi[node] = 0
		}
	}
	// step is how much more the node above has, at the least and at the most.
	step := func(node int) (least, most float64) {
		l := p.length[node]
		switch d := below[node].Hi; {
		case d > tol:
			return l, l
		case d < -tol:
			return -l, -l
		}
		return -l, l
	}
	edges := p.order[:len(p.order)-1]
	for _, node := range edges {
		least, most := step(node)
		up := p.parent[node]
		lo[up] = max(lo[up], lo[node]+least)
		hi[up] = max(min(hi[up], hi[node]+most), lo[up])
	}
	v := make([]float64, len(below))
	root := p.order[len(edges)]
	v[root] = min(max(0, lo[root]), hi[root])
	for _, node := range slices.Backward(edges) {
		least, most := step(node)
		up := v[p.parent[node]]
		v[node] = min(max(up-most, lo[node], min(up, hi[node])), up-least)
	}
	out := make([]float64, len(p.at))
	for i, node := range p.at {
		out[i] = v[node]
	}
	floats.AddConst(-slices.Min(out), out)
	return out
}
