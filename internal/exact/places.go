package exact

import (
	"math"
	"math/big"
)

// UnitVector encloses the coordinates (cos lat cos lon, cos lat sin lon, sin lat) of
// a place in degrees, lat in [-90, 90] and lon finite, both taken as exact reals.
func UnitVector(lat, lon float64, prec uint) [3]Enclosure {
	cosLat, sinLat := cosSinDegrees(big.NewFloat(lat), prec)
	cosLon, sinLon := cosSinDegrees(big.NewFloat(math.Mod(lon, 360)), prec)
	return [3]Enclosure{cosLat.mul(cosLon, prec), cosLat.mul(sinLon, prec), sinLat}
}

// UnitVectorErr bounds the errors of [NearUnitVector]: those of the angles are below
// 2^-49 and those of sines are taken to be at most 2^-48.
const UnitVectorErr = 0x1p-46

// NearUnitVector is [UnitVector] in float64.
func NearUnitVector(lat, lon float64) [3]float64 {
	const radians = math.Pi / 180
	sinLat, cosLat := math.Sincos(float64(lat * radians))
	sinLon, cosLon := math.Sincos(float64(math.Mod(lon, 360) * radians))
	return [3]float64{float64(cosLat * cosLon), float64(cosLat * sinLon), sinLat}
}

// Chart maps the unit sphere to the plane that touches it at a center: a point falls straight
// onto it (orthographic projection), and its coordinates there are those east and north.
type Chart struct{ lat, lon, sin, cos float64 }

// NewChart is for a center in degrees: lat in [-90, 90], lon finite.
func NewChart(lat, lon float64) Chart {
	sin, cos := math.Sincos(float64(lat * math.Pi / 180))
	return Chart{lat, math.Remainder(lon, 360), sin, cos}
}

// chartErr bounds the errors of Place. Angles have errors below 2^-49.5, with the rounded
// difference of longitudes, and sines and cosines below 2^-47.3, those of latitudes 2^-47.8, with
// sineErr; two products of two and three of them have 2^-45.3.
const chartErr = 0x1p-45

// Place returns the coordinates of a place in degrees, lat in [-90, 90] and lon finite, and the
// cosine of its distance from the center, within chartErr each.
func (c Chart) Place(lat, lon float64) (at [2]float64, cos float64) {
	const radians = math.Pi / 180
	sinLat, cosLat := math.Sincos(float64(lat * radians))
	sin, along := math.Sincos(float64(math.Remainder(math.Remainder(lon, 360)-c.lon, 360) * radians))
	along = float64(along * cosLat)
	at[0] = float64(sin * cosLat)
	at[1] = float64(c.cos*sinLat) - float64(c.sin*along)
	return at, float64(c.sin*sinLat) + float64(c.cos*along)
}

// enclose encloses coordinate i of a place.
func (c Chart) enclose(lat, lon float64, i int, prec uint) Enclosure {
	cosLat, sinLat := cosSinDegrees(big.NewFloat(lat), prec)
	along, sin := cosSinDegrees(BigSum([]float64{math.Remainder(lon, 360), -c.lon}), prec)
	if i == 0 {
		return sin.mul(cosLat, prec)
	}
	cos0, sin0 := cosSinDegrees(big.NewFloat(c.lat), prec)
	return cos0.mul(sinLat, prec).add(sin0.mul(along.mul(cosLat, prec), prec).neg(), prec)
}

// Difference is the coordinates of one place less those of another, of exact latitudes and
// longitudes.
func (c Chart) Difference(toLat, toLon, fromLat, fromLon float64) Values {
	to, _ := c.Place(toLat, toLon)
	from, _ := c.Place(fromLat, fromLon)
	return Values{
		Near: []DD{{Hi: to[0] - from[0]}, {Hi: to[1] - from[1]}},
		Err:  2 * chartErr,
		Enclose: func(i int, prec uint) Enclosure {
			return c.enclose(toLat, toLon, i, prec).add(c.enclose(fromLat, fromLon, i, prec).neg(), prec)
		},
	}
}

// Lift returns the place of the half of the sphere about the center that falls onto a point of
// the plane, or the nearest on its edge, rounded; lon is in [-180, 180].
func (c Chart) Lift(at [2]float64) (lat, lon float64) {
	x, y := at[0], at[1]
	// Beyond the edge z is 0, and lat and lon depend on the direction alone.
	z := math.Sqrt(max(0, 1-float64(x*x)-float64(y*y)))
	along := float64(z*c.cos) - float64(y*c.sin)
	up := float64(y*c.cos) + float64(z*c.sin)
	const degrees = 180 / math.Pi
	lat = math.Atan2(up, math.Hypot(x, along)) * degrees
	lon = math.Remainder(c.lon+float64(math.Atan2(x, along)*degrees), 360)
	return max(-90, min(90, lat)), lon
}
