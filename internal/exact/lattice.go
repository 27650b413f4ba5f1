package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// The samplers here return x + Z rounded to the nearest point of a lattice, Z
// real noise of a stated density and x a float64, exactly: the sum over real
// numbers is rounded once, and nothing else is. So whatever holds of the
// distribution of x + Z for real numbers x holds of the float64s returned.
// (Haney, Desfontaines, Hartman, Shrestha, Hay, "Precision-based attacks and
// interval refining", 2022, do so in one dimension.)
//
// The noise is a function of independent uniform numbers. Each is known to lie
// in a cell of 2^-63; float64 arithmetic with an error bound finds the lattice
// point unless the noise comes near the border of two; then interval arithmetic
// decides, with more bits where it needs them.

// Lattice is the set of multiples of a step, and the inputs on it.
type Lattice struct {
	Step float64 // a power of two in [2^-400, 2^400]
}

// LatticeIndexes bounds inputs, in steps; outputs stay within twice as many. All
// these multiples are float64s.
const LatticeIndexes = 1 << 52

// MaxLatticeDim is the largest dimension of [Lattice.AddKNorm] but for p = 1.
const MaxLatticeDim = 8

// AddLaplace returns x + Z rounded, Z of density prop. to e^(-rate|z|), |x| <=
// LatticeIndexes*Step. rate*Step must be a normal number. It reads one word of
// r, and decides about one draw in rate*Step*2^46 in arbitrary precision: some 50
// microseconds.
func (l Lattice) AddLaplace(rng *rand.Rand, x, rate float64) float64 {
	return l.addLaplace(rng, x, rate, false)
}

func (l Lattice) addLaplace(rng *rand.Rand, x, rate float64, exact bool) float64 {
	inv := 1 / float64(rate*l.Step)
	w := rng.Uint64()
	z, err := exponential(w)
	if w&1 != 0 {
		z = -z
	}
	if k, ok := l.nearest(x, float64(z*inv), float64(err*inv)); ok && !exact {
		return k * l.Step
	}
	var y [1]float64
	l.resolve(rng, []uint64{w}, []float64{x}, y[:], func(u []interval, prec uint) ([]interval, bool) {
		z := u[0].negLog(prec).quo(point(rate*l.Step), prec)
		if w&1 != 0 {
			z = z.neg()
		}
		return []interval{z}, true
	})
	return y[0]
}

// AddKNorm sets dst to x + Z rounded in every coordinate, Z of density prop. to
// e^(-rate ||z||_p), p = 1, 2 or +Inf, in at most [MaxLatticeDim] dimensions
// where p > 1; the rest as [Lattice.AddLaplace]. dst may be x.
//
// The norm of Z has the distribution Gamma(d)/rate, a sum of logarithms. For p =
// Inf Z is a point of the cube times a radius of the distribution Gamma(d+1). For
// p = 2 its direction is that of d normal variates, two by two sqrt(2 E) (cos t,
// sin t), E exponential and t a uniform angle.
func (l Lattice) AddKNorm(dst []float64, rng *rand.Rand, x []float64, rate, p float64) {
	l.addKNorm(dst, rng, x, rate, p, false)
}

func (l Lattice) addKNorm(dst []float64, rng *rand.Rand, x []float64, rate, p float64, exact bool) {
	d := len(x)
	if p == 1 || d == 1 {
		for i := range x {
			dst[i] = l.addLaplace(rng, x[i], rate, exact)
		}
		return
	}
	if d > MaxLatticeDim {
		panic("exact: AddKNorm: too many dimensions")
	}
	s := ball{d, math.IsInf(p, 1)}
	var buf [2*MaxLatticeDim + 1]uint64
	words := buf[:s.words()]
	for i := range words {
		words[i] = rng.Uint64()
	}
	var noise [MaxLatticeDim]float64
	err := s.noise(words, noise[:d])
	if !exact && l.settle(dst, x, noise[:d], 1/float64(rate*l.Step), err) {
		return
	}
	l.resolveKNorm(rng, append([]uint64(nil), words...), s, x, dst, rate)
}

