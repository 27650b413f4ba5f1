package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
)

// shape is a draw of noise of density prop. to e^(-||z||_p) in at least two dimensions, where
// it is not [euclidean]: uniform numbers and how noise is made of them, first in float64 and
// where that does not decide in interval arithmetic.
//
// The norm has the distribution Gamma(d), a sum of d logarithms; the direction that of
// d independent variates g of density prop. to e^(-|g|^p), in the plane for p = 2 an angle. For
// p = +Inf the noise is a point of the cube times a radius of the distribution Gamma(d+1).
//
// For p = 2 and d > 2 the norm is the largest Euclidean norm of d/2 planes, of two coordinates
// each, and the noise a radius of the distribution Gamma(d+1) times a point of a product of
// discs: at the distance sqrt(U) in a direction of its own for each.
//
// A variate is drawn by rejection. Its size g comes from the density prop. to 1 on
// [0, 1] and to e^(-1-p(g-1)) from there on, which is larger than e^(-g^p) as t^p is convex;
// the tail has the share 1/(1 + e p) of it. With exponential variates E and F a g = U
// is kept where g^p < E, and g = 1 + F/p where g^p < 1 + F + E: some .72 of all or more.
type shape struct {
	d     int
	p     float64
	us    []digits  // of the radius, then of the direction
	tail  []bool    // whether a g is 1 + F/p, for other p than 2 and +Inf
	z     []float64 // the direction
	ln    []float64 // of the g
	lnErr []float64
}

// shapes keeps the slices.
var shapes = sync.Pool{New: func() any { return new(shape) }}

// radial is how many of the numbers make the radius, the first ones.
func (s *shape) radial() int {
	if math.IsInf(s.p, 1) || s.discs() {
		return s.d + 1
	}
	return s.d
}

// discs tells whether the norm is that of several planes.
func (s *shape) discs() bool { return s.p == 2 && s.d > 2 }

// direct is how many make the direction.
func (s *shape) direct() int {
	if s.p == 2 && !s.discs() {
		return 1
	}
	return s.d
}

// draw draws the numbers, and with exact whatever there is to decide exactly.
func (s *shape) draw(rng *rand.Rand, d int, p float64, exact bool) {
	s.d, s.p = d, p
	n := s.radial() + s.direct()
	s.us = slices.Grow(s.us[:0], n)[:n]
	for _, a := range []*[]float64{&s.z, &s.ln, &s.lnErr} {
		*a = slices.Grow((*a)[:0], d)[:d]
	}
	s.tail = slices.Grow(s.tail[:0], d)[:d]
	for i := range s.us {
		if i >= s.radial() && s.powers() {
			s.us[i] = s.drawPower(rng, i-s.radial(), exact)
		} else {
			s.us[i] = digits{word: rng.Uint64()}
		}
	}
}

// powers tells whether the direction is that of variates by rejection.
func (s *shape) powers() bool { return s.p != 2 && !math.IsInf(s.p, 1) }

// noise sets z and returns a radius: the noise is within rel*|v| + rad*abs of v = rad*z in every
// coordinate. Where there is no bound one of them is +Inf or NaN.
func (s *shape) noise() (rad, rel, abs float64) {
	n := s.radial()
	rad, radErr := gamma(s.us[:n])
	rest := s.us[n:]
	switch {
	case s.powers():
		rel, abs = s.powerDirection()
	case s.p != 2:
		for i := range rest {
			u, _ := unit(rest[i].word)
			s.z[i] = rest[i].signed(u)
		}
		abs = 0x1p-51
	case s.discs():
		abs = s.discDirection()
	default:
		s.z[0], s.z[1] = cosSinFast(rest[0].word)
		abs = circleErr
	}
	rel, abs = product(radErr/rad, rel, abs)
	return rad, rel, abs
}

// product returns the errors of a radius that is right up to a factor 1 +- radRel, times a
// direction z that is within rel*|z| + abs.
func product(radRel, rel, abs float64) (float64, float64) {
	return radRel + float64(rel*(1+radRel)), float64(abs * (1 + radRel) * (1 + 0x1p-20))
}

