package mechanism

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/lattice"
)

// composedLoss is the distribution of the privacy loss of a composition between an input
// x and another x': the sum, over factors and their repetitions, of independent
// ln(P{y at x}/P{y at x'}), y drawn at x. With L this sum,
//
//	delta(s) = E (1 - e^(s-L))_+
//
// is the least delta at which the two are s apart, an infinite L counting 1.
type composedLoss struct {
	factors []factorLoss
	tilted  []float64 // scratch of step
}

// factorLoss is the loss of one draw of a factor.
type factorLoss struct {
	count       int64
	atoms       []atom  // the finite losses
	never       float64 // the mass of outputs that x' never has
	top, bottom float64 // the extreme finite losses
	loose       float64 // bounds the error of every loss
	err         float64 // bounds the relative error of every mass and of sums of them
}

type atom struct{ loss, mass float64 }

// leastMass is where a mass counts as that of an infinite loss. Masses stay normal
// numbers when they are split.
const leastMass = 0x1p-900

// set makes f the loss between two rows, a and b their logarithms, p the first one's
// probabilities and shift the difference of the row sums' logarithms.
func (f *factorLoss) set(a, b, p []float64, shift float64) {
	f.atoms, f.never = f.atoms[:0], 0
	f.top, f.bottom = math.Inf(-1), math.Inf(1)
	b, p = b[:len(a)], p[:len(a)]
	for y, v := range a {
		switch {
		case math.IsInf(v, -1):
		case p[y] < leastMass || math.IsInf(b[y], -1):
			f.never += max(p[y], leastMass)
		default:
			l := v - b[y] - shift
			f.atoms = append(f.atoms, atom{l, p[y]})
			f.top, f.bottom = max(f.top, l), min(f.bottom, l)
		}
	}
	if len(f.atoms) == 0 {
		f.never = 1
	}
}

// gather sorts the atoms and adds up those of nearly one loss, which moves none by
// more than an eighth of loose.
func (l *composedLoss) gather() {
	for i := range l.factors {
		f := &l.factors[i]
		slices.SortFunc(f.atoms, func(a, b atom) int { return cmp.Compare(a.loss, b.loss) })
		kept := f.atoms[:0]
		for _, a := range f.atoms {
			if k := len(kept) - 1; k >= 0 && a.loss-kept[k].loss <= f.loose/8 {
				kept[k].mass += a.mass
			} else {
				kept = append(kept, a)
			}
		}
		f.atoms = kept
	}
}

// like tells whether the losses are those of m up to an eighth of loose and of err.
func (l *composedLoss) like(m *composedLoss) bool {
	for i, f := range l.factors {
		g := m.factors[i]
		if len(f.atoms) != len(g.atoms) || math.Abs(f.never-g.never) > f.never*f.err/8 {
			return false
		}
		for k, a := range f.atoms {
			b := g.atoms[k]
			if math.Abs(a.loss-b.loss) > f.loose/8 || math.Abs(a.mass-b.mass) > a.mass*f.err/8 {
				return false
			}
		}
	}
	return true
}

func (l *composedLoss) clone() *composedLoss {
	c := &composedLoss{factors: slices.Clone(l.factors)}
	for i, f := range l.factors {
		c.factors[i].atoms = slices.Clone(f.atoms)
	}
	return c
}

// loose bounds the error of the sum.
func (l *composedLoss) loose() float64 {
	sum := 0.0
	for _, f := range l.factors {
		sum = directed.AddUp(sum, directed.MulUp(float64(f.count), f.loose))
	}
	return sum
}

// most bounds the sum; it is the level at delta = 0.
func (l *composedLoss) most() float64 {
	sum := 0.0
	for _, f := range l.factors {
		if f.never > 0 {
			return math.Inf(1)
		}
		sum = directed.AddUp(sum, directed.MulUp(float64(f.count), directed.AddUp(f.top, f.loose)))
	}
	return sum
}

// never bounds the probability that the loss is infinite.
func (l *composedLoss) never() (lo, hi float64) {
	var a, b float64 // of the logarithm of the complement
	for _, f := range l.factors {
		sure := float64(f.never*(1-f.err)) - 0x1p40*leastMass // without those that are merely small
		a += float64(float64(f.count) * math.Log1p(-max(0, sure)))
		b += float64(float64(f.count) * math.Log1p(-min(1, f.never*(1+f.err))))
	}
	return max(0, -math.Expm1(a)*(1-0x1p-40)), -math.Expm1(b) * (1 + 0x1p-40)
}

