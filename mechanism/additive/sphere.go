package additive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// SphereOptions are for [Sphere]. nil and the zero value are the defaults.
type SphereOptions struct {
	// Radius of the sphere; 0 means metric.EarthRadiusKm.
	Radius float64
	// Unit names the unit of Radius. The Earth's is in "km", and another for it
	// is refused with [mechanism.ErrUnit].
	Unit metric.Unit
}

// Sphere is the planar Laplace mechanism of the sphere: the output has density prop. to e^(-alpha*d) with
// respect to area, d its great-circle distance from the input. It is alpha-private per unit of
// [metric.GreatCircle] distance, at the poles and across the date line too. Noise added to latitude and
// longitude, or to the coordinates of a map projection, is not.
//
// The noise is exact: latitude and longitude of a random place, as reals, are rounded once to a public grid,
// the multiples of 2^-23 degrees, 1.3 cm on the Earth, or finer where the noise is (the largest power of two
// that is at most 2^-10 of its width 1/alpha, 2^-44 degrees at the finest), so that the guarantee holds for
// all bits of the output. A Sphere is immutable and safe for concurrent use.
type Sphere struct {
	arc    arc
	radius float64
	grid   exact.Globe
	g      mechanism.Guarantee
}

// maxArc bounds alpha*R: there the finest grid is 2^-9.98 of the noise's width.
const maxArc = 1e12

// NewSphere returns the mechanism of level alpha > 0 per unit of the radius, alpha*radius at
// most 1e12. [SphereAlpha] finds alpha from a wanted accuracy.
func NewSphere(alpha float64, o *SphereOptions) (*Sphere, error) {
	return newSphere("additive: NewSphere", alpha, o)
}

// NewSphereWithin returns the mechanism whose output lies within the given distance of the
// input with probability prob. The distance is in the unit of the radius: km by default, so
// that 0.3 is 300 m. Its level is [SphereAlpha].
func NewSphereWithin(distance, prob float64, o *SphereOptions) (*Sphere, error) {
	const op = "additive: NewSphereWithin"
	alpha, err := sphereAlpha(op, distance, prob, o)
	if err != nil {
		return nil, err
	}
	return newSphere(op, alpha, o)
}

func newSphere(op string, alpha float64, o *SphereOptions) (*Sphere, error) {
	radius, unit, err := orZero(o).sphere(op)
	if err != nil {
		return nil, err
	}
	g, err := pure(op, alpha, unit)
	if err != nil {
		return nil, err
	}
	a := directed.MulDown(alpha, radius)
	if a > maxArc {
		return nil, fault.Value(op, "alpha*Radius", a, "at most 1e12")
	}
	_, e := math.Frexp(finest * 180 / math.Pi / a)
	step := math.Ldexp(1, max(-44, min(e-1, -23)))
	return &Sphere{arc{a}, radius, exact.Globe{Step: step}, g}, nil
}

// sphere is the sphere of the options.
func (o SphereOptions) sphere(op string) (radius float64, unit metric.Unit, err error) {
	radius = cmp.Or(o.Radius, metric.EarthRadiusKm)
	if unit, err = fault.Unit(op, o.Unit, metric.GreatCircle{Radius: radius}.Unit()); err != nil {
		return 0, "", err
	}
	return radius, unit, checkScale(op, "Radius", radius)
}

// SphereAlpha returns the level, rounded down, at which the output of [Sphere] lies within the given
// great-circle distance of the input with probability prob. The distance must lie between 0 and half a
// great circle, prob below 1 and above the share of the sphere within that distance. If instead you want
// inputs at distance d to be told apart by at most e^eps, take alpha = eps/d.
func SphereAlpha(distance, prob float64, o *SphereOptions) (float64, error) {
	return sphereAlpha("additive: SphereAlpha", distance, prob, o)
}

func sphereAlpha(op string, distance, prob float64, o *SphereOptions) (float64, error) {
	radius, _, err := orZero(o).sphere(op)
	if err != nil {
		return 0, err
	}
	if !(distance > 0 && distance < math.Pi*radius) {
		return 0, fault.Value(op, "distance", distance, fmt.Sprintf("a number in (0, %.6g), half a great circle", math.Pi*radius))
	}
	if err := fault.Fraction(op, "prob", prob); err != nil {
		return 0, err
	}
	angle := distance / radius
	if share := (arc{0}).head(angle); prob <= share {
		return 0, fault.Value(op, "prob", prob, fmt.Sprintf("more than %.6g, the share of the sphere within the distance", share))
	}
	if (arc{maxArc}).head(angle) < prob {
		return 0, fault.Value(op, "distance", distance, fmt.Sprintf("one for which alpha*Radius is at most %g", maxArc))
	}
	// The larger a, the more of the distribution is near the input.
	a, _ := search.Change(0, maxArc, 0x1p-50, func(a float64) bool { return arc{a}.head(angle) >= prob })
	alpha := directed.DivDown(a, radius)
	return alpha, checkScale(op, "alpha", alpha)
}

func (s *Sphere) check(op string) error {
	return fault.Made(s != nil && s.radius != 0, op, "Sphere", "NewSphere")
}

// Guarantee is alpha per unit of great-circle distance, delta 0.
func (s *Sphere) Guarantee() mechanism.Guarantee { return orZero(s).g }

// String gives the noise and its guarantee.
func (s *Sphere) String() string {
	return describe(s.check("additive"), s.Guarantee(), "noise on the sphere of radius %.6g", orZero(s).radius)
}

// Release returns a point of the grid, its longitude in [-180, 180); at a pole it is 0. The
// input's latitude must lie in [-90, 90] and its longitude be finite. It takes below a
// microsecond, and where alpha*Radius passes 1e9 up to a millisecond.
func (s *Sphere) Release(rng *rand.Rand, x metric.LatLon) (metric.LatLon, error) {
	if err := s.check("additive: Sphere.Release"); err != nil {
		return metric.LatLon{}, err
	}
	if err := (metric.GreatCircle{}).Check(x, x); err != nil {
		return metric.LatLon{}, fmt.Errorf("additive: Sphere.Release: %w", fault.Private(err))
	}
	rng, done := random.Get(rng)
	defer done()
	lat, lon := s.grid.AddNoise(rng, x.Lat, x.Lon, s.arc.a)
	return metric.LatLon{Lat: lat, Lon: lon}, nil
}

// RadiusQuantile returns the great-circle distance that the output does not
// exceed with probability q, before rounding to the grid. NaN where q is outside [0, 1].
func (s *Sphere) RadiusQuantile(q float64) float64 {
	fault.Must(s, s.check("additive: Sphere.RadiusQuantile"))
	switch {
	case !(q >= 0 && q <= 1):
		return math.NaN()
	case q == 0:
		return 0
	case q == 1:
		return math.Pi * s.radius
	case q <= 0.5:
		return s.radius * s.arc.angle(q, fromHead)
	default:
		return s.radius * s.arc.angle(1-q, fromTail)
	}
}

// RadiusProb returns the probability that the output lies within the given
// great-circle distance of the input, before rounding to the grid.
func (s *Sphere) RadiusProb(radius float64) float64 {
	fault.Must(s, s.check("additive: Sphere.RadiusProb"))
	angle := radius / s.radius
	if angle >= math.Pi {
		return 1
	}
	return s.arc.head(max(0, angle))
}
