package additive

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
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

func sample(n int, f func() float64) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = f()
	}
	return u
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*math.Abs(b) }

// must returns the value of a constructor that cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestConstructors_RefuseBadInput(t *testing.T) {
	plane := Norm{P: 2, Dim: 2}
	good := GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 1}
	with := func(f func(g *GaussianTarget)) GaussianTarget { g := good; f(&g); return g }
	cases := map[string]func() error{}
	for name, alpha := range map[string]float64{"0": 0, "-1": -1, "NaN": nan, "Inf": inf, "1e-200": 1e-200} {
		cases["KNorm alpha "+name] = func() error { _, err := NewKNorm(plane, alpha, nil); return err }
		cases["Laplace alpha "+name] = func() error { _, err := NewLaplace(alpha, nil); return err }
		cases["Planar alpha "+name] = func() error { _, err := NewPlanarLaplace(alpha, nil); return err }
		cases["Sphere alpha "+name] = func() error { _, err := NewSphere(alpha, nil); return err }
		cases["DiscreteLaplace alpha "+name] = func() error { _, err := NewDiscreteLaplace(alpha, nil); return err }
		cases["TruncatedGeometric alpha "+name] = func() error { _, err := NewTruncatedGeometric(Range{0, 1}, alpha, nil); return err }
		cases["Madlib alpha "+name] = func() error { _, err := NewMadlib([][]float64{{1}, {2}}, alpha, nil); return err }
		cases["Gaussian alpha "+name] = func() error {
			_, err := NewGaussian(1, with(func(g *GaussianTarget) { g.Alpha = alpha }), nil)
			return err
		}
		cases["Gaussian diam "+name] = func() error {
			_, err := NewGaussian(1, with(func(g *GaussianTarget) { g.Diameter = alpha }), nil)
			return err
		}
		cases["DiscreteGaussian diam "+name] = func() error {
			_, err := NewDiscreteGaussian(with(func(g *GaussianTarget) { g.Diameter = alpha }), nil)
			return err
		}
		cases["AlphaFor radius "+name] = func() error { _, err := PlanarAlpha(alpha, 0.5); return err }
	}
	for name, delta := range map[string]float64{"0": 0, "1": 1, "-1": -1, "NaN": nan, "Inf": inf} {
		cases["Gaussian delta "+name] = func() error {
			_, err := NewGaussian(1, with(func(g *GaussianTarget) { g.Delta = delta }), nil)
			return err
		}
		cases["DiscreteGaussian delta "+name] = func() error {
			_, err := NewDiscreteGaussian(with(func(g *GaussianTarget) { g.Delta = delta }), nil)
			return err
		}
		cases["AlphaFor prob "+name] = func() error { _, err := PlanarAlpha(1, delta); return err }
	}
	for name, norm := range map[string]Norm{"p=0.5": {0.5, 2}, "p=NaN": {nan, 2}, "d=0": {2, 0}, "d=-3": {1, -3}} {
		cases["KNorm "+name] = func() error { _, err := NewKNorm(norm, 1, nil); return err }
		cases["AlphaFor "+name] = func() error { _, err := norm.AlphaFor(1, 0.5); return err }
	}
	for name, grid := range map[string]float64{"0.3": 0.3, "-1": -1, "NaN": nan, "Inf": inf, "2^-400": 0x1p-400} {
		o := &Options{Grid: grid}
		cases["KNorm grid "+name] = func() error { _, err := NewKNorm(plane, 1, o); return err }
		cases["Laplace grid "+name] = func() error { _, err := NewLaplace(1, o); return err }
		cases["Gaussian grid "+name] = func() error { _, err := NewGaussian(2, good, o); return err }
	}
	cases["Gaussian d=0"] = func() error { _, err := NewGaussian(0, good, nil); return err }
	cases["Sphere radius"] = func() error { _, err := NewSphere(1, &SphereOptions{Radius: -2}); return err }
	cases["Sphere unit without a radius"] = func() error { _, err := NewSphere(1, &SphereOptions{Unit: "m"}); return err }
	cases["Sphere alpha*radius"] = func() error { _, err := NewSphere(1e10, nil); return err }
	cases["TruncatedGeometric range"] = func() error { _, err := NewTruncatedGeometric(Range{3, 2}, 1, nil); return err }
	cases["DiscreteGaussian too strict"] = func() error {
		_, err := NewDiscreteGaussian(GaussianTarget{Alpha: 1e-15, Delta: 1e-12, Diameter: 1}, nil)
		return err
	}
	cases["Madlib NaN"] = func() error { _, err := NewMadlib([][]float64{{1}, {nan}}, 1, nil); return err }
	for name, f := range cases {
		var v *fault.ValueError
		if err := f(); !errors.As(err, &v) {
			t.Errorf("%s: error %v, want a *ValueError", name, err)
		}
	}
	if _, err := NewMadlib(nil, 1, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("Madlib without words: %v", err)
	}
	var size *fault.SizeError
	if _, err := NewMadlib([][]float64{{1}, {1, 2}}, 1, nil); !errors.As(err, &size) {
		t.Errorf("Madlib with unequal lengths: %v", err)
	}
	var memory *fault.MemoryError
	if _, err := NewKNorm(Norm{2, math.MaxInt}, 1, nil); !errors.As(err, &memory) {
		t.Errorf("KNorm in math.MaxInt dimensions: %v", err)
	}
}

