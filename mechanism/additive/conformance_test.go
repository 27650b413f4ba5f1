package additive_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// conform runs a mechanism through the kit: its behavior at the inputs, and
// its level between the first two, in bins where outputs are real numbers.
func conform[X, Y any](t *testing.T, name string, m mechanism.Mechanism[X, Y], err error, distance float64, o mechanismtest.Options[X, Y], inputs ...X) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	o.Samples = 1 << 14
	bins := o.Key
	o.Key = nil
	if err := mechanismtest.TestMechanism(t.Context(), m, inputs, &o); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	o.Key = bins
	e, err := mechanismtest.TestLevel(t.Context(), m, inputs[0], inputs[1], distance, &o)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if half := m.Guarantee().Alpha() / 2; m.Guarantee().Delta() == 0 && e.Level < half {
		t.Errorf("%s: %v: the test sees less than half of %v", name, e, m.Guarantee())
	}
}

func TestConformance_Numbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, grid := range []float64{0, 0x1p-10} {
		laplace, err := additive.NewLaplace(2, &additive.Options{Grid: grid})
		conform(t, "Laplace", laplace, err, 1, mechanismtest.Options[float64, float64]{
			Key:     func(y float64) any { return math.Floor(4 * y) },
			Refused: []float64{nan, inf, -inf},
		}, 0, 1, -1e9)

		vectors := mechanismtest.Options[[]float64, []float64]{
			Key:     func(y []float64) any { return math.Floor(2 * y[0]) },
			Refused: [][]float64{nil, {1}, {1, 2, 3}, {nan, 0}, {0, inf}},
		}
		for _, p := range []float64{1, 2, 3, inf} {
			knorm, err := additive.NewKNorm(additive.Norm{P: p, Dim: 2}, 1, &additive.Options{Grid: grid})
			conform(t, "KNorm", knorm, err, 3, vectors, []float64{0, 0}, []float64{3, 0}, []float64{1e6, -1e6})
		}
		gauss, err := additive.NewGaussian(2, additive.GaussianTarget{Alpha: 1, Delta: 1e-2, Diameter: 3}, &additive.Options{Grid: grid})
		conform(t, "Gaussian", gauss, err, 3, vectors, []float64{0, 0}, []float64{3, 0})
	}
}

