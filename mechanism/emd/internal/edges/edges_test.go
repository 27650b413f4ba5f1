package edges

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// randomTree has items at leaves and inner nodes, chains, and edges of length 0.
func randomTree(seed uint64) Tree {
	r := random.Seeded(seed)
	n := 2 + r.IntN(30)
	t := Tree{Parent: []int{-1}, Length: []int64{5}}
	for v := 1; v < n; v++ {
		t.Parent = append(t.Parent, max(0, v-1-r.IntN(1+r.IntN(v))))
		t.Length = append(t.Length, max(0, r.Int64N(1<<uint(1+r.IntN(20)))-1))
	}
	for range 2 + r.IntN(20) {
		t.Items = append(t.Items, r.IntN(n))
	}
	return t
}

func (t Tree) distance(v, w int) (d int64) {
	for v != w {
		if v < w {
			v, w = w, v
		}
		d += t.Length[v]
		v = t.Parent[v]
	}
	return d
}

func (m *Map) phi(item int) []int64 {
	acc := make([]int64, m.Work())
	m.Add(acc, item, 1)
	m.Finish(acc)
	return acc[:m.Dim()]
}

// No two items are farther apart under the map than in the tree. Unpruned it is an
// isometry, and W1 is the distance of the weights. Pruned, what is not told apart is
// within Resolution. And without noise the fit is the items' distribution up to that.
func TestMap_IsAnIsometry(t *testing.T) {
	for seed := range uint64(400) {
		tree := randomTree(seed)
		for _, noise := range []float64{0, 1, 30, 1e3, 1e5} {
			m := New(tree, 1, noise, 0)
			for i, v := range tree.Items {
				y := make([]float64, m.Dim())
				for k, s := range m.phi(i) {
					y[k] = float64(s)
				}
				p := testkit.Must(m.Fit(t.Context(), y))
				off := 0.0
				for j, w := range tree.Items {
					d, got := tree.distance(v, w), int64(0)
					b := m.phi(j)
					for k, s := range m.phi(i) {
						got += max(s-b[k], b[k]-s)
					}
					if got > d || float64(d-got) > 2*m.Resolution() || noise == 0 && got != d {
						t.Fatalf("seed %d, noise %v: items %d and %d at distance %d, mapped %d apart, resolution %v", seed, noise, i, j, d, got, m.Resolution())
					}
					off += float64(p[j] * float64(d))
				}
				if off > m.Resolution()+1e-6 {
					t.Fatalf("seed %d, noise %v: item %d comes back at distance %v, resolution %v", seed, noise, i, off, m.Resolution())
				}
			}
		}
	}
}

// Of two leaves whose shares are far from 0 the difference of the noises is the
// error: more than a quarter of the bound.
func TestMap_BoundIsNear(t *testing.T) {
	m := New(Tree{Parent: []int{-1, 0, 0}, Length: []int64{0, 1000, 1000}, Items: []int{1, 2}}, 1, 10, 0)
	r, mean := random.Seeded(1), 0.0
	const runs = 10_000
	for range runs {
		p := testkit.Must(m.Fit(t.Context(), []float64{500 + 10*random.Laplace(r), 500 + 10*random.Laplace(r)}))
		mean += testkit.Must(m.W1(t.Context(), p, []float64{0.5, 0.5})) / runs
	}
	if bound := m.Bound(10, 10*math.Sqrt2); mean > bound || mean < bound/4 {
		t.Errorf("error %v, bound %v", mean, bound)
	}
}

// The mean error of noisy fits stays below the bound, which is proved, and the fit
// is a distribution.
func TestMap_BoundHolds(t *testing.T) {
	for seed := range uint64(40) {
		tree := randomTree(seed)
		r := random.Seeded(seed + 1000)
		m := New(tree, 1, 100, 0)
		k := len(tree.Items)
		truth := make([]float64, k)
		y := make([]float64, m.Dim())
		for range 3 {
			i := r.IntN(k)
			truth[i] += 1.0 / 3
			for c, s := range m.phi(i) {
				y[c] += float64(s) / 3
			}
		}
		const runs = 30
		mean := 0.0
		for range runs {
			noisy := make([]float64, len(y))
			for c := range y {
				noisy[c] = y[c] + 100*random.Laplace(r)
			}
			p := testkit.Must(m.Fit(t.Context(), noisy))
			sum := 0.0
			for _, v := range p {
				if !(v >= 0) {
					t.Fatal(p)
				}
				sum += v
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("seed %d: weights sum to %v", seed, sum)
			}
			// Against the unpruned tree, whose distances are the true ones.
			mean += testkit.Must(New(tree, 1, 0, 0).W1(t.Context(), p, truth)) / runs
		}
		if bound := m.Bound(100, 100*math.Sqrt2); mean > bound {
			t.Errorf("seed %d: error %v, bound %v", seed, mean, bound)
		}
	}
}
