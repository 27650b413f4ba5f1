// Package lattice bounds tail probabilities of sums of independent integers, and
// means of what such a sum exceeds a threshold by, both ends proved, however small
// they are and however many terms the sum has.
//
// # Method
//
// S is tilted: P'(s) = P(s) e^(tilt s - K) with a mean near the threshold t, so that
//
//	E[v(S-t); S >= t] = e^(K - tilt t) E'[v(S-t) e^(-tilt (S-t)); S >= t],
//
// and the second factor is of the size of 1 over the standard deviation. It is
// inverted from L values of the transform F(j) = E' e^(2 pi i j S/L),
//
//	(1/L) sum over j of F(j) V(j) e^(-2 pi i j t/L),  V(j) = sum over s >= 0 of v(s) z^s,
//
// z = e^(-tilt - 2 pi i j/L), with V in closed form. This sum is the mean of v made
// periodic with period L: no less than what is sought, as v >= 0, and more by the
// tail of the tilted S beyond L/2 and by v(L/2) e^(-tilt L/2), which are known.
//
// F is a product of powers, and next to 0 but at some hundred frequencies. It falls
// from frequency 0 up to half a turn over the width of a term; beyond, the others are
// found in blocks, as |F| changes by no more than its terms' mean distance from a
// center times the change of the angle. So L may be in the millions, and a sum takes
// a millisecond, more where its values are nearly those of a coarser lattice.
//
// # Errors
//
// Each transform of one term is off by a few units of 2^-53, and its power by that
// times the number of terms; both are added up with the values themselves, so that
// a bound is off by a relative 1e-15 times the number of terms.
package lattice

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Part is Count independent copies of a variable on the integers.
type Part struct {
	Count int64     // >= 0
	At    []int64   // its values, at most 2^40 in magnitude
	Mass  []float64 // their probabilities, > 0
	Err   float64   // relative error of every Mass
}

// Sum is the distribution of the sum of independent parts, seen from near one threshold.
type Sum struct {
	parts   []tilted
	tilt    float64
	log     float64 // K
	slack   float64 // bounds the error of log and of all masses, in nats
	at      int64   // the threshold it was made for
	length  int64   // L
	outside float64 // bounds P'(|S-at| >= L/4)
	waves   []wave
	rest    float64 // bounds the sum of |F| over all frequencies left out
	offset  int64   // of S from the sum of centered values
	width   int64   // the largest distance of two values of one part
	buffer  []complex128
	coarse  []complex128 // e^(2 pi i k/len), or nil
	fine    []complex128 // e^(2 pi i k/L), up to 1 of coarse
	top     float64      // the largest value of S
}

// tilted is a Part with masses that sum to 1, about, and centered values.
type tilted struct {
	count int64
	at    []int64
	mass  []float64
	reach float64 // sum of mass times distance from 0
}

// wave is F at one frequency.
type wave struct {
	j          int64
	re, im     float64
	size, err  float64 // of F
	one        float64 // 1 where j is 0 or L/2, else 2, for the conjugate
	cosm1, sin float64 // of 2 pi j/L: 1-cos and sin
}

const (
	ulp = 0x1p-53
	// nats is where F counts as 0, and the tail beyond the period.
	nats = 50
	// least tilt, in units of 1 over the standard deviation: the period, which
	// is to be decayNats over it, stays short.
	leastTilt = 2
	decayNats = 45
	// maxTilt bounds tilt times the range of a part: e^maxTilt is a float64.
	maxTilt = 600
	// maxLength keeps products of frequencies and angles exact.
	maxLength = 1 << 45
)

