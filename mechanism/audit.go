package mechanism

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// Audit is the tight privacy level of a channel at a given delta: the least alpha, per unit of
// the metric, for which it is (alpha, delta)-private. Lo <= level <= Hi is proved. X, XPrime
// and Y witness Lo: for delta = 0, Y is the output whose probability differs most between the
// inputs; for delta > 0 all outputs likelier at X count, and Y is -1. Where Lo is 0 all are -1.
type Audit struct {
	Lo, Hi       float64
	Delta        float64
	X, XPrime, Y int
}

// String gives the interval, rounded outward, and its witness, if any.
func (a Audit) String() string {
	s := fmt.Sprintf("level in [%s, %s] at delta %.3g", outward(a.Lo, 9, false), outward(a.Hi, 9, true), a.Delta)
	if a.X < 0 {
		return s
	}
	return fmt.Sprintf("%s, witness x=%d x'=%d y=%d", s, a.X, a.XPrime, a.Y)
}

// AuditOptions tune [Channel.Audit]. Nil and the zero value mean the defaults.
type AuditOptions struct {
	Delta    float64               // 0: pure metric privacy
	Progress func(done, total int) // called as blocks of the work finish
	Workers  int                   // 0: all processors; the result does not depend on it
}

// auditing is one audit; pairs beyond reach are passed over.
type auditing struct {
	AuditOptions
	op    string
	reach float64
}

func (o *AuditOptions) auditing(op string) *auditing {
	if o == nil {
		o = &AuditOptions{}
	}
	return &auditing{*o, op, math.Inf(1)}
}

// Audit computes the tight level at o.Delta of the distributions that Release draws from, under rho as its
// Distance returns it: +Inf where an output has probability 0 at one input only (delta = 0), or where two
// inputs at distance 0 differ by more than delta in total variation. Outputs count as different even where
// they stand for one point. O(Len()^2 * Outputs()); a lazy channel's rows are computed Len()/16 times. At
// delta = 0 the edges of a [metric.Graph] imply all pairs: O(edges * Outputs()).
func (c *Channel) Audit(ctx context.Context, rho metric.Finite, o *AuditOptions) (Audit, error) {
	return c.audit(ctx, rho, o.auditing("mechanism: Channel.Audit"))
}

func (c *Channel) audit(ctx context.Context, rho metric.Finite, o *auditing) (Audit, error) {
	if err := cmp.Or(c.built(o.op), fault.Delta(o.op, "Delta", o.Delta), fault.Size(o.op, "rho", fault.Len(rho), c.Len())); err != nil {
		return Audit{}, err
	}
	if o.Delta >= leastDelta {
		return c.auditDelta(ctx, rho, o, o.Delta)
	}
	a, err := c.auditPure(ctx, rho, o, false)
	if err == nil && a.Hi-a.Lo > roughAudit*a.Hi && c.log {
		a, err = c.auditPure(ctx, rho, o, true)
	}
	if err != nil || o.Delta == 0 {
		return a, err
	}
	// The level is between those at 0 and at leastDelta.
	b, err := c.auditDelta(ctx, rho, o, leastDelta)
	b.Hi, b.Delta = a.Hi, o.Delta
	return b, err
}

// leastDelta is the least delta > 0 at which sums of probabilities keep their
// relative accuracy in float64: those below 2^-1022 lose theirs.
const leastDelta = 0x1p-900

// roughAudit is the relative width beyond which double-double sums are used.
const roughAudit = 0x1p-36

// Certify audits the channel under rho and returns it with the guarantee that the
// audit proves: its upper end, per unit, where "" is the unit of rho ([metric.UnitOf])
// and another is refused with [ErrUnit]. An infinite level promises nothing.
func (c *Channel) Certify(ctx context.Context, rho metric.Finite, unit metric.Unit, o *AuditOptions) (*Channel, Audit, error) {
	return c.certify(ctx, rho, unit, o.auditing("mechanism: Channel.Certify"))
}

