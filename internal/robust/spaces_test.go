package robust

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/wasserstein"
)

func seeded() *rand.Rand { return random.Seeded(1) }

// other is a bad value of a type that bads cannot make up.
type other struct {
	what string
	v    any
}

// others holds the bad values of such types, besides nil.
var others = map[reflect.Type][]other{
	reflect.TypeFor[metric.Space[[]float64]](): badSpaces[[]float64](),
	reflect.TypeFor[metric.Space[float64]]():   badSpaces[float64](),
	reflect.TypeFor[metric.Space[string]]():    badSpaces[string](),
	reflect.TypeFor[wasserstein.Cost](): {
		{"NaN", wasserstein.CostFunc(4, 4, func(i, j int) float64 { return math.NaN() })},
		{"Inf", wasserstein.CostFunc(4, 4, func(i, j int) float64 { return math.Inf(i - j) })},
		{"huge", wasserstein.CostFunc(4, 4, func(i, j int) float64 { return 1e308 * float64(i+j) })},
		{"tiny", wasserstein.CostFunc(4, 4, func(i, j int) float64 { return 5e-324 * float64(i+j) })},
		{"negative", wasserstein.CostFunc(4, 4, func(i, j int) float64 { return float64(-i - j) })},
		{"0 by 0", wasserstein.CostFunc(0, 0, func(i, j int) float64 { return 0 })},
		{"negative by negative", wasserstein.CostFunc(-1, -1, func(i, j int) float64 { return 0 })},
		{"3 by 4", wasserstein.CostFunc(3, 4, func(i, j int) float64 { return 1 })},
		{"enormous", wasserstein.CostFunc(math.MaxInt>>22, math.MaxInt>>22, func(i, j int) float64 { return 1 })},
	},
	reflect.TypeFor[entropy.Witness](): {
		{"out of range", entropy.Star{X: 99}},
		{"negative", entropy.Star{X: -1}},
	},
}

func badSpaces[P any]() (out []other) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e308, 5e-324} {
		out = append(out, other{fmt.Sprint("with distances ", v), metric.Func[P](func(x, y P) float64 { return v })})
	}
	return out
}

var (
	path     = space.Path(5, 1)
	same     = metric.Same(path)
	twoSided = metric.Bimetric{Privacy: path, Utility: space.Simplex(5, 2)}
	plane    = [][]float64{{0, 0}, {1, 0}, {0, 1}, {3, 2}, {2, 5}}
	points   = testkit.Must(metric.NewPoints(plane, metric.Euclidean{}))
	line     = testkit.Must(metric.NewPoints([]float64{0, 1, 4, -2, 0.5}, metric.Numbers[float64]{}))
	uniform  = []float64{0.2, 0.2, 0.2, 0.2, 0.2}
	skew     = []float64{0.5, 0.1, 0.1, 0.1, 0.2}
	taxonomy = testkit.Must(metric.NewTree([]int{-1, 0, 0, 1, 1, 2, 2}, []float64{0, 1, 1, 0.5, 0.5, 0.25, 0.25}))
	ultra    = taxonomy.Ultrametric()
	four     = []float64{0.25, 0.25, 0.25, 0.25}
	fourSkew = []float64{0.5, 0.25, 0.125, 0.125}
	grouped  = testkit.Must(metric.NewClustered(2, 2, 0.5))
	square   = testkit.Must(wasserstein.Matrix(4, 4, []float64{0, 1, 2, 3, 1, 0, 1, 2, 2, 1, 0, 1, 3, 2, 1, 0}))
	tour     = testkit.Must(tsp.Solve(context.Background(), points, nil))
	folding  = testkit.Must(tsp.Fold(points, tour))
	bracket  = testkit.Must(entropy.Accuracy(context.Background(), same, []float64{1}, nil))[0]
	measures = testkit.Must(families.MeasureNet(context.Background(), path, 2))
)

