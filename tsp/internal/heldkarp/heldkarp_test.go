package heldkarp

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func cube(n, d, side int, s metric.Space[[]float64], seed uint64) metric.Finite {
	return space.Cube(n, d, side, s, random.Seeded(seed))
}

func plane(n int, seed uint64) metric.Finite { return cube(n, 2, 0, metric.Euclidean{}, seed) }

// costs returns the sorted costs of a spanning tree, which are the same for
// all minimum spanning trees, and nil if it is none.
func costs(f metric.Finite, tree []spanning.Edge, pi []float64) []float64 {
	parts := spanning.NewForest(f.Len())
	var out []float64
	for _, e := range tree {
		if !parts.Join(int(e.I), int(e.J)) {
			return nil
		}
		out = append(out, spanning.Cost(f.Distance(int(e.I), int(e.J)), pi[e.I], pi[e.J]))
	}
	slices.Sort(out)
	return out
}

// Both algorithms find minimum spanning trees under any multipliers, to the
// bit, with hints or without.
func TestTrees_Agree(t *testing.T) {
	testkit.Slow(t)
	const n = minPoints + 100
	for name, f := range map[string]metric.Finite{
		"plane": plane(n, 1),
		"space": cube(n, 3, 0, metric.Euclidean{}, 1),
		"taxi":  cube(n, 2, 0, metric.Manhattan{}, 1),
		"chess": cube(n, 4, 0, metric.Chebyshev{}, 1),
		"l3":    cube(n, 2, 0, metric.Minkowski{P: 3}, 1),
		"ties":  cube(n, 2, 40, metric.Euclidean{}, 1),
		"piles": cube(n, 2, 5, metric.Manhattan{}, 1),
		"one":   cube(n, 1, 1, metric.Manhattan{}, 1),
	} {
		kd := newBoruvka(f)
		if kd == nil {
			t.Errorf("%s: no kd-tree", name)
			continue
		}
		r := random.Seeded(2)
		_, far := metric.NewIndex(f).Farthest(0)
		unit := far / 40
		var hints []spanning.Edge
		for _, size := range []float64{0, 3, 0.5}[:testkit.Sweep(2, 3)] {
			pi := make([]float64, n)
			for i := range pi {
				pi[i] = size * unit * r.NormFloat64()
			}
			prim := testkit.Must(prim(context.Background(), f, pi))
			want := costs(f, prim, pi)
			for _, h := range [][]spanning.Edge{hints, nil, prim}[:testkit.Sweep(2, 3)] {
				got, err := kd.spanning(context.Background(), pi, h)
				if err != nil || want == nil || !slices.Equal(costs(f, got, pi), want) {
					t.Errorf("%s, multipliers of size %v: trees differ (%v)", name, size, err)
				}
			}
			hints = prim // for the next multipliers
			// On the graph of all pairs of a few points the third algorithm agrees.
			if size == 0 {
				g, edges := newGraph(f, slices.Concat(prim, prim))
				if order := g.preorder(); len(edges) != n-1 || !slices.Equal(costs(f, g.tree(pi), pi), want) || len(order) != n {
					t.Errorf("%s: the graph of a tree has another tree", name)
				}
			}
		}
	}
}

// The tree of a sparse graph is minimal, and a 1-tree has n edges.
func TestGraph_OneTree(t *testing.T) {
	r := random.Seeded(1)
	for _, n := range []int{4, 5, 20, 100} {
		f := plane(n, uint64(n))
		var all []spanning.Edge
		for i := range n {
			for j := range i {
				all = append(all, spanning.Edge{I: int32(i), J: int32(j)})
			}
		}
		g, _ := newGraph(f, all)
		for range 5 {
			pi := make([]float64, n)
			for i := range pi {
				pi[i] = 0.1 * r.NormFloat64()
			}
			prim, err := prim(context.Background(), f, pi)
			if err != nil || !slices.Equal(costs(f, g.tree(pi), pi), costs(f, prim, pi)) {
				t.Fatal("trees differ", err)
			}
			for _, path := range []bool{false, true} {
				w := g.oneTree(pi, path)
				degrees := 0.0
				for _, d := range g.deg {
					degrees += d
				}
				// All leaves are probed where there are few, so w is what is proved.
				v := certify(t.Context(), f, prim, pi, path)
				if degrees != 2*float64(n) || v > max(w, 0)+1e-9 || v < w-1e-9 {
					t.Errorf("n=%d path=%v: w = %v, proved %v, degrees %v", n, path, w, v, degrees)
				}
			}
		}
		if allocs := testing.AllocsPerRun(10, func() { g.oneTree(make([]float64, 100)[:n], false) }); allocs > 1 {
			t.Errorf("a 1-tree allocates %v times", allocs)
		}
	}
}

// A search of a kd-tree need not have met the NaN that a row holds: a bound must
// neither become NaN nor rise to it.
func TestSecond_PassesOverNaN(t *testing.T) {
	nan, pi := math.NaN(), make([]float64, 4)
	for _, row := range [][]float64{{0, 3, 5, nan}, {0, nan, 3, 5}, {0, 5, nan, 3}} {
		if got := second(row, pi, 0); got != 5 {
			t.Errorf("%v: %v, want 5", row, got)
		}
	}
}

// Three points at distance 3, and multipliers such that five of the six roundings go up by
// all they can: without what stands for the roundings, or with half of it, the tree would
// prove more than the one tour has. The same below 1.
func TestOneTree_PaysForItsRoundings(t *testing.T) {
	for _, unit := range []float64{1, 0x1p-60} {
		f := space.Simplex(3, 3*unit)
		pi := []float64{(0x1p52 + 3) * unit, 0x1p52 * unit, 0x1p52 * unit}
		b, err := OneTree(t.Context(), f, pi, false)
		if err != nil || !(b.Value > 7*unit && b.Value <= 9*unit) {
			t.Errorf("unit %v: proved %v of 9 units (%v)", unit, b.Value/unit, err)
		}
	}
}

// Clusters within clusters make directions that nest.
func TestScales_FollowTheClusters(t *testing.T) {
	var pts [][]float64
	for i := range 27 {
		pts = append(pts, []float64{float64(i%3) + 100*float64(i/3%3) + 10000*float64(i/9)})
	}
	f := testkit.Must(metric.NewPoints(pts, metric.Manhattan{}))
	tree := testkit.Must(prim(context.Background(), f, make([]float64, 27)))
	if b := testkit.Must(Ascend(context.Background(), f, true, 0)); b.Value != f.Distance(0, 26) {
		t.Errorf("bound %v, the path is %v long", b.Value, f.Distance(0, 26))
	}
	s := newScales(f, tree, slices.Repeat([]float64{2}, 27))
	if len(s.up) != 27+9+3 {
		t.Fatalf("%d directions, want 39", len(s.up))
	}
	slope := make([]float64, 27)
	slope[0] = 1
	pi := make([]float64, 27)
	s.step(pi, 1, slope)
	for i, p := range pi {
		want := 0.0
		if i < 9 {
			want += 9798 // the gap around 9 points
		}
		if i < 3 {
			want += 98
		}
		if i < 1 {
			want += 2
		}
		if math.Abs(p-want) > 1e-9 {
			t.Errorf("point %d moved by %v, want %v", i, p, want)
		}
	}
}
