package mechanism

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Repeated is a mechanism that is released several times.
type Repeated struct {
	Mechanism interface{ Guarantee() Guarantee }
	Times     int64 // in [1, 2^40]
}

// Composition is mechanisms that are released on one and the same input, each several times,
// all draws independent. Its level at a delta > 0 is far below the sum of theirs where they are
// many: [Composition.AuditAt] finds it for all mechanisms, by the distance of two inputs, and
// [Composition.Audit] for channels, pair by pair. The releases may come in any order, and at any
// time, and what is released next may depend on outputs, but the mechanisms and the times are
// fixed before. Immutable and safe for concurrent use. Nil and the zero value are refused.
type Composition struct {
	cs       []Repeated
	channels []repeatedChannel // where all are
	g        Guarantee
}

// repeatedChannel is a channel among a composition's.
type repeatedChannel struct {
	c     *Channel
	times int64
}

var _ Mechanism[int, []int] = (*Composition)(nil)

// NewComposition returns the composition of mechanisms. Its guarantee is the sum of theirs, as that of
// [Compose], until an audit proves a better one: [Composition.Certify] or [Composition.CertifyAt]. Channels
// are on the same number of inputs. All guarantees must be for one metric, which only their units can tell:
// mechanisms in different units are refused with [ErrUnit], those that repeat draws with [ErrMemoized].
func NewComposition(cs ...Repeated) (*Composition, error) {
	const op = "mechanism: NewComposition"
	if err := fault.Empty(op, "cs", len(cs)); err != nil {
		return nil, err
	}
	c := &Composition{cs: slices.Clone(cs)}
	for i, r := range cs {
		arg := fmt.Sprintf("cs[%d]", i)
		if r.Mechanism == nil {
			return nil, fault.Empty(op, arg+".Mechanism", 0)
		}
		if channel, ok := r.Mechanism.(*Channel); ok {
			if err := fault.Empty(op, arg+".Mechanism", channel.Len()); err != nil {
				return nil, err
			}
			if len(c.channels) > 0 {
				if err := fault.Size(op, arg+".Mechanism", channel.n, c.channels[0].c.n); err != nil {
					return nil, err
				}
			}
			c.channels = append(c.channels, repeatedChannel{channel, r.Times})
		}
		if err := fault.Independent(r.Mechanism); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", op, arg, err)
		}
		if r.Times < 1 || r.Times > maxTimes {
			return nil, fault.Value(op, arg+".Times", float64(r.Times), "a number in [1, 2^40]")
		}
		g := r.Mechanism.Guarantee().times(float64(r.Times))
		if i == 0 {
			c.g = g
			continue
		}
		var err error
		if c.g, err = c.g.Plus(g); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", op, arg, err)
		}
	}
	if len(c.channels) < len(cs) {
		c.channels = nil
	}
	return c, nil
}

const maxTimes = 1 << 40

// Guarantee returns what an audit proved, or the sum of what the mechanisms promise.
func (c *Composition) Guarantee() Guarantee {
	if c == nil {
		return Guarantee{}
	}
	return c.g
}

// String is for people: "101 releases of 2 mechanisms, (0.5 per km, 1e-06)-private".
func (c *Composition) String() string {
	return fmt.Sprintf("%v releases of %d mechanisms, %v", c.times(), len(c.cs), c.g)
}

// times is the number of all releases.
func (c *Composition) times() float64 {
	sum := 0.0
	for _, r := range c.cs {
		sum += float64(r.Times)
	}
	return sum
}

func (c *Composition) built(op string) error {
	if c == nil || len(c.cs) == 0 {
		return fmt.Errorf("%s: the composition was not made by NewComposition: %w", op, fault.ErrEmpty)
	}
	return nil
}

