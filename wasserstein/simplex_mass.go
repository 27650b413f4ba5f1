package wasserstein

import (
	"math"
	"math/bits"

	"github.com/metricdp/metricdp/internal/exact"
)

// simplexMass is what a source has left to give, or a sink to take.
type simplexMass struct {
	at   int      // the caller's index
	mass exact.DD // > 0
}

// simplexUnits turns the masses into the integers the solver works with:
// multiples of a power of two of which the total has about 2^61/K, K = n+1,
// each at least 1, the heaviest changed so that both sides balance; then times
// K, plus 1 for every source and n for the last sink (Orden's perturbation).
//
// That puts them in general position: a set of nodes with I of the sources
// balances only if I = 0 mod K where it lacks the last sink, I = n where it has
// it, so I is 0 or n, and the set or its complement is sinks alone, whose masses
// are > 0. A basis that is feasible for the perturbed masses is feasible for
// those before (floor and ceiling of the flows divided by K), and an optimal one
// optimal, so that the perturbation costs nothing.
//
// Rounding a mass costs at most half a unit, total*K*2^-62. It decides which
// basis is optimal and no more: simplexPlan computes the flows from the caller's
// own masses.
func simplexUnits(src, dst []simplexMass) []int64 {
	n := len(src)
	k := int64(n) + 1
	units := make([]int64, n+len(dst))
	var sum [2]float64
	for side, list := range [2][]simplexMass{src, dst} {
		for _, p := range list {
			sum[side] += p.mass.Hi
		}
	}
	// The totals differ by rounding of what they were before masses that stay
	// were taken out, which may be much of what is left.
	less := min(sum[0], sum[1])
	_, e := math.Frexp(less)
	scale := 61 - e - bits.Len64(uint64(k)) // less*K < 2^61 units
	balance := int64(0)
	for side, list := range [2][]simplexMass{src, dst} {
		shrink := 1.0
		if less < (1-0x1p-30)*sum[side] {
			shrink = less / sum[side]
		}
		for i, p := range list {
			u := max(1, int64(math.RoundToEven(math.Ldexp(p.mass.Hi, scale)*shrink)))
			units[side*n+i] = u
			balance += u * int64(1-2*side)
		}
	}
	heavy := units[:n]
	if balance < 0 {
		heavy, balance = units[n:], -balance
	}
	// The rest is below 2^-30 of the total, and some heavy masses make it up.
	for balance > 0 {
		top := 0
		for v, w := range heavy {
			if w > heavy[top] {
				top = v
			}
		}
		d := min(balance, heavy[top]-1)
		heavy[top] -= d
		balance -= d
	}
	for v := range units {
		units[v] *= k
		if v < n {
			units[v]++
		}
	}
	units[len(units)-1] += int64(n)
	return units
}

// simplexPlan appends the flows of the tree to plan, computed from the exact
// masses: what passes an arc is what the subtree below has too much or too
// little. Flows that rounding turned negative are left out.
func simplexPlan(t *simplexTree, src, dst []simplexMass, plan []Flow) []Flow {
	n := len(src)
	net := make([]exact.DD, len(t.node))
	for i, p := range src {
		net[i] = p.mass
	}
	for j, p := range dst {
		net[n+j] = p.mass.Neg()
	}
	for v := t.node[t.root].prev; v != t.root; v = t.node[v].prev {
		up := t.node[v].parent
		net[up] = net[up].Add(net[v])
		i, j, f := v, up, net[v].Hi
		if v >= t.n {
			i, j, f = up, v, -f
		}
		if f > 0 {
			plan = append(plan, Flow{I: src[i].at, J: dst[int(j)-n].at, Mass: f})
		}
	}
	return plan
}