// cumulant returns K(x) = ln E e^(xL) over the finite losses, its first two
// derivatives, and a bound of the error of K.
func (l *composedLoss) cumulant(x float64) (k, mean, variance, err float64) {
	for _, f := range l.factors {
		top := float64(x * f.top)
		var s, m, q float64
		for _, a := range f.atoms {
			w := float64(a.mass * math.Exp(float64(x*a.loss)-top))
			wd := float64(w * (a.loss - f.top))
			s += w
			m += wd
			q += float64(wd * (a.loss - f.top))
		}
		m, q = m/s, q/s
		n := float64(f.count)
		one := top + math.Log(s)
		k += float64(n * one)
		mean += float64(n * (f.top + m))
		variance += float64(n * max(0, q-float64(m*m)))
		size := float64(x * max(math.Abs(f.top), math.Abs(f.bottom)))
		err += float64(n * (f.err + float64(x*f.loose) + float64((float64(len(f.atoms))+size+math.Abs(one)+16)*0x1p-50)))
	}
	return k, mean, variance, err
}

// exponent returns what E (1 - e^(s-L))_+ is at most, over the finite losses, by
// Chernoff's bound: its logarithm, about the least over all tilts x > 0 of
//
//	K(x) - x s + x ln x - (1+x) ln(1+x),
//
// as (1 - e^-d) e^-xd is at most x^x/(1+x)^(1+x). It ends early below enough.
func (l *composedLoss) exponent(s, x, enough float64) (log, tilt float64) {
	log, tilt = math.Inf(1), x
	for range 12 {
		k, mean, variance, err := l.cumulant(x)
		v := k - float64(x*s) + gain(x)
		v += err + float64((math.Abs(k)+float64(x*(math.Abs(s)+math.Abs(math.Log(x)))))*0x1p-48) // err has room for what does not grow
		if v < log {
			log, tilt = v, x
		}
		slope := mean - s + math.Log(x/(1+x))
		curve := variance + 1/(x*(1+x))
		if log <= enough || float64(slope*slope) < 1e-4*curve {
			break
		}
		x = min(max(x-slope/curve, x/8), 8*x)
	}
	return log, tilt
}

// gain is ln of the largest (1 - e^-d) e^-xd.
func gain(x float64) float64 { return float64(x*math.Log(x)) - float64((1+x)*math.Log1p(x)) }

// guess returns a first tilt for the argument s, by the normal distribution.
func (l *composedLoss) guess(s float64) float64 {
	_, mean, variance, _ := l.cumulant(0)
	return min(max((s-mean)/max(variance, 1e-300), 1e-6), 1e9)
}

// estimate returns about the level at which Chernoff's bound is target, a logarithm, and the tilt there.
func (l *composedLoss) estimate(target float64) (s, tilt float64) {
	_, mean, variance, _ := l.cumulant(0)
	s = max(0, mean+math.Sqrt(-2*target*variance))
	if most := l.most(); s >= most {
		s = max(mean, most*(1-1e-3))
	}
	for range 6 {
		_, tilt = l.exponent(s, l.guess(s), math.Inf(-1))
		k, _, _, _ := l.cumulant(tilt)
		next := (k + gain(tilt) - target) / tilt
		if done := math.Abs(next-s) <= 1e-4*math.Abs(s); done || next <= 0 {
			return max(0, next), tilt
		}
		s = next
	}
	return s, tilt
}

