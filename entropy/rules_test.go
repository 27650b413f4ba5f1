package entropy_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// whole is a random metric of whole numbers, of few different distances and many ties.
func whole(n int, r *rand.Rand) metric.Finite {
	var edges []metric.Edge
	for i := range n {
		for j := range i {
			edges = append(edges, metric.Edge{I: i, J: j, Length: float64(1 + r.IntN(6))})
		}
	}
	return testkit.Must(metric.NewGraphEdges(context.Background(), n, edges))
}

// TestRules_OfAnySpace: the rules in THEOREMS.md, on random spaces and at levels from where
// nothing is told to where everything is.
func TestRules_OfAnySpace(t *testing.T) {
	for seed := range testkit.Sweep(3, 40) {
		r := random.Seeded(uint64(seed))
		z, y, loss := whole(4, r), whole(3, r), whole(4, r)
		sub, subLoss := testkit.Must(metric.Subset(z, []int{0, 1, 3})), testkit.Must(metric.Subset(loss, []int{0, 1, 3}))
		gap := min(z.Distance(2, 0), z.Distance(2, 1), z.Distance(2, 3)) // what the subset misses
		sums := space.Func(12, func(i, j int) float64 { return z.Distance(i/3, j/3) + y.Distance(i%3, j%3) })
		two := metric.Bimetric{Privacy: z, Utility: loss}
		last := math.Inf(1)
		var logs []float64
		for alpha := 0.25; alpha < 40; alpha *= 2 {
			accuracy := func(f metric.Finite) *lp.Solution {
				return testkit.Must(lp.Optimal(t.Context(), metric.Same(f), alpha, nil))
			}
			scales := func(b metric.Bimetric) (s, so scale.Scale) {
				return testkit.Must(scale.Entropic(t.Context(), b, []float64{alpha}, nil))[0], testkit.Must(scale.Diametric(t.Context(), b, []float64{alpha}, nil))[0]
			}
			fail := func(what string, v ...any) { t.Errorf("seed %d, alpha %v: %s: %v", seed, alpha, what, v) }
			a, part, other, product := accuracy(z), accuracy(sub), accuracy(y), accuracy(sums)
			if part.DualBound > min(2*a.Objective, a.Objective+gap) {
				fail("a subset, the space", part.DualBound, a.Objective)
			}
			if product.DualBound > a.Objective+other.Objective || product.Objective < max(a.DualBound, other.DualBound) {
				fail("a product, its factors", product.Objective, a.Objective, other.Objective)
			}
			s2, so2 := scales(two)
			if s, so := scales(metric.Bimetric{Privacy: sub, Utility: subLoss}); s.Lo > s2.Hi || so.Lo > so2.Hi {
				fail("a subset has larger scales", s, so, s2, so2)
			}
			s, _ := scales(metric.Same(z))
			outer := testkit.Must(scale.Outer(t.Context(), z, []float64{alpha}, nil))[0]
			all := testkit.Must(scale.Packing(t.Context(), z, nil, s.Hi, nil))
			if s.Lo > 2*outer.Hi || math.Log(float64(all.Lo))/alpha > outer.Hi*(1+1e-12) {
				fail("s, N(s), outer", s, all.Lo, outer.Interval)
			}
			for _, g := range []float64{0.5, 1, 2} {
				if net := testkit.Must(scale.Packing(t.Context(), z, nil, g, nil)); float64(all.Lo) > float64(net.Hi)*math.Exp(alpha*g) {
					fail("N(s), N(g)", all.Lo, g, net.Hi)
				}
			}
			if a.DualBound > last {
				fail("A rises from half the level", last, a.DualBound)
			}
			last = a.Objective
			logs = append(logs, math.Log(so2.Lo))
		}
		for k := 2; k < len(logs); k++ { // levels double: 2a is a third of the way from a to 4a
			if between := logs[k-2]*2/3 + logs[k]/3; logs[k-1] > between+1e-9 {
				t.Errorf("seed %d: ln s_o = %v is not convex", seed, logs)
			}
		}
	}
}

