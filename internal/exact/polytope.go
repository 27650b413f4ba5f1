package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// MaxPolytopeDim is the largest dimension of a [Polytope].
const MaxPolytopeDim = 8

// Polytope is the set of all z in R^d, 2 <= d <= [MaxPolytopeDim], with |a.z| <= 1
// for every facet a, given by float64s of size at most 2^40.
type Polytope struct {
	Dim    int
	Facets []float64 // one after another
	// Basis has as its rows linear forms b such that the points (b_1.w, ..., b_d.w), w in the
	// cube [-1, 1]^d, include the polytope. Their size is at most 2^40, too.
	Basis []float64
}

// AddPolytope sets dst to x + Z rounded in every coordinate, Z of density prop. to
// e^(-rate ||z||), the norm being that of the polytope: Z is a uniform point of it
// times a radius of the distribution Gamma(d+1)/rate. The point comes from the
// cube by rejection. The rest is as for [Lattice.AddLaplace]; dst may be x.
func (l Lattice) AddPolytope(dst []float64, rng *rand.Rand, x []float64, rate float64, p *Polytope) {
	l.addPolytope(dst, rng, x, rate, p, false)
}

func (l Lattice) addPolytope(dst []float64, rng *rand.Rand, x []float64, rate float64, p *Polytope, exact bool) {
	d := p.Dim
	size, err := p.errors()
	var z [MaxPolytopeDim]float64
	var buf [2*MaxPolytopeDim + 1]uint64
	words := buf[:2*d+1] // d for the point, d+1 for the radius
	for {
		for i := range words[:d] {
			words[i] = rng.Uint64()
		}
		in, sure := p.place(words, z[:d], err)
		if sure && !in {
			for i := range words[d:] {
				words[d+i] = 1 << 63
			}
			if exact && l.resolvePolytope(rng, words, x, dst, rate, p) {
				panic("exact: AddPolytope: the fast way is wrong")
			}
			continue
		}
		prod, radErr := 1.0, 0.0
		for i := range words[d:] {
			w := rng.Uint64()
			u, e := unit(w)
			words[d+i] = w
			prod *= u
			radErr += e + 0x1p-52
		}
		rad := math.Abs(math.Log(prod))
		radErr += float64(rad * 0x1p-50)
		// Coordinates of at most size, as in errors.
		rel, abs := product(radErr/rad, 0, float64(size*(float64(d)+8)*0x1p-49))
		if sure && !exact && l.settle(dst, x, z[:d], rad/float64(rate*l.Step), rel, abs) {
			return
		}
		if l.resolvePolytope(rng, append([]uint64(nil), words...), x, dst, rate, p) {
			return
		}
	}
}

// errors returns a bound on the size of the coordinates of points, and on how far
// place is off in any a.z: with |w| <= 1 within 2^-51 a sum of d products errs by
// less than (d+4) 2^-51 times the sum of their sizes, and the second sum likewise.
func (p *Polytope) errors() (size, err float64) {
	d := p.Dim
	var sizes [MaxPolytopeDim]float64
	for i := range d {
		for _, b := range p.Basis[i*d : (i+1)*d] {
			sizes[i] += math.Abs(b)
		}
		size = max(size, sizes[i])
	}
	for f := 0; f < len(p.Facets); f += d {
		s := 0.0
		for i, a := range p.Facets[f : f+d] {
			s += float64(math.Abs(a) * sizes[i])
		}
		err = max(err, s)
	}
	return size * (1 + 0x1p-40), err * (float64(d) + 8) * 0x1p-49
}

// place sets z to the point of the words and tells whether it is in the polytope,
// and whether that is sure for all numbers that begin with these words.
func (p *Polytope) place(words []uint64, z []float64, err float64) (in, sure bool) {
	d := p.Dim
	var w [MaxPolytopeDim]float64
	for i := range d {
		u, _ := unit(words[i])
		w[i] = u
		if words[i]&1 != 0 {
			w[i] = -u
		}
	}
	for i := range z {
		s := 0.0
		for k, b := range p.Basis[i*d : (i+1)*d] {
			s += float64(b * w[k])
		}
		z[i] = s
	}
	in, sure = true, true
	for f := 0; f < len(p.Facets); f += d {
		s := 0.0
		for i, a := range p.Facets[f : f+d] {
			s += float64(a * z[i])
		}
		if s = math.Abs(s); s > 1+2*err {
			return false, true
		}
		sure = sure && s < 1-2*err
	}
	return in, sure
}

// resolvePolytope is false where the point is outside.
func (l Lattice) resolvePolytope(rng *rand.Rand, words []uint64, x, dst []float64, rate float64, p *Polytope) (in bool) {
	d, one := p.Dim, big.NewFloat(1)
	minus := big.NewFloat(-1)
	y := make([]float64, d)
	form := func(c []float64, v []interval, prec uint) interval {
		s := point(0)
		for k, b := range c {
			s = s.add(point(b).mul(v[k], prec), prec)
		}
		return s
	}
	us := make([]digits, len(words))
	for i, w := range words {
		us[i].word = w
	}
	l.resolve(rng, us, x, y, func(u []interval, prec uint) ([]interval, bool) {
		w := append([]interval(nil), u[:d]...)
		for i := range w {
			if words[i]&1 != 0 {
				w[i] = w[i].neg()
			}
		}
		z := make([]interval, d)
		for i := range z {
			z[i] = form(p.Basis[i*d:(i+1)*d], w, prec)
		}
		sure := true
		for f := 0; f < len(p.Facets); f += d {
			s := form(p.Facets[f:f+d], z, prec)
			if s.lo.Cmp(one) > 0 || s.hi.Cmp(minus) < 0 {
				in = false
				for i := range z {
					z[i] = point(0)
				}
				return z, true // y is not used
			}
			sure = sure && s.hi.Cmp(one) <= 0 && s.lo.Cmp(minus) >= 0
		}
		in = true
		rad := point(0)
		for _, v := range u[d:] {
			rad = rad.add(v.negLog(prec), prec)
		}
		rad = rad.quo(point(rate*l.Step), prec)
		for i := range z {
			z[i] = z[i].mul(rad, prec)
		}
		return z, sure
	})
	if in {
		copy(dst, y)
	}
	return in
}

// Draw sets z to a point of the cube, up to rounding, and tells whether it is in
// the polytope, as far as float64 can tell: for simulations.
func (p *Polytope) Draw(rng *rand.Rand, z []float64) bool {
	var words [MaxPolytopeDim]uint64
	for i := range p.Dim {
		words[i] = rng.Uint64()
	}
	in, _ := p.place(words[:p.Dim], z, 0)
	return in
}
