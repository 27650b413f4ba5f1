package wasserstein

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// treeRandom mixes shapes and lengths: random and equal ones, zeros, huge and tiny ones.
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

func TestDistance_ClustersKnownValue(t *testing.T) {
	c := testkit.Must(metric.NewClustered(3, 2, 0.3))
	// r/2 times the l1 distance 1 of the points, and (1-r)/2 times that of the clusters, .4.
	got, err := distance(c, []float64{.5, .1, .1, .1, .1, .1}, []float64{.1, .3, 0, .2, .2, .2})
	if err != nil || !lineClose(got, 0.29, 0x1p-50) {
		t.Errorf("%v, %v, want 0.29", got, err)
	}
	r := random.Seeded(4)
	for range 200 {
		c := testkit.Must(metric.NewClustered(1+r.IntN(4), 1+r.IntN(3), 1-r.Float64()))
		u := testkit.Must(metric.Subdominant(t.Context(), c))
		mu, nu := lineSigned(r, c.Len()), lineSigned(r, c.Len())
		got := testkit.Must(distance(c, mu, nu))
		other := testkit.Must(distance(u, mu, nu))
		if want := refSigned(c.Distance, mu, nu); math.Abs(got-want) > 1e-13 || math.Abs(got-other) > 1e-14 {
			t.Fatalf("%v, ultrametric %v, want %v", got, other, want)
		}
	}
}

// What one total has more than the other by rounding goes no farther than the points with
// weight lie apart, however far others are.
func TestDistance_TheRestStaysAmongTheWeights(t *testing.T) {
	const far = 1e15
	mu, nu := []float64{0.1, 0.2, 0}, []float64{0, 0.3, 0} // as exact numbers, 0.1+0.2 is 0x1p-55 above 0.3
	want, slack := 0.1, 0x1p-52
	x := []float64{0, 1, far}
	tree := testkit.Must(metric.NewTree([]int{3, 3, 4, 4, -1}, []float64{0.5, 0.5, far, far, 0}))
	deep := testkit.Must(metric.NewUltrametric([]int{0, 1, 2}, []float64{1, far}))
	for name, f := range map[string]metric.Finite{"line": onLine(x), "leaves": tree.PathMetric(), "ultrametric": deep} {
		for _, side := range [][2][]float64{{mu, nu}, {nu, mu}} {
			if d := testkit.Must(distance(f, side[0], side[1])); math.Abs(d-want) > slack {
				t.Errorf("%s: %v, want %v", name, d, want)
			}
		}
	}
	if d := testkit.Must(W1LineBetween(x, mu, x, nu)); math.Abs(d-want) > slack {
		t.Errorf("W1LineBetween: %v, want %v", d, want)
	}
}

func TestDistance_Overflows(t *testing.T) {
	far := testkit.Must(metric.NewTree([]int{-1, 0, 0}, []float64{0, 1e300, 1e300}))
	if got, err := distance(far.PathMetric(), []float64{1e10, 0}, []float64{0, 1e10}); err != nil || !math.IsInf(got, 1) {
		t.Errorf("%v, %v, want +Inf", got, err)
	}
}

// hidden is a metric of a type that has no closed form.
type hidden struct{ f metric.Finite }

func (h hidden) Len() int                  { return h.f.Len() }
func (h hidden) Distance(i, j int) float64 { return h.f.Distance(i, j) }

