package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/walk"
)

// FoldedOptions are for [NewFolded]. Nil and the zero value mean the defaults.
type FoldedOptions struct {
	// Separation is as in [FiniteOptions].
	Separation float64
	// Arity is the most children a node may have; 0 means 2.
	Arity int
	// Tour folds along the shortest path that tsp.Solve finds where the points have coordinates
	// too.
	Tour bool
}

// NewFolded arranges a net of the space along a line, and stands a balanced tree on the line. The
// order is Hilbert's curve where f is [metric.Embedded], and a short tour otherwise or with o.Tour
// (tsp.Solve). Arity 16 or 32 halves the error of 2, the default. With alpha-privacy per unit of
// total variation (alpha = N*eps for N records), the Nearest estimate of a private measure has
//
//	E W1(mu, estimate) <= Separation + 2 * sum_k gap_k sqrt(Var S_k),
//
// gap_k the distance of the k-th point of the line to the next, and S_k the sum of the noise up to
// it, of order (log n)^(3/2)/alpha. [NewFinite] and [NewBox] are 1.3 to 3.5 times as accurate.
// Records, errors and cost are as for NewFinite, and tsp.Solve's.
//
// Source: BSV22, Proposition 7.1 and Theorem 7.2, with constants.
func NewFolded(ctx context.Context, f metric.Finite, o *FoldedOptions) (*Domain[int], error) {
	const op = "domain: NewFolded"
	opt := *cmp.Or(o, &FoldedOptions{})
	if err := checkArity(op, opt.Arity); err != nil {
		return nil, err
	}
	n, err := separatedNet(ctx, op, f, opt.Separation)
	if err != nil {
		return nil, err
	}
	tour, kind, err := foldingOrder(ctx, n.f, opt.Tour)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	fold, err := tsp.Fold(n.f, tour)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	t, err := walk.Balanced(n.f.Len(), max(2, opt.Arity))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	g, hub := measureLine(t, fold.Position)
	return n.over(ctx, op, fmt.Sprintf("%d points folded along %s", n.f.Len(), kind), g, hub, fold.Order)
}

func foldingOrder(ctx context.Context, f metric.Finite, solve bool) (*tsp.Tour, string, error) {
	if !solve {
		t, err := tsp.SpaceFilling(ctx, f, tsp.Open)
		if !errors.Is(err, tsp.ErrNoCoordinates) {
			return t, "Hilbert's curve", err
		}
	}
	t, err := tsp.Solve(ctx, f, &tsp.SolveOptions{Kind: tsp.Open, Bound: tsp.BoundNone})
	return t, "a tour", err
}

// measureLine measures a tree over the line. Up to a place, node v's noise adds up to the
// shares of c whole children and the part phi of another, of variance
// s(c + phi^2 - (c+phi)^2/k); the gap to the next place is paid that many times.
func measureLine(t *walk.Tree, line []float64) (g *region.Geometry, hub []int) {
	hub = make([]int, t.Nodes())
	g = &region.Geometry{Tree: t, Line: line, Classes: make([]region.Class, t.Nodes())}
	share := shares(t)
	for v := range hub {
		lo, hi := t.Children(v)
		first, end := t.LeafRange(v)
		hub[v] = (first + end) / 2
		if lo == hi {
			continue
		}
		k := float64(hi - lo)
		s := region.Class{Nodes: 1, Arity: hi - lo, Depth: t.Depth(v), Diameter: line[end-1] - line[first]}
		for c := lo; c < hi; c++ {
			cf, ce := t.LeafRange(c)
			phi, whole := 0.0, float64(c-lo)
			for x := cf; x < ce && x+1 < end; x++ {
				phi += share[t.LeafNode(x)] / share[c]
				w := whole + phi
				s.Spread += float64((line[x+1] - line[x]) * math.Sqrt(max(0, whole+float64(phi*phi)-w*w/k)))
			}
		}
		g.Classes[v] = s
	}
	return g, hub
}
