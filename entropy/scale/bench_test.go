package scale

import (
	"fmt"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func BenchmarkScale(b *testing.B) {
	for _, n := range []int{1000, 2000, 5000, 10000} {
		if testing.Short() && n > 1000 {
			break
		}
		z := metric.Same(planePoints(n, 1))
		for name, scale := range map[string]func(alphas []float64) ([]Scale, error){
			"entropic":  func(alphas []float64) ([]Scale, error) { return Entropic(b.Context(), z, alphas, nil) },
			"diametric": func(alphas []float64) ([]Scale, error) { return Diametric(b.Context(), z, alphas, nil) },
		} {
			for _, alpha := range []float64{5, 20} {
				b.Run(fmt.Sprintf("%s/alpha=%v/n=%d", name, alpha, n), func(b *testing.B) {
					b.ReportAllocs()
					var s Scale
					for b.Loop() {
						s = testkit.Must(scale([]float64{alpha}))[0]
					}
					b.ReportMetric(s.Hi/s.Lo, "Hi/Lo")
				})
			}
		}
	}
}

func BenchmarkEntropicScale_Levels(b *testing.B) {
	z := metric.Same(planePoints(2000, 1))
	alphas := make([]float64, 20)
	if testing.Short() {
		alphas = alphas[:4]
	}
	for i := range alphas {
		alphas[i] = 1 + 2*float64(i*i)/7
	}
	b.Run(fmt.Sprintf("n=2000/alphas=%d", len(alphas)), func(b *testing.B) {
		b.ReportAllocs()
		worst := 1.0
		for b.Loop() {
			s := testkit.Must(Entropic(b.Context(), z, alphas, nil))
			for _, s := range s {
				worst = max(worst, s.Hi/s.Lo)
			}
		}
		b.ReportMetric(worst, "max_Hi/Lo")
	})
}

// bigUltrametric has n points and random heights.
func bigUltrametric(n int, seed uint64) *metric.Ultrametric {
	r := random.Seeded(seed)
	h := make([]float64, n-1)
	for i := range h {
		h[i] = r.Float64()
	}
	return testkit.Must(metric.NewUltrametric(r.Perm(n), h))
}

func BenchmarkEntropicScale_Ultrametric(b *testing.B) {
	for _, n := range []int{10000, 100000} {
		u, v := bigUltrametric(n, 1), bigUltrametric(n, 2)
		for name, z := range map[string]metric.Bimetric{"same": metric.Same(u), "two": {Privacy: u, Utility: v}} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					testkit.Must(Entropic(b.Context(), z, []float64{10}, nil))
				}
			})
		}
	}
}
