package project

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"gonum.org/v1/gonum/floats"
)

// Reference: bisection for tau between the bounds. With bounds [0, +Inf) the split
// is the projection onto the simplex.
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
			if trial%5 == 0 {
				lo, hi = 0, math.Inf(1)
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
		if trial%5 == 0 {
			if p := Simplex(s.want, s.mass, make([]float64, n)); !floats.EqualApprox(p, s.got, 1e-12) {
				t.Fatalf("%+v: the projection onto the simplex is %v", s, p)
			}
		}
	}
}
