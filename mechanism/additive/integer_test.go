package additive

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// geometricMass is P{clamp(x+Z, lo, hi) = y} for the noise of DiscreteLaplace.
func geometricMass(x, y, lo, hi int64, alpha float64) float64 {
	q := math.Exp(-alpha)
	p := math.Exp(-alpha * math.Abs(float64(x-y)))
	if y == lo || y == hi {
		if y == lo && x < lo || y == hi && x > hi { // the input is beyond the end
			return 1 - q*p/(1+q)
		}
		return p / (1 + q)
	}
	return p * math.Tanh(alpha/2)
}

func TestDiscreteLaplace_SaturatesAtTheEnds(t *testing.T) {
	rng := random.Seeded(62)
	m := testkit.Must(NewDiscreteLaplace(1e-30, nil)) // noise far beyond int64
	ends := map[int64]int{}
	for range 2000 {
		ends[testkit.Must(m.Release(rng, 7))]++
	}
	if lo, hi := ends[math.MinInt64], ends[math.MaxInt64]; lo+hi != 2000 || lo < 800 || hi < 800 {
		t.Errorf("outputs %v", ends)
	}
	strong := testkit.Must(NewDiscreteLaplace(100, nil))
	for _, x := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		if y := testkit.Must(strong.Release(rng, x)); y != x {
			t.Errorf("%d becomes %d at alpha = 100", x, y)
		}
	}
}

func TestDiscreteLaplace_RadiusQuantile(t *testing.T) {
	for _, alpha := range []float64{1e-3, 0.3, 1, 5} {
		m := testkit.Must(NewDiscreteLaplace(alpha, nil))
		beyond := func(k float64) float64 { return 2 * math.Exp(-alpha*(k+1)) / (1 + math.Exp(-alpha)) }
		for _, q := range []float64{0, 0.1, 0.5, 0.95, 1 - 1e-9} {
			k := m.RadiusQuantile(q)
			if beyond(k) > (1-q)*(1+1e-9) || k > 0 && beyond(k-1) < (1-q)*(1-1e-9) {
				t.Errorf("alpha %v, q %v: %v", alpha, q, k)
			}
		}
		if m.RadiusQuantile(1) != inf || !math.IsNaN(m.RadiusQuantile(-1)) || !math.IsNaN(m.RadiusQuantile(nan)) {
			t.Errorf("alpha %v: quantiles at the ends", alpha)
		}
	}
}

func BenchmarkIntegers(b *testing.B) {
	laplace := testkit.Must(NewDiscreteLaplace(0.1, nil))
	for _, c := range []struct {
		name string
		m    mechanism.Mechanism[int64, int64]
		rng  *rand.Rand
	}{
		{"DiscreteLaplace", laplace, random.Seeded(64)},
		{"DiscreteLaplace,secure", laplace, nil},
		{"TruncatedGeometric", testkit.Must(NewTruncatedGeometric(Range{0, 100}, 0.1, nil)), random.Seeded(65)},
		{"DiscreteGaussian", testkit.Must(NewDiscreteGaussian(GaussianTarget{1, 1e-6, 1}, nil)), random.Seeded(66)},
	} {
		testkit.Bench(b, c.name, func() { _, _ = c.m.Release(c.rng, 5) })
	}
}

// The audit of the channel with those probabilities returns alpha: it is private at alpha, and not at less.
func TestTruncatedGeometric_Audit(t *testing.T) {
	for _, alpha := range []float64{0.05, 1, 6} {
		const n = 12
		w := make([]float64, 0, n*n)
		pts := make([]float64, n)
		for x := range pts {
			pts[x] = float64(x)
			for y := range n {
				w = append(w, geometricMass(int64(x), int64(y), 0, n-1, alpha))
			}
		}
		line := testkit.Must(metric.NewPoints(pts, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
		c := testkit.Must(mechanism.FromWeights(t.Context(), n, n, w, nil))
		a := testkit.Must(c.Audit(t.Context(), line, nil))
		if !near(a.Hi, alpha, 1e-12) || !near(a.Lo, alpha, 1e-12) {
			t.Errorf("alpha = %v: %v", alpha, a)
		}
	}
}
