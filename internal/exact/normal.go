package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
)

// Normal variates are drawn by rejection from layers of equal area that cover the curve
// f(x) = e^(-x^2/2), x >= 0 (Marsaglia, Tsang, "The ziggurat method for generating random
// variables", 2000). The layers are exact: 255 boxes of heights that are multiples of 2^-52, one
// upon the other from 0 to 1 or more, each of width area/height, which is at least where f reaches
// its base, and at most tailStart; and from there on tailStart*area e^(-tailStart(x-tailStart)),
// which is at least f. A variate is right of a box's middle U width, or tailStart - ln U
// /tailStart in the tail, kept where a point uniform over that height lies below f.
//
// One word gives the layer, a sign and 55 bits of U, and nearly always that is all: up to some U
// the box lies below f altogether.
const (
	normalLayers = 256
	tailStart    = 373. / 128
	// boxHeight is that of the boxes of width tailStart.
	boxHeight = 1859454080 * 0x1p-40
	layerArea = tailStart * boxHeight // exact, 40 bits
)

// layer is a box; the first one stands for the tail.
type layer struct {
	inner        uint64  // below it n/2^55 <= U < (n+1)/2^55 is accepted
	unit         float64 // the width times 2^-55
	base, height float64
}

var layers = makeLayers()

// makeLayers uses arithmetic that is the same on every platform, as the words that a draw
// reads depend on it.
func makeLayers() (all [normalLayers]layer) {
	all[0].height = layerArea * tailStart
	half, base := tailStart*tailStart/2, 0.0 // half the square of where f reaches the base
	for i := 1; i < normalLayers; i++ {
		b := &all[i]
		*b = layer{base: base, height: boxHeight}
		if base > 0 && half < tailStart*tailStart/2 {
			b.height = math.Floor(layerArea/float64(math.Sqrt(2*half)*(1+0x1p-40))*0x1p52) * 0x1p-52
		}
		width := layerArea / b.height
		b.unit = width * 0x1p-55
		base += b.height
		for range 8 { // Newton's steps to e^-half = base
			half += 1 - float64(base*Exp(half))
		}
		if base < 1 {
			b.inner = uint64(min(1, math.Sqrt(2*half)/width) * (1 - 0x1p-40) * 0x1p55)
		}
	}
	return all
}

// normal is a variate of deviation 1 and the number of which it is made.
type normal struct {
	u      digits
	tail   bool
	z, err float64 // the variate for all numbers of the word, with room for two more roundings
}

// normalErr bounds the error of variates of boxes, of width 3 at most: 2^-55 of that for
// the cell, and five roundings.
const normalErr = 0x1p-49

// inBox returns the variate of a word and whether it is accepted without more words.
func inBox(w uint64) (z float64, ok bool) {
	b, n := &layers[w>>1%normalLayers], w>>9
	z = float64(int64(n)) * b.unit
	return math.Float64frombits(math.Float64bits(z) ^ w<<63), n < b.inner
}

// finishNormal draws a variate whose first word is given, with exact deciding exactly
// where there is something to decide.
func finishNormal(rng *rand.Rand, w uint64, exact bool) normal {
	for {
		n := normal{u: digits{word: w}, tail: w>>1%normalLayers == 0}
		if n.tail {
			n.u.word = rng.Uint64()
		} else if z, ok := inBox(w); ok {
			return normal{n.u, false, z, normalErr}
		}
		n.set()
		v := digits{word: rng.Uint64()}
		in, sure := n.accept(v.word)
		if !sure || exact {
			n, in = n.resolve(rng, v)
		}
		if in {
			return n
		}
		w = rng.Uint64()
	}
}

func (n *normal) layer() *layer {
	if n.tail {
		return &layers[0]
	}
	return &layers[n.u.word>>1%normalLayers]
}

// set finds the variate in float64.
func (n *normal) set() {
	if !n.tail {
		n.z, _ = inBox(n.u.word)
		n.err = normalErr
		return
	}
	f, err := exponential(n.u.word)
	n.z = n.u.signed(tailStart + f/tailStart)
	n.err = err/tailStart + float64(math.Abs(n.z)*0x1p-50)
}