var metricCalls = []call{
	{"metric.Bimetric.Lipschitz", func(ctx context.Context, b metric.Bimetric) (float64, error) {
		r, _, _, err := b.Lipschitz(ctx)
		return r, err
	}, []any{same}},
	{"metric.Bimetric.Check", func(b metric.Bimetric) error { return b.Check() }, []any{same}},
	{"metric.NewClustered", metric.NewClustered, []any{3, 4, 0.5}},
	{"metric.Clustered.Scaled", grouped.Scaled, []any{2.0, metric.Unit("km")}},
	{"metric.Numbers.Check", metric.Numbers[float64]{}.Check, []any{1.5, 2.0}},
	{"metric.Float32.Check", metric.Float32[metric.Euclidean]{}.Check, []any{[]float32{1, 2}, []float32{0, 1}}},
	{"metric.Scale", metric.Scale[[]float64], []any{metric.Euclidean{}, 2.0, metric.Unit("km")}},
	{"metric.Sum", metric.Sum[[]float64], []any{[]metric.Space[[]float64]{metric.Euclidean{}, metric.Manhattan{}}}},
	{"metric.Product", metric.Product[[]float64, string], []any{metric.Euclidean{}, metric.Levenshtein{}, 2.0}},
	{"metric.NewDense", metric.NewDense, []any{3, []float64{1, 2, 1.5}}},
	{"metric.NewMatrix", metric.NewMatrix, []any{[][]float64{{0, 1, 2}, {1, 0, 1.5}, {2, 1.5, 0}}}},
	{"metric.Densify", metric.Densify, []any{points}},
	{"metric.Diameter", metric.Diameter, []any{points}},
	{"metric.Radius", metric.Radius, []any{points}},
	{"metric.Index.MinDistance", func(ctx context.Context, f metric.Finite) (float64, int, int, error) {
		return metric.NewIndex(f).MinDistance(ctx)
	}, []any{points}},
	{"metric.Index.MinPositiveDistance", func(ctx context.Context, f metric.Finite) (float64, int, int, error) {
		return metric.NewIndex(f).MinPositiveDistance(ctx)
	}, []any{points}},
	{"metric.NewGrid", metric.NewGrid, []any{[2]float64{}, [2]float64{3, 2}, 1.0, func(c [2]float64) float64 { return 1 + c[0] }}},
	{"metric.NewGraphEdges", metric.NewGraphEdges, []any{3, []metric.Edge{{I: 0, J: 1, Length: 1}, {I: 1, J: 2, Length: 2}}}},
	{"metric.Subdominant", metric.Subdominant, []any{points}},
	{"metric.AsUltrametric", metric.AsUltrametric, []any{ultra}},
	{"metric.ValidateUltrametric", metric.ValidateUltrametric, []any{ultra, 1e-9}},
	{"metric.Index.NearestNeighbors", func(ctx context.Context, f metric.Finite, k int) ([]int, error) {
		return metric.NewIndex(f).NearestNeighbors(ctx, k)
	}, []any{points, 2}},
	{"metric.Index.ReverseNeighbors", func(ctx context.Context, f metric.Finite, r int) ([][]int, error) {
		return metric.NewIndex(f).ReverseNeighbors(ctx, r)
	}, []any{points, 2}},
	{"metric.Net", metric.Net, []any{points, 1.5, []int{4, 3, 2, 1, 0}}},
	{"metric.FarthestFirst", metric.FarthestFirst, []any{points, 3, 0}},
	{"metric.Assign", metric.Assign, []any{points, []int{0, 3}}},
	{"metric.NewPoints", metric.NewPoints[[]float64], []any{plane, metric.Euclidean{}}},
	{"metric.NewPoints", metric.NewPoints[metric.LatLon], []any{[]metric.LatLon{{Lat: 1, Lon: 2}, {Lat: 3, Lon: 4}}, metric.GreatCircle{}}},
	{"metric.NewPoints", metric.NewPoints[string], []any{[]string{"a", "b"}, metric.Levenshtein{}}},
	{"metric.NewPoints", metric.NewPoints[float64], []any{[]float64{1, 2}, metric.Discrete[float64]{}}},
	{"metric.NewPoints", metric.NewPoints[[]int], []any{[][]int{{1, 2}, {1, 3}}, metric.Hamming[int]{}}},
	{"metric.NewPoints", func(base float64, pts [][]rune) (*metric.Points[[]rune], error) {
		return metric.NewPoints(pts, metric.CommonPrefix[rune]{Base: base})
	}, []any{2.0, [][]rune{[]rune("a"), []rune("b")}}},
	{"metric.NewPoints", func(p float64, pts [][]float64) (*metric.Points[[]float64], error) {
		return metric.NewPoints(pts, metric.Minkowski{P: p})
	}, []any{3.0, plane}},
	{"metric.Hamming.Check", metric.Hamming[int]{}.Check, []any{[]int{1}, []int{2}}},
	{"metric.Discrete.Check", metric.Discrete[float64]{}.Check, []any{1.0, 2.0}},
	{"metric.Levenshtein.Check", metric.Levenshtein{}.Check, []any{"a", "b"}},
	{"metric.CommonPrefix.Check", func(base float64, x, y []int) error { return metric.CommonPrefix[int]{Base: base}.Check(x, y) }, []any{2.0, []int{1}, []int{2}}},
	{"metric.GreatCircle.Check", metric.GreatCircle.Check, []any{metric.GreatCircle{Radius: 1}, metric.LatLon{Lat: 1, Lon: 2}, metric.LatLon{Lat: 3, Lon: 4}}},
	{"metric.Euclidean.Check", metric.Euclidean{}.Check, []any{[]float64{1, 2}, []float64{3, 4}}},
	{"metric.Plane.Check", metric.Plane{}.Check, []any{[2]float64{1, 2}, [2]float64{3, 4}}},
	{"metric.Numbers.Check", metric.Numbers[int64]{}.Check, []any{int64(1), int64(2)}},
	{"metric.Float32.Check", metric.Float32[metric.Euclidean]{}.Check, []any{[]float32{1, 2}, []float32{3, 4}}},
	{"metric.Manhattan.Check", metric.Manhattan{}.Check, []any{[]float64{1, 2}, []float64{3, 4}}},
	{"metric.Chebyshev.Check", metric.Chebyshev{}.Check, []any{[]float64{1, 2}, []float64{3, 4}}},
	{"metric.Minkowski.Check", metric.Minkowski.Check, []any{metric.Minkowski{P: 3}, []float64{1, 2}, []float64{3, 4}}},
	{"metric.Angular.Check", metric.Angular{}.Check, []any{[]float64{1, 2}, []float64{3, 4}}},
	{"metric.TotalVariation.Check", metric.TotalVariation{}.Check, []any{[]float64{0.5, 0.5}, []float64{0.25, 0.75}}},
	{"metric.Spanner", metric.Spanner, []any{points, 1.5}},
	{"metric.NewTree", metric.NewTree, []any{[]int{-1, 0, 0}, []float64{0, 1, 2}}},
	{"metric.TreeFromPaths", metric.TreeFromPaths, []any{[][]string{{"a", "b"}, {"a", "c"}}}},
	{"metric.NewUltrametric", metric.NewUltrametric, []any{[]int{2, 0, 1}, []float64{1, 2}}},
	{"metric.FromLinkage", metric.FromLinkage, []any{3, []metric.Merge{{A: 0, B: 1, Height: 1}, {A: 2, B: 3, Height: 2}}}},
	{"metric.Validate", metric.Validate, []any{points, &metric.ValidateOptions{}}},
	{"metric.Scaled", metric.Scaled, []any{points, 2.0}},
	{"metric.Subset", metric.Subset, []any{points, []int{0, 2}}},

	// These return no error: they may not panic.
	{"metric.Ultrametric.Clusters", ultra.Clusters, []any{0.5}},
	{"metric.Index.Ball", func(r float64) []int { return metric.NewIndex(points).Ball(0, r, nil) }, []any{1.0}},
	{"metric.Index.Neighbors", func(k int) []int { return metric.NewIndex(points).Neighbors(0, k, nil) }, []any{1}},
	{"metric.Locator.Within", func(x, y, r float64) []int { return metric.NewLocator(points).Within([]float64{x, y}, r, nil) }, []any{1.0, 1.0, 1.0}},
	{"metric.Locator.Nearest", func(x, y float64) { metric.NewLocator(points).Nearest([]float64{x, y}) }, []any{1.0, 1.0}},
}