// resolveKNorm is apart so that words stay off the heap above.
func (l Lattice) resolveKNorm(rng *rand.Rand, words []uint64, s ball, x, dst []float64, rate float64) {
	one := point(1)
	l.resolve(rng, words, x, dst, func(u []interval, prec uint) ([]interval, bool) {
		inv := one.quo(point(rate*l.Step), prec)
		z, ok := s.enclose(words, u, prec)
		for i := range z {
			z[i] = z[i].mul(inv, prec)
		}
		return z, ok
	})
}

// AddNormal sets dst to x + Z rounded in every coordinate, Z independent normal
// variates of deviation sigma, with sigma/Step a normal number. dst may be x.
func (l Lattice) AddNormal(dst []float64, rng *rand.Rand, x []float64, sigma float64) {
	for len(x) > 0 {
		n := min(2, len(x))
		l.addNormals(dst[:n], rng, x[:n], sigma, false)
		dst, x = dst[n:], x[n:]
	}
}

// addNormals is AddNormal for one coordinate or two.
func (l Lattice) addNormals(dst []float64, rng *rand.Rand, x []float64, sigma float64, exact bool) {
	words := [2]uint64{rng.Uint64(), rng.Uint64()}
	scale := sigma / l.Step // exact
	z, err := normals(words)
	if !exact && l.settle(dst, x, z[:len(x)], scale, err) {
		return
	}
	l.resolve(rng, []uint64{words[0], words[1]}, x, dst, func(u []interval, prec uint) ([]interval, bool) {
		z := enclosedNormals(u, prec)
		for i := range z {
			z[i] = z[i].mul(point(scale), prec)
		}
		return z[:len(x)], true
	})
}

// normals returns two normal variates of deviation 1, sqrt(2E) (cos t, sin t),
// and a bound on the error of either, with room for two more roundings.
func normals(words [2]uint64) (z [2]float64, err float64) {
	e, err := exponential(words[0])
	rad := math.Sqrt(2 * e)
	cos, sin := cosSinFast(words[1])
	// |sqrt a - sqrt b| <= |a-b|/sqrt a.
	err = float64(2*err/rad*(1+0x1p-40)) + float64(rad*(circleErr+0x1p-50))
	return [2]float64{rad * cos, rad * sin}, err
}

func enclosedNormals(u []interval, prec uint) []interval {
	e := u[0].negLog(prec)
	rad := e.add(e, prec).sqrt(prec)
	cos, sin := cosSin(u[1], prec)
	return []interval{cos.mul(rad, prec), sin.mul(rad, prec)}
}

// unit returns a number u in the cell of a word, the 2^-63 to which its upper 63
// bits confine the uniform number U, and a bound on |ln U - ln u|: where the cell
// is [n, n+1)/2^63, 1/2n for its width and 2^-52 for two roundings.
func unit(w uint64) (u, err float64) {
	n := int64(w >> 1)
	u = (float64(n) + 0.5) * 0x1p-63
	if n >= 1<<51 {
		return u, 0x1p-51
	}
	return u, 0x1p-51 + 1/float64(n)
}

// exponential returns -ln U, never -0, and a bound on its error with room for
// three more roundings: that of the logarithm is taken to be at most 2^-50.
func exponential(w uint64) (e, err float64) {
	u, err := unit(w)
	e = math.Abs(math.Log(u))
	return e, err + float64(e*0x1p-49)
}

// circleErr bounds the error of cosSinFast: 2^-52 of the angle's uniform number
// and two roundings become less than 2^-48 of the angle, and the functions are
// taken to be right up to 2^-48, 32 times their stated error.
const circleErr = 0x1p-47

func cosSinFast(w uint64) (cos, sin float64) {
	u, _ := unit(w)
	sin, cos = math.Sincos(float64(2 * math.Pi * u))
	return cos, sin
}

