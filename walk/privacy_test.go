package walk

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// logRatios calls f with the potential's change at z between any two neighbors
// in both directions, the points z being the origin, points near it and far
// off: V is convex and piecewise linear, and its slopes occur there.
func logRatios(t *testing.T, w *Walk, rel Relation, seed uint64, f func(change float64)) {
	tree := w.Tree()
	rng := random.Seeded(seed)
	x := make([]float64, tree.Len())
	delta, z, moved := make([]float64, tree.Nodes()), make([]float64, tree.Nodes()), make([]float64, tree.Nodes())
	for i := range x {
		for j := range x {
			if i == j && rel == ReplaceOne {
				continue
			}
			clear(x)
			x[i] = 1
			if rel == ReplaceOne {
				x[j] = -1
			}
			testkit.Check(t, tree.Counts(delta, x))
			for trial := range 8 {
				for v := range z {
					z[v] = []float64{0, 1, 3, 50}[trial%4] * rng.NormFloat64()
					if w.Distribution().Discrete() {
						z[v] = math.Round(z[v])
					}
					moved[v] = z[v] + delta[v]
				}
				if w.scales.Total == 0 {
					z[0], moved[0] = 0, 0
				}
				f(math.Abs(w.potential(moved) - w.potential(z)))
			}
		}
	}
}

// TestPrivacy_LogDensityRatios: for all distributions, both relations and any
// tree, the log-density ratio of neighbors is at most Loss, which is attained;
// so noise of 99 % of the scale breaks level 1.
func TestPrivacy_LogDensityRatios(t *testing.T) {
	rng := random.Seeded(21)
	for trial := range uint64(60) {
		for _, dist := range dists {
			tree := randomTree(rng, 2+rng.IntN(14))
			if dist == DiscreteHaar {
				tree = randomBinary(rng, 2+rng.IntN(6))
			}
			for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
				if tree.Sensitivity(rel) == 0 {
					continue
				}
				s := testkit.Must(tree.Normalize(rel, randomScales(rng, tree)))
				worst := 0.0
				logRatios(t, testkit.Must(New(tree, dist, s)), rel, trial, func(c float64) { worst = max(worst, c) })
				if math.Abs(worst-1) > 1e-11 {
					t.Fatalf("%v, %v, %v: the worst log-ratio is %v, want 1", dist, rel, tree.first, worst)
				}
				small := Scales{Total: s.Total * .99}
				for _, b := range s.Level {
					small.Level = append(small.Level, b*.99)
				}
				worst = 0
				logRatios(t, testkit.Must(New(tree, dist, small)), rel, trial, func(c float64) { worst = max(worst, c) })
				if worst < 1.009 {
					t.Fatalf("%v, %v: 99 %% of the scale has the log-ratio %v", dist, rel, worst)
				}
			}
		}
	}
}

// TestPrivacy_Enumeration is independent of the potential: the probability of
// every released vector in a box is a product of the distribution of single
// integers, given in closed form, and its ratio between neighbors is at most
// e^alpha, and that somewhere.
func TestPrivacy_Enumeration(t *testing.T) {
	pmf := func(s float64, k int64) float64 { return math.Tanh(s/2) * math.Exp(-s*math.Abs(float64(k))) }
	for _, c := range []struct {
		tree *Tree
		dist Distribution
	}{
		{testkit.Must(Balanced(3, 2)), DiscreteHaar},
		{testkit.Must(Balanced(4, 2)), DiscreteHaar},
		{testkit.Must(Levels(3)), DiscreteLaplace},
		{testkit.Must(Balanced(3, 2)), DiscreteLaplace},
	} {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			const alpha = .8
			s := testkit.Must(testkit.Must(c.tree.EqualScales(rel)).At(alpha))
			q := 1 / s.Level[0]
			release := func(x []int64) []int64 { // before noise
				if c.dist == DiscreteHaar {
					x = slices.Clone(x)
					testkit.Check(t, c.tree.HaarInt(x))
					return x
				}
				counts := make([]int64, c.tree.Nodes())
				testkit.Check(t, c.tree.CountsInt(counts, x))
				return counts
			}
			worst := 0.0
			n := c.tree.Len()
			base := make([]int64, n)
			for i := range n {
				for j := range n {
					if i == j {
						continue
					}
					x, y := slices.Clone(base), slices.Clone(base)
					x[i]++
					if rel == ReplaceOne {
						y[j]++
					}
					a, b := release(x), release(y)
					first := 0
					if rel == ReplaceOne { // the total is public
						first = 1
					}
					out := make([]int64, len(a))
					var each func(k int)
					each = func(k int) {
						if k < len(out) {
							for out[k] = -3; out[k] <= 3; out[k]++ {
								each(k + 1)
							}
							return
						}
						pa, pb := 1.0, 1.0
						for k := first; k < len(out); k++ {
							pa *= pmf(q, out[k]-a[k])
							pb *= pmf(q, out[k]-b[k])
						}
						worst = max(worst, pa/pb, pb/pa)
					}
					each(first)
				}
			}
			if math.Abs(math.Log(worst)-alpha) > 1e-12 {
				t.Errorf("%v, %v: worst log-ratio %v, want %v", c.dist, rel, math.Log(worst), alpha)
			}
		}
	}
}
