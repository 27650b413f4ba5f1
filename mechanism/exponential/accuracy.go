package exponential

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// StandardBound returns an upper bound on the worst expected loss of [Standard]
// at level alpha on a maximal s-separated net, where s is the entropic scale of
// the space at alpha/3 (BSV24 section 2): BSV24 Lemma 4.1 with its constants
// made explicit,
//
//	min over u >= 2 of 3s + u/alpha + e^(-u/6) (9s + (3u+12)/alpha).
//
// Any u >= 2 gives a valid bound; the one returned is within 1e-9 of the least.
func StandardBound(alpha, s float64) (float64, error) {
	const op = "exponential: StandardBound"
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return 0, err
	}
	if err := fault.NonNegative(op, "s", s); err != nil {
		return 0, err
	}
	// In units of 1/alpha, t = alpha*s. The derivative 1 - e^(-u/6) (3t/2 + u/2
	// - 1) vanishes where e^(u/6) = 3t/2 + u/2 - 1. From u = 0, where the right
	// side is above the left for t > 4/3, to u large the difference of the
	// convex left and the linear right changes sign at most twice; the least
	// value is at 2 or at the last sign change, which bisection finds below 24
	// + 6 ln(1+2t), where the left side is larger.
	t := alpha * s
	bound := func(u float64) float64 { return 3*t + u + math.Exp(-u/6)*(9*t+3*u+12) }
	slope := func(u float64) float64 { return math.Exp(u/6) - (1.5*t + u/2 - 1) }
	lo, hi := 6*math.Log(3), 24+6*math.Log1p(2*t) // slope is least where e^(u/6) = 3
	for range 100 {
		if mid := (lo + hi) / 2; slope(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return min(bound(2), bound(hi)) / alpha * (1 + 1e-12), nil
}

// UtilityBeta returns the rate that KL10 give for (gamma, delta)-utility of the
// base-measure mechanism: at rate beta = (2/gamma) ln(1/(delta*mass)) the
// output lies within gamma of the ideal one with probability at least 1 - delta,
// where mass > 0 is a lower bound on mu(B(y, gamma/2)) over all y. It is safe
// and mostly far too large; on finite spaces see [SmallestBeta].
func UtilityBeta(gamma, delta, mass float64) (float64, error) {
	const op = "exponential: UtilityBeta"
	if err := fault.Positive(op, "gamma", gamma); err != nil {
		return 0, err
	}
	for _, a := range []struct {
		arg string
		v   float64
	}{{"delta", delta}, {"mass", mass}} {
		if !(a.v > 0 && a.v <= 1) {
			return 0, &fault.ValueError{Op: op, Arg: a.arg, Index: -1, Value: a.v, Want: "a number in (0, 1]"}
		}
	}
	return directed.DivUp(2*directed.LogUp(directed.DivUp(1, directed.MulDown(delta, mass))), gamma), nil
}

// SmallestBeta returns the smallest rate beta at which the mechanism with
// P{y|x} proportional to mu[y] exp(-beta*f(x,y)) has (gamma, delta)-utility on a
// finite space: at every x the output is farther than gamma with probability
// at most delta. It bisects on the mechanism itself (the probability falls
// with beta, because its derivative is minus a covariance of two increasing
// functions of the distance) to a relative 1e-9, on the safe side. mu is a
// distribution on the points, positive in every closed ball of radius gamma.
// O(n^2) a step, on every core; n^2 distances are stored.
func SmallestBeta(f metric.Finite, mu []float64, gamma, delta float64) (float64, error) {
	const op = "exponential: SmallestBeta"
	n := f.Len()
	if err := fault.Empty(op, "f", n); err != nil {
		return 0, err
	}
	if err := fault.Distribution(op, "mu", mu, n, 1e-9); err != nil {
		return 0, err
	}
	if err := fault.NonNegative(op, "gamma", gamma); err != nil {
		return 0, err
	}
	if !(delta > 0 && delta < 1) {
		return 0, &fault.ValueError{Op: op, Arg: "delta", Index: -1, Value: delta, Want: "a number in (0, 1)"}
	}
	d, err := metric.Densify(f)
	if err != nil {
		return 0, err
	}
	misses := func(beta float64) float64 {
		worst := make([]float64, n)
		parallel.Chunks(context.Background(), n, 16, 0, nil, func(_, lo, hi int) {
			var row []float64
			for x := lo; x < hi; x++ {
				row = d.DistancesFrom(x, row)
				near := math.Inf(1) // the nearest output, taken out of the exponent
				for y, v := range row {
					if mu[y] > 0 {
						near = min(near, v)
					}
				}
				in, out := 0.0, 0.0
				for y, v := range row {
					if mu[y] == 0 {
						continue
					}
					if w := mu[y] * exact.Exp(-beta*(v-near)); v > gamma {
						out += w
					} else {
						in += w
					}
				}
				worst[x] = out / (in + out)
			}
		})
		most := 0.0
		for _, v := range worst {
			most = max(most, v)
		}
		return most
	}
	if misses(0) <= delta {
		return 0, nil
	}
	lo, hi := 0.0, 1/max(gamma, math.SmallestNonzeroFloat64)
	hi = min(hi, 1e300)
	for misses(hi) > delta {
		if lo, hi = hi, 2*hi; hi > 1e300 {
			return 0, fmt.Errorf("%s: no rate suffices: some closed ball of radius %v has measure 0", op, gamma)
		}
	}
	for hi-lo > 1e-9*hi {
		if mid := lo + (hi-lo)/2; misses(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, nil
}
