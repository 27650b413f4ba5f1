package wasserstein

import (
	"fmt"
	"math"
	"os"
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

// planeProblem is the distances between two sets of n uniform points of the unit
// square, and random weights on them.
func planeProblem(n int) (c Cost, mu, nu []float64) {
	r := random.Seeded(1)
	return w1Shifted(r, n, n, 0), w1Weights(r, n, false), w1Weights(r, n, false)
}

// BenchmarkBetween has stored costs, the setting of the comparison with POT; the same from
// potentials for measures that differ by some percent; and distances measured on the fly.
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

// BenchmarkW1 has both measures on the same points of the plane, and two lists of vectors,
// of which it matches equal masses too.
func BenchmarkW1(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		r := random.Seeded(1)
		f, mu, nu := w1Plane(r, n), w1Weights(r, n, false), w1Weights(r, n, false)
		bench(b, fmt.Sprintf("n=%d", n), func(b *testing.B) (map[string]float64, error) {
			return work(W1(b.Context(), f, mu, nu, nil))
		})
		x := make([][]float64, 2*n)
		for i := range x {
			for range 100 {
				x[i] = append(x[i], r.NormFloat64())
			}
		}
		bench(b, fmt.Sprintf("vectors/n=%d", n), func(b *testing.B) (map[string]float64, error) {
			return work(W1Points(b.Context(), metric.Euclidean{}, x[:n], mu, x[n:], nu, nil))
		})
		all := identity(2 * n)
		c := testkit.Must(Distances(testkit.Must(metric.NewPoints(x, metric.Euclidean{})), all[:n], all[n:]))
		bench(b, fmt.Sprintf("matching/n=%d", n), func(b *testing.B) (map[string]float64, error) {
			m, err := Assignment(b.Context(), c, nil)
			if err != nil {
				return nil, err
			}
			return map[string]float64{"1e-15relgap": 1e15 * m.Gap() / m.Cost}, nil
		})
	}
}

// samplePair is two samples of the plane of n points each: uniform ones of the
// unit square, two normal ones a little apart, or two normal ones that are not of
// one shape and far apart, where the optimal plan is next to ambiguous.
func samplePair(shape string, n int) (c Cost, diameter float64) {
	r := random.Seeded(1)
	pts := make([][2]float64, 2*n)
	least, most := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i := range pts {
		p := [2]float64{r.Float64(), r.Float64()}
		if shape != "uniform" {
			p = [2]float64{r.NormFloat64(), r.NormFloat64()}
		}
		switch {
		case i < n:
		case shape == "near":
			p[0] += 0.2
		case shape == "far":
			p[0], p[1] = 1.5*p[0]+2, 0.7*p[1]
		}
		pts[i] = p
		for k, x := range p {
			least[k], most[k] = min(least[k], x), max(most[k], x)
		}
	}
	points := testkit.Must(metric.NewPoints(pts, metric.Plane{}))
	all := identity(2 * n)
	return testkit.Must(Distances(points, all[:n], all[n:])), math.Hypot(most[0]-least[0], most[1]-least[1])
}

// BenchmarkW1_Lazy is exact between two samples of the plane, whose distances are
// never stored: 10,000 points each, with METRICDP_LONG=1 also 30,000 and 100,000.
func BenchmarkW1_Lazy(b *testing.B) {
	if testing.Short() {
		b.Skip("long")
	}
	sizes := []int{1000, 10_000}
	if os.Getenv("METRICDP_LONG") != "" {
		sizes = append(sizes, 30_000, 100_000)
	}
	for _, n := range sizes {
		equal := slices.Repeat([]float64{1 / float64(n)}, n)
		for _, shape := range []string{"uniform", "near", "far"} {
			c, _ := samplePair(shape, n)
			bench(b, fmt.Sprintf("%s/n=%d", shape, n), func(b *testing.B) (map[string]float64, error) {
				return work(Between(b.Context(), c, equal, equal, nil))
			})
		}
	}
}

// BenchmarkW1_Cells brackets the distance of two samples of the plane by cells. It
// reports the width in percent of the diameter of the points.
func BenchmarkW1_Cells(b *testing.B) {
	if testing.Short() {
		b.Skip("long")
	}
	for _, n := range []int{100_000, 1_000_000} {
		equal := slices.Repeat([]float64{1 / float64(n)}, n)
		for _, shape := range []string{"uniform", "near", "far"} {
			c, d := samplePair(shape, n)
			bench(b, fmt.Sprintf("%s/n=%d", shape, n), func(b *testing.B) (map[string]float64, error) {
				r, err := Between(b.Context(), c, equal, equal, &Options{Cells: 4096})
				if err != nil {
					return nil, err
				}
				return map[string]float64{"width%": 100 * r.Gap() / d}, nil
			})
		}
	}
}
