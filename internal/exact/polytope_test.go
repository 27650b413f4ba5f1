package exact

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// hexagon is |x| <= 1, |y| <= 1, |x - y| <= 1 in the square, whose words need no
// rounding; skew is it in a larger parallelogram.
var (
	hexagon = &Polytope{2, []float64{1, 0, 0, 1, 1, -1}, []float64{1, 0, 0, 1}}
	skew    = &Polytope{2, []float64{1, 0, 0, 1, 1, -1}, []float64{1.25, 0, 1.25, 1.25}}
)

// The fast way and the one in arbitrary precision find the same lattice points of
// the same random bits, inside and outside, on coarse and on fine lattices.
func TestAddPolytope_FastIsExact(t *testing.T) {
	for _, p := range []*Polytope{hexagon, skew} {
		for _, step := range []float64{0x1p-49, 0x1p-40, 0x1p-10, 1, 0x1p4} {
			for seed := range uint64(150) {
				x := []float64{0.3, -7}
				fast, slow := make([]float64, 2), make([]float64, 2)
				Lattice{step}.addPolytope(fast, random.Seeded(seed), x, 0.7, p, false)
				Lattice{step}.addPolytope(slow, random.Seeded(seed), x, 0.7, p, true)
				if fast[0] != slow[0] || fast[1] != slow[1] {
					t.Fatalf("step %v, seed %d: %v, exactly %v", step, seed, fast, slow)
				}
			}
		}
	}
}

// Points of the skew cube reach 2.5 in the second coordinate, and a facet's form has terms of
// sizes 1.25 and 2.5: what the bounds on errors are made of.
func TestPolytope_Errors(t *testing.T) {
	size, err := skew.errors()
	if wantErr := 3.75 * 10 * 0x1p-49; !(size >= 2.5 && size < 2.5*(1+0x1p-30) && err >= wantErr && err < wantErr*(1+0x1p-30)) {
		t.Errorf("size %v, error %v", size, err)
	}
}

// At lattices so fine that float64 decides no point.
func TestAddPolytope_FinestLattice(t *testing.T) {
	r, y := random.Seeded(1), make([]float64, 2)
	const step = 0x1p-45
	for range 30 {
		Lattice{step}.AddPolytope(y, r, y, 1, skew)
	}
	for _, v := range y {
		if k := v / step; k != math.Trunc(k) {
			t.Errorf("%v", y)
		}
	}
}
