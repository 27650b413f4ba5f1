package exact

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// euclidean is a draw of noise of density prop. to e^(-||z||_2) in at least three dimensions:
// sqrt(2G) times a vector of normal variates, G of the distribution Gamma((d+1)/2), as e^-r is
// prop. to the mean of (2G)^(-d/2) e^(-r^2/4G).
//
// G is c t^3/9, t = 1 + X/sqrt(c), c = 9 (d+1)/2 - 3, made of another normal variate X by
// rejection (Marsaglia, Tsang, "A simple method for generating gamma variables", 2000): it is
// kept where t > 0 and -ln V > y, y = c/9 (t^3 - 1 - 3 ln t) - X^2/2 >= 0.
type euclidean struct {
	x       normal
	words   []uint64 // of the coordinates
	special []special
	z       []float64
	err     float64 // of every z
	t, tErr float64
}

// special is a coordinate that is not just what its word says.
type special struct {
	i int
	normal
}

// euclideans keeps the slices.
var euclideans = sync.Pool{New: func() any { return new(euclidean) }}

func (l Lattice) addEuclidean(dst []float64, rng *rand.Rand, x []float64, rate float64) {
	s := euclideans.Get().(*euclidean)
	defer euclideans.Put(s)
	s.draw(rng, len(x), l.exact)
	rad, rel, abs := s.noise()
	if l.settle(dst, x, s.z, rad/float64(rate*l.Step), rel, abs) {
		return
	}
	us := []digits{s.x.digits(rng)}
	for i := range s.z {
		us = append(us, s.normal(i).digits(rng))
	}
	l.resolve(rng, us, x, dst, l.steps(rate, s.enclose))
}

// normal is the variate of a coordinate.
func (s *euclidean) normal(i int) *normal {
	for k := range s.special {
		if s.special[k].i == i {
			return &s.special[k].normal
		}
	}
	return &normal{u: digits{word: s.words[i]}}
}

// cube is c.
func (s *euclidean) cube() float64 { return float64(4.5*float64(len(s.z))) + 1.5 }

// draw draws the numbers, and with exact whatever there is to decide exactly.
func (s *euclidean) draw(rng *rand.Rand, d int, exact bool) {
	s.words = slices.Grow(s.words[:0], d)[:d]
	s.z = slices.Grow(s.z[:0], d)[:d]
	s.special = s.special[:0]
	s.drawRadius(rng, exact)
	s.err = normalErr
	words, zs := s.words, s.z[:len(s.words)]
	for i := range words {
		w := rng.Uint64()
		z, ok := inBox(w)
		if words[i], zs[i] = w, z; !ok {
			s.finish(rng, i, exact)
		}
	}
}

// finish draws a coordinate whose first word does not suffice.
func (s *euclidean) finish(rng *rand.Rand, i int, exact bool) {
	n := finishNormal(rng, s.words[i], exact)
	s.words[i], s.z[i] = n.u.word, n.z
	if n.tail || n.u.more != nil {
		s.special = append(s.special, special{i, n})
		s.err = max(s.err, n.err)
	}
}

func (s *euclidean) drawRadius(rng *rand.Rand, exact bool) {
	for {
		n := finishNormal(rng, rng.Uint64(), exact)
		v := digits{word: rng.Uint64()}
		in, sure := s.accept(&n, v.word)
		if !sure || exact {
			n, in = s.resolveRadius(rng, n, v)
		}
		if in {
			s.x = n
			return
		}
	}
}

// accept sets t and tells whether X is kept for the uniform number of a word, and whether that
// is sure.
//
// With t = 1 + b the series of the logarithm gives y = c/3 (b^4/4 - b^5/5 + ...), at most c
// b^4/12 for b > 0 and that over t for -1 < b < 0; and V < 1-y suffices. For |b| < 1/2, |X| < 8
// and its error < 2^-40, that is within 2^-36. Else the first part of y has the derivative c/3
// (t^2 - 1/t), which for t > 2^-10 and errors < 2^-30 is twice as large at most nearby.
func (s *euclidean) accept(n *normal, word uint64) (in, sure bool) {
	c := s.cube()
	root := math.Sqrt(c)
	b := n.z / root
	t := 1 + b
	s.t, s.tErr = t, float64(n.err/root*(1+0x1p-20))+float64((math.Abs(b)+1)*0x1p-51)
	v, _ := unit(word) // within 2^-51
	if math.Abs(b) < 0.5 && math.Abs(n.z) < 8 && n.err < 0x1p-40 {
		square := float64(b * b)
		if v < 1-0x1p-30-float64(c/12*float64(square*square))/min(1, t) {
			return true, true
		}
	}
	if t < -s.tErr {
		return false, true
	}
	if !(t > 0x1p-10 && n.err < 0x1p-30) {
		return false, false
	}
	e, err := exponential(word)
	square := float64(t * t)
	y := float64(c/9*(float64(square*t)-1-float64(3*math.Log(t)))) - float64(n.z*n.z)/2
	err += float64(c*(square+1/t)*s.tErr) + float64(2*math.Abs(n.z)*n.err)
	err += float64((float64(c*(float64(square*t)+8)) + float64(n.z*n.z)) * 0x1p-49)
	return e > y, math.Abs(e-y) > err
}

// resolveRadius is accept in interval arithmetic.
func (s *euclidean) resolveRadius(rng *rand.Rand, n normal, v digits) (_ normal, in bool) {
	us := []digits{n.digits(rng), v}
	refine(rng, us, func(u []Enclosure, prec uint) bool {
		x := n.enclose(u[0], prec)
		t := s.encloseT(x, prec)
		if in = t.Lo.Sign() > 0; !in {
			return t.Hi.Sign() < 0
		}
		y := t.mul(t, prec).mul(t, prec).add(point(-1), prec)
		y = y.add(t.log(prec).mul(point(-3), prec), prec).mul(point(s.cube()), prec)
		y = y.mul(point(1).quo(point(9), prec), prec).add(x.mul(x, prec).mul(point(-0.5), prec), prec)
		e := u[1].negLog(prec)
		in = e.Lo.Cmp(y.Hi) > 0
		return in || e.Hi.Cmp(y.Lo) < 0
	})
	n.u = us[0]
	return n, in
}

// encloseT is t for X.
func (s *euclidean) encloseT(x Enclosure, prec uint) Enclosure {
	return x.mul(point(1).quo(point(s.cube()).sqrt(prec), prec), prec).add(point(1), prec)
}

// noise is as [shape.noise], z as it is.
func (s *euclidean) noise() (rad, rel, abs float64) {
	square := float64(s.t * s.t)
	rad = math.Sqrt(2. / 9 * s.cube() * float64(square*s.t))
	rel = math.Inf(1)
	if q := s.tErr / s.t; q >= 0 && q < 0x1p-10 {
		rel = float64(1.6*q) + 0x1p-50 // of t^(3/2), and six roundings, halved by the root
	}
	rel, abs = product(rel, 0, s.err)
	return rad, rel, abs
}

// enclose is noise in interval arithmetic. It fails where X is not known well enough.
func (s *euclidean) enclose(u []Enclosure, prec uint) (z []Enclosure, ok bool) {
	t := s.encloseT(s.x.enclose(u[0], prec), prec)
	if t.Lo.Sign() <= 0 {
		return nil, false
	}
	rad := t.mul(t, prec).mul(t, prec).mul(point(2*s.cube()), prec).quo(point(9), prec).sqrt(prec)
	z = make([]Enclosure, len(s.z))
	for i := range z {
		z[i] = s.normal(i).enclose(u[i+1], prec).mul(rad, prec)
	}
	return z, true
}
