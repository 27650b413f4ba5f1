package metric_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func last[A any](_ A, _, _ int, err error) error { return err }

// refused is an error and how it begins: the call, the argument, the index and the value.
type refused struct {
	err  error
	want string
}

func refuse(t *testing.T, cases []refused) {
	t.Helper()
	for _, c := range cases {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "metric: "+c.want) {
			t.Errorf("%v, want metric: %s", c.err, c.want)
		}
		is := func(e any) bool { return errors.As(c.err, e) }
		if kind := errors.Is(c.err, metric.ErrEmpty) || is(new(*metric.SizeError)) || is(new(*metric.MemoryError)) || is(new(*metric.Violation)) || is(new(*metric.ValueError)); !kind {
			t.Errorf("%v is a %T", c.err, c.err)
		}
	}
}

var nan, inf = math.NaN(), math.Inf(1)

func TestFinites_Refuse(t *testing.T) {
	ctx, p, none := t.Context(), square(t, 3), space.Constant(0, 1)
	huge, endless := space.Constant(1<<20, 1), space.Constant(math.MaxInt, 1)
	bad := func(d float64) metric.Finite { return space.Constant(4, d) }
	cases := []refused{
		{testkit.Err(metric.NewPoints([]string{}, metric.Levenshtein{})), "NewPoints: pts: empty"},
		{testkit.Err(metric.NewPoints([]string{"a"}, nil)), "NewPoints: s is nil: empty"},
		{testkit.Err(metric.NewDense(0, nil)), "NewDense: n: empty"},
		{testkit.Err(metric.NewDense(3, []float64{1, 2})), "NewDense: upper has size 2, want 3"},
		{testkit.Err(metric.NewDense(3, []float64{1, 2, -1})), "NewDense: upper[2] = -1"},
		{testkit.Err(metric.NewDense(1<<20, nil)), "NewDense: needs"},
		{testkit.Err(metric.NewMatrix(nil)), "NewMatrix: rows: empty"},
		{testkit.Err(metric.NewMatrix([][]float64{{0, 1}, {1}})), "NewMatrix: rows[1] has size 1, want 2"},
		{testkit.Err(metric.NewMatrix([][]float64{{0, inf}, {inf, 0}})), "NewMatrix: rows[0][1] = +Inf"},
		{testkit.Err(metric.NewMatrix([][]float64{{0, 1}, {2, 0}})), "NewMatrix: d(i,j) = d(j,i) fails at i=0, j=1 by 1"},
		{testkit.Err(metric.NewMatrix([][]float64{{0, 1}, {1, 3}})), "NewMatrix: d(i,i) = 0 fails at i=1, j=1 by 3"},
		{testkit.Err(metric.Densify(ctx, none)), "Densify: f: empty"},
		{testkit.Err(metric.Densify(ctx, huge)), "Densify: needs"},
		{testkit.Err(metric.Densify(ctx, bad(nan))), "Densify: distance[0] = NaN"},
		{testkit.Err(metric.Scaled(p, inf)), "Scaled: c = +Inf"},
		{testkit.Err(metric.Scaled(none, 1)), "Scaled: f: empty"},
		{testkit.Err(metric.Subset(p, nil)), "Subset: idx: empty"},
		{testkit.Err(metric.Subset(p, []int{0, 3})), "Subset: idx[1] = 3"},
		{metric.Bimetric{Privacy: p, Utility: square(t, 4)}.Check(), "Bimetric.Check: Utility has size 4, want 3"},
		{last(metric.Bimetric{}.Lipschitz(ctx)), "Bimetric.Lipschitz: Privacy: empty"},
		{testkit.Err(metric.NewClustered(-3, 1, 1)), "NewClustered: clusters = -3"},
		{testkit.Err(metric.NewClustered(2, 0, 1)), "NewClustered: size = 0"},
		{testkit.Err(metric.NewClustered(math.MaxInt, 2, 1)), "NewClustered: size = 2"},
		{testkit.Err(metric.NewClustered(2, 2, 0)), "NewClustered: intra = 0"},
		{testkit.Err(metric.NewClustered(2, 2, 1.1)), "NewClustered: intra = 1.1"},
		{testkit.Err(new(metric.Clustered).Scaled(1, "")), "Clustered.Scaled: "},
		{testkit.Err(testkit.Must(metric.NewClustered(2, 2, .5)).Scaled(nan, "")), "Clustered.Scaled: factor = NaN"},
		{testkit.Err(testkit.Must(metric.NewClustered(2, 2, 1e-200)).Scaled(1e-200, "")), "Clustered.Scaled: factor = 1e-200"},

		{testkit.Err(metric.Net(ctx, p, nan, nil)), "Net: s = NaN"},
		{testkit.Err(metric.Net(ctx, none, 1, nil)), "Net: f: empty"},
		{testkit.Err(metric.Net(ctx, p, 1, []int{})), "Net: order has size 0, want 3"},
		{testkit.Err(metric.Net(ctx, p, 1, []int{0, 1, 1})), "Net: order[2] = 1"},
		{testkit.Err2(metric.FarthestFirst(ctx, p, 0, 0)), "FarthestFirst: k = 0"},
		{testkit.Err2(metric.FarthestFirst(ctx, p, 4, 0)), "FarthestFirst: k = 4"},
		{testkit.Err2(metric.FarthestFirst(ctx, p, 1, 3)), "FarthestFirst: start = 3"},
		{testkit.Err2(metric.FarthestFirst(ctx, none, 1, 0)), "FarthestFirst: f: empty"},
		{testkit.Err2(metric.FarthestFirst(ctx, bad(-1), 1, 0)), "FarthestFirst: 0 <= d(i,j) < Inf fails at i=0, j=1 by 1"},
		{testkit.Err2(metric.Assign(ctx, p, nil)), "Assign: centers: empty"},
		{testkit.Err2(metric.Assign(ctx, p, []int{2, -1})), "Assign: centers[1] = -1"},
		{testkit.Err(metric.NewIndex(p).NearestNeighbors(ctx, 3)), "Index.NearestNeighbors: k = 3"},
		{testkit.Err(metric.NewIndex(p).NearestNeighbors(ctx, 0)), "Index.NearestNeighbors: k = 0"},
		{testkit.Err(metric.NewIndex(space.Constant(1<<30, 1)).NearestNeighbors(ctx, 1<<20)), "Index.NearestNeighbors: needs"},
		{testkit.Err(metric.NewIndex(bad(nan)).NearestNeighbors(ctx, 1)), "Index.NearestNeighbors: 0 <= d(i,j) < Inf fails at i=0, j=1 by NaN"},
		{testkit.Err(metric.NewIndex(p).ReverseNeighbors(ctx, 4)), "Index.ReverseNeighbors: r = 4"},
		{last(metric.Diameter(ctx, endless)), "Diameter: needs"},
		{last(metric.NewIndex(endless).MinDistance(ctx)), "Index.MinDistance: needs"},
		{last(metric.NewIndex(space.Constant(-1, 1)).MinPositiveDistance(ctx)), "Index.MinPositiveDistance: f has size -1"},

		{testkit.Err(metric.Spanner(ctx, p, .99)), "Spanner: t = 0.99"},
		{testkit.Err(metric.Spanner(ctx, p, inf)), "Spanner: t = +Inf"},
		{testkit.Err(metric.Spanner(ctx, huge, 3)), "Spanner: needs"},
		{testkit.Err(metric.Spanner(ctx, bad(-1), 3)), "Spanner: f[0] = -1"},
		{testkit.Err(metric.Subdominant(ctx, none)), "Subdominant: f: empty"},
		{testkit.Err(metric.Subdominant(ctx, endless)), "Subdominant: needs"},
		{metric.Validate(ctx, none, nil), "Validate: f: empty"},
		{metric.Validate(ctx, p, &metric.ValidateOptions{Tolerance: -1}), "Validate: Tolerance = -1"},
		{metric.Validate(ctx, p, &metric.ValidateOptions{MaxTriples: -1}), "Validate: MaxTriples = -1"},
		{metric.Validate(ctx, p, &metric.ValidateOptions{Samples: -1}), "Validate: Samples = -1"},
		{metric.ValidateUltrametric(ctx, p, -1), "ValidateUltrametric: tol = -1"},
	}
	for _, d := range []float64{nan, inf, -inf, -1} {
		f := space.Formula(5, func(i, j int) float64 {
			if i+j == 4 && i*j == 3 {
				return d
			}
			return 1
		})
		want := "0 <= d(i,j) < Inf fails at i=1, j=3"
		if d == -1 {
			want += " by 1"
		}
		cases = append(cases, refused{testkit.Err(metric.Subdominant(ctx, f)), "Subdominant: " + want},
			refused{metric.ValidateUltrametric(ctx, f, 0), "ValidateUltrametric: " + want})
	}
	if math.MaxInt > math.MaxInt32 { // an int of 32 bits cannot ask for as many triples
		cases = append(cases, refused{metric.Validate(ctx, huge, &metric.ValidateOptions{MaxTriples: math.MaxInt}), "Validate: needs"})
	}
	refuse(t, cases)
}

