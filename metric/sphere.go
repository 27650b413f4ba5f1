package metric

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/metricdp/metricdp/internal/fault"
)

// EarthRadiusKm is the mean radius of the Earth in km (IUGG R1).
const EarthRadiusKm = 6371.0088

// LatLon is a point of a sphere, in degrees: Lat in [-90, 90], Lon any finite number.
type LatLon struct{ Lat, Lon float64 }

// String gives {Lat Lon}. Multiples of 2^-23 degrees, the grid of noise on the sphere, have the at
// most 7 decimals that distinguish them.
func (p LatLon) String() string { return "{" + degrees(p.Lat) + " " + degrees(p.Lon) + "}" }

func degrees(v float64) string {
	if k := v * 0x1p23; k == math.Trunc(k) && math.Abs(v) <= 360 {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.7f", v), "0"), ".")
	}
	return fmt.Sprint(v)
}

// GreatCircle is the length of the shorter great-circle arc between two points of a sphere, in the
// unit of Radius; 0 means [EarthRadiusKm], so that the zero value measures in km. It errs by up to
// about 0.6 percent from the ellipsoid of the Earth, by about 1e-15 from the sphere; points closer
// than about 1e-160 degrees are at distance 0.
type GreatCircle struct{ Radius float64 }

// Distance implements [Space].
//
// With hav t = sin^2(t/2), the haversine formula gives the squared half chord
//
//	h(x, y) = hav(lat1-lat2) + cos lat1 cos lat2 hav(lon1-lon2)
//
// without cancellation for near points; h(x, -y) = 1 - h(x, y) does so for
// antipodal ones. The arc is twice the angle of (sqrt(1-h), sqrt(h)).
func (g GreatCircle) Distance(x, y LatLon) float64 {
	cc := cosDeg(x.Lat) * cosDeg(y.Lat)
	half := lonDiff(x.Lon, y.Lon) / 2
	s, t := sinDeg((x.Lat-y.Lat)/2), sinDeg(half)
	h := float64(s*s) + float64(cc*(t*t))
	rest := 1 - h
	if h > 0.5 {
		s, t = sinDeg((x.Lat+y.Lat)/2), cosDeg(half)
		rest = float64(s*s) + float64(cc*(t*t))
	}
	return g.radius() * (2 * math.Atan2(math.Sqrt(h), math.Sqrt(rest)))
}

// Unit is "km" where the radius is [EarthRadiusKm].
func (g GreatCircle) Unit() Unit {
	if g.radius() == EarthRadiusKm {
		return "km"
	}
	return ""
}

// Check implements [Checker].
func (g GreatCircle) Check(x, y LatLon) error {
	const op = "metric: GreatCircle"
	if r := g.radius(); !(r > 0 && r <= maxMagnitude) {
		return fault.Value(op, "Radius", r, "a number in [0, 1e300]")
	}
	for i, p := range [2]LatLon{x, y} {
		if !(math.Abs(p.Lat) <= 90) {
			return fault.Value(op, argXY[i]+".Lat", p.Lat, "degrees in [-90, 90]")
		}
		if math.IsNaN(p.Lon) || math.IsInf(p.Lon, 0) {
			return fault.Value(op, argXY[i]+".Lon", p.Lon, "a finite number of degrees")
		}
	}
	return nil
}

// Append implements [Embedder]: p in Earth-centered coordinates.
func (g GreatCircle) Append(dst []float64, p LatLon) []float64 {
	r, lon := g.radius(), wrapLon(p.Lon)
	c := r * cosDeg(p.Lat)
	return append(dst, c*cosDeg(lon), c*sinDeg(lon), r*sinDeg(p.Lat))
}

// Norm implements [Embedder]: from the chord through the sphere to the arc, with an absolute error
// of about 1e-16 radii, but up to 1e-7 near the antipode.
func (g GreatCircle) Norm() (float64, func(float64) float64) {
	r := g.radius()
	return 2, func(chord float64) float64 { return r * chordToArc(chord/r) }
}

func (g GreatCircle) radius() float64 { return cmp.Or(g.Radius, EarthRadiusKm) }

const degree = math.Pi / 180

func sinDeg(a float64) float64 { return math.Sin(a * degree) }

// cosDeg is exactly 0 at 90 degrees and keeps its digits around: 90-|a| is
// exact from 45 on. It takes |a| <= 180.
func cosDeg(a float64) float64 {
	a = math.Abs(a)
	if a < 45 {
		return math.Cos(a * degree)
	}
	return math.Sin((90 - a) * degree)
}

// lonDiff returns a-b reduced to [-180, 180], with one rounding where the two
// lie close together on either side of the date line.
func lonDiff(a, b float64) float64 {
	a, b = wrapLon(a), wrapLon(b)
	switch d := a - b; {
	case d > 180:
		return (a - 180) - (b + 180)
	case d < -180:
		return (a + 180) - (b - 180)
	default:
		return d
	}
}

// wrapLon reduces a longitude to [-180, 180]. It is exact.
func wrapLon(a float64) float64 {
	if math.Abs(a) <= 180 {
		return a
	}
	return math.Remainder(a, 360)
}