// cumulant returns ln E e^(x S) and its first two derivatives.
func cumulant(parts []Part, x float64) (k, mean, variance float64) {
	for _, p := range parts {
		if p.Count == 0 {
			continue
		}
		top := math.Inf(-1)
		for _, a := range p.At {
			top = max(top, float64(x*float64(a)))
		}
		var s, m, q float64
		for i, a := range p.At {
			w := float64(p.Mass[i] * math.Exp(float64(x*float64(a))-top))
			s += w
			m += float64(w * float64(a))
		}
		m /= s
		for i, a := range p.At {
			d := float64(a) - m
			q += float64(p.Mass[i] * math.Exp(float64(x*float64(a))-top) * d * d)
		}
		n := float64(p.Count)
		k += float64(n * (top + math.Log(s)))
		mean += float64(n * m)
		variance += float64(n * q / s)
	}
	return k, mean, variance
}

// New returns the sum of the parts for questions about thresholds near at. Its
// time is that of the package comment.
func New(ctx context.Context, parts []Part, at int64) (*Sum, error) {
	s := &Sum{at: at}
	for _, p := range parts {
		if p.Count == 0 {
			continue
		}
		lo, hi := slices.Min(p.At), slices.Max(p.At)
		s.width = max(s.width, hi-lo)
		s.top += float64(float64(p.Count) * float64(hi))
	}
	s.tilt = tiltTo(parts, float64(at), maxTilt/float64(max(1, s.width)))
	k, _, variance := cumulant(parts, s.tilt)
	s.span(parts, k, math.Sqrt(variance))
	for _, p := range parts {
		if p.Count > 0 {
			s.add(p)
		}
	}
	s.buffer = make([]complex128, len(s.parts))
	values, half := 0, int64(1)<<(bits.Len64(uint64(s.length-1))/2)
	for _, p := range s.parts {
		values += len(p.at)
	}
	if half <= min(mostTurns, 16*int64(values)) { // of some hundred waves
		s.coarse, s.fine = make([]complex128, s.length/half), make([]complex128, half)
		for k := range s.coarse {
			s.coarse[k] = turn(int64(k)*half, s.length)
		}
		for k := range s.fine {
			s.fine[k] = turn(int64(k), s.length)
		}
	}
	return s, s.scan(ctx)
}

// mostTurns is the size of a table, 1 MB.
const mostTurns = 1 << 16

// turn is e^(2 pi i j/n), of a sine and a cosine of at most pi/4.
func turn(j, n int64) complex128 {
	quarters := (4*j + n/2) / n
	sin, cos := math.Sincos(2 * math.Pi * (float64(j-quarters*(n/4)) / float64(n)))
	for range quarters {
		sin, cos = cos, -sin
	}
	return complex(cos, sin)
}

// tiltTo returns a tilt > 0 under which the mean is about at, at least leastTilt
// over the standard deviation and at most most.
func tiltTo(parts []Part, at, most float64) float64 {
	_, mean, variance := cumulant(parts, 0)
	lo := leastTilt / math.Sqrt(max(variance, 1e-2))
	if mean < at {
		hi := min(most, lo)
		for m := mean; hi < most && m < at; {
			hi = min(most, 2*hi)
			_, m, _ = cumulant(parts, hi)
		}
		for range 12 {
			mid := math.Sqrt(lo * hi)
			if _, m, _ := cumulant(parts, mid); m < at {
				lo = mid
			} else {
				hi = mid
			}
			if hi <= lo*(1+1e-3) {
				break
			}
		}
	}
	_, _, variance = cumulant(parts, lo)
	return min(most, max(lo, leastTilt/math.Sqrt(max(variance, 1e-2))))
}

// span sets L and outside by Chernoff's bound of both tails of the tilted sum.
func (s *Sum) span(parts []Part, k, sigma float64) {
	quarter := decayNats / s.tilt / 2 // tilt L/2 >= decayNats
	for _, sign := range [...]float64{1, -1} {
		far := math.Inf(1)
		for x := math.Sqrt(2*nats) / max(sigma, 0.1); x > 1e-3/max(sigma, 0.1); x /= 2 {
			kx, _, _ := cumulant(parts, s.tilt+float64(sign*x))
			// P'(sign S >= sign at + d) <= e^(kx-k-x(sign at+d)).
			if d := (kx - k + nats + 1 - float64(sign*x*float64(s.at))) / x; d < far {
				far = d
			}
		}
		quarter = max(quarter, far)
	}
	s.length = 16
	for float64(s.length) < 4*quarter+4 && s.length < maxLength {
		s.length *= 2
	}
	s.outside = 2 * math.Exp(-nats)
	if float64(s.length) < 4*quarter+4 {
		s.outside = 1
	}
}

