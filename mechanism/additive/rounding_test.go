package additive

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// A Unix time in microseconds or nanoseconds, and all that is larger, is refused with the numbers where noise
// of scale 1 would leave it as it is. At the largest input that is taken the noise is seen: an output equals
// it in at most 1 of 400 draws (here about 1 of 2,000; 20,000 draws, false-reject probability below 1e-9).
func TestReleases_RefuseInputsThatHideTheNoise(t *testing.T) {
	rng := random.Seeded(85)
	type release = func(x []float64) ([]float64, error)
	l, p := testkit.Must(NewLaplace(1, nil)), testkit.Must(NewPlanarLaplace(1, nil))
	g := testkit.Must(NewGaussian(2, GaussianTarget{Alpha: 4.2246789, Delta: 1e-6, Diameter: 1.0 / 4.2246789}, nil)) // sigma 1
	releases, dims := map[string]release{
		"Laplace":            func(x []float64) ([]float64, error) { y, err := l.Release(rng, x[0]); return []float64{y}, err },
		"PlanarLaplace":      func(x []float64) ([]float64, error) { y, err := p.Release(rng, [2]float64(x)); return y[:], err },
		"Gaussian":           func(x []float64) ([]float64, error) { return g.Release(rng, x) },
		"Gaussian.ReleaseTo": func(x []float64) ([]float64, error) { return x, g.ReleaseTo(x, rng, x) },
	}, map[string]int{"Laplace": 1, "PlanarLaplace": 2, "Gaussian": 2, "Gaussian.ReleaseTo": 2}
	for _, n := range []Norm{{P: 1, Dim: 2}, {P: 2, Dim: 3}, {P: 2, Dim: 20}, {P: 3, Dim: 2}, {P: inf, Dim: 2}, {P: inf, Dim: 9}} {
		k := testkit.Must(NewKNorm(n, 1, nil))
		dims[k.String()], dims[k.String()+" to"] = n.Dim, n.Dim
		releases[k.String()] = func(x []float64) ([]float64, error) { return k.Release(rng, x) }
		releases[k.String()+" to"] = func(x []float64) ([]float64, error) { return x, k.ReleaseTo(x, rng, x) }
	}
	for name, release := range releases {
		last := dims[name] - 1
		x := make([]float64, dims[name])
		for _, x[last] = range []float64{1.7e15, -1.7e15, 1.7e17, math.Nextafter(1<<42, inf), math.MaxFloat64} {
			var v *fault.ValueError
			if _, err := release(x); !errors.As(err, &v) || v.Value != x[last] || !strings.Contains(err.Error(), "too far apart for noise of scale") || strings.Contains(err.Error(), "Inf") {
				t.Errorf("%s: input %v gives error %v", name, x[last], err)
			}
		}
		const largest, draws = float64(1 << 41), 20_000 // at sigma slightly below 1 the step is 2^-11
		same := 0
		for range draws {
			x[last] = largest
			if testkit.Must(release(x))[last] == largest {
				same++
			}
		}
		if same > draws/400 {
			t.Errorf("%s: input %v comes back %d times of %d", name, largest, same, draws)
		}
	}
	// On the sphere maxArc keeps the grid finer than the noise.
	s, x := testkit.Must(NewSphere(maxArc, &SphereOptions{Radius: 1})), metric.LatLon{Lat: 60, Lon: 179}
	for range 100 {
		if testkit.Must(s.Release(rng, x)) == x { // about once in a million
			t.Error("Sphere: the input comes back")
		}
	}
}

// Outputs are multiples of the stated grid, or of the largest power of two that is
// at most 2^-10 of the scale; there is one zero.
func TestExact_OutputsAreMultiplesOfTheGrid(t *testing.T) {
	rng := random.Seeded(86)
	for _, c := range []struct{ alpha, grid, want float64 }{
		{1, 0, 0x1p-10}, {0.99, 0, 0x1p-10}, {1.01, 0, 0x1p-11}, {2, 0, 0x1p-11}, {1000, 0, 0x1p-20},
		{1e-100, 0, 0x1p322}, {1e100, 0, 0x1p-343}, {1, 0.25, 0.25}, {1, 0x1p-30, 0x1p-30}, {3, 8, 8},
	} {
		l, k := testkit.Must(NewLaplace(c.alpha, &Options{Grid: c.grid})), testkit.Must(NewKNorm(plane, c.alpha, &Options{Grid: c.grid}))
		if l.k.out.grid != c.want || k.out.grid != c.want {
			t.Errorf("alpha %v, grid %v: %v and %v", c.alpha, c.grid, l.k.out.grid, k.out.grid)
		}
		for _, x := range []float64{0, 0.3 * c.want, -1000.4 * c.want} {
			v := testkit.Must(k.Release(rng, []float64{x, -x}))
			for _, y := range append(v, testkit.Must(l.Release(rng, x))) {
				if y/c.want != math.Round(y/c.want) || y == 0 && math.Signbit(y) {
					t.Errorf("alpha %v, grid %v, input %v: output %v", c.alpha, c.grid, x, y)
				}
			}
		}
	}
	g := testkit.Must(NewGaussian(3, GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 1}, nil)) // sigma 4.22
	for _, y := range testkit.Must(g.Release(rng, []float64{0, 1e-9, 1e9})) {
		if y*256 != math.Round(y*256) {
			t.Errorf("Gaussian output %v", y)
		}
	}
}

