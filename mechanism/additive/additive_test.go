package additive

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

var (
	_ mechanism.Mechanism[[]float64, []float64]         = (*KNorm)(nil)
	_ mechanism.Mechanism[[]float64, []float64]         = (*Gaussian)(nil)
	_ mechanism.Mechanism[float64, float64]             = (*Laplace)(nil)
	_ mechanism.Mechanism[int64, int64]                 = (*DiscreteLaplace)(nil)
	_ mechanism.Mechanism[int64, int64]                 = (*TruncatedGeometric)(nil)
	_ mechanism.Mechanism[int64, int64]                 = (*DiscreteGaussian)(nil)
	_ mechanism.Mechanism[[2]float64, [2]float64]       = (*PlanarLaplace)(nil)
	_ mechanism.Mechanism[metric.LatLon, metric.LatLon] = (*Sphere)(nil)
	_ mechanism.Mechanism[int, int]                     = (*Madlib)(nil)
)

var inf, nan = math.Inf(1), math.NaN()

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*math.Abs(b) }

// What is refused, and how: each error begins with what is given.
func TestErrors(t *testing.T) {
	type row struct {
		want string
		err  error
	}
	plane, good := Norm{P: 2, Dim: 2}, GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 1}
	words := [][]float64{{1}, {2}}
	var rows []row
	say := func(err error, format string, args ...any) {
		rows = append(rows, row{fmt.Sprintf(format, args...), err})
	}
	far, often := good, good
	far.Diameter, often.Delta = 1e-200, 1
	const v = 1e-200
	for want, err := range map[string]error{
		"NewKNorm: alpha": testkit.Err(NewKNorm(plane, v, nil)), "NewSphere: alpha": testkit.Err(NewSphere(v, nil)),
		"NewDiscreteLaplace: alpha": testkit.Err(NewDiscreteLaplace(v, nil)), "NewTruncatedGeometric: alpha": testkit.Err(NewTruncatedGeometric(Range{0, 1}, v, nil)),
		"NewMadlib: alpha": testkit.Err(NewMadlib(words, v, nil)), "NewGaussian: Diameter": testkit.Err(NewGaussian(1, far, nil)),
		"NewDiscreteGaussian: Diameter": testkit.Err(NewDiscreteGaussian(far, nil)), "PlanarAlpha: radius": testkit.Err(PlanarAlpha(v, 0.5)),
	} {
		say(err, "%s = %v,", want, v)
	}
	for want, norm := range map[string]Norm{"P = 0.5": {P: 0.5, Dim: 2}, "P = NaN": {P: nan, Dim: 2}, "Dim = 0": {P: 2, Dim: 0}, "Dim = -3": {P: 1, Dim: -3}, "needs": {P: 2, Dim: math.MaxInt}} {
		say(testkit.Err(NewKNorm(norm, 1, nil)), "NewKNorm: %s", want)
		say(testkit.Err(norm.AlphaFor(1, 0.5)), "Norm.AlphaFor: %s", want)
	}
	for _, v := range []float64{0.3, 0x1p-400} {
		say(testkit.Err(NewLaplace(1, &Options{Grid: v})), "NewLaplace: Grid = %v,", v)
		say(testkit.Err(NewGaussian(2, good, &Options{Grid: v})), "NewGaussian: Grid = %v,", v)
	}
	for _, v := range []struct {
		distance, prob float64
		o              *SphereOptions
		want           string
	}{
		{20016, 0.5, nil, "distance = 20016"}, {1e-9, 0.5, nil, "distance = 1e-09"}, {math.Pi, 0.5, &SphereOptions{Radius: 1}, "distance"},
		{1, 1, nil, "prob = 1"}, {10000, 0.1, nil, "prob = 0.1"}, {1, 0.5, &SphereOptions{Radius: -1}, "Radius = -1"}, {1, 0.5, &SphereOptions{Unit: "mile"}, "different units"},
	} {
		say(testkit.Err(SphereAlpha(v.distance, v.prob, v.o)), "SphereAlpha: %s", v.want)
		say(testkit.Err(NewSphereWithin(v.distance, v.prob, v.o)), "NewSphereWithin: %s", v.want)
	}
	globe, ring := metric.GreatCircle{}, lands[0]
	say(testkit.Err(NewCells(globe, 1e-4)), "NewCells: radius = 0.0001")
	at := func(pairs ...[2]float64) (rings [][]metric.LatLon) {
		rings = [][]metric.LatLon{nil}
		for _, p := range pairs {
			rings[0] = append(rings[0], metric.LatLon{Lat: p[0], Lon: p[1]})
		}
		return rings
	}
	for want, rings := range map[string][][]metric.LatLon{
		"rings: empty input":                   nil,
		"rings[1] has size 2, want at least 3": {ring, ring[:2]},
		"rings[0][2]: ":                        at([2]float64{}, [2]float64{1}, [2]float64{91}),
		"rings[0][1].Lon = 181":                at([2]float64{}, [2]float64{0, 181}, [2]float64{1}),
		"rings[0][2].Lon = -170, want within 180 degrees of the 170 before it: cut rings at the date line": at([2]float64{-10, 170}, [2]float64{10, 170}, [2]float64{10, -170}, [2]float64{-10, -170}),
		"rings[0][1].Lon = 170":  at([2]float64{-10, -170}, [2]float64{0, 170}, [2]float64{10, 175}, [2]float64{-10, -170}),
		"rings[0][2].Lon = -180": at([2]float64{10, 179}, [2]float64{11, 180}, [2]float64{11, -180}, [2]float64{12, -179}, [2]float64{20, -180}, [2]float64{20, 180}),
		"rings[0][1].Lon = 81":   at([2]float64{10, -100}, [2]float64{11, 81}, [2]float64{}),
	} {
		say(testkit.Err(NewRegion(globe, rings, 1)), "NewRegion: %s", want)
	}
	k, g, madlib := testkit.Must(NewKNorm(plane, 1, nil)), testkit.Must(NewGaussian(2, good, nil)), testkit.Must(NewMadlib(words, 1, nil))
	sphere, dst := testkit.Must(NewSphere(1, nil)), make([]float64, 2)
	for _, r := range append(rows, []row{
		{"GaussianSigma: Delta = 1,", testkit.Err(GaussianSigma(often))},
		{"PlanarAlpha: prob = 1,", testkit.Err(PlanarAlpha(1, 1))},
		{"NewGaussian: Dim = 0,", testkit.Err(NewGaussian(0, good, nil))},
		{"NewSphere: different units: Unit is \"m\", the metric's \"km\"", testkit.Err(NewSphere(1, &SphereOptions{Unit: "m"}))},
		{"NewSphere: alpha*Radius = 6", testkit.Err(NewSphere(1e10, nil))},
		{"NewTruncatedGeometric: Hi = 2, want an integer >= Lo = 3", testkit.Err(NewTruncatedGeometric(Range{3, 2}, 1, nil))},
		{"NewDiscreteGaussian: sigma = ", testkit.Err(NewDiscreteGaussian(GaussianTarget{Alpha: 1e-15, Delta: 1e-12, Diameter: 1}, nil))},
		{"NewMadlib: metric: NewPoints: pts: empty input", testkit.Err(NewMadlib[float64](nil, 1, nil))},
		{"NewMadlib: metric: ", testkit.Err(NewMadlib([][]float64{{1}, {nan}}, 1, nil))},
		{"NewMadlib: vectors[1][0] = 1e+30, want a finite number, at most", testkit.Err(NewMadlib([][]float64{{1}, {1e30}}, 1, nil))},
		{"Madlib.Release: x, want ", testkit.Err(madlib.Release(nil, 2))},
		{"KNorm.Release: x[1], want ", testkit.Err(k.Release(nil, []float64{0, nan}))},
		{"KNorm.ReleaseTo: dst has size 1, want 2", k.ReleaseTo(dst[:1], nil, []float64{0, 0})},
		{"Gaussian.Release: x[1], want ", testkit.Err(g.Release(nil, []float64{0, nan}))},
		{"Gaussian.ReleaseTo: dst has size 0, want 2", g.ReleaseTo(nil, nil, []float64{0, 0})},
		{"Laplace.Release: x, want ", testkit.Err(testkit.Must(NewLaplace(1, nil)).Release(nil, nan))},
		{"PlanarLaplace.Release: x[1], want ", testkit.Err(testkit.Must(NewPlanarLaplace(1, nil)).Release(nil, [2]float64{0, -inf}))},
		{"Sphere.Release: metric: GreatCircle: x.Lat, want ", testkit.Err(sphere.Release(nil, metric.LatLon{Lat: nan}))},
		{"NewCells: sphere.Radius = -1", testkit.Err(NewCells(metric.GreatCircle{Radius: -1}, 1))},
		{"NewRegion: needs ", testkit.Err(NewRegion(globe, lands, 1e-9))},
		{"Norm.AlphaForLevel: Dim = 0", testkit.Err(Norm{P: 2}.AlphaForLevel(1, .1, 1))},
	}...) {
		if r.err == nil || !strings.HasPrefix(r.err.Error(), "additive: "+r.want) {
			t.Errorf("%v, want additive: %s", r.err, r.want)
		}
	}
}

// What no constructor made releases nothing, promises nothing and states no number.
func TestZeroValues_Refuse(t *testing.T) {
	testkit.Unmade[Laplace](t, "NewLaplace")
	testkit.Unmade[KNorm](t, "NewKNorm")
	testkit.Unmade[PlanarLaplace](t, "NewPlanarLaplace")
	testkit.Unmade[Gaussian](t, "NewGaussian")
	testkit.Unmade[Sphere](t, "NewSphere")
	testkit.Unmade[DiscreteLaplace](t, "NewDiscreteLaplace")
	testkit.Unmade[TruncatedGeometric](t, "NewTruncatedGeometric")
	testkit.Unmade[DiscreteGaussian](t, "NewDiscreteGaussian")
	testkit.Unmade[Madlib](t, "NewMadlib")
	testkit.Unmade[Cells](t, "NewCells")
	testkit.Unmade[Region](t, "NewRegion")
	testkit.Unmade[Knots[[2]float64]](t, "NewKnots or NewEarthKnots")
}
