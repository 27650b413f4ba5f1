package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
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