// step returns the coarsest step of a lattice on which the losses, each split between its two
// neighbors, have a level that is by about widening higher, seen from the tilt. Steps are
// fractions of the widest factor's range, so that losses on a lattice are found to be.
func (l *composedLoss) step(tilt, widening float64) float64 {
	width, total := 0.0, 0
	for _, f := range l.factors {
		width = max(width, f.top-f.bottom)
		total += len(f.atoms)
	}
	if width == 0 {
		return 1
	}
	l.tilted = l.tilted[:0]
	for _, f := range l.factors {
		sum, from := 0.0, len(l.tilted)
		for _, a := range f.atoms {
			w := float64(a.mass * math.Exp(tilt*(a.loss-f.top)))
			l.tilted = append(l.tilted, w)
			sum += w
		}
		for i := from; i < len(l.tilted); i++ {
			l.tilted[i] *= float64(f.count) / sum
		}
	}
	enough := tilt * widening
	for n := 1.0; ; n = math.Floor(max(n+1, n*1.1)) {
		h := width / n
		if n >= maxSteps {
			return h
		}
		more, i, grow := 0.0, 0, math.Exp(tilt*h)
		for _, f := range l.factors {
			for k := 0; k < len(f.atoms) && more <= enough; k++ {
				u := (f.atoms[k].loss - f.top) / h
				if part := u - math.Floor(u); math.Abs(u-math.Round(u))*h > f.loose/8 {
					w := math.Expm1(-part*h) / math.Expm1(-h)
					more += float64(l.tilted[i+k] * (float64(math.Exp(-tilt*part*h)*(1+float64(w*(grow-1)))) - 1))
				}
			}
			i += len(f.atoms)
		}
		if more <= enough {
			return h
		}
	}
}

// maxSteps is how many steps the widest range has at most.
const maxSteps = 1 << 12

// grid is losses on a lattice: origin, which is between below and above, plus step times an integer.
type grid struct {
	step         float64
	below, above float64
	loose        float64 // bounds the error of the loss
	never        float64 // bounds the probability that it is infinite
	parts        []lattice.Part
	sum          *lattice.Sum
	at, near     int64 // sum is for thresholds up to near away from at
}

// origin bounds the sum of the largest losses.
func (g *grid) origin(l *composedLoss) {
	g.below, g.above = 0, 0
	for _, f := range l.factors {
		g.below = directed.AddDown(g.below, directed.MulDown(float64(f.count), f.top))
		g.above = directed.AddUp(g.above, directed.MulUp(float64(f.count), f.top))
	}
	g.loose = l.loose()
}

// onGrid returns a distribution that has no less delta than l at any level: an atom
// between two points of the lattice is split in two that have its probabilities at x
// and at x' together, so that it can be had back from them (Doroshenko et al. 2022).
// For a loss at the fraction f between points that are h apart the upper one takes
//
//	(1-e^-fh)/(1-e^-h)
//
// of the mass at x. What is next to a point, by an eighth of loose, moves there.
func (l *composedLoss) onGrid(step float64) *grid {
	g := &grid{step: step}
	_, g.never = l.never()
	g.origin(l)
	all := math.Expm1(-step)
	for _, f := range l.factors {
		g.parts = append(g.parts, f.part(step, func(m []float64, u float64, a atom) {
			j := math.Floor(u)
			if near := math.Round(u); math.Abs(u-near)*step <= f.loose/8 {
				m[-int(near)] += a.mass
				return
			}
			up := a.mass * (math.Expm1(-float64((u-j)*step)) / all)
			down := a.mass * math.Exp(-float64((u-j)*step)) * (math.Expm1(-float64((1-(u-j))*step)) / all)
			if down < leastMass*0x1p-60 { // too small for a mass: all goes up
				up, down = a.mass, 0
			}
			m[-int(j)] += down
			m[-int(j)-1] += up
		}))
	}
	return g
}

// part makes a part of the lattice: place puts each atom, u steps below the largest
// loss, -u being at most as many as masses.
func (f *factorLoss) part(step float64, place func(masses []float64, u float64, a atom)) lattice.Part {
	masses := make([]float64, int((f.top-f.bottom)/step)+3)
	for _, a := range f.atoms {
		place(masses, (a.loss-f.top)/step, a)
	}
	p := lattice.Part{Count: f.count, Err: f.err}
	for j, m := range masses {
		if m > 0 {
			p.At = append(p.At, -int64(j))
			p.Mass = append(p.Mass, m)
		}
	}
	return p
}

// hockey bounds ln of the mean of (1 - e^(t-S))_+, t and S in steps, from above.
func (g *grid) hockey(ctx context.Context, t int64) (float64, error) {
	if t >= 0 {
		return math.Inf(-1), nil // no sum is above
	}
	if d := t - g.at; g.sum == nil || max(d, -d) > g.near {
		sum, err := lattice.New(ctx, g.parts, t)
		if err != nil {
			return 0, err
		}
		_, deviation := lattice.Moments(g.parts, 0)
		g.sum, g.at, g.near = sum, t, int64(min(deviation/8, 0x1p40))+1
	}
	return g.sum.Hockey(t, g.step).Hi, nil
}