// gamma returns -ln of the product of uniform numbers and a bound on its error.
func gamma(us []digits) (sum, err float64) {
	prod := 1.0
	for i := range us {
		u, e := unit(us[i].word)
		prod *= u
		err += e + 0x1p-52
		if prod < 0x1p-900 { // before it underflows: after 14 factors or more
			sum += math.Abs(math.Log(prod))
			prod = 1
		}
	}
	sum += math.Abs(math.Log(prod))
	return sum, (err + float64(sum*(0x1p-50+float64(len(us))*0x1p-56))) * (1 + 0x1p-20)
}

// discDirection sets z to a point of each disc and returns a bound on its error. For the words 1
// and above the error e of ln u is at most 1, and that of sqrt(u) at most .65 e sqrt(u); for
// the word 0 it is +Inf. Cosines add circleErr, and three roundings 2^-51.
func (s *shape) discDirection() (abs float64) {
	us := s.us[s.radial():]
	for i := 0; i < s.d; i += 2 {
		u, err := unit(us[i].word)
		r := math.Sqrt(u)
		cos, sin := cosSinFast(us[i+1].word)
		s.z[i], s.z[i+1] = r*cos, r*sin
		abs = max(abs, float64(r*err))
	}
	return abs + 2*circleErr
}

// signed is v or, where the lowest bit of the word says so, -v.
func (d digits) signed(v float64) float64 {
	if d.word&1 != 0 {
		return -v
	}
	return v
}

// drawPower returns the number of which the size of variate i is made.
func (s *shape) drawPower(rng *rand.Rand, i int, exact bool) digits {
	for {
		us := [3]digits{{word: rng.Uint64()}, {word: rng.Uint64()}, {word: rng.Uint64()}}
		in, sure := s.acceptPower(us, i)
		if !sure || exact {
			us[1], in = s.resolvePower(rng, us, i)
		}
		if in {
			return us[1]
		}
	}
}

// acceptPower tells whether the size of variate i is accepted, and whether that is sure. The
// first number decides whether it is of the tail, the second is U or e^-F, the third e^-E.
//
// An error e of F is in powerErr: both sides grow with F, and g^p by a factor e^e at most,
// while e^e - 1 of either side, at least 1, is more than what it adds to the limit. The
// roundings of that, whose error is below 1/16 of it, are within the 2^-48 of Exp's side.
func (s *shape) acceptPower(us [3]digits, i int) (in, sure bool) {
	t, _ := unit(us[0].word)
	c := 1 + float64(math.E*s.p)
	t = float64(t * c)
	s.tail[i] = t < 1
	f := s.setLog(i, us[1].word)
	limit, limitErr := exponential(us[2].word) // of g^p
	if s.tail[i] {
		limit += 1 + f
	}
	power, powerErr := float64(s.p*s.ln[i]), float64(s.p*s.lnErr[i]) // of ln g^p
	powerErr += float64(math.Abs(power) * 0x1p-50)
	if !(math.Abs(t-1) > 0x1p-48+float64(c*0x1p-63) && power+powerErr < 700) {
		return false, false
	}
	if float64(Exp(power+powerErr)*(1+0x1p-48))+0x1p-1000 < limit-limitErr {
		return true, true
	}
	return false, Exp(power-powerErr)*(1-0x1p-48) > limit+limitErr
}

// setLog sets the logarithm of the size of variate i, of which it is known whether it is of
// the tail, and returns about -ln of the number of a word.
func (s *shape) setLog(i int, word uint64) float64 {
	f, err := exponential(word)
	s.ln[i], s.lnErr[i] = -f, err
	if s.tail[i] {
		s.ln[i] = math.Log1p(f / s.p) // its derivative, times p, is at most 1
		s.lnErr[i] = err/s.p + float64(s.ln[i]*0x1p-48)
	}
	return f
}

// resolvePower is acceptPower in interval arithmetic.
func (s *shape) resolvePower(rng *rand.Rand, us [3]digits, i int) (_ digits, in bool) {
	all, one := us[:], big.NewFloat(1)
	refine(rng, all, func(u []Enclosure, prec uint) bool {
		t := u[0].mul(point(1).exp(prec).mul(point(s.p), prec).add(point(1), prec), prec)
		s.tail[i] = t.Hi.Cmp(one) < 0
		if !s.tail[i] && t.Lo.Cmp(one) <= 0 {
			return false
		}
		limit := u[2].negLog(prec)
		if s.tail[i] {
			limit = limit.add(point(1), prec).add(u[1].negLog(prec), prec)
		}
		power := s.encloseLog(u[1], i, prec).mul(point(s.p), prec).exp(prec)
		in = power.Hi.Cmp(limit.Lo) < 0
		return in || power.Lo.Cmp(limit.Hi) > 0
	})
	s.setLog(i, us[1].word)
	return all[1], in
}

