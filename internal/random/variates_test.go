package random

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/metricdp/metricdp/internal/testkit"
)

// Every variate, put into its distribution function, is uniform. A scale wrong by 1 percent fails.
func TestVariates_Law(t *testing.T) {
	testkit.Slow(t)
	rng := Seeded(31)
	uniform := func(name string, draw func() float64) {
		t.Helper()
		u := make([]float64, 100_000)
		for i := range u {
			u[i] = draw()
		}
		testkit.Uniform(t, name, u)
	}
	normal := distuv.UnitNormal
	uniform("Uniform", func() float64 { return Uniform(rng) })
	uniform("Symmetric", func() float64 { return (1 + Symmetric(rng)) / 2 })
	uniform("Exponential", func() float64 { return -math.Expm1(-Exponential(rng)) })
	uniform("Laplace", func() float64 {
		z := Laplace(rng)
		if z < 0 {
			return math.Exp(z) / 2
		}
		return 1 - math.Exp(-z)/2
	})
	uniform("Normals, first", func() float64 { x, _ := Normals(rng); return normal.CDF(x) })
	uniform("Normals, second", func() float64 { _, y := Normals(rng); return normal.CDF(y) })
	uniform("Normals, sum", func() float64 { x, y := Normals(rng); return normal.CDF((x + y) / math.Sqrt2) })
	three := make([]float64, 3)
	uniform("FillNormal", func() float64 {
		FillNormal(rng, three)
		return normal.CDF((three[0] + three[1] + three[2]) / math.Sqrt(3))
	})
}