var kitCalls = []call{
	{"metrictest.TestFinite", metrictest.TestFinite, []any{points, &metrictest.Options{}}},
	{"metrictest.TestSpace", metrictest.TestSpace[[]float64], []any{metric.Euclidean{}, plane, &metrictest.Options{}}},
}

var entropyCalls = []call{
	{"entropy.Accuracy", entropy.Accuracy, []any{twoSided, []float64{1, 2}, &entropy.Options{}}},
	{"families.Baire.EntropicScale", families.Baire.EntropicScale, []any{baire, 1.0}},
	{"families.Baire.DiametricScale", families.Baire.DiametricScale, []any{baire, 1.0}},
	{"families.Baire.Space", func(b families.Baire) (metric.Bimetric, error) { return b.Space() }, []any{baire}},
	{"entropy.Bracket.With", bracket.With, []any{[]entropy.Loss{{Name: "x", Value: 3}}}},
	{"scale.Packing", scale.Packing, []any{path, []int{0, 2, 4}, 1.0, &scale.Options{}}},
	{"scale.Diametric", scale.Diametric, []any{twoSided, []float64{1, 2}, &scale.Options{}}},
	{"scale.Doubling", scale.Doubling, []any{path, []float64{1, 2}, &scale.Options{}}},
	{"scale.Entropic", scale.Entropic, []any{twoSided, []float64{1, 2}, &scale.Options{}}},
	{"entropy.Whole.Accuracy", entropy.Whole.Accuracy, []any{entropy.Whole{Sample: points, Gap: 3, Shape: entropy.Connected}, []float64{1, 2}, &entropy.Options{}}},
	{"entropy.Whole.EntropicScale", entropy.Whole.EntropicScale, []any{entropy.Whole{Sample: path, Gap: 1, Shape: entropy.NormConvex}, []float64{1, 2}, &entropy.Options{}}},
	{"entropy.LevelFor", entropy.LevelFor, []any{twoSided, 0.5, &entropy.Options{}}},
	{"entropy.LowerBounds", entropy.LowerBounds, []any{twoSided, 1.0, &entropy.Options{}}},
	{"entropy.UpperBounds", entropy.UpperBounds, []any{twoSided, 1.0, &entropy.Options{}}},
	{"scale.Outer", scale.Outer, []any{path, []float64{1, 2}, &scale.Options{}}},
	{"entropy.Star.Prove", entropy.Star.Prove, []any{entropy.Star{X: 0, Points: []int{0, 3}, Weights: []float64{1, 1}, Radii: []float64{0, 1}}, same, 1.0}},
	{"families.MeasureNet", families.MeasureNet, []any{path, 2}},
	{"families.Measures.TotalVariation", measures.TotalVariation, nil},
	{"families.Measures.Wasserstein", measures.Wasserstein, []any{&scale.Options{}}},
	{"scale.Dimension", scale.Dimension, []any{path, &scale.DimensionOptions{Coarse: 2, Fine: 1}}},
	{"scale.PositiveMeasure", scale.PositiveMeasure, []any{path}},
	{"scale.BallMass", scale.BallMass, []any{path, uniform, 1.0, &scale.Options{}}},
	{"families.PrivateMeasureBound", families.PrivateMeasureBound, []any{path, 1.0}},
	{"families.PrivateDataBound", families.PrivateDataBound, []any{path, 100, 1.0}},
	{"families.PrivateCubeBound", families.PrivateCubeBound, []any{2, 100, 1.0}},
	{"families.MeasureBound.Prove", families.MeasureBound.Prove, []any{testkit.Must(families.PrivateMeasureBound(context.Background(), path, 1)), path, 1.0}},
	{"families.PrivateTransportBound", families.PrivateTransportBound, []any{path, 1.0}},
	{"families.BallAccuracy", families.BallAccuracy, []any{2, 1.0}},
	{"families.MeasuresAccuracy", families.MeasuresAccuracy, []any{2, 1.0}},
	{"families.LipschitzAccuracy", families.LipschitzAccuracy, []any{2, 1.0}},
	{"entropy.StandardBound", entropy.StandardBound, []any{1.0, 1.0}},
	{"entropy.RelaxedBound", entropy.RelaxedBound, []any{1.0, 1.0, 1}},
}