// add tilts a part. What the masses are multiplied with is rounded, the exponent
// by less than 2 ulps of its terms; the masses' product takes that Count times.
func (s *Sum) add(p Part) {
	top := math.Inf(-1)
	for _, a := range p.At {
		top = max(top, float64(s.tilt*float64(a)))
	}
	total := 0.0
	for i, a := range p.At {
		total += float64(p.Mass[i] * math.Exp(float64(s.tilt*float64(a))-top))
	}
	k := top + math.Log(total)
	t := tilted{count: p.Count, at: make([]int64, len(p.At)), mass: make([]float64, len(p.At))}
	mean, err := 0.0, 0.0
	for i, a := range p.At {
		x := float64(s.tilt*float64(a)) - k
		t.mass[i] = p.Mass[i] * math.Exp(x)
		err = max(err, float64(4*ulp*(math.Abs(float64(s.tilt*float64(a)))+math.Abs(k)+1)))
		mean += float64(t.mass[i] * float64(a))
	}
	center := int64(math.Round(mean))
	for i, a := range p.At {
		t.at[i] = a - center
		t.reach += float64(t.mass[i] * math.Abs(float64(a-center)))
	}
	s.parts = append(s.parts, t)
	n := float64(p.Count)
	s.offset += p.Count * center
	s.slack += float64(n*(err+float64(1.01*p.Err))) + float64(8*ulp*n*math.Abs(k))
	s.log += float64(n * k)
}

// scan finds the waves. Up to half a turn over the width of the widest part |F| falls, as
// 1-|f|^2 is a sum of positive multiples of 1-cos((a-b) angle), and there one search finds
// where it is next to 0. Beyond, blocks of frequencies are looked at in their middle.
func (s *Sum) scan(ctx context.Context) error {
	step := 2 * math.Pi / float64(s.length)
	end := s.length/2 + 1
	falls := min(end, 1+s.length/2/max(1, s.width)) // j step width <= pi below
	zero := int64(sort.Search(int(falls), func(j int) bool { return s.most(s.transforms(int64(j)), 0) < -nats }))
	for j := range zero {
		if j%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.keep(j, s.transforms(j))
	}
	if zero < falls {
		s.rest += float64(2 * float64(falls-zero) * math.Exp(s.most(s.transforms(zero), 0)+1e-6))
	}
	type block struct{ lo, hi int64 }
	var blocks []block
	if falls < end {
		blocks = append(blocks, block{falls, end})
	}
	for count := 0; len(blocks) > 0; count++ {
		if count%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b := blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		mid := (b.lo + b.hi) / 2
		f := s.transforms(mid)
		spread := float64(step * float64(max(mid-b.lo, b.hi-1-mid)))
		if bound := s.most(f, spread); bound < -nats {
			s.rest += float64(2 * float64(b.hi-b.lo) * math.Exp(bound+1e-6))
			continue
		}
		s.keep(mid, f)
		if b.lo < mid {
			blocks = append(blocks, block{b.lo, mid})
		}
		if mid+1 < b.hi {
			blocks = append(blocks, block{mid + 1, b.hi})
		}
	}
	return nil
}

// transforms returns those of the parts at frequency j, each off by less than partErr
// of its mass, until the next call.
func (s *Sum) transforms(j int64) []complex128 {
	f, split := s.buffer[:len(s.parts)], bits.TrailingZeros64(uint64(len(s.fine)))
	for i, p := range s.parts {
		var re, im float64
		for k, a := range p.at {
			var sin, cos float64
			if s.fine == nil {
				sin, cos = math.Sincos(s.angle(j, a))
			} else {
				m := j * a & (s.length - 1)
				u, v := s.coarse[m>>split], s.fine[m&int64(len(s.fine)-1)]
				cos, sin = times(real(u), imag(u), real(v), imag(v))
			}
			re += float64(p.mass[k] * cos)
			im += float64(p.mass[k] * sin)
		}
		f[i] = complex(re, im)
	}
	return f
}

