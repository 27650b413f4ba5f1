package samples

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

// anywhere is a uniform point.
func anywhere(r *rand.Rand, d int) []float64 {
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

// Families are five kinds of records in the unit box of d dimensions.
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
			return func() []float64 { return anywhere(r, d) }
		})},
		{"mixture", each(func(r *rand.Rand) func() []float64 {
			c, s := [][]float64{anywhere(r, d), anywhere(r, d), anywhere(r, d)}, []float64{.05, .1, .02}
			return func() []float64 { k := r.IntN(3); return around(r, c[k], s[k]) }
		})},
		{"line", each(func(r *rand.Rand) func() []float64 { // a segment; on the line, two far apart
			from, to := anywhere(r, d), anywhere(r, d)
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
		{"checkin", each(func(r *rand.Rand) func() []float64 { // venues of few cities
			var at [][]float64
			for range 12 {
				city := anywhere(r, d)
				for range 250 {
					at = append(at, around(r, city, .004))
				}
			}
			r.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			pick := zipf(len(at), .8)
			return func() []float64 {
				if r.IntN(20) == 0 {
					return anywhere(r, d)
				}
				return slices.Clone(at[pick(r)])
			}
		})},
		{"trace", each(func(r *rand.Rand) func() []float64 { // walks within a thousandth of the box
			home := anywhere(r, d)
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
