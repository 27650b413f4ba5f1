package private

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// A release is a measure at every level, however much noise there is.
func TestRelease_IsAMeasureUnderMuchNoise(t *testing.T) {
	rng := random.Seeded(5)
	pts := make([][]float64, 60)
	for i := range pts {
		pts[i] = []float64{rng.Float64(), rng.Float64()}
	}
	ctx := context.Background()
	f := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	for _, d := range []*domain.Domain[int]{testkit.Must(domain.NewFinite(ctx, f, nil)), testkit.Must(domain.NewFolded(ctx, f, nil))} {
		for _, alpha := range []float64{1e-50, 1e-20, 1e-12, 1, 1e50} {
			for _, e := range []Estimator{Weighted, Nearest} {
				m := testkit.Must(New(d, alpha, &Options{Estimator: e}))
				for seed := range uint64(12) {
					w := make([]float64, d.Len())
					w[seed] = 1
					sum := 0.0
					for _, v := range testkit.Must(m.Release(random.Seeded(seed), w)) {
						if !(v >= 0) || math.Mod(v, 0x1p-52) != 0 {
							t.Fatalf("%v, alpha %v, estimator %v, seed %d: weight %v", d, alpha, e, seed, v)
						}
						sum += v
					}
					if sum != 1 {
						t.Fatalf("%v, alpha %v, estimator %v, seed %d: sum %v", d, alpha, e, seed, sum)
					}
				}
			}
		}
	}
}