// angle is 2 pi j a/L, in [-pi, pi], to 2 ulps of it.
func (s *Sum) angle(j, a int64) float64 {
	return 2 * math.Pi * (float64(s.mulMod(j, a)) / float64(s.length))
}

// mulMod is j a mod L, in [-L/2, L/2), for j >= 0.
func (s *Sum) mulMod(j, a int64) int64 {
	r := uint64(a) & uint64(s.length-1)
	_, lo := bits.Mul64(uint64(j), r) // L is a power of 2
	m := int64(lo & uint64(s.length-1))
	if m >= s.length/2 {
		m -= s.length
	}
	return m
}

// most bounds ln |F| within an angle of spread from where the transforms are f.
func (s *Sum) most(f []complex128, spread float64) float64 {
	log := 0.0
	for i, p := range s.parts {
		near := math.Hypot(real(f[i]), imag(f[i])) + float64(spread*p.reach) + partErr(len(p.at))
		log += float64(float64(p.count) * math.Log(min(near, 1+8*ulp)))
	}
	return log
}

// partErr bounds the error of a transform of n terms, for masses of 1: 2 ulps of an
// angle of pi at most and one of its sine, or of two angles of pi/4 and their product, and
// those of n sums and products.
func partErr(n int) float64 { return float64((float64(n) + 10) * ulp) }

// keep adds the wave at frequency j.
func (s *Sum) keep(j int64, f []complex128) {
	re, im, err := 1.0, 0.0, 0.0
	for i, p := range s.parts {
		size := math.Hypot(real(f[i]), imag(f[i]))
		if size == 0 {
			size = math.SmallestNonzeroFloat64
		}
		a, b := power(real(f[i]), imag(f[i]), p.count)
		re, im = times(re, im, a, b)
		// Every product is off by less than 3 ulps of its size.
		err += float64(float64(p.count) * (partErr(len(p.at))/size + 3*ulp))
	}
	size := math.Hypot(re, im)
	grow := math.Expm1(err)
	if !(grow < 1) { // it is next to 0, or little is known of it
		s.rest += 2 * min(1, math.Exp(s.most(f, 0)+1e-6))
		return
	}
	w := wave{j: j, re: re, im: im, size: size, err: float64(size*grow) + math.Exp(-700), one: 2}
	if j == 0 || 2*j == s.length {
		w.one = 1
	}
	sin, cos := math.Sincos(math.Pi * (float64(j) / float64(s.length)))
	w.cosm1, w.sin = 2*sin*sin, 2*sin*cos
	s.waves = append(s.waves, w)
}

// times is the product of a+bi and c+di.
func times(a, b, c, d float64) (re, im float64) {
	return float64(a*c) - float64(b*d), float64(a*d) + float64(b*c)
}

// power is (a+bi)^n.
func power(a, b float64, n int64) (re, im float64) {
	re, im = 1, 0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			re, im = times(re, im, a, b)
		}
		a, b = times(a, b, a, b)
	}
	return re, im
}

// A Bound is an interval of natural logarithms. Lo is -Inf where nothing is known.
type Bound struct{ Lo, Hi float64 }

var nothing = Bound{math.Inf(-1), math.Inf(-1)}

// Tail bounds P(S >= t).
func (s *Sum) Tail(t int64) Bound {
	return s.invert(t, math.Exp(-decayNats), 1, func(q quotient) (re, im float64) { return q.inverse() })
}

// At bounds P(S = t).
func (s *Sum) At(t int64) Bound {
	return s.invert(t, 0, 1, func(quotient) (re, im float64) { return 1, 0 })
}

