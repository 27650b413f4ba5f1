package exact

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// TestUnitVector_Encloses: enclosures are narrow, nest, have the length 1, known values,
// and float64 within its bound.
func TestUnitVector_Encloses(t *testing.T) {
	rng := random.Seeded(1)
	places := [][3]float64{{30, 0, 0.5}, {-30, 77, -0.5}, {90, 1e300, 1}, {0, 360, 0}, {-90, -450, -1}}
	for range 300 {
		places = append(places, [3]float64{180*rng.Float64() - 90, 2000 * (rng.Float64() - 0.5), math.NaN()})
	}
	for _, p := range places {
		wide, narrow, near := UnitVector(p[0], p[1], 80), UnitVector(p[0], p[1], 160), NearUnitVector(p[0], p[1])
		length := 0.0
		for j, c := range narrow {
			if wide[j].Lo.Cmp(c.Lo) > 0 || wide[j].Hi.Cmp(c.Hi) < 0 {
				t.Fatalf("%v: coordinate %d does not nest", p, j)
			}
			within(t, "coordinate", interval{c.Lo, c.Hi}, c.Lo, 0x1p-150)
			v, _ := c.Lo.Float64()
			length += v * v
			off := new(big.Float).Sub(c.Lo, big.NewFloat(near[j]))
			if f, _ := off.Float64(); math.Abs(f) > UnitVectorErr {
				t.Fatalf("%v: coordinate %d errs by %v", p, j, f)
			}
		}
		if math.Abs(length-1) > 0x1p-48 {
			t.Fatalf("%v: a vector of squared length %v", p, length)
		}
		if z := p[2]; z == z {
			within(t, "sine", interval{narrow[2].Lo, narrow[2].Hi}, big.NewFloat(z), 0x1p-150)
		}
	}
}

// TestMean_OfWholeNumbersDrawsNothing where they are multiples of 2^-digits.
func TestMean_OfWholeNumbersDrawsNothing(t *testing.T) {
	never := func(uint) Enclosure { panic("enclosed") }
	var s Sum
	s.Add(-6, 0)
	if k, part := s.Mean(nil, 3, 0, 0, never); k != -2 || part != 0 {
		t.Errorf("-6/3 = %d + %d", k, part)
	}
	s.Add(0, 1<<63)
	if k, part := s.Mean(nil, 2, 52, 0, never); k != -3 || part != 1<<50 {
		t.Errorf("-5.5/2 = %d + %d/2^52", k, part)
	}
}