// Draws are those of the exact sampler, whose laws package exact tests, at the alpha of the guarantee
// itself, and at the deviation that the calibrations state, on the grid.
func TestExact_DrawsAtTheStatedLevel(t *testing.T) {
	sphere := testkit.Must(NewSphere(0.7, &SphereOptions{Radius: 10}))
	for seed := range uint64(100) {
		lat, lon := exact.Globe{Step: 0x1p-23}.AddNoise(random.Seeded(seed), 48, 16, 7*(1-0x1p-53))
		if y := testkit.Must(sphere.Release(random.Seeded(seed), metric.LatLon{Lat: 48, Lon: 16})); y != (metric.LatLon{Lat: lat, Lon: lon}) {
			t.Fatalf("Sphere: %v, want %v, %v", y, lat, lon)
		}
	}
	for _, alpha := range []float64{0.3, 1, 7.7} {
		x, want := []float64{1.2, -0.7}, make([]float64, 2)
		l, p := testkit.Must(NewLaplace(alpha, nil)), testkit.Must(NewPlanarLaplace(alpha, nil))
		for seed := range uint64(100) {
			at := exact.Lattice{Step: l.k.out.grid}
			if got, want := testkit.Must(l.Release(random.Seeded(seed), x[0])), at.AddLaplace(random.Seeded(seed), x[0], l.Guarantee().Alpha()); got != want {
				t.Fatalf("Laplace: %v, want %v", got, want)
			}
			at.AddKNorm(want, random.Seeded(seed), x, p.Guarantee().Alpha(), 2)
			if got := testkit.Must(p.Release(random.Seeded(seed), [2]float64(x))); got != [2]float64(want) {
				t.Fatalf("PlanarLaplace: %v, want %v", got, want)
			}
			for _, p := range []float64{inf, 3, 1.25} {
				k := testkit.Must(NewKNorm(Norm{P: p, Dim: 2}, alpha, nil))
				at.AddKNorm(want, random.Seeded(seed), x, k.Guarantee().Alpha(), p)
				if got := testkit.Must(k.Release(random.Seeded(seed), x)); !slices.Equal(got, want) {
					t.Fatalf("KNorm: %v, want %v", got, want)
				}
			}
			target := GaussianTarget{Alpha: alpha, Delta: 1e-6, Diameter: 1}
			g := testkit.Must(NewGaussian(2, target, &Options{Grid: at.Step}))
			at.AddNormal(want, random.Seeded(seed), x, testkit.Must(GaussianSigma(target)))
			if got := testkit.Must(g.Release(random.Seeded(seed), x)); !slices.Equal(got, want) {
				t.Fatalf("Gaussian: %v, want %v", got, want)
			}
			integer, clamped := testkit.Must(NewDiscreteLaplace(alpha, nil)), testkit.Must(NewTruncatedGeometric(Range{-1, 2}, alpha, nil))
			normal := testkit.Must(NewDiscreteGaussian(target, nil))
			for _, x := range []int64{-3, 1, 9} {
				laplace := exact.AddDiscreteLaplace(random.Seeded(seed), x, alpha)
				if got := testkit.Must(integer.Release(random.Seeded(seed), x)); got != laplace {
					t.Fatalf("DiscreteLaplace: %v, want %v", got, laplace)
				}
				if got := testkit.Must(clamped.Release(random.Seeded(seed), x)); got != min(max(laplace, -1), 2) {
					t.Fatalf("TruncatedGeometric: %v of %v", got, laplace)
				}
				want := exact.AddDiscreteGaussian(random.Seeded(seed), x, normal.Sigma())
				if got := testkit.Must(normal.Release(random.Seeded(seed), x)); got != want {
					t.Fatalf("DiscreteGaussian: %v, want %v", got, want)
				}
			}
		}
	}
}

// The grid moves the quantile of the radius by at most what its doc says: the
// share of draws beyond it lies between those of the real noise half a cell
// farther and half a cell nearer. 100,000 draws, 6 standard errors: 2e-9.
func TestRadiusQuantile_HoldsOnTheGrid(t *testing.T) {
	rng := random.Seeded(87)
	const draws, q = 100_000, 0.9
	for _, n := range []Norm{{P: 1, Dim: 1}, {P: 1, Dim: 3}, {P: 2, Dim: 2}, {P: 2, Dim: 4}, {P: inf, Dim: 3}} {
		for _, grid := range []float64{0, 1} {
			k := testkit.Must(NewKNorm(n, 1, &Options{Grid: grid}))
			radius, slack := k.RadiusQuantile(q), math.Pow(float64(n.Dim), 1/n.P)/2*k.out.grid
			x, inside := make([]float64, n.Dim), 0
			for range draws {
				if floats.Norm(testkit.Must(k.Release(rng, x)), n.P) <= radius {
					inside++
				}
			}
			got, tol := float64(inside)/draws, 6*0.5/math.Sqrt(draws)
			if got < k.RadiusProb(radius-slack)-tol || got > k.RadiusProb(radius+slack)+tol {
				t.Errorf("%v, grid %v: %v within %v", n, k.out.grid, got, radius)
			}
		}
	}
}
