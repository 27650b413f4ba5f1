package measure

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// BenchmarkSynthetic makes synthetic data from plane records that come one by
// one: counting, release and as many records. live-MB is what is held at the
// end of the count, which does not depend on N; the records that are made are N
// again.
func BenchmarkSynthetic(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}, {Hi: 1}}, &domain.BoxOptions{Depth: 9}))
			s := testkit.Must(NewSynthesizer(d, 1, nil))
			var m runtime.MemStats
			for b.Loop() {
				r := random.Seeded(1)
				x := make([]float64, 2)
				c := testkit.Must(Count(b.Context(), d, func(yield func([]float64, error) bool) {
					for range n {
						x[0], x[1] = r.Float64(), r.Float64()
						if !yield(x, nil) {
							return
						}
					}
				}, &CountOptions{Workers: 1}))
				b.StopTimer()
				runtime.GC()
				runtime.ReadMemStats(&m)
				b.StartTimer()
				out := testkit.Must(s.Release(r, c))
				testkit.Must(out.Records(r, 0, nil))
			}
			b.ReportMetric(float64(m.HeapAlloc)/1e6, "live-MB")
		})
	}
}

// BenchmarkRelease releases counts of a net of n cells.
func BenchmarkRelease(b *testing.B) {
	for _, bits := range []int{12, 16, 20} {
		b.Run(fmt.Sprintf("n=%d", 1<<bits), func(b *testing.B) {
			d := samples.Unit(2, domain.BoxOptions{Depth: float64(bits) / 2})
			s := testkit.Must(NewSynthesizer(d, 1, nil))
			r := random.Seeded(1)
			c := NewCounts(d)
			for range 1 << bits {
				c.add(r.IntN(d.Len()), 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				testkit.Must(s.Release(r, c))
			}
		})
	}
}
