package additive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
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

// Sphere is the planar Laplace mechanism of the sphere: the output has density
// prop. to e^(-alpha*d) with respect to area, d its great-circle distance from
// the input. The normalizer is the same for every input, so it is alpha-private
// per unit of [metric.GreatCircle] distance with the full alpha, at the poles
// and across the date line too. Noise added to latitude and longitude, or to
// the coordinates of a map projection, is not private at the stated level.
//
// The claim is about real arithmetic: see the package comment. Positions are
// rounded to about 5e-16 R. A Sphere is immutable and safe for concurrent use.
type Sphere struct {
	arc    arc
	radius float64
	g      mechanism.Guarantee
}

// maxArc bounds alpha*R: there the spacing of longitudes near 180 degrees,
// 2^-51 R, is 2^-11 of the noise's width 1/alpha.
const maxArc = 1e12

// NewSphere returns the mechanism of level alpha > 0 per unit of the radius,
// alpha*radius at most 1e12.
func NewSphere(alpha float64, o *SphereOptions) (*Sphere, error) {
	const op = "additive: NewSphere"
	opt := orZero(o)
	radius := cmp.Or(opt.Radius, metric.EarthRadiusKm)
	unit, err := fault.Unit(op, opt.Unit, metric.GreatCircle{Radius: radius}.Unit())
	if err != nil {
		return nil, err
	}
	if err := checkScale(op, "Radius", radius); err != nil {
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
		return metric.LatLon{}, fmt.Errorf("additive: Sphere.Release: %w", err)
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
