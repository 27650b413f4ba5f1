package metric

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/spanning"
)

// Subdominant returns the largest ultrametric that is nowhere above f, that of single linkage: the
// least, over all ways from i to j, of the longest step. A negative or non-finite distance is a
// [*Violation], no points are [ErrEmpty]. f needs no triangle inequality. O(n^2) time, O(n) memory
// beside the result.
func Subdominant(ctx context.Context, f Finite) (*Ultrametric, error) {
	u, _, err := subdominant(ctx, "metric: Subdominant", f)
	return u, err
}

// ValidateUltrametric returns nil where f(i,j) <= (1+tol) u(i,j) for all pairs, u being the
// subdominant ultrametric of f, tol >= 0. Otherwise the error is a [*Violation] of
// [UltrametricLaw], a triple with positive Excess, which may be less than tol grants, because f can
// rise above u in many small steps. Other errors are those of [Subdominant], and a [*ValueError]
// for tol. O(n^2) time on every core, O(n) memory for each.
func ValidateUltrametric(ctx context.Context, f Finite, tol float64) error {
	const op = "metric: ValidateUltrametric"
	if err := fault.NonNegative(op, "tol", tol); err != nil {
		return err
	}
	_, err := ultrametric(ctx, op, f, tol)
	return err
}

// AsUltrametric returns f as an [Ultrametric] with the same distances, or the error of
// [ValidateUltrametric] at tol = 0. O(1) for an *Ultrametric, O(n log n) for a [*Clustered],
// otherwise O(n^2) on every core.
func AsUltrametric(ctx context.Context, f Finite) (*Ultrametric, error) {
	const op = "metric: AsUltrametric"
	switch f := f.(type) {
	case *Ultrametric:
		if f != nil {
			return f, nil
		}
	case *Clustered:
		if f != nil && f.Len() > 0 {
			return f.ultrametric(op)
		}
	}
	return ultrametric(ctx, op, f, 0)
}

// ultrametric returns the subdominant ultrametric of f where f is nowhere more
// than 1+tol times as large.
func ultrametric(ctx context.Context, op string, f Finite, tol float64) (*Ultrametric, error) {
	u, parent, err := subdominant(ctx, op, f)
	if err != nil {
		return nil, err
	}
	err = search(ctx, op, f.Len(), 16, 0, nil, func(_, lo, hi int) *Violation {
		var a, b []float64
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			a, b = finite.Row(f, i, a), u.DistancesFrom(i, b)
			for j := i + 1; j < len(a); j++ {
				if !(a[j] <= b[j]*(1+tol)) {
					return stepAbove(f, u, parent, i, j)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// stepAbove returns a triple against the strong triangle inequality, given a pair with f(i,j) >
// u(i,j).
//
// All steps of the way from i to j in the minimum spanning tree are at most b = u(i,j). Where the
// distance from i passes b, from stop p to stop q, f(i,q) exceeds f(i,p) and f(p,q). The triple
// returned is the one on the way with the largest excess.
func stepAbove(f Finite, u *Ultrametric, parent []int, i, j int) *Violation {
	// Climb to where the two branches meet. Parents stand earlier in the order.
	var up, down []int
	for x, y := i, j; x != y; {
		if u.pos[x] > u.pos[y] {
			x = parent[x]
			up = append(up, x)
		} else {
			down = append(down, y)
			y = parent[y]
		}
	}
	slices.Reverse(down)
	stops := append(up, down...) // p1, ..., j, and the meeting point once
	worst := &Violation{Axiom: UltrametricLaw, I: i, J: j, K: -1}
	for t := 1; t < len(stops); t++ {
		p, q := stops[t-1], stops[t]
		if excess := f.Distance(i, q) - max(f.Distance(i, p), f.Distance(p, q)); excess > worst.Excess {
			worst.J, worst.K, worst.Excess = q, p, excess
		}
	}
	return worst
}

// subdominant runs Prim's algorithm from point 0. parent is the minimum spanning tree it finds;
// that of point 0 is -1.
//
// The order in which the points join, with the length of the edge that brings each, is the
// subdominant ultrametric u as it stands. Let b be the largest of these lengths after a, up to and
// including c. (1) u(a,c) >= b: before the point of length b joined, no edge shorter than b left
// the set, which held a and not c. (2) u(a,c) <= b, as edges of at most b connect all points from a
// to c, by induction on c: c came by such an edge from some p. Where p comes before a, that edge
// was on offer since p joined, so all points after p, up to c, came by edges of at most b: start
// from p in place of a. Now p is one of the points before c, which are connected.
func subdominant(ctx context.Context, op string, f Finite) (u *Ultrametric, parent []int, err error) {
	n := fault.Len(f)
	if err := cmp.Or(fault.Empty(op, "f", n), tableSize(op, n)); err != nil {
		return nil, nil, err
	}
	edges, err := spanning.Prim(ctx, f, nil, func(i, j int, d float64) error {
		return &Violation{Op: op, Axiom: FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
	})
	if err != nil {
		return nil, nil, err
	}
	order, heights := make([]int, 1, n), make([]float64, 0, n-1)
	parent = make([]int, n)
	parent[0] = -1
	for _, e := range edges {
		i, j := int(e.I), int(e.J)
		order, heights, parent[j] = append(order, j), append(heights, f.Distance(i, j)), i
	}
	u = newUltrametric(order, heights)
	u.unit = UnitOf(f)
	return u, parent, nil
}