// encloseLog is the logarithm of the size of variate i.
func (s *shape) encloseLog(u Enclosure, i int, prec uint) Enclosure {
	if s.tail[i] {
		return u.negLog(prec).quo(point(s.p), prec).add(point(1), prec).log(prec)
	}
	return u.log(prec)
}

// powerDirection sets z to the variates divided by their norm, and returns bounds on
// the errors, relative and absolute.
//
// The logarithm of the norm is that of the largest g, plus ln(S)/p, S the sum of e^(p(ln g -
// ln largest)); it changes by no more than the most that a ln g does.
func (s *shape) powerDirection() (rel, abs float64) {
	top := slices.Max(s.ln)
	sum, sumErr := 0.0, 0x1p-900
	for _, v := range s.ln {
		x := float64(s.p * (v - top))
		if w := Exp(x); w > 0 {
			sum += w
			sumErr += float64(w * (0x1p-49 - float64(x*0x1p-51)))
		}
	}
	sumErr += float64(sum * float64(s.d) * 0x1p-53)
	norm := top + math.Log(sum)/s.p
	normErr := slices.Max(s.lnErr) + (float64(sumErr/sum*(1+0x1p-20))+float64(0x1p-49*math.Log(sum)))/s.p + float64(math.Abs(norm)*0x1p-51)
	for i, v := range s.ln {
		s.z[i] = s.us[s.d+i].signed(Exp(v - norm))
		err := s.lnErr[i] + normErr + float64(math.Abs(v-norm)*0x1p-51) + 0x1p-49
		if !(err < 0.25) {
			err = math.Inf(1)
		}
		rel = max(rel, 1.25*err) // e^err - 1 <= 1.25 err
	}
	return rel, 0x1p-1000
}

// enclose is noise in interval arithmetic. It fails where the numbers are not known well enough.
func (s *shape) enclose(u []Enclosure, prec uint) (z []Enclosure, ok bool) {
	n := s.radial()
	rad := point(1)
	for _, v := range u[:n] {
		rad = rad.mul(v, prec)
	}
	rad = rad.negLog(prec)
	us, u := s.us[n:], u[n:]
	z = make([]Enclosure, s.d)
	switch {
	case s.powers():
		if !s.enclosePowers(u, z, prec) {
			return nil, false
		}
	case s.p != 2:
		copy(z, u)
	case s.discs():
		for i := 0; i < s.d; i += 2 {
			r := u[i].sqrt(prec)
			cos, sin := cosSinTurn(u[i+1], prec)
			z[i], z[i+1] = r.mul(cos, prec), r.mul(sin, prec)
		}
	default:
		z[0], z[1] = cosSinTurn(u[0], prec)
	}
	for i := range z {
		z[i] = z[i].mul(rad, prec)
		if s.p != 2 && us[i].signed(1) < 0 {
			z[i] = z[i].neg()
		}
	}
	return z, true
}

// enclosePowers is the sizes of powerDirection. It fails where p is so large that a g may be
// the largest by far and may not be.
func (s *shape) enclosePowers(u, z []Enclosure, prec uint) (ok bool) {
	top := 0
	for i := range z {
		z[i] = s.encloseLog(u[i], i, prec)
		if z[i].Lo.Cmp(z[top].Lo) > 0 {
			top = i
		}
	}
	less := z[top].neg()
	sum, one := point(1), big.NewFloat(1)
	for i := range z {
		if i == top {
			continue
		}
		x := z[i].add(less, prec).mul(point(s.p), prec)
		if x.Hi.Cmp(one) > 0 {
			return false
		}
		sum = sum.add(x.exp(prec), prec)
	}
	norm := sum.log(prec).mul(point(1).quo(point(s.p), prec), prec).add(z[top], prec).neg()
	for i := range z {
		z[i] = z[i].add(norm, prec).exp(prec)
	}
	return true
}