func (c *Channel) certify(ctx context.Context, rho metric.Finite, unit metric.Unit, o *auditing) (*Channel, Audit, error) {
	g, a, err := o.promise(ctx, rho, unit, c.audit)
	if err != nil {
		return nil, a, err
	}
	return c.WithGuarantee(g), a, nil
}

// promise is the guarantee that an audit proves.
func (o *auditing) promise(ctx context.Context, rho metric.Finite, unit metric.Unit,
	audit func(context.Context, metric.Finite, *auditing) (Audit, error)) (Guarantee, Audit, error) {
	if fault.Len(rho) > 0 {
		var err error
		if unit, err = fault.Unit(o.op, unit, metric.UnitOf(rho)); err != nil {
			return Guarantee{}, Audit{}, err
		}
	}
	a, err := audit(ctx, rho, o)
	if err != nil {
		return Guarantee{}, a, err
	}
	g, err := NewGuarantee(a.Hi, a.Delta, unit)
	if err == nil && !math.IsInf(o.reach, 1) {
		g, err = g.Within(o.reach)
	}
	return g, a, err
}

// tile inputs share a pass over all pairs: their rows stay in the second-level cache.
const tile = 16

// compare audits one pair x < x' of inputs, of rows a and b and at distance d, into
// sofar, which holds the pairs of its block that came before.
type compare func(x, xp int, a, b row, d float64, sofar *Audit)

// blocks calls f for blocks of [0, n), on all cores, and merges the audits, the earlier of equals.
func (o *auditing) blocks(ctx context.Context, n int, f func(lo, hi int, sofar *Audit) error) (Audit, error) {
	none := Audit{X: -1, XPrime: -1, Y: -1}
	count := (n + tile - 1) / tile
	res, errs := make([]Audit, count), make([]error, count)
	err := parallel.Chunks(ctx, n, tile, o.Workers, o.Progress, func(k, lo, hi int) {
		own := none
		errs[k] = f(lo, hi, &own)
		res[k] = own
	})
	if err := cmp.Or(err, cmp.Or(errs...)); err != nil {
		return Audit{}, err
	}
	a := none
	for _, b := range res {
		a.merge(b)
	}
	return a, nil
}

// pairs compares all pairs of inputs.
func (c *Channel) pairs(ctx context.Context, rho metric.Finite, o *auditing, f compare) (Audit, error) {
	return o.blocks(ctx, c.n, func(lo, hi int, sofar *Audit) (err error) {
		var own [tile]row
		var bufs [tile][]float64
		var other, dist []float64
		dists := make([]float64, 0, tile*c.n)
		for x := lo; x < hi; x++ {
			if parallel.Done(ctx) {
				return ctx.Err()
			}
			if own[x-lo], err = c.read(o.op, x, &bufs[x-lo]); err != nil {
				return err
			}
			dist = finite.Row(rho, x, dist)
			dists = append(dists, dist...)
		}
		for xp := lo + 1; xp < c.n; xp++ {
			if parallel.Done(ctx) {
				return ctx.Err()
			}
			var b row
			if xp < hi {
				b = own[xp-lo]
			} else if b, err = c.read(o.op, xp, &other); err != nil {
				return err
			}
			for x := lo; x < min(hi, xp); x++ {
				d := dists[(x-lo)*c.n+xp]
				if !(d >= 0 && d <= math.MaxFloat64) {
					return fault.Value(o.op, fmt.Sprintf("rho.Distance(%d, %d)", x, xp), d, "a finite number >= 0")
				}
				if d <= o.reach {
					f(x, xp, own[x-lo], b, d, sofar)
				}
			}
		}
		return nil
	})
}

