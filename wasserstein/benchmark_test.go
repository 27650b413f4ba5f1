package wasserstein

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"gonum.org/v1/gonum/floats"
)

// bench times call, which may report what it found by the metrics it returns.
func bench(b *testing.B, name string, call func(b *testing.B) (map[string]float64, error)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var found map[string]float64
		for b.Loop() {
			var err error
			if found, err = call(b); err != nil {
				b.Fatal(err)
			}
		}
		for unit, v := range found {
			b.ReportMetric(v, unit)
		}
	})
}

// work is what a solver reports.
func work(r *Result, err error) (map[string]float64, error) {
	if err != nil {
		return nil, err
	}
	return map[string]float64{"1e-15relgap": 1e15 * r.Gap() / r.Cost, "pivots": float64(r.Pivots), "passes": float64(r.Passes)}, nil
}

func lineNormal(seed uint64, n int) []float64 {
	r := random.Seeded(seed)
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// noisyWeights are uniform weights with noise as large as they are.
func noisyWeights(seed uint64, n int) []float64 {
	g := lineNormal(seed, n)
	for i := range g {
		g[i] = (1 + g[i]) / float64(n)
	}
	return g
}

// planeProblem is the distances between two sets of n uniform points of the unit
// square, and random weights on them.
func planeProblem(n int) (c Cost, mu, nu []float64) {
	r := random.Seeded(1)
	return w1Shifted(r, n, n, 0), w1Weights(r, n, false), w1Weights(r, n, false)
}

func BenchmarkAssignment(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		for name, c := range map[string][]float64{"uniform": assignUniform(n, n, 1), "euclid": assignEuclid(n, n, 1)} {
			cost := testkit.Must(Matrix(n, n, c))
			bench(b, fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) (map[string]float64, error) {
				r := testkit.Must(Assignment(b.Context(), cost, nil))
				return map[string]float64{"relgap": r.Gap() / r.Cost}, nil
			})
		}
	}
}

func BenchmarkW1Samples(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		for _, m := range []int{n, n - n/7} {
			x, y := lineNormal(1, n), lineNormal(2, m)
			bench(b, fmt.Sprintf("n=%d/m=%d", n, m), func(*testing.B) (map[string]float64, error) {
				return nil, second(W1Samples(x, y))
			})
		}
	}
}

func BenchmarkLineSort(b *testing.B) {
	for _, n := range []int{200, 400, 800, 10_000, 1_000_000} {
		x := lineNormal(1, n)
		for _, indexed := range []bool{false, true} {
			bench(b, fmt.Sprintf("n=%d/indexed=%t", n, indexed), func(*testing.B) (map[string]float64, error) {
				lineSort(x, indexed)
				return nil, nil
			})
		}
	}
}

func BenchmarkW1Line(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		x, r := lineNormal(1, n), random.Seeded(2)
		mu, nu := lineMeasure(r, n), lineMeasure(r, n)
		for name, x := range map[string][]float64{"sorted=true": slices.Sorted(slices.Values(x)), "sorted=false": x} {
			bench(b, fmt.Sprintf("n=%d/%s", n, name), func(*testing.B) (map[string]float64, error) {
				return nil, second(W1Line(x, mu, nu))
			})
		}
	}
}

func BenchmarkProjectLine(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		x, g := slices.Sorted(slices.Values(lineNormal(1, n))), noisyWeights(2, n)
		bench(b, fmt.Sprintf("n=%d", n), func(*testing.B) (map[string]float64, error) {
			return nil, third(ProjectLine(x, g))
		})
	}
}

// BenchmarkTree has complete trees of four children and random lengths.
func BenchmarkTree(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 16} {
		r := random.Seeded(3)
		parent := make([]int, (4*n-1)/3)
		for v := range parent {
			parent[v] = (v+3)/4 - 1
		}
		length := make([]float64, len(parent))
		for v := range length {
			length[v] = r.Float64()
		}
		tree := testkit.Must(metric.NewTree(parent, length))
		mu, nu, g := lineMeasure(r, n), lineMeasure(r, n), noisyWeights(4, n)
		bench(b, fmt.Sprintf("W1Tree/n=%d", n), func(*testing.B) (map[string]float64, error) {
			return nil, second(W1Tree(tree, mu, nu))
		})
		bench(b, fmt.Sprintf("ProjectTree/n=%d", n), func(*testing.B) (map[string]float64, error) {
			return nil, third(ProjectTree(tree, g))
		})
	}
}

// BenchmarkBetween has stored costs, the setting of the comparison with POT; the
// same from potentials for measures that differ by some percent; and distances
// measured on the fly.
func BenchmarkBetween(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		c, mu, nu := planeProblem(n)
		dense := w1Matrix(n, n, costsOf(c))
		before := testkit.Must(Between(b.Context(), dense, mu, nu, nil))
		r, near := random.Seeded(2), slices.Clone(mu)
		for i := range near {
			near[i] *= math.Exp(0.05 * r.NormFloat64())
		}
		floats.Scale(1/total(near), near)
		for _, v := range []struct {
			name string
			c    Cost
			mu   []float64
			o    Options
		}{
			{"stored", dense, mu, Options{}},
			{"warm", dense, near, Options{U: before.U, V: before.V}},
			{"lazy", c, mu, Options{Lazy: true}},
		} {
			bench(b, fmt.Sprintf("%s/n=%d", v.name, n), func(b *testing.B) (map[string]float64, error) {
				return work(Between(b.Context(), v.c, v.mu, nu, &v.o))
			})
		}
	}
}

// BenchmarkW1 has both measures on the same points.
func BenchmarkW1(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		r := random.Seeded(1)
		f, mu, nu := w1Plane(r, n), w1Weights(r, n, false), w1Weights(r, n, false)
		bench(b, fmt.Sprintf("n=%d", n), func(b *testing.B) (map[string]float64, error) {
			return work(W1(b.Context(), f, mu, nu, nil))
		})
	}
}

func BenchmarkProject(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		r := random.Seeded(3)
		f, g := w1Plane(r, n), w1Weights(r, n, false)
		for i := range g {
			d := r.NormFloat64() / float64(n)
			g[i] += d
			g[n-1-i] -= d
		}
		bench(b, fmt.Sprintf("n=%d", n), func(b *testing.B) (map[string]float64, error) {
			return nil, second(Project(b.Context(), f, g, nil))
		})
	}
}
