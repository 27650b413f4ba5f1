package tsp

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Covering is a bound on the length of the shortest tour from covering numbers.
type Covering struct {
	// Integral is at least the integral of N(x)-1 over all x > 0, N(x) the least
	// number of balls of radius x around points that cover the space.
	Integral float64
	// Bound is 16 * Integral: the shortest tour is no longer (BSV22, Theorem 6.3).
	Bound float64
	// Centers is how many centers were chosen.
	Centers int
}

const (
	// coveringWork is the number of distances that CoveringIntegral spends on
	// farthest-first centers: all n are chosen up to 8192 points.
	coveringWork = 1 << 26
	// coveringRest is the fraction of the integral below which the rest, to the
	// left of the radii counted, is not looked at any more.
	coveringRest = 1. / 128
)

// CoveringIntegral bounds the covering integral of f from above, and with it the shortest tour. Up
// to 8192 points the bound is at most twice the integral. O(n^2) distances up to there; above, O(n
// log n) where f is [metric.Embedded] in few dimensions, and O(n^2) a radius elsewhere. No points
// are [metric.ErrEmpty], a negative or non-finite distance that is met is a [*metric.Violation].
func CoveringIntegral(ctx context.Context, f metric.Finite) (c Covering, err error) {
	const op = "tsp: CoveringIntegral"
	defer name(op, &err)
	n := fault.Len(f)
	if err := checkSize(op, n); err != nil {
		return Covering{}, err
	}
	return covering(ctx, f, min(n, max(1, coveringWork/n)))
}

// covering chooses m centers. The radii r_1 >= r_2 >= ... of [metric.FarthestFirst] show N(x) <= m
// for all x >= r_m. With all n centers the integral is thus at most r_1 + ... + r_(n-1), which is at
// most twice the integral. With fewer, [metric.Net] counts the balls below the last radius.
func covering(ctx context.Context, f metric.Finite, m int) (Covering, error) {
	order, radii, err := metric.FarthestFirst(ctx, f, m, 0)
	if err != nil {
		return Covering{}, err
	}
	out := Covering{Centers: m}
	for k, r := range radii[1:] {
		if notDistance(r) {
			return Covering{}, witness(f, order[k])
		}
	}
	// Above radius hi, the integral is at most that counted: N(x) <= k from radii[k] on.
	for k := 2; k <= m; k++ {
		out.Integral = addRectangle(out.Integral, k-1, directed.SubUp(radii[k-1], radii[k]))
	}
	hi := radii[m]
	if hi > 0 {
		all, err := metric.Net(ctx, f, 0, nil)
		if err != nil {
			return Covering{}, err
		}
		for float64(len(all))*hi > coveringRest*out.Integral {
			lo := hi / math.Sqrt2
			net, err := metric.Net(ctx, f, lo, nil)
			if err != nil {
				return Covering{}, err
			}
			out.Integral = addRectangle(out.Integral, len(net)-1, directed.SubUp(hi, lo))
			hi = lo
		}
		out.Integral = addRectangle(out.Integral, len(all)-1, hi)
	}
	out.Bound = 16 * out.Integral // exact
	return out, nil
}

// addRectangle returns at least sum + height*width.
func addRectangle(sum float64, height int, width float64) float64 {
	return directed.AddUp(sum, directed.MulUp(float64(height), width))
}
