package private

import (
	"fmt"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/walk"
)

// BenchmarkRelease releases weights of n cells, those of records, with either noise.
func BenchmarkRelease(b *testing.B) {
	for _, dist := range []walk.Distribution{walk.KNorm, walk.Laplace} {
		for _, bits := range []int{12, 16, 20} {
			b.Run(fmt.Sprintf("%v/n=%d", dist, 1<<bits), func(b *testing.B) {
				d := samples.Unit(2, domain.BoxOptions{Depth: float64(bits) / 2})
				n := float64(d.Len())
				m := testkit.Must(New(d, n, &Options{Distribution: dist}))
				r := random.Seeded(1)
				weights := make([]float64, d.Len())
				for range 1 << bits {
					weights[r.IntN(d.Len())] += 1 / n
				}
				b.ReportAllocs()
				for b.Loop() {
					testkit.Must(m.Release(r, weights))
				}
			})
		}
	}
}
