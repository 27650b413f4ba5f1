package metric_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// slow hides every capability of a Finite but Len and Distance.
type slow struct{ f metric.Finite }

func (s slow) Len() int                  { return s.f.Len() }
func (s slow) Distance(i, j int) float64 { return s.f.Distance(i, j) }

func square(t testing.TB, n int) *metric.Points[[]float64] {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	p := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	return p
}

func TestBimetric_Lipschitz(t *testing.T) {
	p := square(t, 25)
	rho1 := testkit.Must(metric.NewMatrix([][]float64{{0, 1, 2}, {1, 0, 1}, {2, 1, 0}}))
	rho2 := testkit.Must(metric.NewMatrix([][]float64{{0, 3, 8}, {3, 0, 5}, {8, 5, 0}}))
	zero := space.Constant(3, 0)
	for _, c := range []struct {
		privacy, utility metric.Finite
		ratio            float64
		i, j             int
	}{
		{p, testkit.Must(metric.Scaled(p, 2)), 2, 0, 1},
		{rho1, rho2, 5, 1, 2},
		{zero, rho2, inf, 0, 1},
		{zero, zero, 0, 0, 0},
	} {
		b := metric.Bimetric{Privacy: c.privacy, Utility: c.utility}
		if ratio, i, j, err := b.Lipschitz(t.Context()); err != nil || ratio != c.ratio || i != c.i || j != c.j {
			t.Errorf("ratio %v at (%d, %d), %v; want %v at (%d, %d)", ratio, i, j, err, c.ratio, c.i, c.j)
		}
	}
}

func TestClustered_IsItsDefinition(t *testing.T) {
	for _, c := range []struct {
		clusters, size int
		intra          float64
	}{{1, 1, 1}, {1, 5, 0.2}, {5, 1, 0.2}, {3, 4, 0.3}, {2, 3, 1}, {2, 2, 0x1p-1074}} {
		f := testkit.Must(metric.NewClustered(c.clusters, c.size, c.intra))
		if f.Clusters() != c.clusters || f.Size() != c.size || f.Intra() != c.intra {
			t.Errorf("%v: accessors disagree", c)
		}
		metric.SameDistances(t, f, space.Formula(c.clusters*c.size, func(i, j int) float64 {
			if i/c.size == j/c.size {
				return c.intra
			}
			return 1
		}))
		scaled := testkit.Must(f.Scaled(12.5, "km"))
		if scaled.Unit() != "km" || scaled.Inter() != 12.5 {
			t.Errorf("%v: accessors of the scaled disagree", c)
		}
		metric.SameDistances(t, scaled, space.Formula(f.Len(), func(i, j int) float64 { return 12.5 * f.Distance(i, j) }))
	}
}