// builtOfChannels is built, for what reads the channels' matrices.
func (c *Composition) builtOfChannels(op string) error {
	if err := c.built(op); err != nil {
		return err
	}
	if c.channels == nil {
		return fmt.Errorf("%s: not all mechanisms are channels: AuditAt and CertifyAt are for all, and Compose for releases", op)
	}
	return nil
}

// Release draws all outputs of input x and returns their points, those of the first
// channel first. O(Outputs() + Times) for each channel. An x outside [0, Len()) is a
// [*metric.ValueError]. All mechanisms must be channels.
func (c *Composition) Release(rng *rand.Rand, x int) ([]int, error) {
	const op = "mechanism: Composition.Release"
	if err := c.builtOfChannels(op); err != nil {
		return nil, err
	}
	if err := cmp.Or(fault.Private(fault.Index(op, "x", x, c.channels[0].c.n)), fault.Memory(op, c.times(), 8)); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	ys := make([]int, 0, int(c.times()))
	for i, r := range c.channels {
		s, err := r.c.Sampler(x)
		if err != nil {
			return nil, fmt.Errorf("%s: cs[%d]: %w", op, i, err)
		}
		for range r.times {
			ys = append(ys, s.Draw(rng))
		}
	}
	return ys, nil
}

// Audit computes the level at o.Delta of all releases of channels together, under rho: the least alpha such
// that no two inputs x, x' are told apart beyond (alpha*rho(x,x'), delta). Both ends are
// proved, and Hi is at most the sum of the channels' own levels.
//
// At delta = 0 the level is the sum of the channels' largest log-ratios at one pair. For delta > 0 the
// distribution of the sum of log-ratios is put on a lattice, outward for Hi and for Lo by a test on it.
// Hi-Lo is at most Hi/1000, but where the lattice would need more than 4,096 points across the log-ratios of
// one release, where delta is all but the total variation or below 2^-800, or where the weights' logarithms
// exceed 10^11.
//
// O(Len()^2 * Outputs()) and some ten milliseconds for each pair within some 10 % of the level, however many
// the releases are; dense matrices, at most 24 bytes an entry. Source: Doroshenko et al., "Connect the dots:
// tighter discrete approximations of privacy loss distributions", 2022, for the lattice of Hi.
func (c *Composition) Audit(ctx context.Context, rho metric.Finite, o *AuditOptions) (Audit, error) {
	return c.audit(ctx, rho, o.auditing("mechanism: Composition.Audit"))
}

// Certify audits the composition under rho and returns it with the guarantee that the
// audit proves, as [Channel.Certify] does.
func (c *Composition) Certify(ctx context.Context, rho metric.Finite, unit metric.Unit, o *AuditOptions) (*Composition, Audit, error) {
	g, a, err := o.auditing("mechanism: Composition.Certify").promise(ctx, rho, unit, c.audit)
	if err != nil {
		return nil, a, err
	}
	return &Composition{c.cs, c.channels, g}, a, nil
}

