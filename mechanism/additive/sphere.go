package additive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
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

// Sphere is the planar Laplace mechanism of the sphere: the output has density prop. to
// e^(-alpha*d) with respect to area, d its great-circle distance from the input. It is
// alpha-private per unit of [metric.GreatCircle] distance, at the poles and across the date
// line too. Noise added to latitude and longitude, or to the coordinates of a map projection,
// is not private at the stated level.
//
// The guarantee is one of real arithmetic, not of the bits: see [Options], and [Cells] for
// outputs without their low bits. Positions are rounded to about 5e-16 R. A Sphere is immutable
// and safe for concurrent use.
type Sphere struct {
	arc    arc
	radius float64
	g      mechanism.Guarantee
}

// maxArc bounds alpha*R: there the spacing of longitudes near 180 degrees,
// 2^-51 R, is 2^-11 of the noise's width 1/alpha.
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
	return &Sphere{arc{a}, radius, g}, nil
}

// sphere is the sphere of the options.
func (o SphereOptions) sphere(op string) (radius float64, unit metric.Unit, err error) {
	radius = cmp.Or(o.Radius, metric.EarthRadiusKm)
	if unit, err = fault.Unit(op, o.Unit, metric.GreatCircle{Radius: radius}.Unit()); err != nil {
		return 0, "", err
	}
	return radius, unit, checkScale(op, "Radius", radius)
}

// SphereAlpha returns the level, rounded down, at which the output of [Sphere] lies within the
// given great-circle distance of the input with probability prob: 0.5 and 0.95 for 500 m on the
// Earth in 95 of 100 releases. The distance must lie between 0 and half a great circle, prob
// below 1 and above the share of the sphere within that distance, which an output drawn without
// any input reaches too. If instead you want inputs at distance d to be told apart by at most
// e^eps, take alpha = eps/d.
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
	if !(prob > 0 && prob < 1) {
		return 0, fault.Value(op, "prob", prob, "a number in (0, 1)")
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

// Release returns a point of the sphere, its longitude in [-180, 180]. The
// input's latitude must lie in [-90, 90] and its longitude be finite.
func (s *Sphere) Release(rng *rand.Rand, x metric.LatLon) (metric.LatLon, error) {
	if err := s.check("additive: Sphere.Release"); err != nil {
		return metric.LatLon{}, err
	}
	if err := (metric.GreatCircle{}).Check(x, x); err != nil {
		return metric.LatLon{}, fmt.Errorf("additive: Sphere.Release: %w", fault.Private(err))
	}
	rng, done := random.Get(rng)
	defer done()
	return destination(x, math.Pi*random.Symmetric(rng), s.arc.draw(rng)), nil
}

// destination is the point at the given bearing (radians, clockwise from
// north) and angle from x. It turns x's unit vector towards a tangent, which
// has a direction at the poles too: that of x's longitude.
func destination(x metric.LatLon, bearing, angle float64) metric.LatLon {
	const degree = math.Pi / 180
	sinLat, cosLat := math.Sincos(x.Lat * degree)
	sinLon, cosLon := math.Sincos(math.Remainder(x.Lon, 360) * degree)
	sinB, cosB := math.Sincos(bearing)
	sinA, cosA := math.Sincos(angle)
	// along is the component towards the axis's meridian, east across it.
	along, east := cosA*cosLat-sinA*cosB*sinLat, sinA*sinB
	x0, x1 := along*cosLon-east*sinLon, along*sinLon+east*cosLon
	x2 := cosA*sinLat + sinA*cosB*cosLat
	return metric.LatLon{Lat: math.Atan2(x2, math.Hypot(x0, x1)) / degree, Lon: math.Atan2(x1, x0) / degree}
}

// RadiusQuantile returns the great-circle distance that the output does not
// exceed with probability q. NaN where q is outside [0, 1].
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
// great-circle distance of the input.
func (s *Sphere) RadiusProb(radius float64) float64 {
	fault.Must(s, s.check("additive: Sphere.RadiusProb"))
	angle := radius / s.radius
	if angle >= math.Pi {
		return 1
	}
	return s.arc.head(max(0, angle))
}
