package project

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Reference: bisection for tau between the bounds.
func TestShare_IsNearest(t *testing.T) {
	r := random.Seeded(6)
	var s share
	for trial := range 2000 {
		n := 1 + r.IntN(8)
		s.reset(0)
		sumLo, sumHi := 0.0, 0.0
		for range n {
			want, lo := r.NormFloat64(), r.Float64()
			hi := lo + r.Float64()
			if trial%2 == 0 {
				want, lo = float64(r.IntN(5)-2), float64(r.IntN(2))
				hi = lo + float64(r.IntN(3))
			}
			if r.IntN(6) == 0 {
				hi = math.Inf(1)
			}
			s.add(want, lo, hi)
			sumLo, sumHi = sumLo+lo, sumHi+hi
		}
		s.mass = sumLo + r.Float64()*(min(sumHi, 20)-sumLo)
		clamp := func(c int, tau float64) float64 { return min(max(s.want[c]-tau, s.lo[c]), s.hi[c]) }
		lo, hi := -100.0, 100.0
		for range 200 {
			mid, sum := (lo+hi)/2, 0.0
			for c := range s.want {
				sum += clamp(c, mid)
			}
			if sum > s.mass {
				lo = mid
			} else {
				hi = mid
			}
		}
		for c, m := range s.split() {
			if math.Abs(m-clamp(c, lo)) > 1e-12 {
				t.Fatalf("%+v: %v at %d, want %v", s, m, c, clamp(c, lo))
			}
		}
	}
}

// With bounds [0, +Inf) the split is the projection onto the simplex.
func TestShare_IsSimplexWithoutBounds(t *testing.T) {
	r := random.Seeded(5)
	for trial := range 1000 {
		g := make([]float64, 1+r.IntN(12))
		for i := range g {
			if g[i] = 1e3 * (2*r.Float64() - 1); trial%2 == 0 {
				g[i] = float64(r.IntN(7)) / 4
			}
		}
		mass := r.ExpFloat64()
		if trial%5 == 0 {
			mass = float64(r.IntN(2))
		}
		p := Simplex(g, mass, make([]float64, len(g)))
		var s share
		s.reset(mass)
		for _, v := range g {
			s.add(v, 0, math.Inf(1))
		}
		for i, m := range s.split() {
			if math.Abs(m-p[i]) > 1e-12 {
				t.Fatalf("split %v, want %v", s.got, p)
			}
		}
	}
}
