package simplex

import (
	"math"
	"math/bits"

	"github.com/metricdp/metricdp/internal/exact"
)

// toUnits returns the masses as integers: multiples of a power of two of which the total has about
// 2^61/K, K = n+1, each at least 1, the heaviest changed so that both sides balance; then times K,
// plus 1 for every source and n for the last sink (Orden's perturbation).
//
// That puts them in general position: a set of nodes with I of the sources balances only if I = 0
// mod K where it lacks the last sink, I = n where it has it, so I is 0 or n, and the set or its
// complement is sinks alone, whose masses are > 0. A basis that is feasible or optimal for the
// perturbed masses is so for those before (floor and ceiling of the flows divided by K).
//
// Rounding costs at most half a unit a mass, total*K*2^-62, and only decides which basis is
// optimal: [Basis.Flows] come from the caller's own masses.
func toUnits(src, dst []exact.DD) []int64 {
	n := len(src)
	k := int64(n) + 1
	units := make([]int64, n+len(dst))
	var sum [2]float64
	for side, list := range [2][]exact.DD{src, dst} {
		for _, w := range list {
			sum[side] += w.Hi
		}
	}
	// The totals differ by rounding of what they were before masses that stay
	// were taken out, which may be much of what is left.
	less := min(sum[0], sum[1])
	_, e := math.Frexp(less)
	scale := 61 - e - bits.Len64(uint64(k)) // less*K < 2^61 units
	balance := int64(0)
	for side, list := range [2][]exact.DD{src, dst} {
		shrink := 1.0
		if less < (1-0x1p-30)*sum[side] {
			shrink = less / sum[side]
		}
		for i, w := range list {
			u := max(1, int64(math.RoundToEven(math.Ldexp(w.Hi, scale)*shrink)))
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
