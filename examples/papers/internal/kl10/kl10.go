// Package kl10 has the exhibits of KL10: the least privacy level eps*(gamma, delta) at
// which some mechanism is farther than gamma from f(x) with probability at most delta, as
// an interval, where it is finite and where it grows without bound.
package kl10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
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

// tradeoff has eps* where it is known in closed form, and what Remark 2.4 makes of it.
func tradeoff(ctx context.Context, r *exhibit.Run) {
	t := kl10.Target{Gamma: .5, Delta: .05}
	for _, n := range []int{2, 10, exhibit.Size(r, 30, 100)} {
		found := solve(ctx, metric.Same(exhibit.Simplex(n)), t).Level
		r.Say("Definition 2.3", fmt.Sprintf("eps*(.5, .05) of %d points at distance 1", n), "-", found, exhibit.If(holds(found, respond(n, t.Delta)), exhibit.Holds),
			map[bool]string{true: "ln((n-1)(1-delta)/delta): the packing bound, which randomized response attains"}[n == 2])
	}
	ends := exhibit.Line(0, 1, 1)
	unit := metric.Bimetric{Privacy: ends, Utility: exhibit.Must(metric.NewPoints([]float64{0, 1, .25, .5, .75}, metric.Numbers[float64]{}))}
	found := solve(ctx, unit, t).Level
	r.Say("Definition 2.3", "eps*(.5, .05) of {0,1} in Y = [0,1]", "-", found, exhibit.If(found.Hi == 0, exhibit.Holds),
		"Y may be larger than f(X): 1/2 is near to both; it is 2.944 where Y is {0,1}, and for any smaller gamma")

	far := exhibit.Must(metric.Scaled(ends, 1./3))
	third := solve(ctx, metric.Bimetric{Privacy: far, Utility: ends}, t).Level
	r.Say("Remark 2.4", "eps* for a Lipschitz constant C = 3, over that for 1", "C = 3", third.Hi/respond(2, t.Delta), exhibit.If(math.Abs(third.Hi/respond(2, t.Delta)-3) < 1e-2, exhibit.Holds), "")
	least, enough := exhibit.Must2(solve(ctx, metric.Same(ends), t).RecordsFor(.1, nil))
	want := respond(2, t.Delta) / .1
	r.Say("Remark 2.4", "records N for eps = .1 where the sensitivity is 1/N, eps* = ln 19", fmt.Sprintf("eps*/eps = %.2f", want), fmt.Sprintf("%d to %d", least, enough),
		exhibit.If(least == enough && enough == int(math.Ceil(want)), exhibit.Holds), "lp.MostPrivateSolution.RecordsFor, for any sensitivity that falls with N")
}

// function is a random function between two clouds of the plane: its first points of the
// utility metric are the images, of which two may coincide.
func function(rng *rand.Rand) metric.Bimetric {
	n := 2 + rng.IntN(6)
	clouds := make([][][2]float64, 2)
	for i := range clouds {
		for range n + 3*i {
			clouds[i] = append(clouds[i], [2]float64{rng.Float64(), rng.Float64()})
		}
	}
	clouds[1][0] = clouds[1][rng.IntN(n)]
	return metric.Bimetric{Privacy: exhibit.Must(metric.NewPoints(clouds[0], metric.Plane{})), Utility: exhibit.Must(metric.NewPoints(clouds[1], metric.Plane{}))}
}

// conventional audits mechanisms with all kinds of base measures.
func conventional(ctx context.Context, r *exhibit.Run) {
	rng := random.Seeded(r.Seed)
	most, count := 0.0, exhibit.Size(r, 200, 2000)
	for k := range count {
		b := function(rng)
		mu := make([]float64, b.Utility.Len())
		for y := range mu {
			if y < b.Privacy.Len() || k%2 == 0 { // outputs without measure, every other time
				mu[y] = rng.ExpFloat64()
			}
		}
		m := exhibit.Must(kl10.MostPrivate(ctx, b, exhibit.Normalize(mu), kl10.Target{Gamma: .1 + .3*rng.Float64(), Delta: .02 + .3*rng.Float64()}, nil))
		b.Utility = exhibit.Must(metric.Subset(b.Utility, exhibit.Below(b.Privacy.Len())))
		c := exhibit.Largest(b.Lipschitz(ctx))
		if c*m.Beta > 0 { // c is 0 where all images coincide
			most = max(most, m.Audited.Hi/(2*c*m.Beta))
		}
	}
	r.Say("Theorem 2.7", fmt.Sprintf("level over 2 C beta, the most of %d functions and measures", count), "at most 1", most, exhibit.If(most <= 1+1e-9, exhibit.Holds), "Lemma A.1 is the case C = 1")
	m := exhibit.Must(kl10.MostPrivate(ctx, metric.Same(exhibit.Line(0, 1, 1)), []float64{1e-9, 1 - 1e-9}, kl10.Target{Gamma: 0, Delta: 1 - 1e-6}, nil))
	tight := m.Audited.Hi / (2 * m.Beta)
	r.Say("Theorem 2.7", "the same for two points, of measures 1e-9 and the rest, delta = 1-1e-6", "at most 1", tight, exhibit.If(tight <= 1+1e-9 && tight > .999, exhibit.Holds),
		"the factor 2 is needed")
	middle := metric.Bimetric{Privacy: exhibit.Line(0, 1, 1), Utility: exhibit.Must(metric.NewPoints([]float64{0, 1, .5}, metric.Numbers[float64]{}))}
	m = exhibit.Must(kl10.MostPrivate(ctx, middle, []float64{0, 0, 1}, kl10.Target{Gamma: .5, Delta: .05}, nil))
	r.Say("Definition 2.6", "any measure: all of it on the point 1/2, {0,1} in [0,1], level at gamma = .5", "-", m.Audited.Hi, exhibit.If(m.Audited.Hi == 0, exhibit.Holds), "a constant mechanism")
}
