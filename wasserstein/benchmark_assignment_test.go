package wasserstein

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// assignUniform is a matrix of independent uniform costs, assignEuclid one of
// distances between two sets of uniform points of the unit square.
func assignUniform(n, m int, seed uint64) []float64 {
	r := random.Seeded(seed)
	c := make([]float64, n*m)
	for k := range c {
		c[k] = r.Float64()
	}
	return c
}

func assignEuclid(n, m int, seed uint64) []float64 {
	r := random.Seeded(seed)
	p := make([]float64, 2*(n+m))
	for k := range p {
		p[k] = r.Float64()
	}
	c := make([]float64, 0, n*m)
	for i := range n {
		for j := n; j < n+m; j++ {
			c = append(c, math.Hypot(p[2*i]-p[2*j], p[2*i+1]-p[2*j+1]))
		}
	}
	return c
}

func BenchmarkAssignment(b *testing.B) {
	for _, kind := range []struct {
		name string
		make func(n, m int, seed uint64) []float64
	}{{"uniform", assignUniform}, {"euclid", assignEuclid}} {
		for _, n := range []int{1000, 3000} {
			b.Run(fmt.Sprintf("%s/n=%d", kind.name, n), func(b *testing.B) {
				c, err := Matrix(n, n, kind.make(n, n, 1))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				var r *Matching
				for b.Loop() {
					if r, err = Assignment(b.Context(), c, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(r.Gap()/r.Cost, "relgap")
			})
		}
	}
}
