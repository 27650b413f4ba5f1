package exact

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
)

func BenchmarkLattice(b *testing.B) {
	r := rng.Seeded(1)
	l := Lattice{0x1p-10}
	b.Run("laplace", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.AddLaplace(r, 1, 1)
		}
	})
	for _, p := range []float64{1, 2, math.Inf(1)} {
		for _, d := range []int{2, 3, 8} {
			b.Run(fmt.Sprint(p, d), func(b *testing.B) {
				x := make([]float64, d)
				y := make([]float64, d)
				b.ReportAllocs()
				for b.Loop() {
					l.AddKNorm(y, r, x, 1, p)
				}
			})
		}
	}
	b.Run("normal", func(b *testing.B) {
		x := make([]float64, 2)
		y := make([]float64, 2)
		b.ReportAllocs()
		for b.Loop() {
			l.AddNormal(y, r, x, 1)
		}
	})
}
