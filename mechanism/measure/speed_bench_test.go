package measure

import (
	"fmt"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

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
