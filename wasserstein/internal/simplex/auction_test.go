package simplex

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// carries returns the cost of moving the units along the edges, and fails unless these are a
// spanning tree along which all mass goes from sources to sinks.
func carries(t *testing.T, n int, units []int64, edges []edge) (cost float64) {
	t.Helper()
	if len(edges) != len(units)-1 {
		t.Fatalf("%d edges of %d nodes", len(edges), len(units))
	}
	tree := newTree(n, units, edges)
	net, nodes := make([]int64, len(units)), 1
	for v, u := range units {
		net[v] = u
		if v >= n {
			net[v] = -u
		}
	}
	for v := tree.node[tree.root].prev; v != tree.root; v = tree.node[v].prev {
		p := tree.node[v]
		if nodes++; net[v] == 0 || (net[v] > 0) != (int(v) < n) || max(net[v], -net[v]) != p.flow {
			t.Fatalf("node %d of %d sources: %d units up, %d stated", v, n, net[v], p.flow)
		}
		net[p.parent] += net[v]
		cost += float64(float64(p.flow) * p.cost)
	}
	if nodes != len(units) || net[tree.root] != 0 {
		t.Fatalf("%d nodes of %d", nodes, len(units))
	}
	return cost
}

func TestAcyclic_CostsNoMore(t *testing.T) {
	r := random.Seeded(4)
	for range 200 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		units, before := make([]int64, n+m), 0.0
		var flows []flow
		for i := range n {
			for j := range m {
				f := flow{edge{int32(i), int32(n + j), r.Float64()}, 1 + r.Int64N(1<<40)}
				units[i], units[n+j] = units[i]+f.mass, units[n+j]+f.mass
				before += float64(float64(f.mass) * f.cost)
				flows = append(flows, f)
			}
		}
		r.Shuffle(len(flows), func(a, b int) { flows[a], flows[b] = flows[b], flows[a] })
		if after := carries(t, n, units, acyclic(n+m, flows)); after > before*(1+1e-12) {
			t.Fatalf("%d x %d: from %v to %v", n, m, before, after)
		}
	}
}

// Masses that are alike leave a forest, which is joined to a tree that moves the units. On a line
// the auction gives up.
func TestAuction_IsABasis(t *testing.T) {
	r := random.Seeded(5)
	found, none := 0, 0
	for trial := range 30 {
		n := 100 + r.IntN(100)
		src, dst, c := make([]exact.DD, n), make([]exact.DD, n), make([]float64, n*n)
		for i := range n {
			src[i].Hi, dst[n-1-i].Hi = float64(1+i*(trial%3)%4), float64(1+i*(trial%3)%4)
		}
		for k := range c {
			if c[k] = r.Float64(); trial%5 == 4 {
				c[k] = math.Abs(float64(k/n - k%n))
			}
		}
		s := &solver{Problem: Problem{Start: make([]float64, 2*n)}, ctx: t.Context(), n: n, m: n, units: toUnits(src, dst)}
		s.Costs = func(i int, _ []float64) []float64 { return c[i*n : (i+1)*n] }
		by := &scan{solver: s}
		s.costs = by
		testkit.Check(t, s.list())
		if edges := testkit.Must(by.auction()); edges != nil {
			found++
			carries(t, n, s.units, edges)
		} else {
			none++
		}
		s.ctx = testkit.Looking(1)
		if _, err := by.auction(); !errors.Is(err, context.Canceled) {
			t.Fatalf("canceled: %v", err)
		}
	}
	if found < 10 || none < 2 {
		t.Errorf("%d bases, %d times none", found, none)
	}
}
