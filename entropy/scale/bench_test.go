package scale

import (
	"fmt"
	"testing"

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