func (c *Composition) audit(ctx context.Context, rho metric.Finite, o *auditing) (Audit, error) {
	if err := cmp.Or(c.builtOfChannels(o.op), fault.Delta(o.op, "Delta", o.Delta)); err != nil {
		return Audit{}, err
	}
	if err := fault.Size(o.op, "rho", fault.Len(rho), c.channels[0].c.n); err != nil {
		return Audit{}, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	var own []repeatedChannel // each channel once
	for _, r := range c.channels {
		if i := slices.IndexFunc(own, func(s repeatedChannel) bool { return s.c == r.c }); i >= 0 {
			own[i].times += r.times
		} else {
			own = append(own, r)
		}
	}
	if len(own) == 1 && (own[0].times == 1 || o.Delta == 0) {
		a, err := own[0].c.audit(ctx, rho, o)
		times := float64(own[0].times)
		a.Hi = directed.MulUp(times, a.Hi)
		if !math.IsInf(a.Lo, 1) { // which a step down would take for an overflow
			a.Lo = directed.MulDown(times, a.Lo)
		}
		return a, err
	}
	all, err := newComposing(ctx, rho, own, o)
	if err != nil {
		return Audit{}, err
	}
	if o.Delta == 0 {
		return all.pure(ctx)
	}
	return all.audit(ctx)
}

// composing is an audit of a composition.
type composing struct {
	*auditing
	rho     metric.Finite
	n       int
	factors []factor
	sum     float64 // of the channels' levels
}

// factor is a channel of a composition, with its probabilities.
type factor struct {
	*logMatrix
	c     *Channel
	count int64
	prob  []float64
	err   float64 // bounds that of a loss
}

// newComposing reads the channels. The logarithm of a weight is off by at most 2^-50 of
// its size; that of a row sum by as much, of its parts, and by the sum's own error,
// below 2^-47. Four of them and three subtractions are off by less than factor.err.
func newComposing(ctx context.Context, rho metric.Finite, own []repeatedChannel, o *auditing) (*composing, error) {
	quiet := &auditing{AuditOptions{Workers: o.Workers}, o.op, math.Inf(1)}
	c := &composing{auditing: o, rho: rho, n: own[0].c.n}
	times := 0.0
	for _, r := range own {
		times += float64(r.times)
	}
	for _, r := range own {
		if err := fault.Memory(o.op, float64(r.c.n)*float64(r.c.m), 16); err != nil {
			return nil, err
		}
		l, err := r.c.logMatrix(ctx, quiet)
		if err != nil {
			return nil, err
		}
		f := factor{logMatrix: l, c: r.c, count: r.times, prob: make([]float64, len(l.w)), err: 0x1p-45 + l.largest()*0x1p-46}
		err = parallel.Chunks(ctx, c.n, tile, o.Workers, nil, func(_, lo, hi int) {
			for i, v := range l.w[lo*l.m : hi*l.m] {
				f.prob[lo*l.m+i] = exact.Exp(v - l.ln[lo+i/l.m])
			}
		})
		if err != nil {
			return nil, err
		}
		c.factors = append(c.factors, f)
		pure, err := r.c.audit(ctx, rho, quiet)
		if err != nil {
			return nil, err
		}
		level := pure.Hi
		if o.Delta > 0 { // or each with its share of delta
			quiet.Delta = o.Delta / times
			part, err := r.c.audit(ctx, rho, quiet)
			if err != nil {
				return nil, err
			}
			quiet.Delta, level = 0, min(level, part.Hi)
		}
		c.sum = directed.AddUp(c.sum, directed.MulUp(float64(r.times), level))
	}
	return c, nil
}

// visit is called for ordered pairs of inputs at different distributions.
type visit func(x, xp int, d float64, best *Audit) error

// pairs visits all such pairs; each block of them with what visitor returns.
func (c *composing) pairs(ctx context.Context, progress func(done, total int), visitor func() visit) (Audit, error) {
	o := *c.auditing
	o.Progress = progress
	return o.blocks(ctx, c.n, func(lo, hi int, best *Audit) error {
		f := visitor()
		var dist []float64
		for x := lo; x < hi; x++ {
			dist = finite.Row(c.rho, x, dist)
			for xp, d := range dist {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if xp == x {
					continue
				}
				if !(d >= 0 && d <= math.MaxFloat64) {
					return fault.Value(c.op, fmt.Sprintf("rho.Distance(%d, %d)", x, xp), d, "a finite number >= 0")
				}
				if same, err := c.same(x, xp, d == 0); err != nil {
					return err
				} else if same {
					continue
				}
				if err := f(x, xp, d, best); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// same tells whether two inputs have the same weights or, where it is to be sure, the same distributions.
func (c *composing) same(x, xp int, sure bool) (bool, error) {
	for _, f := range c.factors {
		if slices.Equal(f.row(x), f.row(xp)) {
			continue
		}
		if !sure {
			return false, nil
		}
		var bufs [2][]float64
		a, err := f.c.read(c.op, x, &bufs[0])
		if err != nil {
			return false, err
		}
		b, err := f.c.read(c.op, xp, &bufs[1])
		if err != nil || !proportional(a, b) {
			return false, err
		}
	}
	return true, nil
}

// pure is the audit at delta = 0.
func (c *composing) pure(ctx context.Context) (Audit, error) {
	a, err := c.pairs(ctx, c.Progress, func() visit {
		return func(x, xp int, d float64, best *Audit) error {
			lo, hi := 0.0, 0.0
			for _, f := range c.factors {
				a, b := f.row(x), f.row(xp)
				most := math.Inf(-1)
				for y, v := range a {
					if d := v - b[y]; d > most {
						most = d
					}
				}
				if math.IsInf(most, 1) || d == 0 {
					best.merge(Audit{Lo: math.Inf(1), Hi: math.Inf(1), X: x, XPrime: xp, Y: -1})
					return nil
				}
				most -= f.ln[x] - f.ln[xp]
				lo = directed.AddDown(lo, directed.MulDown(float64(f.count), directed.SubDown(most, f.err)))
				hi = directed.AddUp(hi, directed.MulUp(float64(f.count), directed.AddUp(most, f.err)))
			}
			best.merge(Audit{Lo: directed.DivDown(lo, d), Hi: directed.DivUp(hi, d), X: x, XPrime: xp, Y: -1})
			return nil
		}
	})
	a.Hi = min(a.Hi, c.sum)
	return a, err
}

// set makes l the losses between two inputs.
func (c *composing) set(l *composedLoss, x, xp int) {
	if l.factors == nil {
		l.factors = make([]factorLoss, len(c.factors))
	}
	for i, f := range c.factors {
		g := &l.factors[i]
		g.count, g.loose, g.err = f.count, 8*f.err, 8*f.err+float64(f.m+64)*0x1p-52
		g.set(f.row(x), f.row(xp), f.prob[x*f.m:(x+1)*f.m], f.ln[x]-f.ln[xp])
	}
}

const (
	// fineLattice is what a lattice may add to a level, relatively.
	fineLattice = 3e-4
	// coarseLattice is the same where most pairs that are not the worst pass.
	coarseLattice = 3e-2
	// maxSeen is how many pairs are kept to know others by.
	maxSeen = 32
	// leastComposed is the least delta > 0 that masses in float64 allow.
	leastComposed = 0x1p-800
)

// audit is the audit at delta > 0.
func (c *composing) audit(ctx context.Context) (Audit, error) {
	for _, f := range c.factors {
		if f.err > 0x1p-10 {
			return Audit{Hi: c.sum, Delta: c.Delta, X: -1, XPrime: -1, Y: -1}, nil
		}
	}
	delta := max(c.Delta, leastComposed)
	first, err := c.likeliest(ctx, delta)
	if err != nil {
		return Audit{}, err
	}
	fine := fineLattice
	var seed *solved
	for range 4 {
		if first.X < 0 {
			break
		}
		if seed, err = c.bracket(ctx, &first, delta, fine); err != nil {
			return Audit{}, err
		}
		if !(first.Hi-first.Lo > 3*fineLattice*first.Hi) || math.IsInf(first.Hi, 1) {
			break
		}
		fine /= 4
	}
	a, err := c.pairs(ctx, c.Progress, func() visit { return c.findAbove(ctx, first.Hi, seed, delta, fine) })
	if err != nil {
		return Audit{}, err
	}
	if hi := a.Hi; hi > first.Hi {
		if _, err := c.bracket(ctx, &a, delta, fine); err != nil {
			return Audit{}, err
		}
		first.merge(a)
		first.Hi = max(first.Hi, hi)
	}
	if c.Delta < leastComposed {
		first.Hi = c.sum
	}
	first.Hi, first.Delta = min(first.Hi, c.sum), c.Delta
	if first.Lo = min(first.Lo, first.Hi); first.Lo == 0 {
		first.X, first.XPrime = -1, -1
	}
	return first, nil
}

// likeliest returns the pair of the highest level for normally distributed losses.
func (c *composing) likeliest(ctx context.Context, delta float64) (Audit, error) {
	far := math.Sqrt(-2 * math.Log(delta))
	return c.pairs(ctx, nil, func() visit {
		var l composedLoss
		return func(x, xp int, d float64, best *Audit) error {
			if d == 0 {
				return nil
			}
			c.set(&l, x, xp)
			s := l.most()
			if _, never := l.never(); never < delta {
				_, mean, variance, _ := l.cumulant(0)
				s = min(s, max(0, mean+float64(far*math.Sqrt(variance))))
			}
			best.merge(Audit{Lo: s / d, Hi: s / d, X: x, XPrime: xp, Y: -1})
			return nil
		}
	})
}

// solved is a pair of inputs that is known to be at most at that level, times distance.
type solved struct {
	*composedLoss
	level float64
}

// bracket sets both ends of the level of a's pair.
func (c *composing) bracket(ctx context.Context, a *Audit, delta, widening float64) (*solved, error) {
	var l composedLoss
	c.set(&l, a.X, a.XPrime)
	l.gather()
	d := c.rho.Distance(a.X, a.XPrime)
	hi, step, err := l.level(ctx, delta, widening)
	if err != nil {
		return nil, err
	}
	lo, err := l.atLeast(ctx, delta, hi, step)
	if err != nil {
		return nil, err
	}
	if a.Lo = math.Inf(1); d > 0 && !math.IsInf(lo, 1) {
		a.Lo = max(0, directed.DivDown(lo, d))
	} else if d == 0 && lo <= 0 {
		a.Lo = 0
	}
	if a.Hi = 0; hi > 0 {
		a.Hi = directed.DivUp(hi, d)
	}
	return &solved{&l, hi}, nil
}

// findAbove returns the visit that finds the pairs above the level so far.
func (c *composing) findAbove(ctx context.Context, sofar float64, seed *solved, delta, fine float64) visit {
	var l composedLoss
	var seen []*solved
	if seed != nil {
		seen = append(seen, seed)
	}
	keep := func(level float64) {
		if len(seen) < maxSeen {
			seen = append(seen, &solved{l.clone(), level})
		}
	}
	return func(x, xp int, d float64, best *Audit) error {
		level := max(sofar, best.Hi)
		if math.IsInf(level, 1) {
			return nil
		}
		c.set(&l, x, xp)
		s := directed.MulDown(level, d)
		if d > 0 && l.most() <= s {
			return nil
		}
		_, never := l.never()
		if never >= delta {
			best.merge(Audit{Lo: math.Inf(1), Hi: math.Inf(1), X: x, XPrime: xp, Y: -1})
			return nil
		}
		target := directed.LogDown(directed.SubDown(delta, never))
		log, tilt := l.exponent(s, l.guess(s), target)
		if log <= target {
			return nil
		}
		l.gather()
		if slices.ContainsFunc(seen, func(p *solved) bool { return p.level <= s && l.like(p.composedLoss) }) {
			return nil
		}
		for _, widening := range [...]float64{coarseLattice, fine} {
			ok, err := l.onGrid(l.step(tilt, l.size(tilt, s)*widening)).within(ctx, s, delta)
			if err != nil {
				return err
			}
			if ok {
				keep(s)
				return nil
			}
		}
		hi, _, err := l.level(ctx, delta, fine)
		if err != nil {
			return err
		}
		if hi > 0 {
			hi := directed.DivUp(hi, d) // +Inf where d is 0
			best.merge(Audit{Lo: hi, Hi: hi, X: x, XPrime: xp, Y: -1})
		}
		keep(hi)
		return nil
	}
}
