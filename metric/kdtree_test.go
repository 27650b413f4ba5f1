package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
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
func nettestShapes(r *rand.Rand, n, dim int) map[string][][]float64 {
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
	clusters := gen(func(int) float64 { return r.Float64() })
	for i := range clusters {
		for a := range clusters[i] {
			clusters[i][a] = clusters[i%4][a] + 1e-9*r.NormFloat64()
		}
	}
	line := gen(func(i int) float64 { return float64(i*7%n) / 3 })
	dups := gen(func(int) float64 { return 0.25 })
	for i, x := range gen(func(int) float64 { return r.Float64() }) {
		if i%5 == 0 {
			dups[i] = x
		}
	}
	return map[string][][]float64{
		"uniform":  gen(func(int) float64 { return r.Float64() }),
		"grid":     gen(func(int) float64 { return float64(r.IntN(6)) }),
		"clusters": clusters,
		"line":     line,
		"dups":     dups,
		"same":     gen(func(int) float64 { return -3 }),
		"far":      gen(func(int) float64 { return 1e8 + 1e-7*float64(r.IntN(30)) }),
		"huge":     gen(func(int) float64 { return 1e150 * r.NormFloat64() }),
		"tiny":     gen(func(int) float64 { return 1e-150 * r.NormFloat64() }),
	}
}

// nettestSpaces calls f with embedded spaces of many kinds.
func nettestSpaces(t *testing.T, n int, f func(t *testing.T, p *Points[[]float64])) {
	r := rng.Seeded(1)
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

func TestKDTree_Structure(t *testing.T) {
	r := rng.Seeded(2)
	for _, n := range []int{1, 2, 15, 16, 17, 100, 1000, 3 * parallelBuild} {
		for shape, pts := range nettestShapes(r, n, 2) {
			p := nettestPoints(pts, nettestSpace{2, nettestIdentity})
			e, _ := p.Embed()
			before := slices.Clone(e.Coords)
			tree := newKDTree(e, nil)
			if !slices.Equal(e.Coords, before) {
				t.Fatalf("%s: the embedding was modified", shape)
			}
			var walk func(node, lo, hi int) int32
			walk = func(node, lo, hi int) int32 {
				box := tree.box(node)
				least := tree.id[lo]
				for a := range 2 {
					lower, upper := math.Inf(1), math.Inf(-1)
					for k := lo; k < hi; k++ {
						lower, upper = min(lower, tree.at(k)[a]), max(upper, tree.at(k)[a])
					}
					if box[a] != lower || box[2+a] != upper {
						t.Fatalf("%s: box of node %d is not tight", shape, node)
					}
				}
				if node < tree.leaves {
					mid := (lo + hi) / 2
					least = min(walk(2*node, lo, mid), walk(2*node+1, mid, hi))
				} else {
					if hi-lo > leafSize || hi == lo {
						t.Fatalf("leaf of %d points", hi-lo)
					}
					for k := lo; k < hi; k++ {
						least = min(least, tree.id[k])
						for a, v := range tree.at(k) {
							if v*tree.scale != pts[tree.id[k]][a] {
								t.Fatalf("%s: point %d moved", shape, tree.id[k])
							}
						}
					}
				}
				if tree.first[node] != least {
					t.Fatalf("%s: first of node %d", shape, node)
				}
				return least
			}
			walk(1, 0, n)
			ids := slices.Clone(tree.id)
			slices.Sort(ids)
			for k, i := range ids {
				if int(i) != k {
					t.Fatalf("%s: ids are no permutation", shape)
				}
			}
		}
	}
}

// The split must put no greater coordinate before mid than after it.
func TestKDTree_Split(t *testing.T) {
	r := rng.Seeded(3)
	for trial := range 300 {
		n := 1 + r.IntN(60)
		tree := &kdTree{n: n, dim: 1, coords: make([]float64, n), id: make([]int32, n)}
		for k := range tree.coords {
			tree.coords[k] = float64(r.IntN(1 + trial%20))
		}
		mid := r.IntN(n)
		tree.split(0, mid, n, 0)
		for k := range n {
			if v := tree.coords[k]; (k < mid && v > tree.coords[mid]) || (k > mid && v < tree.coords[mid]) {
				t.Fatalf("n=%d mid=%d: %v", n, mid, tree.coords)
			}
		}
	}
}

// An embedding that cannot be used is not: all is scanned.
func TestKDTree_Refuses(t *testing.T) {
	good := Embedding{Coords: []float64{1, 2, 3, 4}, Dim: 2, P: 2, FromNorm: nettestIdentity}
	if newKDTree(good, nil) == nil {
		t.Fatal("refused a good embedding")
	}
	for name, change := range map[string]func(e *Embedding){
		"no points":      func(e *Embedding) { e.Coords = nil },
		"NaN coordinate": func(e *Embedding) { e.Coords = []float64{1, math.NaN()} },
		"Inf coordinate": func(e *Embedding) { e.Coords = []float64{1, math.Inf(1)} },
		"dimension 0":    func(e *Embedding) { e.Dim = 0 },
		"ragged":         func(e *Embedding) { e.Dim = 3 },
		"P below 1":      func(e *Embedding) { e.P = 0.5 },
		"P NaN":          func(e *Embedding) { e.P = math.NaN() },
		"no FromNorm":    func(e *Embedding) { e.FromNorm = nil },
		"high dimension": func(e *Embedding) { e.Coords, e.Dim = make([]float64, 2*maxTreeDim+2), maxTreeDim+1 },
	} {
		e := good
		change(&e)
		if newKDTree(e, nil) != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkKDTree(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			e, _ := nettestPlane(n).Embed()
			b.ReportAllocs()
			for b.Loop() {
				newKDTree(e, nil)
			}
		})
	}
}

// nettestPlane returns n uniform points of the unit square.
func nettestPlane(n int) *Points[[]float64] {
	r := rng.Seeded(4)
	flat := make([]float64, 2*n)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = flat[2*i : 2*i+2 : 2*i+2]
		pts[i][0], pts[i][1] = r.Float64(), r.Float64()
	}
	return nettestPoints(pts, nettestSpace{2, nettestIdentity})
}