// TestString_IsALine: what Println shows of a space is a line, not all its numbers.
func TestString_IsALine(t *testing.T) {
	pts := testkit.Must(metric.NewPoints([]string{"a", "b"}, metric.Levenshtein{}))
	for want, f := range map[string]any{
		"tree of 2 nodes":                   testkit.Must(metric.NewTree([]int{-1, 0}, nil)),
		"2 points under metric.Levenshtein": pts,
		"metric on 2 points":                testkit.Must(metric.Densify(t.Context(), pts)),
		"shortest paths between 2 nodes":    testkit.Must(metric.NewGraphEdges(t.Context(), 2, []metric.Edge{{I: 0, J: 1, Length: 1}})),
		"ultrametric on 2 points":           testkit.Must(metric.Subdominant(t.Context(), pts)),
	} {
		if got := fmt.Sprint(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

type vector = []float64

func TestProduct_Metric(t *testing.T) {
	r := random.Seeded(2)
	var pts []metric.Pair[vector, string]
	for _, x := range gaussians(r, 15, 2) {
		pts = append(pts, metric.Pair[vector, string]{First: x, Second: randomString(r, alphabets[0], r.IntN(3))})
	}
	for _, p := range []float64{1, 1.5, 2, 7, 1e6, math.Inf(1)} {
		conform(t, "Product", testkit.Must(metric.Product(metric.Euclidean{}, metric.Levenshtein{}, p)), strictly, pts...)
	}
}

func TestProduct_ClosedForms(t *testing.T) {
	type pair = metric.Pair[float64, float64]
	gap := metric.Numbers[float64]{}
	for p, want := range map[float64]float64{1: 7, 2: 5, 3: math.Cbrt(27 + 64), math.Inf(1): 4} {
		s := testkit.Must(metric.Product(gap, gap, p))
		if got := s.Distance(pair{}, pair{First: 3, Second: 4}); math.Abs(got-want) > 1e-15*want {
			t.Errorf("p = %v: got %v, want %v", p, got, want)
		}
		if got := s.Distance(pair{}, pair{Second: 1e200}); got != 1e200 {
			t.Errorf("p = %v: got %v, want 1e200", p, got)
		}
	}
}

// Each way to make a metric of a metric keeps its unit, or has none.
func TestUnits_Travel(t *testing.T) {
	ctx := t.Context()
	globe, moon := metric.Space[metric.LatLon](metric.GreatCircle{}), metric.Space[metric.LatLon](metric.GreatCircle{Radius: 1737.4})
	scaled := testkit.Must(metric.Scale(globe, 1000, ""))
	pts := testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 1}, {Lat: 3}}, globe))
	for name, c := range map[string]struct {
		m    any
		want metric.Unit
	}{
		"globe":       {globe, "km"},
		"radius":      {metric.GreatCircle{Radius: metric.EarthRadiusKm}, "km"},
		"moon":        {moon, ""},
		"named":       {testkit.Must(metric.Scale(moon, 1, "km")), "km"},
		"again":       {testkit.Must(metric.Scale(globe, 1, "km")), "km"},
		"unnamed":     {testkit.Must(metric.Scale(globe, 1, "")), "km"},
		"Scale":       {scaled, ""},
		"Scale, m":    {testkit.Must(metric.Scale(globe, 1000, "m")), "m"},
		"renamed":     {testkit.Must(metric.Scale(scaled, 1, "m")), "m"},
		"Sum":         {testkit.Must(metric.Sum(globe, globe)), "km"},
		"Sum, mixed":  {testkit.Must(metric.Sum(globe, moon)), ""},
		"Product":     {testkit.Must(metric.Product(globe, globe, 2)), "km"},
		"mixed":       {testkit.Must(metric.Product(globe, moon, 2)), ""},
		"Float32":     {metric.Float32[metric.Euclidean]{}, ""},
		"Points":      {pts, "km"},
		"Densify":     {testkit.Must(metric.Densify(ctx, pts)), "km"},
		"Subset":      {testkit.Must(metric.Subset(pts, []int{2, 0})), "km"},
		"Scaled":      {testkit.Must(metric.Scaled(pts, 2)), ""},
		"Spanner":     {testkit.Must(metric.Spanner(ctx, pts, 2)), "km"},
		"Subdominant": {testkit.Must(metric.Subdominant(ctx, pts)), "km"},
		"NewDense":    {testkit.Must(metric.NewDense(2, []float64{1})), ""},
	} {
		if got := metric.UnitOf(c.m); got != c.want {
			t.Errorf("%s: unit %q, want %q", name, got, c.want)
		}
	}
	if _, err := metric.Scale(globe, 1, "mile"); !errors.Is(err, fault.ErrUnit) {
		t.Error(err)
	}
	if d := testkit.Must(metric.Scale(globe, 1, "km")).Distance(pts.At(0), pts.At(2)); d != pts.Distance(0, 2) {
		t.Errorf("a name changed a distance to %v", d)
	}
}

func TestCombinators_ForwardCheck(t *testing.T) {
	bad := []vector{{1}, {math.NaN()}}
	for name, s := range map[string]metric.Space[vector]{
		"scale": testkit.Must(metric.Scale[vector](metric.Euclidean{}, 2, "")),
		"sum":   testkit.Must(metric.Sum[vector](metric.Func[vector](metric.Euclidean{}.Distance), metric.Manhattan{})),
	} {
		if ve := (*metric.ValueError)(nil); !errors.As(testkit.Err(metric.NewPoints(bad, s)), &ve) {
			t.Errorf("%s lets NaN pass", name)
		}
	}
	product := testkit.Must(metric.Product(metric.Levenshtein{}, metric.Euclidean{}, 2))
	for _, p := range []metric.Pair[string, vector]{{First: "\xff", Second: vector{1}}, {Second: bad[1]}} {
		if ve := (*metric.ValueError)(nil); !errors.As(testkit.Err(metric.NewPoints([]metric.Pair[string, vector]{p}, product)), &ve) {
			t.Errorf("product lets %v pass", p)
		}
	}
}

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
	r := rand.New(rand.NewPCG(4, 4))
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
		{"graph", testkit.Must(metric.NewGraphEdges(t.Context(), 40, randomEdges(r, 40, 40, r.Float64))), false},
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
}
