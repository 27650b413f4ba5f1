package exponential

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func cycle(n int) *metric.Dense {
	return space.Func(n, func(i, j int) float64 { return float64(min(j-i, n-j+i)) })
}

func worst(t testing.TB, m *Mechanism, f metric.Finite) float64 {
	t.Helper()
	l := testkit.Must(m.Loss(t.Context(), f))
	v, _ := l.Worst()
	return v
}

func near(a, b, rel float64) bool { return math.Abs(a-b) <= rel*math.Abs(b) }

// randomUltrametric has heights that repeat, and some points at distance 0.
func randomUltrametric(t testing.TB, r *rand.Rand, n int) *metric.Ultrametric {
	t.Helper()
	heights := make([]float64, n-1)
	for i := range heights {
		heights[i] = math.Pow(2, -float64(r.IntN(8)))
		if r.IntN(10) == 0 {
			heights[i] = 0
		}
	}
	return testkit.Must(metric.NewUltrametric(r.Perm(n), heights))
}

func randomPoints(t testing.TB, r *rand.Rand, n int) metric.Finite {
	t.Helper()
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
		if i > 0 && r.IntN(8) == 0 {
			pts[i] = pts[r.IntN(i)]
		}
	}
	return testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
}

// randomBimetric has distinct points under rho1.
func randomBimetric(t testing.TB, r *rand.Rand, n int) metric.Bimetric {
	t.Helper()
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	p := testkit.Must(metric.NewPoints(pts, metric.Manhattan{}))
	b := metric.Bimetric{Privacy: p, Utility: randomPoints(t, r, n)}
	if r.IntN(2) == 0 {
		b.Utility = randomUltrametric(t, r, n)
	}
	return b
}