// edges compares the ends of the edges of g, for a level at delta = 0 over all pairs. Along a
// path the logarithms of ratios add, and so do lengths: for exact distances the edges of
// shortest paths have the level of all pairs, and g.Edges() has these. g's distance is the
// rounded sum of a path of up to n-1 edges, n-2 additions. It is at least the exact sum over
// (1+2^-53)^(n-2), and so the exact distance over that: the factor 1 + n 2^-53 on Hi is more.
func (c *Channel) edges(ctx context.Context, g *metric.Graph, o *auditing, f compare) (Audit, error) {
	edges := g.Edges()
	a, err := o.blocks(ctx, len(edges), func(lo, hi int, sofar *Audit) error {
		var bufs [2][]float64
		for _, e := range edges[lo:hi] {
			a, err := c.read(o.op, e.I, &bufs[0])
			if err != nil {
				return err
			}
			b, err := c.read(o.op, e.J, &bufs[1])
			if err != nil {
				return err
			}
			f(e.I, e.J, a, b, g.Distance(e.I, e.J), sofar)
		}
		return nil
	})
	a.Hi = directed.MulUp(a.Hi, directed.AddUp(1, float64(c.n)*0x1p-53))
	return a, err
}

// merge keeps the larger Lo, with its witness, and the larger Hi.
func (a *Audit) merge(b Audit) {
	if b.Lo > a.Lo {
		a.Lo, a.X, a.XPrime, a.Y = b.Lo, b.X, b.XPrime, b.Y
	}
	a.Hi = max(a.Hi, b.Hi)
}

// auditPure is the audit at delta = 0: over the pairs, the largest
//
//	|ln w[x,y] - ln w[x',y] - (ln S_x - ln S_x')| / rho(x,x'),
//
// S the row sums. The first difference is exact to an ulp for logarithmic weights and for the
// quotient of plain ones; the second is one interval a pair.
func (c *Channel) auditPure(ctx context.Context, rho metric.Finite, o *auditing, fine bool) (Audit, error) {
	sums, err := c.rowSums(ctx, o, fine)
	if err != nil {
		return Audit{}, err
	}
	each := func(x, xp int, a, b row, d float64, best *Audit) {
		if slices.Equal(a.W, b.W) { // one distribution: 0 exactly, which intervals of sums cannot say
			return
		}
		var up, down logRatio // of w[x,y]/w[x',y]: the largest and the smallest
		if c.log {
			up, down = logExtremes(a.W, b.W)
		} else {
			if best.exceeds(a.W, b.W, sums[x], sums[xp], d) {
				return
			}
			lo, hi := quotients(a.W, b.W)
			up, down = extremes(a.W, b.W, lo, hi)
		}
		sl, sh := lnRatio(sums[x], sums[xp])
		pos := Audit{Lo: directed.SubDown(up.lo, sh), Hi: directed.SubUp(up.hi, sl), X: x, XPrime: xp, Y: up.at}
		neg := Audit{Lo: directed.SubDown(sl, down.hi), Hi: directed.SubUp(sh, down.lo), X: xp, XPrime: x, Y: down.at}
		if d == 0 {
			if !proportional(a, b) {
				*best = Audit{Lo: math.Inf(1), Hi: math.Inf(1), X: x, XPrime: xp, Y: up.at}
			}
			return
		}
		for _, p := range [2]Audit{pos, neg} {
			p.Lo, p.Hi = directed.DivDown(p.Lo, d), directed.DivUp(p.Hi, d)
			// An infinite ratio is a weight of 0 in one row only; the steps down took it for an overflow.
			if p.X == x && math.IsInf(up.lo, 1) || p.X == xp && math.IsInf(down.hi, -1) {
				p.Lo = math.Inf(1)
			}
			best.merge(p)
		}
	}
	if g, ok := rho.(*metric.Graph); ok && math.IsInf(o.reach, 1) {
		return c.edges(ctx, g, o, each)
	}
	return c.pairs(ctx, rho, o, each)
}

// rowSum is the total of a row: t * e^ln (log) or t * 2^exp, t within a relative error err. subnormal
// tells of a plain row with such a weight.
type rowSum struct {
	t         exact.DD
	ln        float64
	exp       int
	err       float64
	subnormal bool
}

