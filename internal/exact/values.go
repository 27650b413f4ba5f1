package exact

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
)

// Values are real numbers of size at most 1, computed before: number i is within Err of
// Near[i]. Enclose returns bounds on it that tighten as prec grows; it is called only
// where Near does not decide.
type Values struct {
	Near    []DD
	Err     float64 // +Inf where Near is not known
	Enclose func(i int, prec uint) Enclosure
}

// BigSum is the sum of float64s, exactly: multiples of 2^-1074 below 2^1100.
func BigSum(x []float64) *big.Float {
	sum, v := down(4096), new(big.Float)
	for _, x := range x {
		sum.Add(sum, v.SetFloat64(x))
	}
	return sum
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

// Share encloses the sum of numbers >= 0 divided by a positive total.
func Share(part []float64, total *big.Float, prec uint) Enclosure {
	sum := BigSum(part)
	return Enclosure{sum, sum}.quo(Enclosure{total, total}, prec)
}

// AddLaplaces sets dst to v + Z rounded in every coordinate, the Z independent and of
// density prop. to e^(-rate|z|). Step must be at least 2^-52. With Step about 2^-30/rate
// one number in 2^17 is decided in arbitrary precision, at some 100 microseconds.
func (l Lattice) AddLaplaces(dst []float64, rng *rand.Rand, v Values, rate float64) {
	for i := range dst {
		a := noisy{i, 1, digits{word: rng.Uint64()}}
		a.sign = a.u.signed(1)
		dst[i] = l.roundNoisy(rng, &v, rate, a, nil)
	}
}

// AddDifferences sets dst to the differences (v + Z)_i - (v + Z)_0 rounded, of which
// dst[0] is 0. Up to a number common to all, Z has the density prop. to e^(-rate s), s the
// sum of |Z_i - med(Z)|. The rest is as for [Lattice.AddLaplaces].
//
// A median of Z is one of its coordinates, the lower one of two. Given which, and which
// half of the others lie above it, their distances from it are independent exponential
// variates; all such choices are alike.
func (l Lattice) AddDifferences(dst []float64, rng *rand.Rand, v Values, rate float64) {
	sides := NewSides(len(dst))
	draw := func(i int) noisy {
		a := noisy{i, sides.Next(rng), digits{word: 1 << 63}}
		if a.sign != 0 {
			a.u.word = rng.Uint64()
		}
		return a
	}
	dst[0] = 0
	first := draw(0)
	for i := 1; i < len(dst); i++ {
		dst[i] = l.roundNoisy(rng, &v, rate, draw(i), &first)
	}
}

// Sides says of coordinates in turn on which side of their median they lie, where all
// choices of the lower one of two medians and of those above it are equally likely.
type Sides struct{ above, median, left int }

// NewSides is for k >= 1 coordinates.
func NewSides(k int) Sides { return Sides{k / 2, 1, k} }

// Next returns 1 above the median, 0 for it and -1 below.
func (s *Sides) Next(rng *rand.Rand) float64 {
	at := 0
	if s.left > 1 {
		at = rng.IntN(s.left)
	}
	s.left--
	switch {
	case at < s.above:
		s.above--
		return 1
	case at < s.above+s.median:
		s.median = 0
		return 0
	}
	return -1
}

// noisy is the number v_i + sign*E/rate, E exponential; without noise where sign is 0.
type noisy struct {
	i    int
	sign float64
	u    digits // of E; any number > 0 where sign is 0
}

// noise returns sign*E and a bound on its error.
func (a noisy) noise() (z, err float64) {
	if a.sign == 0 {
		return 0, 0
	}
	z, err = exponential(a.u.word)
	return a.sign * z, err
}

// roundNoisy returns a - b rounded, or a where b is nil. b keeps the bits that are drawn of it.
func (l Lattice) roundNoisy(rng *rand.Rand, v *Values, rate float64, a noisy, b *noisy) float64 {
	x, z, err := l.sumNoisy(v, rate, a, b)
	if k, ok := nearest(x/l.Step, z, err); ok && !l.exact {
		return k * l.Step
	}
	if b == nil {
		y, _ := l.resolveNoisy(rng, *v, rate, a)
		return y
	}
	y, us := l.resolveNoisy(rng, *v, rate, a, *b)
	b.u = us[1]
	return y
}

// sumNoisy returns a - b, or a, as a number x and z steps, and a bound on the error in steps.
//
// The bound on the error of E has room for three roundings: of the difference, of 1/rate and
// of the product.
func (l Lattice) sumNoisy(v *Values, rate float64, a noisy, b *noisy) (x, z, err float64) {
	at, err := v.Near[a.i], v.Err
	z, zErr := a.noise()
	if b != nil {
		from := v.Near[b.i]
		err = 2*err + 0x1p-102*(math.Abs(at.Hi)+math.Abs(from.Hi))
		at = at.Add(from.Neg())
		w, wErr := b.noise()
		z -= w
		zErr += wErr
	}
	inv := 1 / float64(rate*l.Step)
	z = float64(z*inv) + at.Lo/l.Step
	return at.Hi, z, float64(zErr*inv) + err/l.Step + math.Abs(z)*0x1p-52
}

// resolveNoisy is roundNoisy in interval arithmetic, for one term or two, and returns what is
// known of the uniform numbers. It is apart so that terms stay off the heap elsewhere.
func (l Lattice) resolveNoisy(rng *rand.Rand, v Values, rate float64, terms ...noisy) (y float64, us []digits) {
	for _, t := range terms {
		us = append(us, t.u)
	}
	zero := new(big.Float)
	refine(rng, us, func(u []Enclosure, prec uint) bool {
		sum := l.encloseNoisy(&v, rate, terms, u, prec)
		lo, hi := roundHalfUp(zero, sum.Lo), roundHalfUp(zero, sum.Hi)
		y = lo * l.Step
		return lo == hi
	})
	return y, us
}

// encloseNoisy is the first term, less the second if there is one, in steps.
func (l Lattice) encloseNoisy(v *Values, rate float64, terms []noisy, u []Enclosure, prec uint) Enclosure {
	sum := point(0)
	for i, t := range terms {
		x := v.enclose(t.i, prec).mul(point(1/l.Step), prec)
		if t.sign != 0 {
			z := u[i].negLog(prec).quo(point(rate*l.Step), prec)
			if t.sign < 0 {
				z = z.neg()
			}
			x = x.add(z, prec)
		}
		if i == 1 {
			x = x.neg()
		}
		sum = sum.add(x, prec)
	}
	return sum
}

// firstPrec is the precision of the first try of refine, for which Near suffices.
const firstPrec = 127

func (v *Values) enclose(i int, prec uint) Enclosure {
	if prec > firstPrec || math.IsInf(v.Err, 1) {
		return v.Enclose(i, prec)
	}
	near := point(v.Near[i].Hi).add(point(v.Near[i].Lo), prec)
	return near.add(Enclosure{big.NewFloat(-v.Err), big.NewFloat(v.Err)}, prec)
}

// AddPlanes sets dst to v + Z rounded in every coordinate, v numbers of at most 2^52 steps, two of
// a plane after two of another, and Z of density prop. to e^(-rate s), s the largest |z_j| of the
// planes; rate*Step must be a normal number.
func (l Lattice) AddPlanes(dst []float64, rng *rand.Rand, v Values, rate float64) {
	s := shapes.Get().(*shape)
	defer shapes.Put(s)
	s.draw(rng, len(dst), 2, l.exact)
	rad, rel, abs := s.noise()
	scale := rad / float64(rate*l.Step) // right up to three roundings, as in settle
	rel = float64((rel + 0x1p-50) * (1 + 0x1p-20))
	abs = float64(abs*scale) + v.Err/l.Step
	sure := !l.exact
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
	l.resolve(rng, s.us, make([]float64, len(dst)), dst, func(u []Enclosure, prec uint) ([]Enclosure, bool) {
		z, ok := l.steps(rate, s.enclose)(u, prec)
		for i := range z {
			z[i] = z[i].add(v.enclose(i, prec).mul(point(1/l.Step), prec), prec)
		}
		return z, ok
	})
}