func TestConformance_Places(t *testing.T) {
	nan := math.NaN()
	planar, err := additive.NewPlanarLaplace(1, nil)
	conform(t, "PlanarLaplace", planar, err, 3, mechanismtest.Options[[2]float64, [2]float64]{
		Key:     func(y [2]float64) any { return math.Floor(2 * y[0]) },
		Refused: [][2]float64{{nan, 0}, {0, math.Inf(1)}},
	}, [2]float64{}, [2]float64{3, 0})

	bad := []metric.LatLon{{Lat: 91}, {Lat: nan}, {Lon: math.Inf(1)}}
	sphere, err := additive.NewSphere(1, &additive.SphereOptions{Radius: 1})
	conform(t, "Sphere", sphere, err, math.Pi, mechanismtest.Options[metric.LatLon, metric.LatLon]{
		Key:     func(y metric.LatLon) any { return math.Floor(y.Lat / 10) },
		Refused: bad,
	}, metric.LatLon{Lat: 90}, metric.LatLon{Lat: -90}, metric.LatLon{Lon: 180})

	// Tracks of five positions, all moved by 3, and then but for one.
	track := func(x float64) [][2]float64 { return [][2]float64{{x}, {x}, {x}, {x}, {x, 5}} }
	knots, err := additive.NewKnots(1, &additive.KnotsOptions{Every: 3})
	conform(t, "Knots", knots, err, 3, mechanismtest.Options[[][2]float64, [][2]float64]{
		Key:     func(y [][2]float64) any { return [2]bool{y[1][0] < 1.5, y[3][0] < 1.5} },
		Refused: [][][2]float64{nil, {{nan, 0}}},
	}, track(0), track(3))
	trail, err := additive.NewTrail(1, nil)
	conform(t, "Trail", trail, err, 3, mechanismtest.Options[[][2]float64, [][2]float64]{
		Key:     func(y [][2]float64) any { return math.Floor(2 * y[0][0]) },
		Refused: [][][2]float64{nil, {{nan, 0}}, {{}, {0, math.Inf(1)}}, make([][2]float64, 1441)},
	}, track(0), track(3))
	one := track(0) // one position moved by 3: two increments, 6 altogether
	one[3][0] = 3
	conform(t, "Trail", trail, err, 6, mechanismtest.Options[[][2]float64, [][2]float64]{
		Key: func(y [][2]float64) any { return [2]bool{y[3][0]-y[2][0] < 1.5, y[4][0]-y[3][0] < -1.5} },
	}, track(0), one)
	earth, err := additive.NewEarthTrail(1, metric.LatLon{Lat: 48}, &additive.TrailOptions{Steps: 3})
	conform(t, "EarthTrail", earth, err, 3, mechanismtest.Options[[]metric.LatLon, []metric.LatLon]{
		Key:     func(y []metric.LatLon) any { return math.Floor(50 * y[0].Lat) },
		Refused: [][]metric.LatLon{nil, {{Lat: 91}}, {{Lat: 48}, {Lat: -13}}, make([]metric.LatLon, 4)},
	}, []metric.LatLon{{Lat: 48}}, []metric.LatLon{{Lat: 48 + 3/111.194926645}}, []metric.LatLon{{Lat: 48}, {Lat: 90}, {Lat: -11}})

	cities := testkit.Must(metric.NewPoints([]metric.LatLon{{Lat: 48.86, Lon: 2.35}, {Lat: 51.51, Lon: -0.13}, {Lat: 52.52, Lon: 13.4}}, metric.GreatCircle{Radius: 1}))
	near := testkit.Must(additive.NewSphere(15, &additive.SphereOptions{Radius: 1}))
	snapped := additive.Snap(mechanism.Mechanism[metric.LatLon, metric.LatLon](near), cities)
	testkit.Check(t, mechanismtest.TestMechanism(t.Context(), snapped, []metric.LatLon{cities.At(0), {}}, &mechanismtest.Options[metric.LatLon, int]{Refused: bad}))
	if _, err := mechanismtest.TestLevel(t.Context(), snapped, cities.At(0), cities.At(1), cities.Distance(0, 1), nil); err != nil {
		t.Error(err)
	}

	words := [][]float64{{0, 0}, {1, 0}, {0, 1}, {3, 3}}
	madlib := testkit.Must(additive.NewMadlib(words, 2, nil))
	testkit.Check(t, mechanismtest.TestMechanism(t.Context(), madlib, []int{0, 1, 3}, &mechanismtest.Options[int, int]{Refused: []int{-1, 4}}))
	if _, err := mechanismtest.TestLevel(t.Context(), madlib, 0, 1, 1, nil); err != nil {
		t.Error(err)
	}
}

func TestConformance_Integers(t *testing.T) {
	laplace, err := additive.NewDiscreteLaplace(0.7, nil)
	o := mechanismtest.Options[int64, int64]{}
	conform(t, "DiscreteLaplace", laplace, err, 2, o, 0, 2, -1, math.MaxInt64, math.MinInt64)
	distribution := map[int64]float64{}
	for k := int64(-12); k <= 12; k++ {
		distribution[7+k] = math.Tanh(0.35) * math.Exp(-0.7*math.Abs(float64(k)))
	}
	testkit.Check(t, mechanismtest.TestDistribution(t.Context(), laplace, 7, distribution, nil))
	gauss, err := additive.NewDiscreteGaussian(additive.GaussianTarget{Alpha: 0.5, Delta: 1e-3, Diameter: 3}, nil)
	conform(t, "DiscreteGaussian", gauss, err, 3, o, 0, 3, math.MaxInt64)
	geometric, err := additive.NewTruncatedGeometric(additive.Range{Lo: -2, Hi: 5}, 0.7, nil)
	conform(t, "TruncatedGeometric", geometric, err, 1, o, 0, 1, -2, 5)
}
