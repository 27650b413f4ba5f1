// Package simplex solves balanced transportation problems by the primal network simplex. It proves
// nothing: its caller bounds the optimum by the flows and the potentials of the basis.
package simplex

import (
	"context"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/wasserstein/internal/assignment"
	"github.com/metricdp/metricdp/wasserstein/internal/prices"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// Problem is to move the masses of sources to sinks at least cost.
type Problem struct {
	// Src and Dst are the masses of sources and sinks, all > 0 and their totals
	// equal up to rounding. There is at least one of each.
	Src, Dst []exact.DD
	// Costs has a row for each source and a column for each sink, of numbers in [0, rows.Max].
	Costs rows.Func
	// Lazy tells that Costs should not be stored.
	Lazy bool
	// Space, where not nil, stands for Costs, which are not read: its points are
	// the sources and then the sinks, and its distances the costs. Sources that
	// follow each other should be near, as should sinks (prices.Space.Place).
	Space *prices.Space
	// Start holds potentials to begin with, of sources and then sinks; nil stands for zeros. It is
	// overwritten. Sure tells that they are good, whatever share of the mass the short lists cover.
	Start []float64
	Sure  bool
	// MaxPivots and Workers are as in wasserstein.Options.
	MaxPivots, Workers int
	// Progress, where not nil, is told before every pass the basis so far. Its error ends the work.
	Progress func(b *Basis) error
}

// Bytes bounds the memory for n sources of m costs, but for stored costs: the
// short list at its longest and its copy, or at first and an auction.
func Bytes(n, m int) float64 {
	list := float64(float64(n) * 16 * listWidth)
	return max(float64(list*2*growth)+128*float64(m), float64(3*list)+assignment.Bytes(n, m))
}

// Basis is an optimal basis, or the best one when the last pivot was made.
type Basis struct {
	Pivots, Passes int // as in wasserstein.Result
	src, dst       []exact.DD
	tree           *tree
}

// Solve returns an optimal basis. Its errors are that of ctx and a [*rows.BadCost].
func Solve(ctx context.Context, p *Problem) (*Basis, error) {
	s := &solver{Problem: *p, ctx: ctx, n: len(p.Src), m: len(p.Dst), units: toUnits(p.Src, p.Dst)}
	s.costs = &scan{solver: s}
	if p.Space != nil {
		s.costs = &near{s}
	}
	if err := s.solve(); err != nil {
		return nil, err
	}
	return s.basis(), nil
}

func (s *solver) basis() *Basis {
	return &Basis{Pivots: s.pivots, Passes: s.passes, src: s.Src, dst: s.Dst, tree: s.tree}
}

// Sources returns the number of sources.
func (b *Basis) Sources() int { return len(b.src) }

// U returns the potential of source i and V that of sink j. No cost is below
// U(i)+V(j), up to rounding, once the basis is optimal.
func (b *Basis) U(i int) float64 { return b.tree.pi[b.tree.place[i]] }
func (b *Basis) V(j int) float64 { return -b.tree.pi[b.tree.place[len(b.src)+j]] }

// Flows calls f with the flows of the basis, computed from the exact masses:
// what passes an arc is what the subtree below has too much or too little. Flows
// that rounding turned negative are left out.
func (b *Basis) Flows(f func(i, j int, mass float64)) {
	t, n := b.tree, len(b.src)
	if t == nil {
		return
	}
	net, id := make([]exact.DD, len(t.node)), t.number()
	for i, w := range b.src {
		net[t.place[i]] = w
	}
	for j, w := range b.dst {
		net[t.place[n+j]] = w.Neg()
	}
	for v := t.node[t.root].prev; v != t.root; v = t.node[v].prev {
		up := t.node[v].parent
		net[up] = net[up].Add(net[v])
		i, j, mass := v, up, net[v].Hi
		if v >= t.n {
			i, j, mass = up, v, -mass
		}
		if mass > 0 {
			f(int(id[i]), int(id[j])-n, mass)
		}
	}
}