// A box under the largest coordinate, of sides b, has prod ceil(b_i/s) points more than s
// apart, one for each cell of side s.
func lnPacking(s float64, sides ...float64) (sum float64) {
	for _, b := range sides {
		sum += math.Log(max(1, math.Ceil(b/s*(1-1e-12))))
	}
	return sum
}

// TestRules_OfCubes: the rules of norm-convex spaces in THEOREMS.md, BSV24 section 2, on
// [0,1]^d under the largest coordinate, where all packing numbers are known.
func TestRules_OfCubes(t *testing.T) {
	const up = 1 + 1e-9
	r := random.Seeded(1)
	for _, d := range []int{1, 2, 7, 50} {
		dim := float64(d)
		// ball is the sides of a ball, around the middle or another point.
		ball := func(x, radius float64) float64 { return min(1, x+radius) - max(0, x-radius) }
		entropic := func(alpha float64) float64 { return min(1, 2*dim*math.Ln2/alpha) }
		for alpha := .01 * dim; alpha < 1e5*dim; alpha *= 3 {
			fail := func(place string, v ...any) { t.Helper(); t.Errorf("d = %d, alpha %v: %s: %v", d, alpha, place, v) }
			s := entropic(alpha)
			// Definition 1.4: s is enough at every r and at every point, and no less is in the middle.
			enough := func(s float64) bool {
				for radius := 2.; radius > 1e-9; radius /= 1.01 {
					if dim*lnPacking(s, ball(.5, radius)) > alpha*radius*up {
						return false
					}
				}
				return dim*lnPacking(s, 1) <= alpha*.5*up // where the ball becomes the cube
			}
			if !enough(s*1.0001) || s < 1 && enough(s*.98) || s == 1 && enough(.98) {
				fail("closed form of s", s)
			}
			for range 20 { // Lemma 2.5
				x, radius, sep, u := r.Float64(), r.Float64(), r.Float64(), r.Float64()
				if lnPacking(sep, ball(x, radius)) > lnPacking(u*sep, ball(x, u*radius))+1e-9 {
					fail("Lemma 2.5", x, radius, sep, u)
				}
				if v := entropic(u * alpha); v < s || v > s/u*up {
					fail("Proposition 2.4", u, v, s)
				}
			}
			if 1/alpha >= 2 && s < .5 || 1/alpha < 2 && s < 1/(2*alpha) || s < min(1, 2*math.Ln2/alpha) {
				fail("Lemmas 2.6 and 2.7", s)
			}
			doubling := 1.
			for v := 1.; v > 1e-8; v /= 1.003 {
				if dim*lnPacking(v, ball(.5, 2*v)) <= 2*alpha*v {
					doubling = min(doubling, v)
				}
			}
			if doubling < s/4/1.003 || doubling > s*1.003 {
				fail("Proposition 2.9", doubling, s)
			}
			outer := math.Inf(1)
			for k := 1.; k < 1e7; k = max(k+1, math.Floor(k*1.001)) {
				outer = min(outer, 1/k+dim*math.Log(k)/alpha)
			}
			if s > 2*outer*up || outer > 3*s*(1+math.Log(1/s))*up {
				fail("Propositions 2.11 and 2.12", s, outer)
			}
			if alpha > dim && outer < dim/alpha*math.Log(alpha/dim) {
				fail("Remark 2.13", outer)
			}
			for k := 1.; k < 1e7; k *= 1.3 {
				if dim*lnPacking(s, 1) >= 2*dim*lnPacking(k*s, 1) && outer > 2*k*s*up {
					fail("Proposition 2.14", s, k, outer)
				}
			}
			if dim*lnPacking(s, 1)/alpha > outer*up {
				fail("Lemma 2.15", s, outer)
			}
			// Theorem 1.5: the cube is the unit ball, of half the size.
			a := testkit.Must(families.BallAccuracy(d, alpha/2))
			if entropic(2*alpha)/8 > a.Hi/2 || a.Lo/2 > 8.5*entropic(alpha/3) || s/16 > a.Hi/2 || a.Lo/2 > 25.5*s {
				fail("Theorem 1.5", s, a)
			}
		}
	}
}
