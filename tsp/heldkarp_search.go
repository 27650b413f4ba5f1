package tsp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// boundSearch is the state of one call.
type boundSearch struct {
	op   string
	f    metric.Finite
	n    int
	o    BoundOptions
	kd   *hkKD // nil: Prim's algorithm on all pairs
	best Bound
}

func newBoundSearch(op string, f metric.Finite, o *BoundOptions) (*boundSearch, error) {
	n := fault.Len(f)
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, err
	}
	if n > math.MaxInt32/2 { // point numbers are int32
		return nil, &fault.SizeError{Op: op, Arg: "f", Got: n, Want: fmt.Sprintf("at most %d", math.MaxInt32/2)}
	}
	h := &boundSearch{op: op, f: f, n: n}
	if o != nil {
		h.o = *o
	}
	if err := fault.NonNegative(op, "Upper", h.o.Upper); err != nil {
		return nil, err
	}
	if err := fault.NonNegative(op, "Iterations", float64(h.o.Iterations)); err != nil {
		return nil, err
	}
	if err := fault.NonNegative(op, "Neighbours", float64(h.o.Neighbours)); err != nil {
		return nil, err
	}
	if h.o.Iterations == 0 {
		h.o.Iterations = boundIterations(n)
	}
	if h.o.Neighbours == 0 {
		h.o.Neighbours = boundNeighbours
	}
	if h.o.Context == nil {
		h.o.Context = context.Background()
	}
	h.best.Multipliers = make([]float64, n)
	h.kd = hkNewKD(f)
	return h, nil
}

// prove makes the bound of pi, which it keeps, the best if it is. It returns
// the spanning tree under pi of all pairs of points.
func (h *boundSearch) prove(pi []float64, hints []hkEdge) (tree []hkEdge, err error) {
	if h.kd != nil {
		tree, err = h.kd.spanning(h.o.Context, h.op, pi, hints)
	} else {
		tree, err = hkPrim(h.o.Context, h.op, h.f, pi)
	}
	if err != nil {
		return nil, err
	}
	if v := hkCertify(h.f, tree, pi, h.o.Path); v > h.best.Value {
		h.best.Value, h.best.Multipliers = v, pi
	}
	return tree, nil
}

// tick counts an iteration and reports whether it may go ahead.
func (h *boundSearch) tick() bool {
	if h.o.Context.Err() != nil {
		return false
	}
	h.best.Iterations++
	if h.o.Progress != nil {
		h.o.Progress(h.best.Iterations, h.o.Iterations)
	}
	return true
}

// The schedule of the rounds, each an ascent on the graph and then a proof. The
// numbers are the best of a few dozen tried on uniform and clustered points of
// the plane and on random matrices; none is critical.
const (
	// The first round takes one in hkRounds of the iterations, and none fewer
	// than hkShortest.
	hkRounds   = 20
	hkShortest = 20

	// hkStep is the first step, as a fraction of the scale of each direction.
	hkStep = 0.15

	// After a round whose value on the graph was proved but for hkLoss, the next
	// is longer and begins with shorter steps; or with longer ones, if this was
	// the second such round on end and still gained hkGain, as on points along a
	// line, whose multipliers have far to go. After any other round edges were
	// missing, and the same is tried again with them.
	hkLoss   = 0.002
	hkLonger = 1.5
	hkFiner  = 0.7
	hkGain   = 0.01
	hkBolder = 2
)

// run is the whole search.
func (h *boundSearch) run() error {
	tree, err := h.prove(make([]float64, h.n), nil)
	goal := math.Inf(1)
	if h.o.Upper > 0 {
		goal = h.o.Upper * (1 - boundTight)
	}
	// Up to three points the tree gives the shortest tour.
	if err != nil || h.n <= 3 || h.best.Value == 0 || h.best.Value >= goal {
		return err
	}
	k := min(h.o.Neighbours, h.n-1)
	near, err := metric.NearestNeighboursContext(h.o.Context, h.f, k)
	if err != nil {
		return err
	}
	g, edges := hkNewGraph(h.f, slices.Clone(tree))
	// The tour keeps the multipliers from growing without bound, as they would
	// on a graph without any.
	edges = append(edges, g.preorder()...)
	for e, j := range near {
		edges = append(edges, hkEdge{int32(e / k), int32(j)})
	}
	g, edges = hkNewGraph(h.f, edges)
	scales := hkNewScales(h.f, tree, g.around(k, h.best.Value/float64(h.n)))

	a := hkAscent{path: h.o.Path, scales: scales, first: hkStep, goal: goal}
	pi := make([]float64, h.n)
	proved := false // the round before
	for steps := max(hkShortest, h.o.Iterations/hkRounds); h.best.Iterations < h.o.Iterations; {
		a.steps = steps
		if left := h.o.Iterations - h.best.Iterations; left < 2*steps {
			a.steps = left
		}
		h.aim(g, pi)
		before := h.best.Value
		w, still := a.run(g, pi, h.tick)
		if err := h.o.Context.Err(); err != nil {
			return err
		}
		if tree, err = h.prove(slices.Clone(pi), g.tree(pi)); err != nil {
			return err
		}
		if h.best.Value >= goal || still && h.best.Value >= w*(1-boundTight) {
			break
		}
		switch {
		case h.best.Value < w*(1-hkLoss):
			a.first, proved = min(a.first, hkStep), false
		case proved && h.best.Value > before*(1+hkGain):
			a.first *= hkBolder
		default:
			steps = int(float64(steps) * hkLonger)
			a.first *= hkFiner
			proved = true
		}
		g, edges = hkNewGraph(h.f, append(edges, tree...))
	}
	return nil
}

// aim sets pi to where the next round should begin: the best place, on g,
// between the best multipliers and those where the last round ended, which may
// have been led astray by a graph that lacked edges.
func (h *boundSearch) aim(g *hkGraph, pi []float64) {
	const parts = 4
	mid := make([]float64, h.n)
	mix := func(k int) {
		t := float64(float64(k) / parts)
		for i, p := range h.best.Multipliers {
			mid[i] = float64((1-t)*p) + float64(t*pi[i])
		}
	}
	best, at := math.Inf(-1), 0
	for k := range parts + 1 {
		if h.o.Context.Err() != nil {
			return
		}
		mix(k)
		if w := g.oneTree(mid, h.o.Path); w > best {
			best, at = w, k
		}
	}
	mix(at)
	copy(pi, mid)
}
