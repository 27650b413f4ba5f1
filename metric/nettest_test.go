package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// nettestSpace is from(p-norm) on R^d, computed in the plain way.
type nettestSpace struct {
	p    float64
	from func(float64) float64
}

func (s nettestSpace) Distance(x, y []float64) float64 {
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

func (s nettestSpace) Append(dst, x []float64) []float64      { return append(dst, x...) }
func (s nettestSpace) Norm() (float64, func(float64) float64) { return s.p, s.from }
func nettestIdentity(v float64) float64                       { return v }
func nettestPlateau(v float64) float64                        { return math.Floor(v * 4) }
func nettestFlat(v float64) float64                           { return 1 - math.Exp(-1e3*v) }
func nettestCapped(v float64) float64                         { return min(math.Sqrt(v), 0.6) }
func nettestPoints(pts [][]float64, s Space[[]float64]) *Points[[]float64] {
	p, err := NewPoints(pts, s)
	if err != nil {
		panic(err)
	}
	return p
}

// nettestScan hides every optional capability, so that all is scanned.
type nettestScan struct{ Finite }

// nettestShapes are point sets that are hard in different ways.
func nettestShapes(rng *rand.Rand, n, dim int) map[string][][]float64 {
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

// nettestSpaces calls f with embedded spaces of many kinds.
func nettestSpaces(t *testing.T, n int, f func(t *testing.T, p *Points[[]float64])) {
	r := random.Seeded(1)
	each := func(name string, s Space[[]float64], dim int) {
		for shape, pts := range nettestShapes(r, n, dim) {
			t.Run(fmt.Sprintf("%s/d=%d/%s", name, dim, shape), func(t *testing.T) {
				f(t, nettestPoints(pts, s))
			})
		}
	}
	for _, dim := range []int{1, 2, 3, 5} {
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			each(fmt.Sprintf("p=%v", p), nettestSpace{p, nettestIdentity}, dim)
		}
	}
	each("sqrt", nettestSpace{2, math.Sqrt}, 2)
	each("plateau", nettestSpace{2, nettestPlateau}, 2)
	each("capped", nettestSpace{1, nettestCapped}, 3)
	each("noisy", nettestNoisy{nettestSpace{2, nettestIdentity}}, 2)
	each("flat", nettestNoisy{nettestSpace{2, nettestFlat}}, 2)
}

// nettestNoisy is a space whose embedding and distances are both off by as
// much as a careful implementation can be: coordinates by 8 ulps of the
// largest magnitude, distances by 8 ulps, in a way that hides the order.
type nettestNoisy struct{ nettestSpace }

func nettestHash(v ...float64) float64 { // in [-1, 1]
	h := uint64(99)
	for _, x := range v {
		h = (h ^ math.Float64bits(x)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return float64(int64(h)) / (1 << 63)
}

func (s nettestNoisy) Append(dst, x []float64) []float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	for _, v := range x {
		dst = append(dst, v+nettestHash(v)*8*0x1p-53*top)
	}
	return dst
}

func (s nettestNoisy) Distance(x, y []float64) float64 {
	d := s.nettestSpace.Distance(x, y)
	return d * (1 + 8*0x1p-53*nettestHash(d))
}

// nettestPlane returns n uniform points of the unit square.
func nettestPlane(n int) *Points[[]float64] {
	r := random.Seeded(4)
	flat := make([]float64, 2*n)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = flat[2*i : 2*i+2 : 2*i+2]
		pts[i][0], pts[i][1] = r.Float64(), r.Float64()
	}
	return nettestPoints(pts, nettestSpace{2, nettestIdentity})
}
