package tsp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/metric"
)

// hkCost is the cost of the edge of length d between points of multipliers p
// and q. It must not depend on which end comes first.
func hkCost(d, p, q float64) float64 { return d + (p + q) }

// hkCheck returns the error that the distance d between i and j deserves.
func hkCheck(op string, i, j int, d float64) error {
	if d >= 0 && d <= math.MaxFloat64 {
		return nil
	}
	return fmt.Errorf("%s: %w", op, &metric.Violation{Axiom: metric.FiniteValue, I: min(i, j), J: max(i, j), K: -1, Excess: math.Abs(d)})
}

// hkPrim returns a minimum spanning tree of all points under [hkCost], by
// Prim's algorithm: every distance is read and checked once. O(n^2) time,
// O(n) memory.
func hkPrim(ctx context.Context, op string, f metric.Finite, pi []float64) ([]hkEdge, error) {
	n := f.Len()
	// The points outside the tree, side by side: key is the cost of the cheapest
	// edge to the tree, from its end there.
	rest, from, key := make([]int32, n-1), make([]int32, n-1), make([]float64, n-1)
	for k := range rest {
		rest[k], key[k] = int32(k+1), math.Inf(1)
	}
	tree := make([]hkEdge, 0, n-1)
	_, whole := f.(metric.RowReader)
	var row []float64
	for v := 0; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// A row is quicker than as many calls, but not than half of them.
		if whole = whole && 2*len(rest) > n; whole {
			row = metric.Row(f, v, row)
		}
		pv, least := pi[v], 0
		for k, j := range rest {
			var d float64
			if whole {
				d = row[j]
			} else {
				d = f.Distance(v, int(j))
			}
			if !(d >= 0 && d <= math.MaxFloat64) {
				return nil, hkCheck(op, v, int(j), d)
			}
			if c := hkCost(d, pv, pi[j]); c < key[k] {
				key[k], from[k] = c, int32(v)
			}
			if key[k] < key[least] {
				least = k
			}
		}
		v = int(rest[least])
		tree = append(tree, hkEdge{from[least], rest[least]})
		last := len(rest) - 1
		rest[least], from[least], key[least] = rest[last], from[last], key[last]
		rest, from, key = rest[:last], from[:last], key[:last]
	}
	return tree, nil
}

// hkSum is a sum rounded downward: hi in ordinary arithmetic, and in lo a lower
// bound of all that hi lost, which is exact as long as it fits.
type hkSum struct{ hi, lo float64 }

func (s *hkSum) add(x float64) {
	var e float64
	s.hi, e = directed.TwoSum(s.hi, x)
	s.lo = directed.AddDown(s.lo, e)
}

// hkProbes is the largest number of leaves whose second edge is computed. Any
// will do for a proof, and no more than a fraction of one edge is at stake.
const hkProbes = 64

// hkLastEdge returns the largest of the second least costs of the edges at the
// leaves of a minimum spanning tree on three or more points.
func hkLastEdge(f metric.Finite, tree []hkEdge, pi []float64) float64 {
	n := len(pi)
	// The two cheapest edges of the tree at each point, as far as it has two.
	type pair struct {
		end  [2]int32
		cost [2]float64
		deg  int
	}
	at := make([]pair, n)
	for _, e := range tree {
		c := hkCost(f.Distance(int(e.i), int(e.j)), pi[e.i], pi[e.j])
		for _, e := range [2]hkEdge{e, {e.j, e.i}} {
			p := &at[e.i]
			k := min(p.deg, 2)
			for ; k > 0 && c < p.cost[k-1]; k-- {
				if k < 2 {
					p.end[k], p.cost[k] = p.end[k-1], p.cost[k-1]
				}
			}
			if k < 2 {
				p.end[k], p.cost[k] = e.j, c
			}
			p.deg++
		}
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
		probes = append(probes, probe{v, hkCost(f.Distance(v, int(w)), pi[v], pi[w])})
	}
	slices.SortStableFunc(probes, func(a, b probe) int { return hkCompare(b.most, a.most) })
	best := math.Inf(-1)
	var row []float64
	for k, p := range probes {
		if k == hkProbes || p.most <= best {
			break
		}
		row = metric.Row(f, p.v, row)
		best = max(best, hkSecond(row, pi, p.v))
	}
	return best
}

// hkCertify returns a lower bound of the value that [Bound] states, given the
// minimum spanning tree under [hkCost], or 0 if that is larger.
//
// The tree is minimal under the rounded costs c'. They differ from the exact
// ones c by the rounding of the sum of two multipliers, at most 2P after it for
// P the largest magnitude of pi, and by that of c' itself, each at most
// u = 2^-53 times the rounded number:
//
//	c >= c' - u(|c'| + 2P) = g(c').
//
// g is nondecreasing, so the same tree is minimal under g(c'), and the second
// least of the costs at a point is at least the second least of g(c'). The
// bound is the sum of g(c') over these edges, less the multipliers. Where all
// multipliers are 0 nothing was rounded and g is the identity.
func hkCertify(f metric.Finite, tree []hkEdge, pi []float64, path bool) float64 {
	n := len(pi)
	if n < 2 {
		return 0
	}
	if n == 2 && !path {
		return min(2*f.Distance(0, 1), math.MaxFloat64)
	}
	var sum hkSum
	size := 0.0 // of all |c'|, rounded up
	add := func(c float64) {
		sum.add(c)
		size = directed.AddUp(size, math.Abs(c))
	}
	for _, e := range tree {
		add(hkCost(f.Distance(int(e.i), int(e.j)), pi[e.i], pi[e.j]))
	}
	if path {
		a, b := hkTwoLeast(pi)
		sum.add(pi[a])
		sum.add(pi[b])
	} else {
		add(hkLastEdge(f, tree, pi))
	}
	largest := 0.0
	for _, p := range pi {
		sum.add(-2 * p)
		largest = max(largest, math.Abs(p))
	}
	value := directed.AddDown(sum.hi, sum.lo)
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

// hkSecond returns the second least cost among the edges at v, of lengths row.
func hkSecond(row, pi []float64, v int) float64 {
	c1, c2 := math.Inf(1), math.Inf(1)
	for j, d := range row {
		if j == v {
			continue
		}
		if c := hkCost(d, pi[v], pi[j]); c < c1 {
			c1, c2 = c, c1
		} else if c < c2 {
			c2 = c
		}
	}
	return c2
}
