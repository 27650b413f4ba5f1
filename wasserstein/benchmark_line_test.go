package wasserstein

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

func lineNormal(seed uint64, n int) []float64 {
	r := random.Seeded(seed)
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func BenchmarkW1Samples(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		for _, m := range []int{n, n - n/7} {
			x, y := lineNormal(1, n), lineNormal(2, m)
			b.Run(fmt.Sprintf("n=%d/m=%d", n, m), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := W1Samples(x, y); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkLineSort(b *testing.B) {
	for _, n := range []int{200, 400, 800, 10_000, 1_000_000} {
		x := lineNormal(1, n)
		for _, indexed := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/indexed=%t", n, indexed), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					lineSort(x, indexed)
				}
			})
		}
	}
}

func BenchmarkW1Line(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		x := lineNormal(1, n)
		r := random.Seeded(2)
		mu, nu := lineMeasure(r, n), lineMeasure(r, n)
		for _, sorted := range []bool{true, false} {
			x := slices.Clone(x)
			if sorted {
				slices.Sort(x)
			}
			b.Run(fmt.Sprintf("n=%d/sorted=%t", n, sorted), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := W1Line(x, mu, nu); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkProjectLine(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		x, g := lineNormal(1, n), lineNormal(2, n)
		slices.Sort(x)
		for i := range g {
			g[i] = (1 + g[i]) / float64(n) // noise as large as the weights
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := ProjectLine(x, g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// treeComplete is a complete tree of random lengths.
func treeComplete(r *rand.Rand, leaves, arity int) *metric.Tree {
	parent := []int{-1}
	for row := []int{0}; len(row) < leaves; {
		var next []int
		for _, v := range row {
			for range arity {
				next = append(next, len(parent))
				parent = append(parent, v)
			}
		}
		row = next
	}
	length := make([]float64, len(parent))
	for v := range length {
		length[v] = r.Float64()
	}
	t, err := metric.NewTree(parent, length)
	if err != nil {
		panic(err)
	}
	return t
}

func BenchmarkTree(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 16} {
		r := random.Seeded(3)
		tree := treeComplete(r, n, 4)
		mu, nu, g := lineMeasure(r, n), lineMeasure(r, n), lineNormal(4, n)
		for i := range g {
			g[i] = (1 + g[i]) / float64(n)
		}
		for _, c := range []struct {
			name string
			run  func() error
		}{
			{"W1Tree", func() error { _, err := W1Tree(tree, mu, nu); return err }},
			{"ProjectTree", func() error { _, _, err := ProjectTree(tree, g); return err }},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
