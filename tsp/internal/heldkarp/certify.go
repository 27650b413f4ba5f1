package heldkarp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// badDistance returns the error for the distance d between i and j, which is
// negative or not finite, without the call.
func badDistance(i, j int, d float64) error {
	return &metric.Violation{Axiom: metric.FiniteValue, I: min(i, j), J: max(i, j), K: -1, Excess: math.Abs(d)}
}

func prim(ctx context.Context, f metric.Finite, pi []float64) ([]spanning.Edge, error) {
	return spanning.Prim(ctx, f, pi, badDistance)
}

// mostProbes is the largest number of leaves whose second edge is computed. Any
// will do for a proof, and no more than a fraction of one edge is at stake.
const mostProbes = 64

// lastEdge returns the largest of the second least costs of the edges at the
// leaves of a minimum spanning tree on three or more points.
func lastEdge(ctx context.Context, f metric.Finite, tree []spanning.Edge, pi []float64) float64 {
	at := make([]pair, len(pi))
	for _, e := range tree {
		c := spanning.Cost(f.Distance(int(e.I), int(e.J)), pi[e.I], pi[e.J])
		at[e.I].add(c, e.J)
		at[e.J].add(c, e.I)
	}
	// From leaf v along the tree to u and on to w: the second least cost at v is
	// at most that of the edge from v to w.
	type probe struct {
		v    int
		most float64
	}
	var probes []probe
	for v := range at {
		if at[v].deg != 1 {
			continue
		}
		u := at[v].end[0]
		w := at[u].end[0]
		if int(w) == v {
			w = at[u].end[1]
		}
		probes = append(probes, probe{v, spanning.Cost(f.Distance(v, int(w)), pi[v], pi[w])})
	}
	slices.SortStableFunc(probes, func(a, b probe) int { return cmp.Compare(b.most, a.most) })
	best := math.Inf(-1)
	var row []float64
	for k, p := range probes {
		if k == mostProbes || p.most <= best || k > 0 && ctx.Err() != nil {
			break
		}
		row = finite.Row(f, p.v, row)
		best = max(best, second(row, pi, p.v))
	}
	return best
}

// certify returns a lower bound of the value that tsp.Bound states, given the
// minimum spanning tree under [spanning.Cost], or 0 if that is larger.
//
// The tree is minimal under the rounded costs c'. They differ from the exact ones c by the rounding
// of the sum of two multipliers, at most 2P after it for P the largest magnitude of pi, and by that
// of c' itself, each at most u = 2^-53 times the rounded number:
//
//	c >= c' - u(|c'| + 2P) = g(c').
//
// g is nondecreasing, so the same tree is minimal under g(c'), and the second least of the costs at
// a point is at least the second least of g(c'). The bound is the sum of g(c') over these edges,
// less the multipliers. Where all multipliers are 0 nothing was rounded and g is the identity.
func certify(ctx context.Context, f metric.Finite, tree []spanning.Edge, pi []float64, path bool) float64 {
	n := len(pi)
	if n < 2 {
		return 0
	}
	if n == 2 && !path {
		return min(2*f.Distance(0, 1), math.MaxFloat64)
	}
	var sum directed.Sum
	size := 0.0 // of all |c'|, rounded up
	add := func(c float64) {
		sum.Add(c)
		size = directed.AddUp(size, math.Abs(c))
	}
	for _, e := range tree {
		add(spanning.Cost(f.Distance(int(e.I), int(e.J)), pi[e.I], pi[e.J]))
	}
	if path {
		a, b := twoLeast(pi)
		sum.Add(pi[a])
		sum.Add(pi[b])
	} else {
		add(lastEdge(ctx, f, tree, pi))
	}
	largest := 0.0
	for _, p := range pi {
		sum.Add(-2 * p)
		largest = max(largest, math.Abs(p))
	}
	value, _, _ := sum.Bounds()
	if largest > 0 {
		const u = 0x1p-53
		size = directed.AddUp(size, directed.MulUp(2*float64(n), largest))
		value = directed.SubDown(value, directed.MulUp(u, size))
	}
	if !(value > 0) { // negative, or NaN after an overflow
		return 0
	}
	return value
}

// second returns the second least cost among the edges at v, of lengths row. It
// passes over NaN, which a kd-tree need not have met.
func second(row, pi []float64, v int) float64 {
	var p pair
	for j, d := range row {
		if c := spanning.Cost(d, pi[v], pi[j]); j != v && c == c {
			p.add(c, int32(j))
		}
	}
	return p.cost[1]
}