func (c *Channel) rowSums(ctx context.Context, o *auditing, fine bool) ([]rowSum, error) {
	sums := make([]rowSum, c.n)
	err := c.eachRow(ctx, o.op, o.Workers, nil, func(x int, r row, _ []float64) {
		switch {
		case !c.log:
			_, e := math.Frexp(r.scale)
			subnormal := slices.ContainsFunc(r.W, func(w float64) bool { return w > 0 && w < 0x1p-1022 })
			sums[x] = rowSum{t: r.TotalDD(r.scale), exp: e, err: exact.TotalDDErr, subnormal: subnormal}
		case fine:
			sums[x] = rowSum{t: r.TotalDD(r.scale), ln: r.scale, err: exact.TotalDDErr}
		default:
			sums[x] = rowSum{t: exact.DD{Hi: r.total}, ln: r.scale, err: exact.TotalErr}
		}
	})
	return sums, err
}

// lnRatio bounds ln of the quotient of two row sums.
func lnRatio(a, b rowSum) (lo, hi float64) {
	lo, hi = directed.SubDown(a.ln, b.ln), directed.SubUp(a.ln, b.ln)
	t := a.t
	if k := a.exp - b.exp; k >= -900 && k <= 900 {
		f := math.Ldexp(1, k) // exact: t is between 1/2 and 2^32
		t = exact.DD{Hi: t.Hi * f, Lo: t.Lo * f}
	} else { // of plain weights, which have no ln
		lo = directed.SubDown(directed.MulDown(float64(k), math.Ln2), 0x1p-43) // |k| < 2^12, ln 2 to 2^-55
		hi = directed.AddUp(directed.MulUp(float64(k), math.Ln2), 0x1p-43)
	}
	q := t.Hi / b.t.Hi
	var l, h float64
	if q > 0.5 && q < 2 {
		// (a-b)/b: the sums err by at most err*(a+b) <= 3*err*b, the double-double difference
		// by far less, its rounding and the quotient's by 2^-53 each, the divisor by err.
		q = t.Add(b.t.Neg()).Hi / b.t.Hi
		slack := 4*max(a.err, b.err) + 0x1p-50*math.Abs(q)
		l, h = directed.Log1pDown(q-slack), directed.Log1pUp(q+slack)
	} else {
		slack := float64((4*max(a.err, b.err) + 0x1p-50) * q)
		l, h = directed.LogDown(q-slack), directed.LogUp(q+slack)
	}
	return directed.AddDown(l, lo), directed.AddUp(h, hi)
}

// auditDelta is the audit at delta >= leastDelta. For an ordered pair (x, x') let r_y =
// ln M[x,y] - ln M[x',y]. The largest excess of any set of outputs is
//
//	f(s) = sum over r_y > s of M[x,y] (1 - e^(s - r_y)),  s = eps*rho(x,x'),
//
// and the pair's level is the least s >= 0 with f(s) <= delta, over rho. Each
// pair is first tried at the largest level found so far, which a scan without
// exponentials mostly passes; only a pair that fails is solved, by bisection.
//
// Rounding: r_y is known within ratioErr, and M[x,y] within the relative error
// probErr + ratioErr. With F the float64 value of f for the computed r,
//
//	f(s) <= F(s - ratioErr) (1 + sumErr),  f(s) >= F(s + ratioErr) (1 - sumErr).
//
// For plain weights ratioErr covers logarithms below 746, four ulps each
// (2^-41); for logarithmic ones up to L in size, the differences a_y - b_y, the
// row sums' logarithms and their sums round by at most 2^-53 (2 + 2 + 3) L.
func (c *Channel) auditDelta(ctx context.Context, rho metric.Finite, o *auditing, delta float64) (Audit, error) {
	l, err := c.logMatrix(ctx, o)
	if err != nil {
		return Audit{}, err
	}
	ratioErr := 0x1p-40 + l.largest()*0x1p-49
	r := margin(ratioErr)
	if ratioErr > 0x1p-10 { // beyond alpha*rho of 10^11: fall back on what holds for any delta
		a, err := c.auditPure(ctx, rho, o, false)
		return Audit{Hi: a.Hi, Delta: delta, X: -1, XPrime: -1, Y: -1}, err
	}
	sumErr := 2*(probErr+ratioErr) + float64(c.m)*0x1p-51
	atMost := delta * (1 - 2*sumErr) // F <= atMost proves f <= delta
	above := delta * (1 + 2*sumErr)  // F > above proves f > delta
	a, err := c.pairs(ctx, rho, o, func(x, xp int, _, _ row, d float64, best *Audit) {
		for _, p := range [2][2]int{{x, xp}, {xp, x}} {
			a, b := l.row(p[0]), l.row(p[1])
			shift := l.ln[p[0]] - l.ln[p[1]]
			f := func(s float64) float64 { return excess(a, b, s+shift, l.ln[p[0]]) }
			if math.IsInf(best.Hi, 1) || r.passes(f, best.Hi, d, atMost) {
				continue
			}
			lo, hi := 0.0, math.Inf(1)
			if d > 0 {
				lo, hi = solve(f, best.Hi*d, atMost, above)
				lo, hi = r.level(lo, hi, d)
			} else if f(ratioErr) > above { // at distance 0 no level helps
				lo = math.Inf(1)
			}
			best.merge(Audit{Lo: lo, Hi: hi, X: p[0], XPrime: p[1], Y: -1})
		}
	})
	a.Delta = delta
	return a, err
}

