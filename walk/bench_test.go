package walk

import (
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// BenchmarkIncrements is the whole walk: 2^20 increments, noise and transform.
func BenchmarkIncrements(b *testing.B) {
	const n = 1 << 20
	binary := testkit.Must(Balanced(n, 2))
	wide := testkit.Must(Levels(32, 32, 32, 32))
	for _, c := range []struct {
		name string
		tree *Tree
		dist Distribution
	}{
		{"haar/n=1048576", binary, KNorm},
		{"laplace32/n=1048576", wide, Laplace},
		{"knorm32/n=1048576", wide, KNorm},
		{"discretehaar/n=1048576", binary, DiscreteHaar},
		{"discrete32/n=1048576", wide, DiscreteLaplace},
	} {
		w, dst, rng := equalWalk(c.tree, c.dist, ReplaceOne), make([]float64, n), random.Seeded(1)
		testkit.Bench(b, c.name, func() { testkit.Check(b, w.Increments(rng, dst)) })
	}
}

// BenchmarkShares is the exact release of a measure on 2^20 leaves, with real noise.
func BenchmarkShares(b *testing.B) {
	const n = 1 << 20
	weights, rng := make([]float64, n), random.Seeded(1)
	for i := range weights {
		weights[i] = float64(i & 7)
	}
	wide := testkit.Must(Levels(32, 32, 32, 32))
	for _, dist := range []Distribution{Laplace, KNorm} {
		w, dst := equalWalk(wide, dist, ReplaceOne), make([]float64, wide.Nodes())
		testkit.Bench(b, dist.String()+"/n=1048576", func() {
			testkit.Check(b, w.AddShares(rng, dst, weights))
			testkit.Check(b, wide.Center(dst))
		})
	}
}

// BenchmarkExactCounts is the exact release of 2^20 integer counts: transform,
// noise and inverse.
func BenchmarkExactCounts(b *testing.B) {
	const n = 1 << 20
	given, rng := make([]int64, n), random.Seeded(1)
	for i := range given {
		given[i] = int64(i & 7)
	}
	binary, wide := testkit.Must(Balanced(n, 2)), testkit.Must(Levels(16, 16, 16, 16, 16))
	haar, leaves := equalWalk(binary, DiscreteHaar, ReplaceOne), make([]float64, n)
	x := make([]int64, n)
	testkit.Bench(b, "haar/n=1048576", func() {
		copy(x, given)
		testkit.Check(b, binary.HaarInt(x))
		testkit.Check(b, haar.AddHaar(rng, x))
		for i, k := range x {
			leaves[i] = float64(k)
		}
		testkit.Check(b, binary.HaarInverse(leaves))
	})
	w := equalWalk(wide, DiscreteLaplace, ReplaceOne)
	counts, nodes := make([]int64, wide.Nodes()), make([]float64, wide.Nodes())
	testkit.Bench(b, "wide16/n=1048576", func() {
		testkit.Check(b, wide.CountsInt(counts, given))
		testkit.Check(b, w.AddCounts(rng, counts))
		for v, k := range counts {
			nodes[v] = float64(k)
		}
		testkit.Check(b, wide.Center(nodes))
	})
}
