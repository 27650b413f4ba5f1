package exact

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
)

// AddPlanar is [Lattice.AddPlanes] in one plane: Z has the density prop. to e^(-rate |z|).
func (l Lattice) AddPlanar(rng *rand.Rand, v Values, rate float64) (y [2]float64) {
	l.AddPlanes(y[:], rng, v, rate)
	return y
}

// AddPlanes sets dst to v + Z rounded in every coordinate, v numbers of at most 2^52 steps, two of
// a plane after two of another, and Z of density prop. to e^(-rate s), s the largest |z_j| of the
// planes; rate*Step must be a normal number.
func (l Lattice) AddPlanes(dst []float64, rng *rand.Rand, v Values, rate float64) {
	l.addPlanes(dst, rng, v, rate, false)
}

func (l Lattice) addPlanes(dst []float64, rng *rand.Rand, v Values, rate float64, exact bool) {
	s := shapes.Get().(*shape)
	defer shapes.Put(s)
	s.draw(rng, len(dst), 2, exact)
	rad, rel, abs := s.noise()
	scale := rad / float64(rate*l.Step) // right up to three roundings, as in settle
	rel = float64((rel + 0x1p-50) * (1 + 0x1p-20))
	abs = float64(abs*scale) + v.Err/l.Step
	sure := !exact
	for i := range dst {
		z, low := float64(s.z[i]*scale), v.Near[i].Lo/l.Step
		err := float64(math.Abs(z)*rel) + abs + float64((math.Abs(z)+math.Abs(low))*0x1p-52)
		k, ok := nearest(v.Near[i].Hi/l.Step, z+low, err)
		dst[i] = k * l.Step
		sure = sure && ok
	}
	if sure {
		return
	}
	l.resolve(rng, s.us, make([]float64, len(dst)), dst, func(u []interval, prec uint) ([]interval, bool) {
		z, ok := s.enclose(u, prec)
		steps := point(1).quo(point(rate*l.Step), prec)
		for i := range z {
			z[i] = z[i].mul(steps, prec).add(v.enclose(i, prec).mul(point(1/l.Step), prec), prec)
		}
		return z, ok
	})
}

// Difference is to - from, of float64s as exact reals.
func Difference(to, from [2]float64) Values {
	v := Values{Near: make([]DD, 2)}
	for i := range to {
		v.Near[i].Hi, v.Near[i].Lo = directed.TwoSum(to[i], -from[i])
	}
	v.Enclose = func(i int, _ uint) Enclosure {
		d := BigSum([]float64{to[i], -from[i]})
		return Enclosure{d, d}
	}
	return v
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
func (c Chart) enclose(lat, lon float64, i int, prec uint) interval {
	turn := func(d *big.Float) (sin, cos interval) { // of degrees in [-360, 360]
		abs := new(big.Float).Abs(d)
		cos, sin = cosSin(interval{abs, abs}.quo(point(360), prec), prec)
		if d.Sign() < 0 {
			sin = sin.neg()
		}
		return sin, cos
	}
	sinLat, cosLat := turn(big.NewFloat(lat))
	sin, along := turn(BigSum([]float64{math.Remainder(lon, 360), -c.lon}))
	if i == 0 {
		return sin.mul(cosLat, prec)
	}
	sin0, cos0 := turn(big.NewFloat(c.lat))
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
			d := c.enclose(toLat, toLon, i, prec).add(c.enclose(fromLat, fromLon, i, prec).neg(), prec)
			return Enclosure{d.lo, d.hi}
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