// margin is how far the argument of f may be from the true one.
type margin float64

// passes tells whether f proves that a pair at distance d has at most that level.
func (r margin) passes(f func(float64) float64, level, d, atMost float64) bool {
	return f(directed.SubDown(directed.MulDown(level, d), float64(r))) <= atMost
}

// level bounds the level of a pair at distance d > 0 whose f falls to the target
// between the arguments lo and hi.
func (r margin) level(lo, hi, d float64) (float64, float64) {
	if !math.IsInf(lo, 1) { // which a step down would take for an overflow
		lo = directed.DivDown(max(0, directed.SubDown(lo, float64(r))), d)
	}
	return lo, directed.DivUp(directed.AddUp(hi, float64(r)), d)
}

// excess is F(s - shift): the sum over y with a_y - b_y > s of e^(a_y - ln) (1 - e^(s - (a_y - b_y))).
func excess(a, b []float64, s, ln float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	for y, v := range a {
		if d := v - b[y]; d > s {
			sum -= float64(exact.Exp(v-ln) * math.Expm1(s-d))
		}
	}
	return sum
}

// solve returns lo <= hi around the least s >= 0 where f, nonincreasing, falls
// to the target: f(lo) > above (or lo = 0), f(hi) <= atMost. hi is +Inf where f
// never falls so far, lo too where it stays above. start is a first guess.
func solve(f func(float64) float64, start, atMost, above float64) (lo, hi float64) {
	const never = 0x1p1000
	// least returns adjacent points with f > target at the first (or 0) and
	// f <= target at the second (or +Inf).
	least := func(target float64) (float64, float64) {
		lo, hi := 0.0, max(start, 1)
		for f(hi) > target {
			if lo, hi = hi, 2*hi; hi > never {
				return math.Inf(1), math.Inf(1)
			}
		}
		return search.Change(lo, hi, 0x1p-50, func(s float64) bool { return !(f(s) > target) })
	}
	_, hi = least(atMost)
	lo, _ = least(above)
	return lo, hi
}

// logMatrix is every weight's logarithm and every row sum's.
type logMatrix struct {
	w, ln []float64
	m     int
}

func (l *logMatrix) row(x int) []float64 { return l.w[x*l.m : (x+1)*l.m] }

// largest returns the largest finite |w| or |ln|.
func (l *logMatrix) largest() float64 {
	big := 0.0
	for _, s := range [2][]float64{l.w, l.ln} {
		for _, v := range s {
			if !math.IsInf(v, 0) {
				big = max(big, math.Abs(v))
			}
		}
	}
	return big
}

