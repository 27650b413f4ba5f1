package additive

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

var arcLevels = []float64{1e-6, 1e-3, 0.1, 0.3, 0.5, 1, 2, 3, 10, 100, 1e4, 1e6, 1e9, 1e12}

// massBetween integrates the density by quadrature, to about 1e-13.
func (l arc) massBetween(from, to float64) float64 {
	sum := 0.0
	const pieces = 40
	for i := range pieces {
		a, b := from+(to-from)*float64(i)/pieces, from+(to-from)*float64(i+1)/pieces
		sum += quad.Fixed(l.density, a, b, 16, quad.Legendre{}, 0)
	}
	return sum
}

func TestArc_HeadAndTailAgainstQuadrature(t *testing.T) {
	for _, a := range arcLevels {
		l := arc{a}
		for _, f := range []float64{1e-9, 1e-4, 0.01, 0.2, 0.5, 1, 1.5, 3, 10, 40} {
			theta := f * min(1, 1/a)
			if theta > math.Pi {
				continue
			}
			if got, want := l.head(theta), l.massBetween(0, theta); !near(got, want, 1e-11) {
				t.Errorf("a = %v: head(%v) = %v, want %v", a, theta, got, want)
			}
			end := min(math.Pi, theta+60/a)
			if got, want := l.tail(theta), l.massBetween(theta, end); !near(got, want, 1e-11) {
				t.Errorf("a = %v: tail(%v) = %v, want %v", a, theta, got, want)
			}
			if s := l.head(theta) + l.tail(theta); !near(s, 1, 1e-14) {
				t.Errorf("a = %v: head + tail = %v at %v", a, s, theta)
			}
			// Near the antipode, at levels where it is ever reached.
			if x := f * 0.1; a <= 10 && x < math.Pi {
				if got, want := l.tail(math.Pi-x), l.massBetween(math.Pi-x, math.Pi); !near(got, want, 1e-6) && math.Abs(got-want) > 1e-16*x {
					t.Errorf("a = %v: tail(pi-%v) = %v, want %v", a, x, got, want)
				}
			}
		}
	}
}

func TestArc_AngleInverts(t *testing.T) {
	for _, a := range arcLevels {
		l := arc{a}
		for _, p := range []float64{0x1p-65, 1e-15, 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.49999, 0.5} {
			if got := l.head(l.angle(p, fromHead)); !near(got, p, 1e-12) {
				t.Errorf("a = %v: head(angle(%v)) = %v", a, p, got)
			}
			theta := l.angle(p, fromTail)
			// Near pi a float64 theta leaves pi - theta an absolute error of 2^-52.
			tol := 1e-12 + 0x1p-49*(1/(math.Pi-theta)+a)
			if got := l.tail(theta); !near(got, p, tol) {
				t.Errorf("a = %v: tail(angle(%v)) = %v", a, p, got)
			}
		}
		// Both forms meet in the middle, and quantiles increase.
		if u, v := l.angle(0.5, fromHead), l.angle(0.5, fromTail); !near(u, v, 1e-13) {
			t.Errorf("a = %v: medians %v and %v", a, u, v)
		}
		last := 0.0
		for i := 1; i <= 200; i++ {
			q := float64(i) / 401
			theta := l.angle(q, fromHead)
			if theta <= last {
				t.Errorf("a = %v: quantile %v at %v after %v", a, theta, q, last)
			}
			last = theta
		}
	}
	// Uniform on the sphere in the limit, and the plane at the other end.
	if got := (arc{1e-9}).angle(0.25, fromHead); !near(got, math.Pi/3, 1e-8) {
		t.Errorf("uniform: %v", got)
	}
	plane := testkit.Must(NewPlanarLaplace(1, nil))
	if got := (arc{1e9}).angle(0.25, fromHead) * 1e9; !near(got, plane.RadiusQuantile(0.25), 1e-12) {
		t.Errorf("plane: %v, want %v", got, plane.RadiusQuantile(0.25))
	}
}

// The distribution has alpha*Radius rounded down: never less noise than the level needs.
func TestSphere_LevelIsNotAboveTheStatedOne(t *testing.T) {
	testkit.Rounding(t)
	rng := random.Seeded(55)
	inexact := 0
	for range 1000 {
		alpha, radius := math.Exp(5*rng.NormFloat64()), math.Exp(3*rng.NormFloat64())
		a := testkit.Must(NewSphere(alpha, &SphereOptions{Radius: radius})).arc.a
		e := math.FMA(alpha, radius, -a)
		if e < 0 || e > 0x1p-51*a {
			t.Fatalf("alpha %v, radius %v: %v", alpha, radius, a)
		}
		if e > 0 {
			inexact++
		}
	}
	if inexact < 900 {
		t.Errorf("%d products of 1000 are rounded", inexact)
	}
}

func TestSphere_Quantiles(t *testing.T) {
	s := testkit.Must(NewSphere(0.01, nil)) // per km
	for _, q := range []float64{1e-6, 0.1, 0.5, 0.9, 0.999999} {
		if got := s.RadiusProb(s.RadiusQuantile(q)); !near(got, q, 1e-12) {
			t.Errorf("P{radius <= quantile(%v)} = %v", q, got)
		}
	}
	half := math.Pi * metric.EarthRadiusKm
	if s.RadiusQuantile(0) != 0 || s.RadiusQuantile(1) != half || !math.IsNaN(s.RadiusQuantile(1.1)) || !math.IsNaN(s.RadiusQuantile(nan)) {
		t.Error("quantiles at the ends")
	}
	if s.RadiusProb(0) != 0 || s.RadiusProb(-1) != 0 || s.RadiusProb(inf) != 1 || s.RadiusProb(half) != 1 || !math.IsNaN(s.RadiusProb(nan)) {
		t.Error("probabilities at the ends")
	}
}

// Two places 173 m apart, one of them on the meridian, where float64 longitudes are fine: all digits of all
// releases are those of the public grid, and the last of them are as likely from either. Chi-square of 64 classes
// of last bits: false-reject probability 1e-7 a place.
func TestSphere_ReleasesDigitsOfTheGridAlone(t *testing.T) {
	rng := random.Seeded(56)
	s := testkit.Must(NewSphereWithin(0.5, 0.95, nil))
	const step = 0x1p-23
	for _, x := range []metric.LatLon{{Lat: 51.4779}, {Lat: 51.4779, Lon: 0.0025}, {Lat: 90 - 1e-5, Lon: 180}} {
		count, p := make([]int, 64), make([]float64, 64)
		for range testkit.Sweep(40_000, 1_000_000) {
			y := testkit.Must(s.Release(rng, x))
			i, j := y.Lat/step, y.Lon/step
			if i != math.Round(i) || j != math.Round(j) || math.Abs(y.Lat) > 90 || y.Lon < -180 || y.Lon >= 180 || y.Lat == 0 && math.Signbit(y.Lat) || y.Lon == 0 && math.Signbit(y.Lon) {
				t.Fatalf("%v: released %v, which is no point of the grid", x, [2]float64{y.Lat, y.Lon})
			}
			count[8*(int(i)&7)+int(j)&7]++
		}
		for i := range p {
			p[i] = 1.0 / 64
		}
		testkit.ChiSquare(t, count, p, 1e-7)
	}
}
