package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// Globe is a grid of the sphere: the latitudes and longitudes that are multiples of Step degrees,
// -180 and not 180 among them, and each pole once, with longitude 0. The cell of a point of the
// grid is what is rounded to it.
type Globe struct {
	Step  float64 // a power of two in [2^-44, 1]
	exact bool    // as of [Lattice]
}

// AddNoise returns the point of the grid in whose cell a random place lies that has the density,
// with respect to area, prop. to e^(-rate t) at the angle t, in radians, from the place given, in
// degrees: lat in [-90, 90], lon finite, both taken as exact reals, 0 < rate <= 2^40. With Step =
// 2^-23 about one draw in 5,000 is decided in arbitrary precision, from 2^-38 on all, at some 300
// microseconds each.
func (g Globe) AddNoise(rng *rand.Rand, lat, lon, rate float64) (float64, float64) {
	a := drawAngle(rng, rate, g.exact)
	bearing := digits{word: rng.Uint64()}
	lon = math.Remainder(lon, 360) // exact
	i, j, ok := g.settle(lat, lon, a, bearing.word)
	if !ok || g.exact {
		i, j = g.resolve(rng, lat, lon, a, bearing)
	}
	turn := int64(360 / g.Step)
	k := (int64(j) + turn/2) % turn
	if k < 0 {
		k += turn
	}
	return i * g.Step, float64(k-turn/2) * g.Step
}

// angle is an angle theta in [0, pi] with the density prop. to e^(-rate theta) sin theta. Where
// the rate is at least 1/2 it comes from the distribution Gamma(2)/rate, of density prop. to
// theta e^(-rate theta), accepted with probability sin(theta)/theta; where it is less from a
// uniform angle, with sin(theta) e^(-rate theta). At least 0.28 of all are accepted.
type angle struct {
	rate     float64
	u        [2]digits // the second for large rates
	theta    float64   // of all numbers with these words, within err
	err      float64
	sin, cos float64 // of theta, within sineErr each, the sine within theta times that too
}

// sineErr and atanErr bound the errors of math.Sincos, relative to an argument below
// 4, and of math.Atan2: some 16 times what they state or more.
const (
	sineErr = 0x1p-48
	atanErr = 0x1p-46
)

func (a *angle) wide() bool { return a.rate < 0.5 }

// numbers are those that theta is a function of.
func (a *angle) numbers() []digits {
	if a.wide() {
		return a.u[:1:1]
	}
	return a.u[:2:2]
}

func drawAngle(rng *rand.Rand, rate float64, exact bool) angle {
	for {
		a := angle{rate: rate}
		a.u[0].word = rng.Uint64()
		if !a.wide() {
			a.u[1].word = rng.Uint64()
		}
		v := digits{word: rng.Uint64()}
		a.set()
		in, ok := a.accept(v.word)
		if !ok || exact {
			a, in = a.resolve(rng, v)
		}
		if in {
			return a
		}
	}
}

// set finds theta in float64.
func (a *angle) set() {
	u, err := unit(a.u[0].word)
	if a.wide() {
		a.theta = float64(math.Pi * u)
		a.err = 0x1p-50 // for a cell of 2^-63, and two roundings
	} else {
		v, more := unit(a.u[1].word)
		e := math.Abs(math.Log(float64(u * v)))
		a.theta = e / a.rate
		a.err = float64((err+more+0x1p-52)/a.rate*(1+0x1p-40)) + float64(a.theta*0x1p-49)
	}
	a.sin, a.cos = math.Sincos(a.theta)
}

// accept tells whether theta is accepted for the uniform number of a word, and whether
// that is sure.
//
// sin(theta)/theta changes by less than theta, and the product with e^(-rate theta) by
// less than 3/2 of it; their errors are below 2^-47 and less than that.
func (a *angle) accept(word uint64) (in, sure bool) {
	if a.theta-a.err > math.Pi {
		return false, true
	}
	v, _ := unit(word) // within 2^-52
	q := a.sin / a.theta
	if a.wide() {
		q = float64(a.sin * Exp(-float64(a.rate*a.theta)))
	}
	margin := float64(1.5*a.err) + 0x1p-46
	return v < q, math.Abs(v-q) > margin
}

// resolve decides in interval arithmetic. It is apart so that a stays off the heap elsewhere.
func (a angle) resolve(rng *rand.Rand, v digits) (_ angle, in bool) {
	us := append(a.numbers(), v)
	refine(rng, us, func(u []Enclosure, prec uint) bool {
		theta, v := a.enclose(u, prec), u[len(u)-1]
		if theta.Lo.Cmp(big.NewFloat(3.2)) > 0 {
			in = false
			return true
		}
		if theta.Hi.Cmp(big.NewFloat(7)) > 0 {
			return false
		}
		// Above pi the sine is negative, and v theta is not.
		_, q := theta.cosSin(prec)
		if a.wide() {
			q = q.mul(theta.mul(point(-a.rate), prec).exp(prec), prec)
		} else {
			v = v.mul(theta, prec)
		}
		in = v.Hi.Cmp(q.Lo) < 0
		return in || v.Lo.Cmp(q.Hi) > 0
	})
	copy(a.u[:], us[:len(us)-1])
	return a, in
}

// enclose is theta in interval arithmetic.
func (a *angle) enclose(u []Enclosure, prec uint) Enclosure {
	if a.wide() {
		return u[0].mul(circle(prec), prec).mul(point(0.5), prec)
	}
	return u[0].mul(u[1], prec).negLog(prec).quo(point(a.rate), prec)
}