func (c *Channel) logMatrix(ctx context.Context, o *auditing) (*logMatrix, error) {
	l := &logMatrix{c.w, make([]float64, c.n), c.m}
	own := c.w == nil || !c.log
	if own {
		if err := fault.Memory(o.op, float64(c.n)*float64(c.m), 8); err != nil {
			return nil, err
		}
		l.w = make([]float64, c.n*c.m)
	}
	err := c.eachRow(ctx, o.op, o.Workers, nil, func(x int, r row, _ []float64) {
		dst, scale := l.row(x), r.scale
		if !c.log {
			scale = math.Log(scale)
			for y, v := range r.W {
				dst[y] = directed.Log(v)
			}
		} else if own {
			copy(dst, r.W)
		}
		l.ln[x] = scale + math.Log(r.total)
	})
	return l, err
}

// logRatio bounds ln of an extreme w[x,y]/w[x',y] over y, and says at which y.
type logRatio struct {
	lo, hi float64
	at     int
}

// logExtremes returns the largest and the smallest a[y]-b[y]. A weight of 0 (-Inf)
// in one row only makes an end infinite; in both it is NaN and passed over. Rounding
// is monotone, so the largest rounded difference is the rounded largest.
func logExtremes(a, b []float64) (up, down logRatio) {
	hi, lo := math.Inf(-1), math.Inf(1)
	b = b[:len(a)]
	for y, v := range a {
		d := v - b[y]
		if d > hi {
			hi = d
		}
		if d < lo {
			lo = d
		}
	}
	return logExtreme(a, b, hi), logExtreme(a, b, lo)
}

// logExtreme bounds the extreme a[y]-b[y] that float64 found to be want: exactly that where a weight is 0 in
// one row, or where the subtraction was exact and no later output, perhaps with a larger exact difference,
// has the same rounded one; else half an ulp of rounding, or an overflow.
func logExtreme(a, b []float64, want float64) logRatio {
	wide := logRatio{directed.Prev(want), directed.Next(want), -1}
	r := wide
	for y := nextAt(a, b, 0, want); y < len(a); y = nextAt(a, b, y+1, want) {
		switch {
		case math.IsInf(a[y], 0) || math.IsInf(b[y], 0):
			return logRatio{want, want, y}
		case r.at >= 0 && !math.IsInf(want, 0):
			wide.at = r.at
			return wide
		}
		r.at = y
		if s, e := directed.TwoSum(a[y], -b[y]); e == 0 && s == want {
			r.lo, r.hi = want, want
		} else if !math.IsInf(want, 0) {
			break
		}
	}
	return r
}

// nextAt is the first output from y on with that rounded difference, or the number of all.
func nextAt(a, b []float64, y int, want float64) int {
	for b = b[:len(a)]; y < len(a) && a[y]-b[y] != want; y++ {
	}
	return y
}

// nearOne is the size of ln(w/w') below which extremes looks at differences instead
// of quotients: a quotient near 1 has lost the digits that count.
const nearOne = 0x1p-6

// quotients are the extreme ones a[y]/b[y], but 0/0.
func quotients(a, b []float64) (lo, hi float64) {
	hi, lo = math.Inf(-1), math.Inf(1)
	b = b[:len(a)]
	for y, v := range a {
		q := v / b[y]
		if q > hi {
			hi = q
		}
		if q < lo {
			lo = q
		}
	}
	return lo, hi
}

// exceeds tells whether a pair at distance d, of plain rows v and w with the sums s and t, certainly has a
// level below a.Lo: most pairs need neither quotients nor logarithms. A margin of 2^-30 in the exponent is
// far more than factors and products round by. Factors are in the range of float64, as sums are within a
// factor 2^65 of each other and exponents below most. A product below that range is below all weights > 0
// of rows without subnormal ones, one above it above all.
func (a *Audit) exceeds(v, w []float64, s, t rowSum, d float64) bool {
	const most, apart = 600, 32
	exponent, k := float64(a.Lo*d)-0x1p-30, s.exp-t.exp
	if !(exponent > 0 && exponent < most && -apart <= k && k <= apart) || s.subnormal || t.subnormal {
		return false
	}
	factor, sums := math.Exp(exponent), math.Ldexp(s.t.Hi/t.t.Hi, k)
	up, down := sums*factor, factor/sums
	w = w[:len(v)]
	for y, p := range v {
		if q := w[y]; !(p <= up*q && q <= down*p) {
			return false
		}
	}
	return true
}

