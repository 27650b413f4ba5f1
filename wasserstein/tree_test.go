package wasserstein

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// treeRandom mixes shapes and lengths: random and equal ones, zeros, huge and
// tiny ones.
func treeRandom(r *rand.Rand, n int) *metric.Tree {
	perm := r.Perm(n)
	back := 1 + r.IntN(n)
	kind := r.IntN(3)
	parent, length := make([]int, n), make([]float64, n)
	parent[perm[0]] = -1
	for k := 1; k < n; k++ {
		parent[perm[k]] = perm[max(0, k-1-r.IntN(back))]
	}
	for v := range length {
		switch kind {
		case 0:
			length[v] = r.Float64()
		case 1:
			length[v] = float64(r.IntN(4)) / 10
		default:
			length[v] = math.Pow(10, float64(r.IntN(25)-12))
		}
	}
	return testkit.Must(metric.NewTree(parent, length))
}

func treeHeight(t *metric.Tree) float64 {
	d, _, _, _ := metric.Diameter(context.Background(), t.NodeMetric())
	return d
}

func TestW1Tree_IsTheTransportCost(t *testing.T) {
	r := random.Seeded(1)
	for trial := range 300 {
		tree := treeRandom(r, 1+r.IntN(9))
		for _, c := range []struct {
			f  metric.Finite
			w1 func(*metric.Tree, []float64, []float64) (float64, error)
		}{{tree.PathMetric(), W1Tree}, {tree.NodeMetric(), W1TreeNodes}} {
			n := c.f.Len()
			mu, nu := lineMeasure(r, n), lineMeasure(r, n)
			if trial%2 == 0 {
				mu, nu = lineSigned(r, n), lineSigned(r, n)
			}
			got := testkit.Must(c.w1(tree, mu, nu))
			if want := refSigned(c.f.Distance, mu, nu); math.Abs(got-want) > 1e-13*treeHeight(tree) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

func TestW1Ultrametric_IsTheTransportCost(t *testing.T) {
	r := random.Seeded(2)
	for trial := range 300 {
		n := 1 + r.IntN(8)
		heights := make([]float64, n-1)
		for p := range heights {
			heights[p] = float64(r.IntN(5)) * []float64{1, r.Float64()}[trial%2]
		}
		u := testkit.Must(metric.NewUltrametric(r.Perm(n), heights))
		mu, nu := lineSigned(r, n), lineMeasure(r, n)
		got := testkit.Must(W1Ultrametric(u, mu, nu))
		if want := refSigned(u.Distance, mu, nu); math.Abs(got-want) > 1e-13*slices.Max(append(heights, 0)) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// The nodes of a path are points of the line.
func TestW1Tree_IsW1LineOnAPath(t *testing.T) {
	r := random.Seeded(3)
	for range 50 {
		n := 1 + r.IntN(200)
		parent, length, x := make([]int, n), make([]float64, n), make([]float64, n)
		for v := range parent {
			parent[v], length[v] = v-1, float64(r.IntN(1<<20))
			if v > 0 {
				x[v] = x[v-1] + length[v] // exact
			}
		}
		tree := testkit.Must(metric.NewTree(parent, length))
		mu, nu := lineDyadic(r, n), lineDyadic(r, n)
		want := testkit.Must(W1Line(x, mu, nu))
		if got, err := W1TreeNodes(tree, mu, nu); err != nil || !lineClose(got, want, 0x1p-51) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
}

func TestW1Clustered_ClosedForm(t *testing.T) {
	c := testkit.Must(metric.NewClustered(3, 2, 0.3))
	// r/2 times the l1 distance 1 of the points, and (1-r)/2 times that of the
	// clusters, .4.
	got, err := W1Clustered(c, []float64{.5, .1, .1, .1, .1, .1}, []float64{.1, .3, 0, .2, .2, .2})
	if err != nil || !lineClose(got, 0.29, 0x1p-50) {
		t.Errorf("%v, %v, want 0.29", got, err)
	}
	r := random.Seeded(4)
	for range 200 {
		c := testkit.Must(metric.NewClustered(1+r.IntN(4), 1+r.IntN(3), 1-r.Float64()))
		u := testkit.Must(metric.Subdominant(t.Context(), c))
		mu, nu := lineSigned(r, c.Len()), lineSigned(r, c.Len())
		got := testkit.Must(W1Clustered(c, mu, nu))
		other := testkit.Must(W1Ultrametric(u, mu, nu))
		if want := refSigned(c.Distance, mu, nu); math.Abs(got-want) > 1e-13 || math.Abs(got-other) > 1e-14 {
			t.Fatalf("%v, ultrametric %v, want %v", got, other, want)
		}
	}
}

func TestW1Tree_Overflows(t *testing.T) {
	far := testkit.Must(metric.NewTree([]int{-1, 0, 0}, []float64{0, 1e300, 1e300}))
	if got, err := W1Tree(far, []float64{1e10, 0}, []float64{0, 1e10}); err != nil || !math.IsInf(got, 1) {
		t.Errorf("%v, %v, want +Inf", got, err)
	}
}