// settle returns the numbers, in steps, of the latitude and longitude (the latter up to whole
// turns, and 0 at a pole) of the place at angle a in the direction of a word, or ok = false
// where float64 does not decide.
func (g Globe) settle(lat, lon float64, a angle, word uint64) (i, j float64, ok bool) {
	y, yErr, x, xErr := a.move(lat, word)
	i, ok = nearest(0, y/g.Step, yErr/g.Step)
	if ok && math.Abs(i)*g.Step != 90 {
		j, ok = nearest(lon/g.Step, x/g.Step, xErr/g.Step)
	}
	return i, j, ok
}

// move returns where the place lies at angle a from one of the given latitude, in the
// direction of a word: its latitude, and its longitude east of that place up to whole
// turns, each with a bound on its error.
//
// In the frame of the meridian of the first the place is (along, east, z), where along =
// cos t cos lat - sin t cos b sin lat, east = sin t sin b and z = cos t sin lat + sin t
// cos b cos lat, b clockwise from north. As sinCosDegrees counts from the equator or a
// pole, whichever is nearer, cos lat has a relative error of 2^-46 and sin lat an error
// of 2^-47; those of b have circleErr. Products and sums then give along and east to
// 2^-45 (cos lat + t) + 2 err, z to 2^-44 + 2 err, and the distance h from the axis to
// twice the former: near the poles h is small and known as well as it has to be.
func (a *angle) move(lat float64, word uint64) (y, yErr, x, xErr float64) {
	const degrees = 180 / math.Pi
	sinLat, cosLat := sinCosDegrees(lat)
	cosB, sinB := cosSinFast(word)
	north := float64(a.sin * cosB)
	along := float64(a.cos*cosLat) - float64(north*sinLat)
	east := float64(a.sin * sinB)
	z := float64(a.cos*sinLat) + float64(north*cosLat)
	h := math.Sqrt(float64(along*along) + float64(east*east))
	flat := float64(0x1p-45*(cosLat+a.theta)) + 2*a.err
	high := 0x1p-44 + 2*a.err

	// The points (h, z) and (along, east) turn by what their errors are across them, the
	// first of size 1 and the second of size h.
	yErr, xErr = float64(high*(h+2*flat))+2*flat+atanErr, math.Inf(1)
	if 8*flat < h {
		xErr = 3*flat/h + atanErr
	}
	out := func(angle, err float64) (float64, float64) { // rounded twice
		return float64(angle * degrees), (float64(err*degrees) + 0x1p-43) * (1 + 0x1p-40)
	}
	y, yErr = out(math.Atan2(z, h), yErr)
	x, xErr = out(math.Atan2(east, along), xErr)
	return y, yErr, x, xErr
}

// sinCosDegrees is the sine and cosine of a latitude.
func sinCosDegrees(lat float64) (sin, cos float64) {
	const radians = math.Pi / 180
	if math.Abs(lat) <= 45 {
		return math.Sincos(float64(lat * radians))
	}
	cos, sin = math.Sincos(float64((90 - math.Abs(lat)) * radians))
	return math.Copysign(sin, lat), cos
}

// resolve is settle in interval arithmetic, with as many bits as it takes.
func (g Globe) resolve(rng *rand.Rand, lat, lon float64, a angle, bearing digits) (i, j float64) {
	refine(rng, append(a.numbers(), bearing), func(u []Enclosure, prec uint) bool {
		z, h, east, along, ok := a.enclosePlace(lat, u, prec)
		steps := point(360/g.Step).quo(circle(prec), prec) // a radian
		if ok {
			i, ok = roundAngle(0, z, h, steps, prec)
		}
		if ok && math.Abs(i)*g.Step != 90 {
			j, ok = roundAngle(lon/g.Step, east, along, steps, prec)
		}
		return ok
	})
	return i, j
}

// enclosePlace encloses what move computes, before its arctangents.
func (a *angle) enclosePlace(lat float64, u []Enclosure, prec uint) (z, h, east, along Enclosure, ok bool) {
	theta := a.enclose(u, prec)
	if theta.Hi.Cmp(big.NewFloat(7)) > 0 {
		return
	}
	cosT, sinT := theta.cosSin(prec)
	cosB, sinB := cosSinTurn(u[len(u)-1], prec)
	cosLat, sinLat := cosSinDegrees(big.NewFloat(lat), prec)
	north := sinT.mul(cosB, prec)
	along = cosT.mul(cosLat, prec).add(north.mul(sinLat, prec).neg(), prec)
	east = sinT.mul(sinB, prec)
	z = cosT.mul(sinLat, prec).add(north.mul(cosLat, prec), prec)
	h = along.mul(along, prec).atLeast0().add(east.mul(east, prec).atLeast0(), prec).sqrt(prec)
	return z, h, east, along, true
}

// roundAngle returns the integer nearest to t plus the angle of (x, y).
func roundAngle(t float64, y, x, steps Enclosure, prec uint) (float64, bool) {
	a, ok := atan2(y, x, prec)
	if !ok {
		return 0, false
	}
	a = a.mul(steps, prec)
	lo, hi := roundHalfUp(big.NewFloat(t), a.Lo), roundHalfUp(big.NewFloat(t), a.Hi)
	return lo, lo == hi
}
