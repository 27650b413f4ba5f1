// Package records draws kinds of records that benchmarks of synthetic data share.
package records

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Family is a kind of records in the unit box.
type Family struct {
	Name string
	Draw func(r *rand.Rand, n int) [][]float64
}

func clipped(x []float64) []float64 {
	for a, v := range x {
		x[a] = min(max(v, 0), 1-1e-12)
	}
	return x
}

// around is a point at distance about s of c.
func around(r *rand.Rand, c []float64, s float64) []float64 {
	x := slices.Clone(c)
	for a := range x {
		x[a] += float64(s * r.NormFloat64())
	}
	return clipped(x)
}

// Anywhere is a uniform point.
func Anywhere(r *rand.Rand, d int) []float64 {
	x := make([]float64, d)
	for a := range x {
		x[a] = r.Float64()
	}
	return x
}

// zipf draws from k places with weights 1/i^s.
func zipf(k int, s float64) func(r *rand.Rand) int {
	cum, sum := make([]float64, k), 0.0
	for i := range cum {
		sum += math.Pow(float64(i+1), -s)
		cum[i] = sum
	}
	return func(r *rand.Rand) int {
		i, _ := slices.BinarySearch(cum, r.Float64()*sum)
		return min(i, k-1)
	}
}

// Families are seven kinds of records in the unit box of d dimensions.
func Families(d int) []Family {
	each := func(start func(r *rand.Rand) func() []float64) func(*rand.Rand, int) [][]float64 {
		return func(r *rand.Rand, n int) [][]float64 {
			next, x := start(r), make([][]float64, n)
			for i := range x {
				x[i] = next()
			}
			return x
		}
	}
	return []Family{
		{"uniform", each(func(r *rand.Rand) func() []float64 {
			return func() []float64 { return Anywhere(r, d) }
		})},
		{"mixture", each(func(r *rand.Rand) func() []float64 {
			c, s := [][]float64{Anywhere(r, d), Anywhere(r, d), Anywhere(r, d)}, []float64{.05, .1, .02}
			return func() []float64 { k := r.IntN(3); return around(r, c[k], s[k]) }
		})},
		{"line", each(func(r *rand.Rand) func() []float64 { // a segment; on the line, two far apart
			from, to := Anywhere(r, d), Anywhere(r, d)
			return func() []float64 {
				t, x := r.Float64(), make([]float64, d)
				for a := range x {
					x[a] = from[a] + float64(t*(to[a]-from[a]))
				}
				if d == 1 {
					x[0] = from[0] + float64(.01*t)
				}
				return around(r, x, 1e-4)
			}
		})},
		{"atoms", each(func(r *rand.Rand) func() []float64 {
			at, pick := make([][]float64, 30), zipf(30, 1)
			for i := range at {
				at[i] = Anywhere(r, d)
			}
			return func() []float64 { return slices.Clone(at[pick(r)]) }
		})},
		{"city", each(func(r *rand.Rand) func() []float64 { // quarters of towns of regions
			at, pick := make([][]float64, 300), zipf(300, 1)
			var region []float64
			for i := range at {
				if i%20 == 0 {
					region = Anywhere(r, d)
				}
				at[i] = around(r, region, .08)
			}
			return func() []float64 {
				k := pick(r)
				return around(r, at[k], .01/math.Sqrt(1+float64(k)/10))
			}
		})},
		{"checkin", each(func(r *rand.Rand) func() []float64 { // venues of few cities
			var at [][]float64
			for range 12 {
				city := Anywhere(r, d)
				for range 250 {
					at = append(at, around(r, city, .004))
				}
			}
			r.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			pick := zipf(len(at), .8)
			return func() []float64 {
				if r.IntN(20) == 0 {
					return Anywhere(r, d)
				}
				return slices.Clone(at[pick(r)])
			}
		})},
		{"trace", each(func(r *rand.Rand) func() []float64 { // walks within a thousandth of the box
			home := Anywhere(r, d)
			x := around(r, home, .001)
			return func() []float64 {
				if r.IntN(200) == 0 {
					x = around(r, home, .001)
				}
				x = around(r, x, 2e-5)
				return slices.Clone(x)
			}
		})},
	}
}
