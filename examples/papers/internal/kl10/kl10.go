// Package kl10 has the exhibits of KL10: the least privacy level eps*(gamma, delta) at
// which some mechanism is farther than gamma from f(x) with probability at most delta, as
// an interval, where it is finite and where it grows without bound.
package kl10

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "KL10/def2.3", About: "eps*(gamma, delta), an infimum over all mechanisms, enclosed; how many records it asks for", Run: tradeoff},
	{Name: "KL10/thm2.7", About: "conventional exponential mechanisms: any base measure, 2 C beta", Run: conventional},
	{Name: "KL10/sec3", About: "range queries over a continuum: no mechanism, as eps* of m points grows like ln m", Run: ranges},
	{Name: "KL10/thm3.4", About: "privacy-compatible, if and only if the completion of f(X) is compact", Run: compatible},
	{Name: "KL10/thma.2", About: "compactness by covers and by disjoint balls", Run: covers},
}

// solve encloses eps* of a target.
func solve(ctx context.Context, b metric.Bimetric, t kl10.Target) *lp.MostPrivateSolution {
	return exhibit.Must(lp.MostPrivate(ctx, b, t, &lp.MostPrivateOptions{Tolerance: 1e-3}))
}

// respond is eps* of n inputs at distance 1 whose balls are disjoint: randomized response.
func respond(n int, delta float64) float64 {
	return max(0, math.Log(float64(n-1)*(1-delta)/delta))
}

// holds tells whether an interval of at most a hundredth holds a closed form.
func holds(found scale.Interval, want float64) bool {
	return found.Lo <= want*(1+1e-9) && want <= found.Hi*(1+1e-9) && found.Width() < 1e-2
}