// extremes bounds the logarithms of the extreme quotients, which float64 found to be lo and hi.
func extremes(a, b []float64, lo, hi float64) (up, down logRatio) {
	if lo > 1-nearOne && hi < 1+nearOne {
		return relativeExtremes(a, b)
	}
	return quotient(a, b, hi, true), quotient(a, b, lo, false)
}

// quotient bounds ln of the extreme quotient, which float64 found to be q.
func quotient(a, b []float64, q float64, largest bool) logRatio {
	if q < tinyQuotient || q > 1/tinyQuotient {
		return wideRatio(a, b, largest)
	}
	for y, v := range a {
		if v/b[y] == q {
			return logRatio{directed.LogDown(directed.Prev(q)), directed.LogUp(directed.Next(q)), y}
		}
	}
	panic("unreachable: every row has a positive weight")
}

// relativeExtremes does the same through (a-b)/b, which keeps its digits near
// 0: the difference and the quotient round by 2^-53 each.
func relativeExtremes(a, b []float64) (up, down logRatio) {
	hi, lo := math.Inf(-1), math.Inf(1)
	yh, yl := -1, -1
	for y, v := range a {
		q := (v - b[y]) / b[y]
		if q > hi {
			hi, yh = q, y
		}
		if q < lo {
			lo, yl = q, y
		}
	}
	bound := func(q float64, y int) logRatio {
		if q == 0 {
			return logRatio{0, 0, y}
		}
		slack := float64(0x1p-51 * math.Abs(q))
		return logRatio{directed.Log1pDown(q - slack), directed.Log1pUp(q + slack), y}
	}
	return bound(hi, yh), bound(lo, yl)
}

// tinyQuotient is where a quotient of two positive weights may leave the normal range and lose its digits.
const tinyQuotient = 0x1p-1000

// wideRatio finds the extreme quotient in logarithms, for quotients out of the
// range of float64. A weight of 0 in one row makes the end infinite.
func wideRatio(a, b []float64, largest bool) logRatio {
	best, at := math.Inf(1), -1
	if largest {
		best = math.Inf(-1)
	}
	for y, v := range a {
		d := directed.Log(v) - directed.Log(b[y]) // NaN where both weights are 0
		if largest && d > best || !largest && d < best {
			best, at = d, y
		}
	}
	if math.IsInf(best, 0) {
		return logRatio{best, best, at}
	}
	const slack = 0x1p-40 // two logarithms below 746, four ulps each
	return logRatio{best - slack, best + slack, at}
}

// proportional tells whether two rows are equal up to a factor, exactly.
func proportional(a, b row) bool {
	p := slices.Index(a.W, slices.Max(a.W)) // the heaviest output of a
	if a.Log && math.IsInf(b.W[p], -1) || !a.Log && b.W[p] == 0 {
		return false
	}
	// 4300 bits hold any product, 2200 any sum, of two float64s exactly.
	big2 := func(x, y float64) *big.Float {
		z := new(big.Float).SetPrec(4300)
		if a.Log {
			return z.Add(big.NewFloat(x), big.NewFloat(y))
		}
		return z.Mul(big.NewFloat(x), big.NewFloat(y))
	}
	for y, v := range a.W {
		if math.IsInf(v, -1) || math.IsInf(b.W[y], -1) {
			if v != b.W[y] {
				return false
			}
			continue
		}
		if big2(v, b.W[p]).Cmp(big2(b.W[y], a.W[p])) != 0 {
			return false
		}
	}
	return true
}
