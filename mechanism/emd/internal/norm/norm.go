// Package norm rounds Euclidean norms up.
package norm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
)

// EuclideanUp returns ||c||_2 rounded up, 0 for the zero vector. Scaling by a
// power of two keeps the squares from overflow and is exact, but for entries
// that underflow: the ulp of Next covers those.
func EuclideanUp(c []float64) float64 {
	top := floats.Norm(c, math.Inf(1))
	if top == 0 {
		return 0
	}
	_, e := math.Frexp(top) // top = frac * 2^e, frac in [1/2, 1)
	s := 0.0
	for _, v := range c {
		u := math.Ldexp(v, -e)
		s = directed.AddUp(s, directed.MulUp(u, u))
	}
	return LdexpUp(directed.Next(math.Sqrt(s)), e)
}

// LdexpUp returns x*2^e, x > 0, rounded up: a subnormal result is rounded.
func LdexpUp(x float64, e int) float64 {
	y := math.Ldexp(x, e)
	if math.Ldexp(y, -e) < x {
		return directed.Next(y)
	}
	return y
}