// settle sets dst to x + scale*z rounded, z within err and scaled to steps, unless
// float64 does not decide. It uses z; dst may be x.
func (l Lattice) settle(dst, x, z []float64, scale, err float64) bool {
	for i, v := range z {
		k, ok := l.nearest(x[i], float64(v*scale), float64(err*scale))
		if !ok {
			return false
		}
		z[i] = k
	}
	for i, k := range z {
		dst[i] = k * l.Step
	}
	return true
}

// nearest returns the integer nearest to x/Step + z for every noise within err
// of z, or ok = false. |x/Step| <= 2^52, of which the integer part is split off
// exactly. Where x/Step underflows it errs by less than 2^-1074.
func (l Lattice) nearest(x, z, err float64) (k float64, ok bool) {
	t := x / l.Step
	whole := math.RoundToEven(t)
	rest := float64(t-whole) + z
	k = math.RoundToEven(rest)
	// The sum errs by 2^-53 |rest|, the difference is exact and the sums below
	// by less than 2^-52. From |rest| = 2^51 on nothing is decided.
	ok = math.Abs(rest-k)+err+math.Abs(rest)*0x1p-52 < 0.5-0x1p-50
	return whole + k + 0, ok // not -0, which would tell whole and k apart
}

// resolve finds the lattice points in interval arithmetic. words holds the
// uniform numbers; enclose returns the noise in steps, or ok = false where it
// needs more of their bits.
func (l Lattice) resolve(rng *rand.Rand, words []uint64, x, dst []float64, enclose func(u []interval, prec uint) ([]interval, bool)) {
	us := make([]uniform, len(words))
	for i, w := range words {
		us[i] = uniform{rng, new(big.Int).SetUint64(w >> 1), 63}
	}
	cells := make([]interval, len(us))
	for {
		prec, positive := us[0].bits+64, true
		for i := range us {
			cells[i].lo, cells[i].hi = us[i].bounds()
			positive = positive && cells[i].lo.Sign() > 0
		}
		if positive { // else a logarithm is unbounded
			if z, ok := enclose(cells, prec); ok && l.round(dst, x, z) {
				return
			}
		}
		for i := range us {
			us[i].extend(us[i].bits + 64)
		}
	}
}

// round sets dst to x + z rounded, z in steps, and leaves it where the bounds do
// not decide. Beyond [-2^53, 2^53] the nearer end is returned, which is
// post-processing of the sum.
func (l Lattice) round(dst, x []float64, z []interval) bool {
	_, e := math.Frexp(l.Step)
	ks := make([]float64, len(z))
	for i := range z {
		t := new(big.Float).SetMantExp(big.NewFloat(x[i]), 1-e)
		lo, hi := roundHalfUp(t, z[i].lo), roundHalfUp(t, z[i].hi)
		if lo != hi {
			return false
		}
		ks[i] = lo
	}
	for i, k := range ks {
		dst[i] = k * l.Step
	}
	return true
}

// roundHalfUp returns floor(t + z + 1/2), kept in [-2^53, 2^53]. t + 1/2 is exact
// in 4096 bits, as t's exponents lie in [-1500, 53], and rounding down to 4096
// bits does not move a number below an integer. -2^53 - 1 becomes -2^53.
func roundHalfUp(t, z *big.Float) float64 {
	const end = 2 * LatticeIndexes
	s := down(4096).Add(t, big.NewFloat(0.5))
	n, acc := s.Add(s, z).Int64()
	if n = min(max(n, -end), end); acc == big.Above { // cut off towards 0
		n--
	}
	return float64(n)
}

// ball tells how noise in at least two dimensions is made of words: for the cube
// d+1 of the radius and d coordinates; for the Euclidean ball d of the radius,
// then an angle in the plane and elsewhere an exponential variate and an angle
// for every two coordinates.
type ball struct {
	d    int
	cube bool
}

func (b ball) words() int {
	switch {
	case b.cube:
		return b.radial() + b.d
	case b.d == 2:
		return b.radial() + 1
	default:
		return b.radial() + 2*((b.d+1)/2)
	}
}

// radial is how many of the words make the radius, the first ones.
func (b ball) radial() int {
	if b.cube {
		return b.d + 1
	}
	return b.d
}