// least returns the least t, not below from, at which hockey is at most target, and both values of hockey:
// there and one step below, +Inf where that is below from. start and slope, of -hockey, are guesses.
func (g *grid) least(ctx context.Context, target float64, from, start int64, slope float64) (t int64, before, there float64, err error) {
	lo, hi := from-1, int64(0)
	before, there = math.Inf(1), math.Inf(-1)
	t = min(max(start, from), -1)
	for tries := 1; hi-lo > 1; tries++ {
		v, err := g.hockey(ctx, t)
		if err != nil {
			return 0, 0, 0, err
		}
		if v > target {
			lo, before = t, v
		} else {
			hi, there = t, v
		}
		if both := before - there; both <= math.MaxFloat64 && tries < 12 {
			t = lo + int64(math.Ceil(float64(hi-lo)*((before-target)/both)))
		} else if by := (v - target) / slope; math.Abs(by) < 0x1p50 && tries < 12 {
			t += int64(math.Ceil(by * float64(tries)))
		} else {
			t = lo + (hi-lo)/2
		}
		t = min(max(t, lo+1), hi-1)
	}
	return hi, before, there, nil
}

// within tells whether the delta at level s > 0 is proved to be at most delta.
func (g *grid) within(ctx context.Context, s, delta float64) (bool, error) {
	if !(g.never < delta) {
		return false, nil
	}
	u := directed.DivDown(directed.SubDown(directed.SubDown(s, g.loose), g.above), g.step)
	t := math.Floor(u)
	if t >= 0 {
		return true, nil
	}
	target := directed.LogDown(directed.SubDown(delta, g.never))
	a, err := g.hockey(ctx, int64(t))
	if err != nil || a <= target {
		return err == nil, err
	}
	b, err := g.hockey(ctx, int64(t)+1)
	if err != nil || b > target {
		return false, err
	}
	// delta is linear in e^s between points of the lattice.
	part, all := u-t, math.Expm1(-g.step)
	below := math.Expm1(-float64((1-part)*g.step)) / all
	above := math.Exp(-float64((1-part)*g.step)) * (math.Expm1(-float64(part*g.step)) / all)
	v := float64(below*math.Exp(a-target)) + float64(above*math.Exp(b-target))
	return v*(1+0x1p-40) <= 1, nil
}

// size is what widenings of the level s are relative to, for a tilt of that size: s, but near 0.
func (l *composedLoss) size(tilt, s float64) float64 {
	_, _, variance, _ := l.cumulant(tilt)
	return max(s, math.Sqrt(variance)/8)
}

// level bounds from above the least level s >= 0 at which delta is enough, by a lattice
// that costs a relative widening or so; +Inf where none is. It returns that lattice's
// step as well, 0 where it needs none.
func (l *composedLoss) level(ctx context.Context, delta, widening float64) (s, step float64, err error) {
	_, never := l.never()
	if !(never < delta) {
		return l.most(), 0, nil
	}
	about, tilt := l.estimate(math.Log(delta - never))
	step = l.step(tilt, widening*l.size(tilt, about))
	s, err = l.levelOn(ctx, delta, step)
	return s, step, err
}

// levelOn is level by the lattice of that step.
func (l *composedLoss) levelOn(ctx context.Context, delta, step float64) (s float64, err error) {
	most := l.most()
	_, never := l.never()
	if !(never < delta) {
		return most, nil
	}
	target := directed.LogDown(directed.SubDown(delta, never))
	about, tilt := l.estimate(target)
	g := l.onGrid(step)
	_, _, variance, _ := l.cumulant(tilt)
	from := int64(math.Floor(-(g.above+g.loose)/g.step)) - 1
	// The sum's spread makes Chernoff's bound too large by about this factor.
	spread := max(0, gain(tilt)+math.Log(float64(tilt*(1+tilt)*math.Sqrt(2*math.Pi*variance))+1))
	start := math.Ceil((about - spread/tilt - g.above) / g.step)
	t, before, there, err := g.least(ctx, target, from, int64(max(start, float64(from))), tilt*g.step)
	if err != nil {
		return 0, err
	}
	s = directed.AddUp(g.above, directed.MulUp(float64(t), g.step))
	if before < math.Inf(1) {
		// delta is linear in e^s: this is the part, rounded down, of the way back.
		a, b := math.Exp(before-target), math.Exp(there-target)
		back := max(0, (1-b-0x1p-40)/(a-b)) * (1 - 0x1p-40)
		s = directed.AddUp(s, directed.Log1pUp(float64(back*math.Expm1(-g.step))*(1-0x1p-40)))
	}
	s = directed.AddUp(s, g.loose)
	return min(max(0, s)*(1+0x1p-30), most), nil // pairs that are alike pass
}