var baire = families.Baire{
	Arity: 2, Depth: 3,
	Privacy: func(k int) float64 { return math.Pow(2, -float64(k)) },
	Utility: func(k int) float64 { return math.Pow(3, -float64(k)) },
}

var tspCalls = []call{
	{"tsp.CoveringIntegral", tsp.CoveringIntegral, []any{points}},
	{"tsp.Fold", tsp.Fold, []any{points, tour}},
	{"tsp.Solve", tsp.Solve, []any{points, &tsp.SolveOptions{}}},
	{"tsp.SpaceFilling", tsp.SpaceFilling, []any{points, tsp.Closed}},
	{"tsp.Tour.Open", tour.Open, []any{points}},
	{"tsp.Tour.Open", func(t tsp.Tour) (*tsp.Tour, error) { return t.Open(points) }, []any{*tour}},

	{"tsp.Folding.Nearest", folding.Nearest, []any{1.0}},
}

var wassersteinCalls = []call{
	{"wasserstein.Assignment", wasserstein.Assignment, []any{square, &wasserstein.AssignmentOptions{}}},
	{"wasserstein.Certify", wasserstein.Certify, []any{square, four, four,
		[]wasserstein.Flow{{I: 0, J: 0, Mass: 0.25}, {I: 1, J: 1, Mass: 0.25}, {I: 2, J: 2, Mass: 0.25}, {I: 3, J: 3, Mass: 0.25}},
		make([]float64, 4), &wasserstein.CertifyOptions{}}},
	{"wasserstein.Matrix", wasserstein.Matrix, []any{2, 2, []float64{0, 1, 1, 0}}},
	{"wasserstein.Distances", wasserstein.Distances, []any{path, []int{0, 1}, []int{2, 3}}},
	{"wasserstein.Distance", wasserstein.Distance, []any{points, uniform, skew}},
	{"wasserstein.Distance", wasserstein.Distance, []any{line, uniform, skew}},
	{"wasserstein.W1LineBetween", wasserstein.W1LineBetween, []any{[]float64{0, 1, 2, 3}, four, []float64{0, 1, 2, 3}, fourSkew}},
	{"wasserstein.W1Samples", wasserstein.W1Samples[float64], []any{[]float64{1, 2}, []float64{3, 1}}},
	{"wasserstein.W1Points", wasserstein.W1Points[float64], []any{metric.Space[float64](metric.Numbers[float64]{}), []float64{0, 1, 2, 3}, four, []float64{3, 1, 2, 0}, fourSkew, &wasserstein.Options{}}},
	{"wasserstein.DistanceEM", wasserstein.DistanceEM, []any{path, []int{0, 1}, []int{2, 2, 3}}},
	{"wasserstein.Project", wasserstein.Project, []any{path, []float64{0.5, -0.1, 0.3, 0.2, 0.1}, &wasserstein.ProjectOptions{}}},
	{"wasserstein.ProjectLine", wasserstein.ProjectLine, []any{[]float64{0, 1, 2}, []float64{0.5, -0.1, 0.3}}},
	{"wasserstein.IsotonicL1", wasserstein.IsotonicL1, []any{[]float64{1, 3, 2}, []float64{1, 1, 1}, 0.0, 5.0}},
	{"wasserstein.ProjectSimplex", wasserstein.ProjectSimplex, []any{[]float64{1, -1, 0.5}, 1.0, make([]float64, 3)}},
	{"wasserstein.ProjectTree", func(g []float64) ([]float64, float64, error) { return wasserstein.ProjectTree(taxonomy, g) }, []any{fourSkew}},
	{"wasserstein.Distance", wasserstein.Distance, []any{metric.Finite(taxonomy.PathMetric()), four, fourSkew}},
	{"wasserstein.Distance", wasserstein.Distance, []any{metric.Finite(ultra), four, fourSkew}},
	{"wasserstein.Distance", wasserstein.Distance, []any{metric.Finite(grouped), four, fourSkew}},
	{"wasserstein.W1", wasserstein.W1, []any{line, uniform, skew, &wasserstein.Options{}}},
	{"wasserstein.W1", wasserstein.W1, []any{metric.Finite(taxonomy.PathMetric()), four, fourSkew, &wasserstein.Options{}}},
	{"wasserstein.W1", wasserstein.W1, []any{metric.Finite(ultra), four, fourSkew, &wasserstein.Options{}}},
	{"wasserstein.W1", wasserstein.W1, []any{metric.Finite(grouped), four, fourSkew, &wasserstein.Options{}}},
	{"wasserstein.W1", wasserstein.W1, []any{path, uniform, skew, &wasserstein.Options{}}},
	{"wasserstein.Between", wasserstein.Between, []any{square, four, fourSkew, &wasserstein.Options{}}},
}
