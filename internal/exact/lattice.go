package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// The samplers here return x + Z rounded to the nearest point of a lattice, Z real noise of a
// stated density and x a float64, exactly: the sum over real numbers is rounded once, and
// nothing else is. So whatever holds of the distribution of x + Z for real numbers x holds of
// the float64s returned. (Haney, Desfontaines, Hartman, Shrestha, Hay, "Precision-based attacks
// and interval refining", 2022, do so in one dimension.)
//
// The noise is a function of independent uniform numbers. Each is known to lie in a cell of
// 2^-63; float64 arithmetic with an error bound finds the lattice point unless the noise comes
// near the border of two; then interval arithmetic decides, with more bits where it needs them.

// Lattice is the set of multiples of a step, and the inputs on it.
type Lattice struct {
	Step  float64 // a power of two in [2^-400, 2^400]
	exact bool    // interval arithmetic decides all, as a test
}

// LatticeIndexes bounds inputs, in steps; outputs stay within twice as many. All
// these multiples are float64s.
const LatticeIndexes = 1 << 52

// AddLaplace returns x + Z rounded, Z of density prop. to e^(-rate|z|), |x| <= LatticeIndexes*Step.
// rate*Step must be a normal number. It reads one word of rng, and decides about one draw in
// rate*Step*2^46 in arbitrary precision.
func (l Lattice) AddLaplace(rng *rand.Rand, x, rate float64) float64 {
	inv := 1 / float64(rate*l.Step)
	w := rng.Uint64()
	z, err := exponential(w)
	if w&1 != 0 {
		z = -z
	}
	if k, ok := nearest(x/l.Step, float64(z*inv), float64(err*inv)); ok && !l.exact {
		return k * l.Step
	}
	var y [1]float64
	l.resolve(rng, []digits{{word: w}}, []float64{x}, y[:], func(u []Enclosure, prec uint) ([]Enclosure, bool) {
		z := u[0].negLog(prec).quo(point(rate*l.Step), prec)
		if w&1 != 0 {
			z = z.neg()
		}
		return []Enclosure{z}, true
	})
	return y[0]
}

// AddKNorm sets dst to x + Z rounded in every coordinate, Z of density prop. to e^(-rate ||z||_p),
// 1 <= p <= +Inf; the rest as [Lattice.AddLaplace]. dst may be x. In d dimensions some d^2 2^-35 of
// the draws are decided in arbitrary precision.
func (l Lattice) AddKNorm(dst []float64, rng *rand.Rand, x []float64, rate, p float64) {
	if p == 1 || len(x) == 1 {
		for i := range x {
			dst[i] = l.AddLaplace(rng, x[i], rate)
		}
		return
	}
	if p == 2 && len(x) > 2 {
		l.addEuclidean(dst, rng, x, rate)
		return
	}
	s := shapes.Get().(*shape)
	defer shapes.Put(s)
	s.draw(rng, len(x), p, l.exact)
	rad, rel, abs := s.noise()
	if !l.settle(dst, x, s.z, rad/float64(rate*l.Step), rel, abs) {
		l.resolve(rng, s.us, x, dst, l.steps(rate, s.enclose))
	}
}

// steps makes noise of a rate, in steps, of noise of rate 1.
func (l Lattice) steps(rate float64, noise func(u []Enclosure, prec uint) ([]Enclosure, bool)) func(u []Enclosure, prec uint) ([]Enclosure, bool) {
	return func(u []Enclosure, prec uint) ([]Enclosure, bool) {
		z, ok := noise(u, prec)
		inv := point(1).quo(point(rate*l.Step), prec)
		for i := range z {
			z[i] = z[i].mul(inv, prec)
		}
		return z, ok
	}
}

// unit returns a number u in the cell of a word, the 2^-63 to which its upper 63
// bits confine the uniform number U, and a bound on |ln U - ln u|: where the cell
// is [n, n+1)/2^63, 1/2n for its width and 2^-52 for two roundings.
func unit(w uint64) (u, err float64) {
	n := int64(w >> 1)
	u = float64((float64(n) + 0.5) * 0x1p-63)
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

// settle sets dst to x + scale*z rounded, scale > 0 being right up to three roundings and
// errors as of [shape.noise], unless float64 does not decide. It uses z; dst may be x.
func (l Lattice) settle(dst, x, z []float64, scale, rel, abs float64) bool {
	inv := 1 / l.Step // exact
	rel = float64((rel + 0x1p-50) * (1 + 0x1p-20))
	abs = float64(abs * scale)
	x, dst = x[:len(z)], dst[:len(z)]
	for i, v := range z {
		v = float64(v * scale)
		k, ok := nearest(float64(x[i]*inv), v, float64(math.Abs(v)*rel)+abs)
		if !ok || l.exact {
			return false
		}
		z[i] = k
	}
	for i, k := range z {
		dst[i] = k * l.Step
	}
	return true
}

// nearest returns the integer nearest to t + z for every noise within err of z, or ok =
// false, where t is an input in steps: |t| <= 2^52, of which the integer part is split
// off exactly. Where that quotient underflows it errs by less than 2^-1074.
func nearest(t, z, err float64) (k float64, ok bool) {
	whole := math.RoundToEven(t)
	rest := float64(t-whole) + z
	k = math.RoundToEven(rest)
	// The sum errs by 2^-53 |rest|, the difference is exact and the sums below
	// by less than 2^-52. From |rest| = 2^51 on nothing is decided.
	ok = math.Abs(rest-k)+err+math.Abs(rest)*0x1p-52 < 0.5-0x1p-50
	return whole + k + 0, ok // not -0, which would tell whole and k apart
}

// resolve finds the lattice points in interval arithmetic. enclose returns the noise in
// steps for the uniform numbers us, or ok = false where it needs more of their bits.
func (l Lattice) resolve(rng *rand.Rand, us []digits, x, dst []float64, enclose func(u []Enclosure, prec uint) ([]Enclosure, bool)) {
	refine(rng, us, func(u []Enclosure, prec uint) bool {
		z, ok := enclose(u, prec)
		return ok && l.round(dst, x, z)
	})
}

// round sets dst to x + z rounded, z in steps, and leaves it where the bounds do not decide.
// Beyond [-2^53, 2^53] the nearer end is returned, which is post-processing of the sum.
func (l Lattice) round(dst, x []float64, z []Enclosure) bool {
	_, e := math.Frexp(l.Step)
	ks := make([]float64, len(z))
	for i := range z {
		t := new(big.Float).SetMantExp(big.NewFloat(x[i]), 1-e)
		lo, hi := roundHalfUp(t, z[i].Lo), roundHalfUp(t, z[i].Hi)
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
