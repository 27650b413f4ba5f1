package kdtree

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

func identity(v float64) float64 { return v }

// shapes are n coordinates of points that are hard in different ways.
func shapes(rng *rand.Rand, n int) map[string][]float64 {
	out := map[string][]float64{}
	for name, f := range map[string]func(k int) float64{
		"uniform":  func(int) float64 { return rng.Float64() },
		"grid":     func(int) float64 { return float64(rng.IntN(6)) },
		"clusters": func(int) float64 { return float64(rng.IntN(4)) + 1e-9*rng.NormFloat64() },
		"line":     func(k int) float64 { return float64(k/2*7%n) / 3 },
		"same":     func(int) float64 { return -3 },
		"zero":     func(int) float64 { return 0 },
		"far":      func(int) float64 { return 1e8 + 1e-7*float64(rng.IntN(30)) },
		"huge":     func(int) float64 { return 1e150 * rng.NormFloat64() },
		"tiny":     func(int) float64 { return 1e-150 * rng.NormFloat64() },
	} {
		x := make([]float64, n)
		for k := range x {
			x[k] = f(k)
		}
		out[name] = x
	}
	return out
}

func TestTree_Structure(t *testing.T) {
	r := random.Seeded(2)
	for _, n := range []int{1, 2, 15, 16, 17, 100, 1000, 3 * parallelBuild} {
		for shape, coords := range shapes(r, 2*n) {
			before := slices.Clone(coords)
			tree := New(coords, 2, 2, identity, nil)
			if !slices.Equal(coords, before) {
				t.Fatalf("%s: the embedding was modified", shape)
			}
			var walk func(node, lo, hi int)
			walk = func(node, lo, hi int) {
				low, high := tree.Box(node)
				least := slices.Min(tree.ID[lo:hi])
				for a := range 2 {
					lower, upper := math.Inf(1), math.Inf(-1)
					for k := lo; k < hi; k++ {
						lower, upper = min(lower, tree.At(k)[a]), max(upper, tree.At(k)[a])
					}
					if low[a] != lower || high[a] != upper || tree.First[node] != least {
						t.Fatalf("%s: box or first of node %d", shape, node)
					}
				}
				if node < tree.Leaves {
					mid := (lo + hi) / 2
					walk(2*node, lo, mid)
					walk(2*node+1, mid, hi)
				} else {
					if hi-lo > LeafSize || hi == lo {
						t.Fatalf("leaf of %d points", hi-lo)
					}
					for k := lo; k < hi; k++ {
						for a, v := range tree.At(k) {
							if v*tree.scale != coords[2*int(tree.ID[k])+a] {
								t.Fatalf("%s: point %d moved", shape, tree.ID[k])
							}
						}
					}
				}
			}
			walk(1, 0, n)
			ids := slices.Clone(tree.ID)
			slices.Sort(ids)
			for k, i := range ids {
				if int(i) != k {
					t.Fatalf("%s: ids are no permutation", shape)
				}
			}
		}
	}
}

// An embedding that cannot be used is not: all is scanned.
func TestTree_Refuses(t *testing.T) {
	if New([]float64{1, 2, 3, 4}, 2, 2, identity, nil) == nil {
		t.Fatal("refused a good embedding")
	}
	for name, tree := range map[string]*Tree{
		"no points":      New(nil, 2, 2, identity, nil),
		"NaN coordinate": New([]float64{1, math.NaN()}, 2, 2, identity, nil),
		"Inf coordinate": New([]float64{1, math.Inf(1)}, 2, 2, identity, nil),
		"dimension 0":    New([]float64{1, 2}, 0, 2, identity, nil),
		"ragged":         New([]float64{1, 2, 3, 4}, 3, 2, identity, nil),
		"P below 1":      New([]float64{1, 2}, 2, 0.5, identity, nil),
		"P NaN":          New([]float64{1, 2}, 2, math.NaN(), identity, nil),
		"no FromNorm":    New([]float64{1, 2}, 2, 2, nil, nil),
		"high dimension": New(make([]float64, 2*MaxDim+2), MaxDim+1, 2, identity, nil),
	} {
		if tree != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Bounds hold for distances and coordinates that are all as wrong as they may
// be, and, where relative errors mean nothing, tell no distance from 0.
func TestTree_BoundsHold(t *testing.T) {
	const u = 0x1p-53
	r := random.Seeded(5)
	for _, size := range []float64{1, 1e-150, 0x1p-970, 0x1p-1060} {
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			x, y := make([]float64, 2), make([]float64, 2)
			for range 200 {
				for a := range x {
					x[a], y[a] = size*r.Float64(), size*r.Float64()
				}
				tree := New(slices.Concat(x, y), 2, p, identity, nil)
				gaps := make([]float64, 2)
				v := tree.Norm(0, tree.At(1), gaps)
				moved := func(by float64) float64 { // the norm if every difference is wrong by this much
					for a := range gaps {
						gaps[a] = max(0, math.Abs(x[a]-y[a])/tree.scale+by)
					}
					return tree.fold(gaps) * tree.scale
				}
				if least, most := tree.BoxMin(1, tree.At(1), gaps), tree.BoxMax(1, tree.At(1), gaps); least != 0 || most < v {
					t.Fatalf("p=%v: the box lies between %v and %v", p, least, most)
				}
				reach := tree.Reach()
				if !reach.Aim(tree.At(0)) || reach.Aim([]float64{0}) || reach.Aim([]float64{0, math.Inf(1)}) {
					t.Fatal("Aim")
				}
				for _, e := range []float64{moved(-128 * u), moved(128 * u)} {
					if tree.Below(v) > e {
						t.Fatalf("p=%v: %v is not below %v", p, tree.Below(v), e)
					}
					if reach.Within(e); reach.Far(v) {
						t.Fatalf("p=%v: %v is not far from %v", p, e, v)
					}
					if reach.Beyond(e); reach.Short(v) {
						t.Fatalf("p=%v: %v is not short of %v", p, e, v)
					}
				}
				if low := tree.Below(v); low != 0 && low < tiny {
					t.Fatalf("%v among the tiny", low)
				}
				reach.Within(0)
				if far := reach.Far(v); size >= 1e-150 && v > 0.01 && !far || size < tiny && far {
					t.Fatalf("size %v: Far(%v) = %v from 0", size, v, far)
				}
			}
		}
	}
}
