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
		b.Run(c.name, func(b *testing.B) {
			w := equalWalk(c.tree, c.dist, ReplaceOne)
			dst := make([]float64, n)
			r := random.Seeded(1)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Increments(r, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExactCounts is the exact release of 2^20 integer counts: transform,
// noise and inverse.
func BenchmarkExactCounts(b *testing.B) {
	const n = 1 << 20
	b.Run("haar/n=1048576", func(b *testing.B) {
		t := testkit.Must(Balanced(n, 2))
		w := equalWalk(t, DiscreteHaar, ReplaceOne)
		x, y := make([]int64, n), make([]float64, n)
		r := random.Seeded(1)
		b.ReportAllocs()
		for b.Loop() {
			for i := range x {
				x[i] = int64(i & 7)
			}
			testkit.Check(b, t.HaarInt(x))
			testkit.Check(b, w.AddHaar(r, x))
			for i, k := range x {
				y[i] = float64(k)
			}
			testkit.Check(b, t.HaarInverse(y))
		}
	})
	b.Run("wide16/n=1048576", func(b *testing.B) {
		t := testkit.Must(Levels(16, 16, 16, 16, 16))
		w := equalWalk(t, DiscreteLaplace, ReplaceOne)
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i & 7)
		}
		counts, y := make([]int64, t.Nodes()), make([]float64, t.Nodes())
		r := random.Seeded(1)
		b.ReportAllocs()
		for b.Loop() {
			testkit.Check(b, t.CountsInt(counts, x))
			testkit.Check(b, w.AddCounts(r, counts))
			for v, k := range counts {
				y[v] = float64(k)
			}
			testkit.Check(b, t.Center(y))
		}
	})
}

// BenchmarkPlan is what is computed before any data are touched.
func BenchmarkPlan(b *testing.B) {
	const n = 1 << 20
	b.Run("Balanced/n=1048576", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			testkit.Must(Balanced(n, 2))
		}
	})
	t := testkit.Must(Balanced(n, 2))
	b.Run("Loss/n=1048576", func(b *testing.B) {
		s := randomScales(random.Seeded(1), t)
		b.ReportAllocs()
		for b.Loop() {
			testkit.Must(t.Loss(ReplaceOne, s))
		}
	})
	b.Run("RMS/n=1048576", func(b *testing.B) {
		w := equalWalk(t, KNorm, ReplaceOne)
		b.ReportAllocs()
		for b.Loop() {
			b.ReportMetric(testkit.Must(w.RMS(nil)), "rms")
		}
	})
}
