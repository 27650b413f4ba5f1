package norm

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestEuclideanUp_Encloses(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(11)
	for n := range 300 { // above the exact root, by some ulps
		c, sum := make([]float64, 1+n%60), new(big.Rat)
		for i := range c {
			c[i] = math.Ldexp(r.NormFloat64(), r.IntN(8)-4)
			if n%2 == 0 { // squares that are exact
				c[i] = float64(r.IntN(200))
			}
			v := new(big.Rat).SetFloat64(c[i])
			sum.Add(sum, v.Mul(v, v))
		}
		got := EuclideanUp(c)
		square := func(f float64) *big.Rat { v := new(big.Rat).SetFloat64(f); return v.Mul(v, v) }
		if square(got).Cmp(sum) < 0 || square(got*(1-1e-14)).Cmp(sum) > 0 {
			t.Errorf("%v: %v", c, got)
		}
	}
	for _, c := range []struct {
		c    []float64
		want float64
	}{
		{[]float64{0, 0}, 0}, {[]float64{3e300, 4e300}, 5e300}, {[]float64{3e-310, 4e-310}, 5e-310}, {[]float64{5e-324}, 5e-324}, {[]float64{1, 1e-200}, 1},
	} {
		if got := EuclideanUp(c.c); got < c.want || got > c.want*(1+1e-13)+1e-322 {
			t.Errorf("%v: %v, want %v", c.c, got, c.want)
		}
	}
}