// Where the type has a closed form, W1 gives a plan with a proof as the network simplex
// method does, at the same cost, without a pivot.
func TestW1_ClosedFormsAreTheOptimum(t *testing.T) {
	r := random.Seeded(5)
	for trial := range 60 {
		n := 1 + r.IntN(60)
		if trial%20 == 0 {
			n = 250 // searched in space
		}
		tree := treeRandom(r, n)
		heights := make([]float64, n-1)
		for p := range heights {
			heights[p] = float64(r.IntN(5)) * []float64{1, r.Float64()}[trial%2]
		}
		for _, c := range []struct {
			name string
			f    metric.Finite
		}{
			{"line", onLine(linePositions(r, n))}, {"leaves", tree.PathMetric()}, {"nodes", tree.NodeMetric()},
			{"ultrametric", testkit.Must(metric.NewUltrametric(r.Perm(n), heights))},
			{"clusters", testkit.Must(metric.NewClustered(1+r.IntN(9), 1+r.IntN(9), 1-r.Float64()))},
			{"integers", testkit.Must(metric.NewPoints(testConvert[int64](linePositions(r, n)), metric.Numbers[int64]{}))},
		} {
			name, f := c.name, c.f
			n := f.Len()
			value, _, _, _ := metric.Diameter(t.Context(), f)
			if value == 0 {
				continue // a kd-tree's largest distance is above it
			}
			mu, nu := lineMeasure(r, n), lineMeasure(r, n)
			got := testkit.Must(W1(t.Context(), f, mu, nu, nil))
			w1Verify(t, metricCost{f}, mu, nu, got, w1Tol)
			want := testkit.Must(W1(t.Context(), hidden{f}, mu, nu, nil))
			if got.Lower > want.Upper || want.Lower > got.Upper || got.Pivots > 0 {
				t.Fatalf("%s: %v in %d pivots, want %v", name, got, got.Pivots, want)
			}
			// Both round some four times, and what one total has more than the other goes no
			// farther than the diameter.
			rest := math.Abs(total(mu) - total(nu))
			if d := testkit.Must(distance(f, mu, nu)); math.Abs(d-got.Cost) > (0x1p-49+rest)*value {
				t.Fatalf("%s: %v without the plan, %v with it", name, d, got)
			}
			mu[r.IntN(n)] += 0x1p-32 // one total is larger, and what is proved holds for all below it
			for _, side := range [][2][]float64{{mu, nu}, {nu, mu}} {
				got, want := testkit.Must(W1(t.Context(), f, side[0], side[1], nil)), testkit.Must(W1(t.Context(), hidden{f}, side[0], side[1], nil))
				if got.Lower > want.Upper || want.Lower > got.Upper || got.Gap() > 0x1p-30*value {
					t.Fatalf("%s, of unequal totals: %v, want %v", name, got, want)
				}
			}
			g, h := lineSigned(r, n), lineSigned(r, n)
			got, want = testkit.Must(W1(t.Context(), f, g, h, nil)), testkit.Must(W1(t.Context(), hidden{f}, g, h, nil))
			if got.Lower > want.Upper || want.Lower > got.Upper || got.Gap() > 1e-13*value*(1+total(withParts(g, h))) {
				t.Fatalf("%s, signed: %v, want %v", name, got, want)
			}
		}
	}
}

// Integers above 2^53 whose coordinates are rounded, and embeddings that bend the line, are
// left to the general method.
func TestW1_NoLineByItsCoordinates(t *testing.T) {
	big := testkit.Must(metric.NewPoints([]int64{1 << 60, 1<<60 + 1, 1<<60 + 5, 1 << 61}, metric.Numbers[int64]{}))
	if d, err := distance(big, []float64{1, 0, 0, 0}, []float64{0, .5, .5, 0}); err != nil || d != 3 {
		t.Errorf("%v, %v, want 3", d, err)
	}
	root := bent{0, 1, 2, 3}
	if d, err := distance(root, []float64{.5, .5, 0, 0}, []float64{0, 0, .5, .5}); err != nil || math.Abs(d-(1+math.Sqrt(3))/2) > 1e-15 {
		t.Errorf("%v, %v, want %v", d, err, (1+math.Sqrt(3))/2)
	}
}

// bent are points of the line at the square roots of their distances.
type bent []float64

func (x bent) Len() int                  { return len(x) }
func (x bent) Distance(i, j int) float64 { return math.Sqrt(math.Abs(x[i] - x[j])) }
func (x bent) Embed() (metric.Embedding, bool) {
	return metric.Embedding{Coords: x, Dim: 1, P: 1, FromNorm: math.Sqrt}, true
}
