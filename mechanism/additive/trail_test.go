package additive

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// BenchmarkTrail reports the root mean square error times alpha of live positions, as stated and
// as measured, and by least squares afterwards.
func BenchmarkTrail(b *testing.B) {
	for _, n := range []int{16, 64, 128, 1440} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const alpha = 0.5
			m := testkit.Must(NewTrail(alpha, &TrailOptions{Steps: n}))
			live, after, whole := 0.0, 0.0, 0.0
			rng := random.Seeded(7)
			for b.Loop() {
				l, y, _ := m.Start(rng, [2]float64{})
				for t := 0; ; t++ {
					live += y[0]*y[0] + y[1]*y[1]
					if t == n-1 {
						break
					}
					y = testkit.Must(l.Next(rng, [2]float64{}))
				}
				for _, y := range l.Track() {
					after += y[0]*y[0] + y[1]*y[1]
				}
				for _, y := range testkit.Must(m.Release(rng, make([][2]float64, n))) {
					whole += y[0]*y[0] + y[1]*y[1]
				}
			}
			count := float64(b.N) * float64(n)
			b.ReportMetric(alpha*m.RMS(n), "rms*alpha")
			b.ReportMetric(alpha*math.Sqrt(live/count), "measured")
			b.ReportMetric(alpha*math.Sqrt(after/count), "afterwards")
			b.ReportMetric(alpha*math.Sqrt(whole/count), "whole")
			b.ReportMetric(count/b.Elapsed().Seconds(), "reports/s")
		})
	}
	b.Run("earth", func(b *testing.B) {
		rng := random.Seeded(8)
		m := testkit.Must(NewEarthTrail(6.93, metric.LatLon{Lat: 48.2, Lon: 16.4}, nil))
		track := make([]metric.LatLon, 1440)
		for i := range track {
			track[i] = metric.LatLon{Lat: 48.2 + 1e-4*float64(i), Lon: 16.4}
		}
		for b.Loop() {
			testkit.Must(m.Release(rng, track))
		}
		b.ReportMetric(1440*float64(b.N)/b.Elapsed().Seconds(), "reports/s")
	})
}
