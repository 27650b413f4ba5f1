package random

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/metricdp/metricdp/internal/testkit"
)

// The extreme words: the middle of the first of 2^63 or 2^64 parts, the end of the last, and Laplace's sign.
func TestVariates_ExtremeWords(t *testing.T) {
	const least, most = 0, math.MaxUint64
	for _, c := range []struct {
		name string
		draw func(*rand.Rand) float64
		word uint64
		want float64
	}{
		{"Uniform", Uniform, least, 0x1p-65}, {"Uniform", Uniform, most, 1},
		{"Symmetric", Symmetric, least, 0x1p-64}, {"Symmetric", Symmetric, 1 << 63, -1}, {"Symmetric", Symmetric, most, -0x1p-64},
		{"Exponential", Exponential, least, 64 * math.Ln2}, {"Exponential", Exponential, most, 0},
		{"Laplace", Laplace, least, 64 * math.Ln2}, {"Laplace", Laplace, 1, -64 * math.Ln2}, {"Laplace", Laplace, most, 0},
	} {
		if got := c.draw(rand.New(word(c.word))); math.Abs(got-c.want) > 0x1p-52*math.Abs(c.want) {
			t.Errorf("%s of the word %#x is %v, want %v", c.name, c.word, got, c.want)
		}
	}
}

// word is a source of one word.
type word uint64

func (w word) Uint64() uint64 { return uint64(w) }

// Every variate, put into its distribution function, is uniform. A scale wrong by 1 percent fails.
func TestVariates_Law(t *testing.T) {
	testkit.Slow(t)
	rng := Seeded(31)
	uniform := func(name string, draw func() float64) {
		t.Helper()
		u := make([]float64, 100_000)
		for i := range u {
			u[i] = draw()
		}
		testkit.Uniform(t, name, u)
	}
	normal := distuv.UnitNormal
	uniform("Uniform", func() float64 { return Uniform(rng) })
	uniform("Symmetric", func() float64 { return (1 + Symmetric(rng)) / 2 })
	uniform("Exponential", func() float64 { return -math.Expm1(-Exponential(rng)) })
	uniform("Laplace", func() float64 {
		z := Laplace(rng)
		if z < 0 {
			return math.Exp(z) / 2
		}
		return 1 - math.Exp(-z)/2
	})
	uniform("Normals, first", func() float64 { x, _ := Normals(rng); return normal.CDF(x) })
	uniform("Normals, second", func() float64 { _, y := Normals(rng); return normal.CDF(y) })
	uniform("Normals, sum", func() float64 { x, y := Normals(rng); return normal.CDF((x + y) / math.Sqrt2) })
	three := make([]float64, 3)
	uniform("FillNormal", func() float64 {
		FillNormal(rng, three)
		return normal.CDF((three[0] + three[1] + three[2]) / math.Sqrt(3))
	})
}