// accept tells whether the variate is kept for the uniform number of a word, and whether that
// is sure. In the tail both sides are divided by e^(-tailStart(x-tailStart)), which leaves
// f the exponent -(tailStart^2 + (x-tailStart)^2)/2.
//
// The exponent errs by x err + err^2/2 and three roundings, and x err < 2^-5.
func (n *normal) accept(word uint64) (in, sure bool) {
	b := n.layer()
	v, _ := unit(word) // within 2^-52 of it and 2^-64
	y := b.base + float64(b.height*v)
	x := math.Abs(n.z)
	t := float64(x*x) / 2
	if n.tail {
		t = tailStart*tailStart/2 + float64((x-tailStart)*(x-tailStart))/2
	}
	f := Exp(-t)
	margin := float64(f*(float64(2*x*n.err)+float64(t*0x1p-50)+0x1p-48)) + float64(y*0x1p-50) + float64(b.height*0x1p-62)
	return y < f, n.err < 0x1p-10 && math.Abs(y-f) > margin
}

// digits are the number with its further bits, to be refined.
func (n *normal) digits(rng *rand.Rand) digits {
	if !n.tail && n.u.more == nil {
		n.u.more = &uniform{rng, new(big.Int).SetUint64(n.u.word >> 9), 55}
	}
	return n.u
}

// resolve is accept in interval arithmetic. It is apart so that n stays off the heap elsewhere.
func (n normal) resolve(rng *rand.Rand, v digits) (_ normal, in bool) {
	us, b := []digits{n.digits(rng), v}, n.layer()
	refine(rng, us, func(u []Enclosure, prec uint) bool {
		y := u[1].mul(point(b.height), prec).add(point(b.base), prec)
		x := n.enclose(u[0], prec)
		t := x.mul(x, prec)
		if n.tail {
			x = u[0].negLog(prec).quo(point(tailStart), prec)
			t = x.mul(x, prec).add(point(tailStart*tailStart), prec)
		}
		f := t.mul(point(-0.5), prec).exp(prec)
		in = y.Hi.Cmp(f.Lo) < 0
		return in || y.Lo.Cmp(f.Hi) > 0
	})
	n.u = us[0]
	return n, in
}

// enclose is the variate for its number u.
func (n *normal) enclose(u Enclosure, prec uint) Enclosure {
	var x Enclosure
	if n.tail {
		x = u.negLog(prec).quo(point(tailStart), prec).add(point(tailStart), prec)
	} else {
		x = u.mul(point(layerArea), prec).quo(point(n.layer().height), prec)
	}
	if n.u.signed(1) < 0 {
		return x.neg()
	}
	return x
}

// AddNormal sets dst to x + Z rounded in every coordinate, Z independent normal
// variates of deviation sigma, with sigma/Step a normal number. dst may be x.
func (l Lattice) AddNormal(dst []float64, rng *rand.Rand, x []float64, sigma float64) {
	inv, scale := 1/l.Step, sigma/l.Step // exact
	for i, v := range x {
		w := rng.Uint64()
		z, in := inBox(w)
		if in && !l.exact {
			if k, ok := nearest(float64(v*inv), float64(z*scale), float64(normalErr*scale)); ok {
				dst[i] = k * l.Step
				continue
			}
		}
		n := finishNormal(rng, w, l.exact)
		if k, ok := nearest(float64(v*inv), float64(n.z*scale), float64(n.err*scale)); ok && !l.exact {
			dst[i] = k * l.Step
		} else {
			l.resolveNormal(dst[i:i+1], rng, x[i:i+1], n, scale)
		}
	}
}

// resolveNormal is apart so that n stays off the heap elsewhere.
func (l Lattice) resolveNormal(dst []float64, rng *rand.Rand, x []float64, n normal, scale float64) {
	l.resolve(rng, []digits{n.digits(rng)}, x, dst, func(u []Enclosure, prec uint) ([]Enclosure, bool) {
		return []Enclosure{n.enclose(u[0], prec).mul(point(scale), prec)}, true
	})
}

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
