package wasserstein_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// benchPlane returns two sets of n uniform points of the unit square as one
// metric, the two lists of indices, and random weights on them.
func benchPlane(n int) (f metric.Finite, a, b []int, mu, nu []float64) {
	r := random.Seeded(1)
	pts := make([][]float64, 2*n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
		if i < n {
			a = append(a, i)
		} else {
			b = append(b, i)
		}
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		panic(err)
	}
	return f, a, b, benchWeights(r, n), benchWeights(r, n)
}

func benchWeights(r *rand.Rand, n int) []float64 {
	w, sum := make([]float64, n), 0.0
	for i := range w {
		w[i] = r.Float64()
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

func benchMatrix(b *testing.B, n int) (c wasserstein.Cost, mu, nu []float64) {
	f, p, q, mu, nu := benchPlane(n)
	d, err := wasserstein.Distances(f, p, q)
	if err != nil {
		b.Fatal(err)
	}
	flat := make([]float64, n*n)
	for i := range n {
		for j := range n {
			flat[i*n+j] = d.At(i, j)
		}
	}
	c, err = wasserstein.Matrix(n, n, flat)
	if err != nil {
		b.Fatal(err)
	}
	return c, mu, nu
}

func report(b *testing.B, r *wasserstein.Result) {
	b.ReportMetric(1e15*r.Gap()/r.Cost, "1e-15relgap")
	b.ReportMetric(float64(r.Pivots), "pivots")
	b.ReportMetric(float64(r.Passes), "passes")
}

// BenchmarkBetween is the setting of the comparison with POT: stored costs.
func BenchmarkBetween(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c, mu, nu := benchMatrix(b, n)
			b.ReportAllocs()
			var r *wasserstein.Result
			var err error
			for b.Loop() {
				if r, err = wasserstein.Between(b.Context(), c, mu, nu, nil); err != nil {
					b.Fatal(err)
				}
			}
			report(b, r)
		})
	}
}

// BenchmarkBetween_Warm starts from the potentials for measures that differ by
// some percent.
func BenchmarkBetween_Warm(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c, mu, nu := benchMatrix(b, n)
			before, err := wasserstein.Between(b.Context(), c, mu, nu, nil)
			if err != nil {
				b.Fatal(err)
			}
			r, sum := random.Seeded(2), 0.0
			for i := range mu {
				mu[i] *= math.Exp(0.05 * r.NormFloat64())
				sum += mu[i]
			}
			for i := range mu {
				mu[i] /= sum
			}
			b.ReportAllocs()
			var r1 *wasserstein.Result
			for b.Loop() {
				if r1, err = wasserstein.Between(b.Context(), c, mu, nu, &wasserstein.Options{U: before.U, V: before.V}); err != nil {
					b.Fatal(err)
				}
			}
			report(b, r1)
		})
	}
}

// BenchmarkW1_Lazy measures distances on the fly: two measures on 20,000 points
// of the plane, each on half of them. The bytes allocated are all that is used.
func BenchmarkW1_Lazy(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			if n > 1000 && testing.Short() {
				b.Skip("takes some ten seconds")
			}
			f, p, q, mu, nu := benchPlane(n)
			c, err := wasserstein.Distances(f, p, q)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var r *wasserstein.Result
			for b.Loop() {
				if r, err = wasserstein.Between(b.Context(), c, mu, nu, &wasserstein.Options{Lazy: true}); err != nil {
					b.Fatal(err)
				}
			}
			report(b, r)
		})
	}
}

// BenchmarkW1 has both measures on the same points.
func BenchmarkW1(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			f, p, _, mu, nu := benchPlane(n)
			f, err := metric.Subset(f, p)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var r *wasserstein.Result
			for b.Loop() {
				if r, err = wasserstein.W1(b.Context(), f, mu, nu, nil); err != nil {
					b.Fatal(err)
				}
			}
			report(b, r)
		})
	}
}

func BenchmarkProject(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			f, p, _, g, _ := benchPlane(n)
			f, err := metric.Subset(f, p)
			if err != nil {
				b.Fatal(err)
			}
			r := random.Seeded(3)
			for i := range g {
				d := r.NormFloat64() / float64(n)
				g[i] += d
				g[n-1-i] -= d
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wasserstein.Project(b.Context(), f, g, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