// rounded is about the sum of the rounded losses, in steps, where that of the losses is s.
func (l *composedLoss) rounded(s, step float64) float64 {
	_, tilt := l.exponent(s, l.guess(s), math.Inf(-1))
	sum := 0.0
	for _, f := range l.factors {
		var mass, mean float64
		for _, a := range f.atoms {
			w := float64(a.mass * math.Exp(tilt*(a.loss-f.top)))
			mass += w
			mean += float64(w * math.Round((a.loss-f.top)/step))
		}
		sum += float64(float64(f.count) * (mean / mass))
	}
	return sum
}

// atLeast bounds the same level from below: by a test that decides for x where an
// output that x' never has is seen, or where the sum T of the losses, each rounded to
// the lattice, is at least t. Its probabilities P and Q at x and at x' give
//
//	level >= ln((P-delta)/Q),
//
// and the best t near about is taken. -Inf is no bound.
func (l *composedLoss) atLeast(ctx context.Context, delta, about, step float64) (s float64, err error) {
	never, _ := l.never()
	if never > delta {
		return math.Inf(1), nil
	}
	if step == 0 {
		return math.Inf(-1), nil
	}
	g := &grid{step: step}
	g.origin(l)
	if math.IsInf(g.below, 0) {
		return math.Inf(-1), nil
	}
	// The masses at x' are e^-loss times those at x. Up to e^-(h T) they are these:
	var here, there []lattice.Part
	for _, f := range l.factors {
		here = append(here, f.part(step, func(m []float64, u float64, a atom) { m[-int(math.Round(u))] += a.mass }))
		there = append(there, f.part(step, func(m []float64, u float64, a atom) {
			m[-int(math.Round(u))] += float64(a.mass * math.Exp(-float64((u-math.Round(u))*step)))
		}))
	}
	var p, q *lattice.Sum
	value := func(t int64) float64 {
		if t > 0 {
			return math.Inf(-1)
		}
		pass := float64(math.Exp(p.Tail(t).Lo)*(1-0x1p-40)) + never
		have := pass - delta - float64((pass+delta)*0x1p-50)
		if !(have > 0) {
			return math.Inf(-1)
		}
		// Q is e^-(origin + h t) times the mean of e^-h(T-t) over T >= t.
		tail, over := q.Tail(t).Hi, q.Hockey(t, step).Lo
		rest := tail + math.Log1p(-math.Exp(over-tail)*(1-0x1p-40)) + 0x1p-40
		up := float64(float64(t) * step)
		v := math.Log(have) - rest + g.below + up
		return v - g.loose - float64((math.Abs(g.below)+math.Abs(up)+math.Abs(rest)+math.Abs(math.Log(have))+1)*0x1p-48)
	}
	_, deviation := lattice.Moments(here, 0)
	pace := int64(max(1, min(0x1p48, deviation/8)))
	best, enough := math.Inf(-1), about*(1-3*fineLattice)
	climb := func(t int64) {
		top := value(t)
		for by := pace; by > 0; by /= 2 {
			for _, d := range [...]int64{-by, by} {
				for v := value(t + d); v > top; v = value(t + d) {
					top, t = v, t+d
				}
			}
		}
		best = max(best, top)
	}
	start := int64(max(-0x1p52, min(0, l.rounded(about, step))))
	// At the top of the sum little is known of what is below: it is seen from there too.
	for tries := int64(0); tries < 5 && !(best >= enough); tries++ {
		at := start - 4*pace*tries
		if p, err = lattice.New(ctx, here, at); err != nil {
			return 0, err
		}
		if q, err = lattice.New(ctx, there, at); err != nil {
			return 0, err
		}
		if climb(at); best >= enough {
			break
		}
		// Few terms make many local maxima.
		top, t := math.Inf(-1), at
		for next := at - 16*pace; next <= min(0, at+16*pace); next += pace {
			if v := value(next); v > top {
				top, t = v, next
			}
		}
		climb(t)
	}
	return best, nil
}