// Excess bounds E (S-t)_+.
func (s *Sum) Excess(t int64) Bound {
	// x e^(-tilt x) is at most 1/(e tilt), and at L/2 at most L e^-decayNats.
	return s.invert(t, float64(s.length)*math.Exp(-decayNats), 1/s.tilt, func(q quotient) (re, im float64) {
		re, im = q.inverse()
		re, im = times(re, im, re, im)
		return times(re, im, q.re, q.im)
	})
}

// Hockey bounds E (1-e^(-h(S-t)))_+, h > 0.
func (s *Sum) Hockey(t int64, h float64) Bound {
	gain := -math.Expm1(-h)
	return s.invert(t, math.Exp(-decayNats), 1, func(q quotient) (re, im float64) {
		re, im = q.inverse()
		// 1-z e^-h = (1-z) + z(1-e^-h).
		r := quotient{rest: q.rest + float64(q.re*gain), restIm: q.restIm + float64(q.im*gain)}
		a, b := r.inverse()
		re, im = times(re, im, a, b)
		re, im = times(re, im, q.re, q.im)
		return re * gain, im * gain
	})
}

// quotient is z and 1-z, the second without cancellation.
type quotient struct{ re, im, rest, restIm float64 }

// inverse is 1/(1-z).
func (q quotient) inverse() (re, im float64) {
	d := float64(q.rest*q.rest) + float64(q.restIm*q.restIm)
	return q.rest / d, -q.restIm / d
}

// kernelErr bounds the relative error of V and of its product with F and with the
// phase: some forty operations of a few ulps each.
const kernelErr = 256 * ulp

// invert returns the bound of a mean whose transform is kernel. v e^(-tilt s) is at
// most far from L/2 on, and at most most anywhere.
func (s *Sum) invert(t int64, far, most float64, kernel func(quotient) (re, im float64)) Bound {
	if float64(t) > s.top+float64(8*ulp*math.Abs(s.top)) {
		return nothing
	}
	shrink, rest := math.Exp(-s.tilt), -math.Expm1(-s.tilt)
	zero, _ := kernel(quotient{re: shrink, rest: rest}) // the largest |V|
	sum, err := 0.0, float64(s.rest*zero)*(1+kernelErr)
	for _, w := range s.waves {
		q := quotient{re: float64(shrink * (1 - w.cosm1)), im: -float64(shrink * w.sin)}
		q.rest, q.restIm = rest+float64(shrink*w.cosm1), -q.im
		vr, vi := kernel(q)
		sin, cos := math.Sincos(s.angle(w.j, s.offset-t))
		fr, fi := times(w.re, w.im, cos, sin)
		re, _ := times(fr, fi, vr, vi)
		sum += float64(w.one * re)
		size := math.Hypot(vr, vi)
		err += float64(w.one*size*w.err) + float64(w.one*size*w.size*(kernelErr+float64(float64(len(s.waves))*ulp)))
	}
	scale := 1 / float64(s.length)
	sum, err = float64(sum*scale), float64(err*scale)
	log := s.log - float64(s.tilt*float64(t))
	slack := s.slack + float64(8*ulp*(math.Abs(s.log)+float64(s.tilt*math.Abs(float64(t)))+1))
	b := Bound{math.Inf(-1), math.Inf(1)}
	if up := sum + err; up > 0 {
		b.Hi = math.Log(up) + log + slack
	}
	alias := math.Inf(1)
	if d := t - s.at; max(d, -d) <= s.length/4 {
		alias = (far + float64(most*s.outside)) * 2
	}
	if low := sum - err - alias; low > 0 {
		b.Lo = math.Log(low) + log - slack
	}
	return b
}

// Moments returns the mean and the standard deviation of the sum of parts under a
// tilt: each probability of s times e^(tilt s), normalized.
func Moments(parts []Part, tilt float64) (mean, deviation float64) {
	_, mean, variance := cumulant(parts, tilt)
	return mean, math.Sqrt(variance)
}
