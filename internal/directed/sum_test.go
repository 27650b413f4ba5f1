package directed

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Reference: math/big.
func TestSum_BoundsExactSum(t *testing.T) {
	rng := random.Seeded(1)
	for trial := range 2000 {
		var s Sum
		exact, size := new(big.Float).SetPrec(6000), 0.0
		for range 1 + rng.IntN(30) {
			spread := []int{0, 40, 900}[trial%3]
			a := math.Ldexp(rng.NormFloat64(), rng.IntN(spread+1)-spread/2)
			b := 1.0
			if trial%2 == 0 {
				b = math.Ldexp(rng.NormFloat64(), rng.IntN(spread+1)-spread/2-spread/4) // some products underflow
				s.AddProduct(a, b)
			} else {
				s.Add(a)
			}
			exact.Add(exact, new(big.Float).SetPrec(200).Mul(big.NewFloat(a), big.NewFloat(b)))
			size += math.Abs(a * b)
		}
		lower, near, upper := s.Bounds()
		if big.NewFloat(lower).Cmp(exact) > 0 || big.NewFloat(upper).Cmp(exact) < 0 || !(lower <= near && near <= upper) {
			t.Fatalf("%v outside [%v, %v] around %v", exact, lower, upper, near)
		}
		if upper-lower > 0x1p-52*math.Abs(near)+0x1p-95*size+0x1p-1060 {
			t.Fatalf("[%v, %v] is wide", lower, upper)
		}
	}
	// What the lower part loses, and what underflows, is bounded where nothing else is rounded.
	var lost, under Sum
	for _, x := range []float64{1, 0x1p-80, 0x1p-140, -1} {
		lost.Add(x)
	}
	if lower, _, upper := lost.Bounds(); !(lower <= 0x1p-80 && upper > 0x1p-80) {
		t.Errorf("2^-80 + 2^-140 in [%v, %v]", lower, upper)
	}
	under.AddProduct(0x3p-540, 0x3p-540)
	if lower, _, upper := under.Bounds(); !(lower <= 0 && upper > 0) {
		t.Errorf("9 * 2^-1080 in [%v, %v]", lower, upper)
	}
	var s Sum
	for range 10 {
		s.Add(1 << 50)
		s.Add(-3)
	}
	if lower, near, upper := s.Bounds(); lower != 10<<50-30 || near != lower || upper != lower {
		t.Errorf("integers: %v, %v, %v", lower, near, upper)
	}
}
