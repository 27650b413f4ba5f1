package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph/simple"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// conform runs a space through the kit on points of its own.
func conform[P any](t *testing.T, name string, s metric.Space[P], o *metrictest.Options, points ...P) {
	t.Helper()
	if err := metrictest.TestSpace(t.Context(), s, points, o); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	p := testkit.Must(metric.NewPoints(points, s))
	if err := metrictest.TestFinite(t.Context(), p, o); err != nil {
		t.Errorf("points of %s: %v", name, err)
	}
}

// vectors are 40 random points and the awkward ones: equal, near, far, tiny.
func vectors(dim int) [][]float64 {
	r := rand.New(rand.NewPCG(3, uint64(dim)))
	var pts [][]float64
	point := func(f func() float64) {
		x := make([]float64, dim)
		for k := range x {
			x[k] = f()
		}
		pts = append(pts, x)
	}
	for range 40 {
		point(r.NormFloat64)
	}
	pts = append(pts, pts[0])
	for _, v := range []float64{1, 1 + 0x1p-52, -1, 0x1p-300, 5e-324, 1e300, -1e300} {
		point(func() float64 { return v })
	}
	return pts
}

// The spaces that the tests of their own do not run through the kit.
func TestConformance_Spaces(t *testing.T) {
	var world metric.Space[metric.LatLon] = metric.GreatCircle{}
	conform(t, "a scaled GreatCircle", testkit.Must(metric.Scale(world, 1.1, "")), nil, spherePoints(9, 9)...)
	words := []string{"", "a", "aa", "ab", "kitten", "sitting", "Ärger", "arg\u0308er", "kitten", string(make([]byte, 200)), string(make([]byte, 70)) + "x"}
	ultra := &metrictest.Options{Ultrametric: true}
	var edits, prefix metric.Space[string] = metric.Levenshtein{}, metric.Discrete[string]{}
	conform(t, "Discrete", metric.Discrete[string]{}, ultra, words...)
	conform(t, "Sum", testkit.Must(metric.Sum(edits, prefix)), nil, words...)
	conform(t, "CommonPrefix", metric.CommonPrefix[int]{Base: 3}, ultra, nil, []int{1}, []int{1, 2}, []int{1, 3}, []int{2})
}

// Every Finite of the package keeps its contract.
func TestConformance_Finite(t *testing.T) {
	p := square(t, 60)
	dense := testkit.Must(metric.Densify(t.Context(), p))
	g := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	r := rand.New(rand.NewPCG(4, 4))
	for v := int64(1); v < 40; v++ {
		g.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(v), T: simple.Node(r.Int64N(v)), W: r.Float64()})
		g.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(v), T: simple.Node((v + 7) % 40), W: r.Float64()})
	}
	tree := testkit.Must(metric.NewTree([]int{-1, 0, 0, 1, 1, 2, 2, 2, 4}, []float64{0, 1, 0.1, 0.3, 1e-9, 0.7, 0, 1e6, 3}))
	clustered := testkit.Must(metric.NewClustered(5, 4, 0.3))
	linkage := testkit.Must(metric.FromLinkage(4, []metric.Merge{{A: 0, B: 2, Height: 1}, {A: 1, B: 3, Height: 1}, {A: 4, B: 5, Height: 2.5}}))
	sub := func(f metric.Finite, idx ...int) metric.Finite { return testkit.Must(metric.Subset(f, idx)) }
	for _, c := range []struct {
		name  string
		f     metric.Finite
		ultra bool
	}{
		{"points", p, false},
		{"dense", dense, false},
		{"one point", sub(dense, 3), true},
		{"graph", testkit.Must(metric.NewGraph(t.Context(), g)), false},
		{"spanner", testkit.Must(metric.Spanner(t.Context(), p, 1.5)), false},
		{"paths in a tree", tree.PathMetric(), false},
		{"nodes of a tree", tree.NodeMetric(), false},
		{"heights in a tree", tree.Ultrametric(), true},
		{"linkage", linkage, true},
		{"subdominant", testkit.Must(metric.Subdominant(t.Context(), p)), true},
		{"clustered", clustered, true},
		{"subset of points", sub(p, 5, 5, 36, 0), false},
		{"subset of an ultrametric", sub(clustered, 19, 0, 0, 7), true},
		{"scaled points", testkit.Must(metric.Scaled(p, 1.1)), false},
		{"scaled dense", testkit.Must(metric.Scaled(dense, 0x1p-1000)), false},
		{"permuted", sub(dense, r.Perm(60)...), false},
		{"a view of a view", sub(testkit.Must(metric.Scaled(sub(p, 9, 8, 7, 7), 3)), 3, 0), false},
		{"more points than are tried", square(t, 500), false},
	} {
		if err := metrictest.TestFinite(t.Context(), c.f, &metrictest.Options{Ultrametric: c.ultra}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := metrictest.TestBimetric(t.Context(), metric.Bimetric{Privacy: p, Utility: dense}, &metrictest.Options{Strict: true}); err != nil {
		t.Error(err)
	}
}