func TestConstructors_Refuse(t *testing.T) {
	ctx := t.Context()
	edges := func(n int, e ...metric.Edge) error { return testkit.Err(metric.NewGraphEdges(ctx, n, e)) }
	row := func(order []int, heights ...float64) error { return testkit.Err(metric.NewUltrametric(order, heights)) }
	link := func(n int, m ...metric.Merge) error { return testkit.Err(metric.FromLinkage(n, m)) }
	tree := func(parent []int, length ...float64) error { return testkit.Err(metric.NewTree(parent, length)) }
	merge := func(a, b int, h float64) metric.Merge { return metric.Merge{A: a, B: b, Height: h} }
	cases := []refused{
		{edges(-1), "NewGraphEdges: n has size -1"},
		{edges(math.MaxInt), "NewGraphEdges: needs"},
		{edges(3, metric.Edge{I: -1, J: 0}), "NewGraphEdges: ends of edges[0] = -1"},
		{edges(3, metric.Edge{I: 0, J: 3}), "NewGraphEdges: ends of edges[0] = 3"},

		{row(nil), "NewUltrametric: order: empty"},
		{row([]int{0}, 1), "NewUltrametric: heights has size 1, want 0"},
		{row([]int{0, 2}, 1), "NewUltrametric: order[1] = 2"},
		{row([]int{1, 0, 1}, 1, 1), "NewUltrametric: order[2] = 1"},
		{row([]int{0, 1, 2}, 1, -1), "NewUltrametric: heights[1] = -1"},
		{link(-1), "FromLinkage: n has size -1"},
		{link(math.MaxInt), "FromLinkage: needs"},
		{link(3, merge(0, 1, 1)), "FromLinkage: merges has size 1, want 2"},
		{link(2, merge(0, 2, 1)), "FromLinkage: clusters of merges[0] = 2"},
		{link(3, merge(0, 1, 1), merge(1, 2, 1)), "FromLinkage: clusters of merges[1] = 1"},
		{link(3, merge(0, 1, 2), merge(3, 2, 1)), "FromLinkage: heights of merges[1] = 1"},
		{link(3, merge(0, 1, 2), merge(2, 3, 1)), "FromLinkage: heights of merges[1] = 1"},
		{link(2, merge(0, 1, inf)), "FromLinkage: heights of merges[0] = +Inf"},

		{tree(nil), "NewTree: parent: empty"},
		{tree([]int{-1}, 0, 0), "NewTree: length has size 2, want 1"},
		{tree([]int{-1, -1}), "NewTree: parent[1] = -1, want a node, because the root is 0"},
		{tree([]int{-1, 2}), "NewTree: parent[1] = 2"},
		{tree([]int{0}), "NewTree: parent[0] = 0, want a way up"},
		{tree([]int{-1, 0, 3, 4, 2, 4}), "NewTree: parent[2] = 3, want a way up"},
		{tree([]int{-1, 0}, 0, 1e301), "NewTree: length[1] = 1e+301"},
	}
	for w, s := range map[float64]string{-1: "-1", nan: "NaN", inf: "+Inf", 1.1e300: "1.1e+300"} {
		cases = append(cases, refused{edges(2, metric.Edge{I: 0, J: 1, Length: 1}, metric.Edge{I: 0, J: 1, Length: w}), "NewGraphEdges: lengths of edges[1] = " + s},
			refused{tree([]int{-1, 0}, 0, w), "NewTree: length[1] = " + s})
	}
	refuse(t, cases)
}