// noise sets z to noise of rate 1 and returns a bound on the error of every
// coordinate, +Inf or NaN where there is none.
func (b ball) noise(words []uint64, z []float64) (err float64) {
	n := b.radial()
	prod, radErr := 1.0, 0.0
	for _, w := range words[:n] {
		u, e := unit(w)
		prod *= u
		radErr += e + 0x1p-52
	}
	rad := math.Abs(math.Log(prod)) // at most 9 factors, each at least 2^-64: no underflow
	radErr += float64(rad * 0x1p-50)
	rest := words[n:]
	pointErr := 0x1p-50
	switch {
	case b.cube:
		for i, w := range rest {
			u, _ := unit(w) // within 2^-51 of U
			z[i] = u
			if w&1 != 0 {
				z[i] = -u
			}
		}
	case b.d == 2:
		z[0], z[1] = cosSinFast(rest[0])
		pointErr = circleErr
	default:
		pointErr = b.direction(rest, z)
	}
	for i, v := range z {
		z[i] = rad * v
	}
	// |rad v - rad' v'| <= |rad - rad'| |v'| + rad |v - v'| with |v'| <= 1, and
	// some roundings of rad v here and by the caller.
	return (radErr + float64(rad*(pointErr+0x1p-49))) * (1 + 0x1p-40)
}

// direction sets z to a point of the unit sphere and returns a bound on the
// error of every coordinate.
//
// Coordinates are (cos t, sin t) sqrt(q), q = E/S, S the sum of all E, the last
// one times cos^2 t where d is odd. Where the errors of the E and that of S are
// at most e <= S/2, q errs by at most 2e(1+q)/S, and its root by at most that
// divided by sqrt(q).
func (b ball) direction(words []uint64, z []float64) (err float64) {
	var es [(MaxLatticeDim + 1) / 2]float64
	sum, sumErr := 0.0, 0.0
	for i := 0; i < b.d; i += 2 {
		v, e := exponential(words[i])
		es[i/2] = v
		sumErr += e + float64(v*0x1p-50)
		cos, sin := cosSinFast(words[i+1])
		z[i] = cos
		if i+1 < b.d {
			z[i+1] = sin
		} else {
			sumErr += float64(4 * circleErr * v)
			v = float64(v * float64(cos*cos))
		}
		sum += v
	}
	if !(sumErr <= sum/2) {
		return math.Inf(1)
	}
	for i := range z {
		q := es[i/2] / sum
		root := math.Sqrt(q)
		err = max(err, float64((circleErr+0x1p-49)*root)+float64(2*sumErr)*(1+q)/(sum*root))
		z[i] *= root
	}
	return err * (1 + 0x1p-40)
}

// enclose is noise in interval arithmetic, for uniform numbers in u. It fails
// where the sum of direction may be 0.
func (b ball) enclose(words []uint64, u []interval, prec uint) (z []interval, ok bool) {
	n := b.radial()
	rad := point(0)
	for _, v := range u[:n] {
		rad = rad.add(v.negLog(prec), prec)
	}
	u = u[n:]
	z = make([]interval, b.d)
	switch {
	case b.cube:
		for i := range z {
			z[i] = u[i]
			if words[n+i]&1 != 0 {
				z[i] = u[i].neg()
			}
		}
	case b.d == 2:
		z[0], z[1] = cosSin(u[0], prec)
	default:
		es := make([]interval, (b.d+1)/2)
		sum := point(0)
		for i := range es {
			es[i] = u[2*i].negLog(prec)
			v := es[i]
			cos, sin := cosSin(u[2*i+1], prec)
			z[2*i] = cos
			if 2*i+1 < b.d {
				z[2*i+1] = sin
			} else {
				v = v.mul(cos.mul(cos, prec).atLeast0(), prec)
			}
			sum = sum.add(v, prec)
		}
		if sum.lo.Sign() == 0 {
			return nil, false
		}
		for i := range z {
			z[i] = z[i].mul(es[i/2].quo(sum, prec).sqrt(prec), prec)
		}
	}
	for i := range z {
		z[i] = z[i].mul(rad, prec)
	}
	return z, true
}
