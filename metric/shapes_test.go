package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
)

// normSpace is from(p-norm) on R^d, computed in the plain way.
type normSpace struct {
	p    float64
	from func(float64) float64
}

func (s normSpace) Distance(x, y []float64) float64 {
	sum, top := 0.0, 0.0
	for a := range x {
		top = max(top, math.Abs(x[a]-y[a]))
	}
	for a := range x {
		switch g := math.Abs(x[a] - y[a]); s.p {
		case 1:
			sum += g
		case 2:
			sum += g * g
		default:
			sum += math.Pow(g/top, s.p)
		}
	}
	switch {
	case top == 0 || math.IsInf(s.p, 1):
		return s.from(top)
	case s.p == 1:
		return s.from(sum)
	case s.p == 2:
		return s.from(math.Sqrt(sum))
	}
	return s.from(top * math.Pow(sum, 1/s.p))
}

func (s normSpace) Append(dst, x []float64) []float64      { return append(dst, x...) }
func (s normSpace) Norm() (float64, func(float64) float64) { return s.p, s.from }
func plateau(v float64) float64                            { return math.Floor(v * 4) }
func flatten(v float64) float64                            { return 1 - math.Exp(-1e3*v) }
func capped(v float64) float64                             { return min(math.Sqrt(v), 0.6) }
func under(pts [][]float64, s Space[[]float64]) *Points[[]float64] {
	p, err := NewPoints(pts, s)
	if err != nil {
		panic(err)
	}
	return p
}

// SameDistances checks that got has the points of want, at its distances, also in
// the rows that it may have.
func SameDistances(t *testing.T, got, want Finite) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d points, want %d", got.Len(), want.Len())
	}
	for i := range want.Len() {
		row := finite.Row(got, i, nil)
		for j := range want.Len() {
			if d, e := got.Distance(i, j), want.Distance(i, j); d != e || row[j] != e {
				t.Fatalf("d(%d, %d) = %v, in a row %v, want %v", i, j, d, row[j], e)
			}
		}
	}
}

// scanned hides every optional capability, so that all is scanned.
type scanned struct{ Finite }

// shapes are point sets that are hard in different ways.
func shapes(rng *rand.Rand, n, dim int) map[string][][]float64 {
	gen := func(f func(k int) float64) [][]float64 {
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = make([]float64, dim)
			for a := range pts[i] {
				pts[i][a] = f(i)
			}
		}
		return pts
	}
	clusters := gen(func(int) float64 { return rng.Float64() })
	for i := range clusters {
		for a := range clusters[i] {
			clusters[i][a] = clusters[i%4][a] + 1e-9*rng.NormFloat64()
		}
	}
	line := gen(func(i int) float64 { return float64(i*7%n) / 3 })
	dups := gen(func(int) float64 { return 0.25 })
	for i, x := range gen(func(int) float64 { return rng.Float64() }) {
		if i%5 == 0 {
			dups[i] = x
		}
	}
	return map[string][][]float64{
		"uniform":  gen(func(int) float64 { return rng.Float64() }),
		"grid":     gen(func(int) float64 { return float64(rng.IntN(6)) }),
		"clusters": clusters,
		"line":     line,
		"dups":     dups,
		"same":     gen(func(int) float64 { return -3 }),
		"far":      gen(func(int) float64 { return 1e8 + 1e-7*float64(rng.IntN(30)) }),
		"huge":     gen(func(int) float64 { return 1e150 * rng.NormFloat64() }),
		"tiny":     gen(func(int) float64 { return 1e-150 * rng.NormFloat64() }),
	}
}

// eachSpace calls f with embedded spaces of many kinds.
func eachSpace(t *testing.T, n int, f func(t *testing.T, p *Points[[]float64])) {
	r := random.Seeded(1)
	each := func(name string, s Space[[]float64], dim int) {
		for shape, pts := range shapes(r, n, dim) {
			t.Run(fmt.Sprintf("%s/d=%d/%s", name, dim, shape), func(t *testing.T) {
				f(t, under(pts, s))
			})
		}
	}
	for _, dim := range []int{1, 2, 3, 5} {
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			each(fmt.Sprintf("p=%v", p), normSpace{p, identity}, dim)
		}
	}
	each("sqrt", normSpace{2, math.Sqrt}, 2)
	each("plateau", normSpace{2, plateau}, 2)
	each("capped", normSpace{1, capped}, 3)
	each("noisy", noisy{normSpace{2, identity}}, 2)
	each("flat", noisy{normSpace{2, flatten}}, 2)
}

// noisy is a space whose embedding and distances are both off by as
// much as a careful implementation can be: coordinates by 8 ulps of the
// largest magnitude, distances by 8 ulps, in a way that hides the order.
type noisy struct{ normSpace }

func hash(v ...float64) float64 { // in [-1, 1]
	h := uint64(99)
	for _, x := range v {
		h = (h ^ math.Float64bits(x)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return float64(int64(h)) / (1 << 63)
}

func (s noisy) Append(dst, x []float64) []float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	for _, v := range x {
		dst = append(dst, v+hash(v)*8*0x1p-53*top)
	}
	return dst
}

func (s noisy) Distance(x, y []float64) float64 {
	d := s.normSpace.Distance(x, y)
	return d * (1 + 8*0x1p-53*hash(d))
}

// planePoints returns n uniform points of the unit square.
func planePoints(n int) *Points[[]float64] {
	r := random.Seeded(4)
	flat := make([]float64, 2*n)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = flat[2*i : 2*i+2 : 2*i+2]
		pts[i][0], pts[i][1] = r.Float64(), r.Float64()
	}
	return under(pts, normSpace{2, identity})
}