func TestSpaces_Refuse(t *testing.T) {
	l2 := metric.Euclidean{}
	one, two, ones := []float64{1}, []float64{1, 0}, []float32{1, 1}
	type place = metric.LatLon
	cases := []refused{
		{testkit.Err(metric.Scale[vector](l2, 0, "")), "Scale: c = 0"}, {testkit.Err(metric.Scale[vector](l2, nan, "")), "Scale: c = NaN"},
		{testkit.Err(metric.Product(l2, l2, 0.9)), "Product: p = 0.9"}, {testkit.Err(metric.Product(l2, l2, nan)), "Product: p = NaN"},
		{testkit.Err(metric.Sum[int]()), "Sum: spaces: empty"},
		{testkit.Err(metric.Sum[int](nil)), "Sum: spaces[0] is nil: empty"}, {testkit.Err(metric.Scale[int](nil, 1, "")), "Scale: s is nil: empty"},
		{testkit.Err(metric.Product[int, int](nil, metric.Discrete[int]{}, 1)), "Product: a is nil: empty"},

		{metric.Minkowski{}.Check(one, one), "Minkowski: P = 0"}, {metric.Minkowski{P: .99}.Check(one, one), "Minkowski: P = 0.99"},
		{metric.Angular{}.Check(two, []float64{0, 0}), "Angular: norm of y = 0"},
		{metric.Angular{}.Check([]float64{0, 1e-310}, two), "Angular: norm of x = 1e-310"},
		{metric.TotalVariation{}.Check(two, []float64{1.5, -0.5}), "TotalVariation: y[1] = -0.5"},
		{metric.TotalVariation{}.Check([]float64{0.9, 0}, two), "TotalVariation: sum of x = 0.9"},
		{metric.TotalVariation{}.Check(two, one), "TotalVariation: y has size 1, want 2"},
		{metric.TotalVariation{}.Check(nil, nil), "TotalVariation: x: empty"},
		{metric.Plane{}.Check([2]float64{}, [2]float64{1, nan}), "Plane: y[1] = NaN"},

		{metric.Numbers[float64]{}.Check(0, nan), "Numbers: y = NaN"}, {metric.Numbers[float64]{}.Check(-1.1e300, 0), "Numbers: x = -1.1e+300"},
		{metric.Float32[metric.Euclidean]{}.Check(ones, []float32{1, float32(nan)}), "Euclidean: y[1] = NaN"},
		{metric.Float32[metric.TotalVariation]{}.Check([]float32{0.5, 0.4999}, ones), "TotalVariation: sum of x = 0.9999"},

		{metric.Hamming[float64]{}.Check(two, []float64{1, nan}), "Hamming: y[1] = NaN"},
		{metric.Hamming[int]{}.Check([]int{1}, nil), "Hamming: y has size 0, want 1"},
		{metric.CommonPrefix[float64]{}.Check([]float64{nan}, nil), "CommonPrefix: x[0] = NaN"},
		{metric.Discrete[float64]{}.Check(1, nan), "Discrete: y = NaN"},
		{metric.Levenshtein{}.Check("ok", "aé\xff"), "Levenshtein: y[3] = 255"},

		{metric.GreatCircle{}.Check(place{}, place{Lat: 90.1}), "GreatCircle: y.Lat = 90.1"},
		{metric.GreatCircle{}.Check(place{}, place{Lon: -inf}), "GreatCircle: y.Lon = -Inf"},
	}
	for base, s := range map[float64]string{1: "1", -2: "-2", nan: "NaN", inf: "+Inf"} {
		cases = append(cases, refused{metric.CommonPrefix[int]{Base: base}.Check(nil, nil), "CommonPrefix: Base = " + s})
	}
	for r, s := range map[float64]string{-1: "-1", nan: "NaN", inf: "+Inf", 1e301: "1e+301"} {
		cases = append(cases, refused{metric.GreatCircle{Radius: r}.Check(place{}, place{}), "GreatCircle: Radius = " + s})
	}
	for name, s := range map[string]metric.Space[vector]{"Euclidean": l2, "Manhattan": metric.Manhattan{}, "Chebyshev": metric.Chebyshev{},
		"Minkowski": metric.Minkowski{P: 1.5}, "Angular": metric.Angular{}} {
		for bad, shown := range map[float64]string{nan: "NaN", inf: "+Inf", -inf: "-Inf", 1.1e300: "1.1e+300"} {
			cases = append(cases, refused{testkit.Err(metric.NewPoints([]vector{{1, 2}, {3, bad}}, s)), "NewPoints: pts[1]: " + name + ": y[1] = " + shown})
		}
		cases = append(cases, refused{testkit.Err(metric.NewPoints([]vector{{1, 2}, {3}}, s)), "NewPoints: pts[1]: " + name + ": y has size 1, want 2"},
			refused{testkit.Err(metric.NewPoints([]vector{{}, {}}, s)), "NewPoints: pts[0]: " + name + ": x: empty"})
	}
	refuse(t, cases)
	for _, err := range []error{
		metric.Levenshtein{}.Check("\uFFFD", "漢"), // U+FFFD itself is valid
		metric.Hamming[string]{}.Check([]string{"a"}, []string{"b"}),
		metric.Discrete[int]{}.Check(1, 2),
		metric.CommonPrefix[int]{Base: 1.01}.Check([]int{1}, nil),
		metric.GreatCircle{}.Check(place{Lat: 90, Lon: 1e300}, place{Lat: -90, Lon: -720}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// What takes a context returns its error.
func TestContext_Ends(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := square(t, 100)
	for _, f := range []metric.Finite{p, slow{p}} {
		for k, err := range []error{
			last(metric.Diameter(ctx, f)), testkit.Err2(metric.Radius(ctx, f)), last(metric.NewIndex(f).MinDistance(ctx)), last(metric.NewIndex(f).MinPositiveDistance(ctx)),
			testkit.Err(metric.Net(ctx, f, 0, nil)), testkit.Err2(metric.FarthestFirst(ctx, f, 1, 0)), testkit.Err2(metric.Assign(ctx, f, []int{1})),
			testkit.Err(metric.NewIndex(f).NearestNeighbors(ctx, 1)), testkit.Err(metric.NewIndex(f).ReverseNeighbors(ctx, 2)), testkit.Err(metric.Densify(ctx, f)),
			testkit.Err(metric.Spanner(ctx, f, 3)), testkit.Err(metric.Subdominant(ctx, f)), metric.Validate(ctx, f, nil), metric.Validate(ctx, f, &metric.ValidateOptions{MaxTriples: 1}), last(metric.Same(f).Lipschitz(ctx)),
			testkit.Err(metric.NewGraphEdges(ctx, 2, []metric.Edge{{I: 0, J: 1, Length: 1}})),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%T, call %d: %v", f, k, err)
			}
		}
	}
}

// A value that no constructor made has no points: it says so where a number is
// asked for, and no function takes it for a metric.
func TestZeroValues_AnswerNothing(t *testing.T) {
	pts := new(metric.Points[float64])
	for name, f := range map[string]metric.Finite{
		"Dense": new(metric.Dense), "Graph": new(metric.Graph), "Points": pts, "Ultrametric": new(metric.Ultrametric), "Clustered": new(metric.Clustered),
		"nil Dense": (*metric.Dense)(nil), "nil Graph": (*metric.Graph)(nil), "nil Points": (*metric.Points[float64])(nil),
		"nil Ultrametric": (*metric.Ultrametric)(nil), "nil Clustered": (*metric.Clustered)(nil),
	} {
		if err := metric.Validate(t.Context(), f, nil); !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("Validate of %s: %v", name, err)
		}
		if err := metric.Same(f).Check(); !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("Check of %s: %v", name, err)
		}
		if d, i, j, err := metric.Diameter(t.Context(), f); err != nil || d != 0 || i != -1 || j != -1 {
			t.Errorf("Diameter of %s: %v, %d, %d", name, d, i, j)
		}
	}
	if got := fmt.Sprint(new(metric.Ultrametric).Clusters(1), new(metric.Ultrametric).Heights(), new(metric.Graph), new(metric.Tree)); got != "[] [] shortest paths between 0 nodes tree of 0 nodes" {
		t.Errorf("%q", got)
	}
	for name, call := range map[string]func(){
		"NewTree":       func() { new(metric.Tree).PathMetric() },
		"TreeFromPaths": func() { new(metric.Tree).Root() },
		"NewIndex":      func() { new(metric.Index).Nearest(0) },
		"NewLocator":    func() { new(metric.Locator[float64]).Nearest(0) },
	} {
		if err := law.Caught(func() error { call(); return nil }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := new(metric.Index).Len(); n != 0 {
		t.Errorf("Index: %d points", n)
	}
}
