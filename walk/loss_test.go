package walk

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// bruteLoss is the largest weighted l1 norm of the change of the counts, or of
// the Haar coefficients, over all pairs of neighbors: by the transforms
// themselves, with no thought about branches. rate[v] weighs the node v.
func bruteLoss(t testing.TB, tree *Tree, rel Relation, haar bool, total float64, rate []float64) float64 {
	n := tree.Len()
	x := make([]int64, n)
	counts := make([]int64, tree.Nodes())
	norm := func() float64 {
		sum := 0.0
		if haar {
			testkit.Check(t, tree.HaarInt(x))
			sum = total * math.Abs(float64(x[0]))
			for v, b := range rate {
				if lo, hi := tree.Children(v); lo < hi {
					sum += b * math.Abs(float64(x[tree.Split(v)]))
				}
			}
			return sum
		}
		testkit.Check(t, tree.CountsInt(counts, x))
		sum = total * math.Abs(float64(counts[0]))
		for v, b := range rate {
			if lo, hi := tree.Children(v); hi-lo > 1 {
				for _, c := range counts[lo:hi] {
					sum += b * math.Abs(float64(c))
				}
			}
		}
		return sum
	}
	worst := 0.0
	for i := range n {
		if rel == AddRemoveOne {
			clear(x)
			x[i] = 1
			worst = max(worst, norm())
			continue
		}
		for j := range i {
			clear(x)
			x[i], x[j] = 1, -1
			worst = max(worst, norm())
		}
	}
	return worst
}

// TestSensitivity_EveryShape: for counts all 5,440 trees of up to 8 leaves without only children, for
// Haar coefficients all 6,918 binary ones of up to 10 (with METRICDP_LONG all 82,500 of up to 12).
func TestSensitivity_EveryShape(t *testing.T) {
	for _, c := range []struct{ leaves, arity, trees int }{{8, 8, 5440}, {10, 2, 6918}, {12, 2, 82500}}[:testkit.Sweep(2, 3)] {
		seen := 0
		for _, shapes := range allShapes(c.leaves, c.arity) {
			for _, s := range shapes {
				tree := s.tree()
				seen++
				for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
					want := bruteLoss(t, tree, rel, c.arity == 2, float64(rel), slices.Repeat([]float64{1}, tree.Nodes()))
					if got := float64(tree.Sensitivity(rel)); got != want {
						t.Fatalf("%v, %v: sensitivity %v, want %v", s, rel, got, want)
					}
				}
			}
		}
		if seen != c.trees { // little Schröder and Catalan numbers
			t.Errorf("%d shapes, want %d", seen, c.trees)
		}
	}
}

// TestLoss_RandomTreesAndScales has only children, and scales that are powers
// of two, so that all sums are exact.
func TestLoss_RandomTreesAndScales(t *testing.T) {
	rng := random.Seeded(3)
	power := func() float64 { return math.Ldexp(1, rng.IntN(9)-4) }
	for range 3000 {
		tree := randomTree(rng, 1+rng.IntN(24))
		s := Scales{Total: power(), Level: make([]float64, tree.Height())}
		for l := range s.Level {
			s.Level[l] = power()
		}
		rate := make([]float64, tree.Nodes())
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			for v := range rate {
				if l := tree.Depth(v); l < tree.Height() {
					rate[v] = 1 / s.Level[l]
				}
			}
			want := bruteLoss(t, tree, rel, false, 1/s.Total, rate)
			if got := testkit.Must(tree.Loss(rel, s)); got != want {
				t.Fatalf("%v, %v, %v: loss %v, want %v", tree.first, s, rel, got, want)
			}
		}
	}
}

// TestLoss_RoundsUp: with scales that are powers of two of very different sizes
// the sums are not float64s, and Loss is the next one; so is the quotient of equal ones.
func TestLoss_RoundsUp(t *testing.T) {
	rng := random.Seeded(5)
	tree := testkit.Must(Levels(2, 2, 2))
	scale := func() float64 { return math.Ldexp(1, rng.IntN(150)) }
	for range 500 {
		s := Scales{Total: scale(), Level: []float64{scale(), scale(), scale()}}
		branch := new(big.Rat)
		for _, b := range s.Level {
			branch.Add(branch, new(big.Rat).SetFloat64(1/b))
		}
		for rel, want := range map[Relation]*big.Rat{
			ReplaceOne:   new(big.Rat).Add(branch, branch),
			AddRemoveOne: new(big.Rat).Add(branch, new(big.Rat).SetFloat64(1/s.Total)),
		} {
			got := testkit.Must(tree.Loss(rel, s))
			if new(big.Rat).SetFloat64(got).Cmp(want) < 0 {
				t.Fatalf("%v, %v: loss %v is below the sum", s, rel, got)
			}
			if least, _ := want.Float64(); got > least*(1+0x1p-50) {
				t.Fatalf("%v, %v: loss %v, want %v", s, rel, got, least)
			}
			b := .5 + rng.Float64()
			got = testkit.Must(tree.Loss(rel, tree.allScales(rel, b)))
			want.Quo(big.NewRat(int64(tree.Sensitivity(rel)), 1), new(big.Rat).SetFloat64(b))
			if least, _ := want.Float64(); new(big.Rat).SetFloat64(got).Cmp(want) < 0 || got > math.Nextafter(least, math.Inf(1)) {
				t.Fatalf("%v, scales of %v: loss %v, want %v", rel, b, got, least)
			}
		}
	}
}

func randomScales(rng *rand.Rand, tree *Tree) Scales {
	s := Scales{Total: .5 + rng.Float64(), Level: make([]float64, tree.Height())}
	for l := range s.Level {
		s.Level[l] = .5 + rng.Float64()
	}
	return s
}

// TestLoss_BoundsMeasures: for measures of any kind the weighted change of the
// coefficients is at most the loss times the distance that the relation names.
func TestLoss_BoundsMeasures(t *testing.T) {
	r := random.Seeded(4)
	for range 500 {
		tree := randomTree(r, 2+r.IntN(40))
		n := tree.Len()
		s := randomScales(r, tree)
		x := make([]float64, n) // difference of two measures
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for _, rel := range []Relation{AddRemoveOne, ReplaceOne} {
			if rel == ReplaceOne { // subtract the mean
				sum := 0.0
				for _, v := range x {
					sum += v
				}
				for i := range x {
					x[i] -= sum / float64(n)
				}
			}
			dist := 0.0
			for _, v := range x {
				dist += math.Abs(v)
			}
			if rel == ReplaceOne {
				dist /= 2
				s.Total = 0
			}
			sums := make([]float64, tree.Nodes())
			counts(tree, sums, x)
			change := testkit.Must(New(tree, Laplace, s)).potential(sums)
			if loss := testkit.Must(tree.Loss(rel, s)); change > loss*dist*(1+1e-12) {
				t.Fatalf("%v: change %v, loss %v, distance %v", rel, change, loss, dist)
			}
		}
	}
}

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
			counts(tree, delta, x)
			for trial := range 8 {
				for v := range z {
					z[v] = []float64{0, 1, 3, 50}[trial%4] * rng.NormFloat64()
					if w.dist.Discrete() {
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

// TestPrivacy_Enumeration is independent of the potential: the probability of every released vector
// in a box is a product of the distribution of single integers, given in closed form, and its ratio
// between neighbors is at most e^alpha, and that somewhere.
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