func TestReleases_RefuseBadInput(t *testing.T) {
	k := must(NewKNorm(Norm{2, 2}, 1, nil))
	g := must(NewGaussian(2, GaussianTarget{1, 1e-6, 1}, nil))
	dst := make([]float64, 2)
	for name, err := range map[string]error{
		"KNorm NaN":          second(k.Release(nil, []float64{0, nan})),
		"KNorm Inf":          second(k.Release(nil, []float64{inf, 0})),
		"KNorm To NaN":       k.ReleaseTo(dst, nil, []float64{0, nan}),
		"Gaussian NaN":       second(g.Release(nil, []float64{0, nan})),
		"Gaussian To NaN":    g.ReleaseTo(dst, nil, []float64{0, nan}),
		"Laplace NaN":        second(must(NewLaplace(1, nil)).Release(nil, nan)),
		"Planar Inf":         second(must(NewPlanarLaplace(1, nil)).Release(nil, [2]float64{0, -inf})),
		"Sphere NaN":         second(must(NewSphere(1, nil)).Release(nil, metric.LatLon{Lat: nan})),
		"Sphere latitude 91": second(must(NewSphere(1, nil)).Release(nil, metric.LatLon{Lat: 91})),
		"Sphere lon Inf":     second(must(NewSphere(1, nil)).Release(nil, metric.LatLon{Lon: inf})),
		"Madlib index":       second(must(NewMadlib([][]float64{{1}, {2}}, 1, nil)).Release(nil, 2)),
		"Madlib negative":    second(must(NewMadlib([][]float64{{1}, {2}}, 1, nil)).Release(nil, -1)),
	} {
		var v *fault.ValueError
		if !errors.As(err, &v) {
			t.Errorf("%s: error %v, want a *ValueError", name, err)
		}
	}
	for name, err := range map[string]error{
		"KNorm length":    second(k.Release(nil, []float64{0})),
		"KNorm To x":      k.ReleaseTo(dst, nil, []float64{0}),
		"KNorm To dst":    k.ReleaseTo(dst[:1], nil, []float64{0, 0}),
		"Gaussian length": second(g.Release(nil, []float64{0, 0, 0})),
		"Gaussian To dst": g.ReleaseTo(nil, nil, []float64{0, 0}),
	} {
		var s *fault.SizeError
		if !errors.As(err, &s) {
			t.Errorf("%s: error %v, want a *SizeError", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Every guarantee is the level asked for, in the unit asked for, and up to the
// diameter that the noise was chosen for.
func TestGuarantees_AreStated(t *testing.T) {
	const alpha = 0.7
	o, d := &Options{Unit: "m"}, &DiscreteOptions{Unit: "m"}
	target := GaussianTarget{Alpha: alpha, Delta: 1e-6, Diameter: 3}
	for name, g := range map[string]mechanism.Guarantee{
		"KNorm":              must(NewKNorm(Norm{2, 3}, alpha, o)).Guarantee(),
		"Laplace":            must(NewLaplace(alpha, o)).Guarantee(),
		"Planar":             must(NewPlanarLaplace(alpha, o)).Guarantee(),
		"Sphere":             must(NewSphere(alpha, &SphereOptions{Radius: 5, Unit: "m"})).Guarantee(),
		"DiscreteLaplace":    must(NewDiscreteLaplace(alpha, d)).Guarantee(),
		"TruncatedGeometric": must(NewTruncatedGeometric(Range{0, 9}, alpha, d)).Guarantee(),
		"Madlib":             must(NewMadlib([][]float64{{1}, {2}}, alpha, d)).Guarantee(),
	} {
		if g.Alpha() != alpha || g.Delta() != 0 || g.Unit() != "m" || g.Reach() != inf {
			t.Errorf("%s: %v", name, g)
		}
	}
	for name, g := range map[string]mechanism.Guarantee{
		"Gaussian":         must(NewGaussian(4, target, o)).Guarantee(),
		"DiscreteGaussian": must(NewDiscreteGaussian(target, d)).Guarantee(),
	} {
		if g.Alpha() != alpha || g.Delta() != 1e-6 || g.Unit() != "m" || g.Reach() != target.Diameter {
			t.Errorf("%s: %v", name, g)
		}
	}
	if u := must(NewSphere(1, nil)).Guarantee().Unit(); u != "km" {
		t.Errorf("Sphere: default unit %q", u)
	}
}

// Outputs are multiples of the grid, at most half a step from the ungridded
// output of the same random bits.
func TestGrid_RoundsOutputs(t *testing.T) {
	const grid = 0.25
	free := must(NewKNorm(Norm{2, 3}, 0.5, nil))
	snapped := must(NewKNorm(Norm{2, 3}, 0.5, &Options{Grid: grid}))
	a, b := random.Seeded(1), random.Seeded(1)
	x := []float64{1e6 + 0.1, -3.3, 0}
	for range 200 {
		y, z := must(free.Release(a, x)), must(snapped.Release(b, x))
		for i := range y {
			if z[i] != math.Round(z[i]/grid)*grid || math.Abs(y[i]-z[i]) > grid/2 {
				t.Fatalf("%v becomes %v", y[i], z[i])
			}
		}
	}
	for _, c := range [][3]float64{{5e-324, 0x1p300, 0}, {1e308, 0x1p-300, 1e308}, {-0.75, 0.5, -1}, {1<<53 + 2, 1, 1<<53 + 2}} {
		if v := toGrid(c[0], c[1]); v != c[2] {
			t.Errorf("toGrid(%v, %v) = %v, want %v", c[0], c[1], v, c[2])
		}
	}
}

// A nil generator works, for concurrent callers too.
func TestRelease_SecureGenerator(t *testing.T) {
	s := must(NewSphere(1, nil))
	k := must(NewKNorm(Norm{2, 50}, 1, nil))
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 100 {
				if _, err := s.Release(nil, metric.LatLon{}); err != nil {
					t.Error(err)
				}
				if _, err := k.Release(nil, make([]float64, 50)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range 4 {
		<-done
	}
}
