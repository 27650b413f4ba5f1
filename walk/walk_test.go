package walk

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

var dists = []Distribution{Laplace, KNorm, DiscreteLaplace, DiscreteHaar}

// TestIncrements_Variances: the draws have the variances that the closed form
// gives, within 6 standard errors (2e-9 for each of 60 numbers).
func TestIncrements_Variances(t *testing.T) {
	rng := random.Seeded(20)
	for _, dist := range dists {
		for trial := range 2 {
			tree := randomBinary(rng, 9)
			if dist != DiscreteHaar && trial == 1 {
				tree = randomTree(rng, 14)
			}
			w := testkit.Must(New(tree, dist, randomScales(rng, tree)))
			x := make([]float64, tree.Len())
			got := make([]moment, tree.Len())
			for range 20_000 {
				testkit.Check(t, w.Increments(rng, x))
				floats.CumSum(x, x)
				for k, s := range x {
					got[k].add(s * s)
				}
			}
			want := make([]float64, tree.Len())
			testkit.Check(t, w.Variances(want))
			for k := range want {
				got[k].check(t, dist.String(), want[k])
			}
		}
	}
}

// TestIncrements_AreTheIntegerRoute: noise on counts of 0, transformed back
// exactly, is what Increments gives for the same stream.
func TestIncrements_AreTheIntegerRoute(t *testing.T) {
	for seed := range uint64(20) {
		rng := random.Seeded(seed)
		tree := randomBinary(rng, 12)
		s := randomScales(rng, tree)
		x, dst := make([]int64, 12), make([]float64, 12)
		w := testkit.Must(New(tree, DiscreteHaar, s))
		testkit.Check(t, w.AddHaar(random.Seeded(seed), x))
		testkit.Check(t, w.Increments(random.Seeded(seed), dst))
		haar := make([]float64, 12)
		for i, k := range x {
			haar[i] = float64(k)
		}
		testkit.Check(t, tree.HaarInverse(haar)) // exact: integers and 11 halvings at most
		if !slices.Equal(dst, haar) {
			t.Fatalf("Haar: %v, want %v", dst, haar)
		}
		tree = randomTree(rng, 20)
		w = testkit.Must(New(tree, DiscreteLaplace, randomScales(rng, tree)))
		counts := make([]int64, 20)
		dst = make([]float64, tree.Len())
		testkit.Check(t, w.AddCounts(random.Seeded(seed), counts))
		testkit.Check(t, w.Increments(random.Seeded(seed), dst))
		centered := ratCenter(tree, counts)
		for i, got := range dst {
			if want, _ := centered[tree.LeafNode(i)].Float64(); math.Abs(got-want) > 1e-12 {
				t.Fatalf("counts, leaf %d: %v, want %v", i, got, want)
			}
		}
	}
}

// TestAdd_Integers: which entries get noise, and which distribution.
func TestAdd_Integers(t *testing.T) {
	rng := random.Seeded(22)
	tree := shapeTree{{nil, nil}, {{nil}}}.tree() // nodes 0 | 1 2 | 3 4 5 | 6
	w := testkit.Must(New(tree, DiscreteLaplace, Scales{Level: []float64{2, 3, 4}}))
	noisy := make([]int, 7)
	for range 500 {
		counts := []int64{10, 7, 3, 5, 2, 3, 3}
		testkit.Check(t, w.AddCounts(rng, counts))
		for v, c := range []int64{10, 7, 3, 5, 2, 3, 3} {
			if counts[v] != c {
				noisy[v]++
			}
		}
		if counts[0] != 10 || counts[5] != counts[2] || counts[6] != counts[2] {
			t.Fatalf("%v: the public total or an only child is wrong", counts)
		}
	}
	for _, v := range []int{1, 2, 3, 4} {
		if noisy[v] < 300 { // P{0} = tanh(1/2b) < .25; 300 of 500 has a tail below 1e-12
			t.Errorf("node %d got noise %d times of 500", v, noisy[v])
		}
	}
	counts := []int64{math.MaxInt64, math.MaxInt64, 0, math.MaxInt64, 0, 0, 0}
	for range 100 {
		testkit.Check(t, w.AddCounts(rng, counts))
		if counts[1] < math.MaxInt64/2 {
			t.Fatal("wrapped around")
		}
		counts[1] = math.MaxInt64
	}
}

// TestAdd_EntriesHaveTheirScales: the total and every level, of which a tenth
// less would be seen.
func TestAdd_EntriesHaveTheirScales(t *testing.T) {
	tree := testkit.Must(Levels(2, 2))
	s := Scales{Total: 3, Level: []float64{1.5, 2.2}}
	counts := testkit.Must(New(tree, DiscreteLaplace, s)) // nodes 0 | 1 2 | 3 4 5 6
	haar := testkit.Must(New(tree, DiscreteHaar, s))      // the total, then the splits
	for name, c := range map[string]struct {
		add   func(*rand.Rand, []int64) error
		scale []float64
	}{
		"counts": {counts.AddCounts, []float64{3, 1.5, 1.5, 2.2, 2.2, 2.2, 2.2}},
		"Haar":   {haar.AddHaar, []float64{3, 2.2, 1.5, 2.2}},
	} {
		tally := make([][]int, len(c.scale))
		for i := range tally {
			tally[i] = make([]int, 41)
		}
		rng := random.Seeded(23)
		for range 40_000 {
			x := make([]int64, len(c.scale))
			testkit.Check(t, c.add(rng, x))
			for i, k := range x {
				tallyInteger(tally[i], k)
			}
		}
		for i, b := range c.scale {
			t.Log(name, i)
			testkit.ChiSquare(t, tally[i], integers(b), reject)
		}
	}
}
