package mechanism

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// Audit is the tight privacy level of a channel at a given delta: the least
// alpha for which it is (alpha, delta)-private. Lo <= level <= Hi is proved:
// every rounding on the way to Hi went up, on the way to Lo down. X, XPrime
// and Y witness Lo: for delta = 0 output Y is the one whose probability
// differs most between the two inputs; for delta > 0 the whole set of outputs
// likelier at X counts and Y is -1. With a single input, or none that differ,
// the level is 0 and X, XPrime, Y are -1.
type Audit struct {
	Lo, Hi       float64
	Delta        float64
	X, XPrime, Y int
}

// String gives the interval, rounded outward to the digits shown, and its
// witness.
func (a Audit) String() string {
	return fmt.Sprintf("level in [%s, %s] at delta %.3g, witness x=%d x'=%d y=%d", outward(a.Lo, 9, false), outward(a.Hi, 9, true), a.Delta, a.X, a.XPrime, a.Y)
}

// AuditOptions tune [Channel.Audit]. Nil and the zero value mean the
// defaults.
type AuditOptions struct {
	Delta    float64               // 0: pure metric privacy
	Context  context.Context       // nil: never stopped
	Progress func(done, total int) // called as blocks of inputs finish
	Workers  int                   // 0: all processors; the result does not depend on it

	reach float64 // pairs further apart are passed over; 0: none
}

// Audit computes the tight level of the channel under rho at o.Delta. The level
// is +Inf where an output has probability 0 at one input only (delta = 0), or
// where two inputs at distance 0 differ (by more than delta in total
// variation). O(Len()^2 * Outputs()), on every core; a lazy channel's rows are
// computed Len()/16 times.
//
// The result speaks of the exact law that Release draws from, and of rho as
// its Distance returns it. Outputs count as different even where they stand for
// one point; merging them can only lower the level.
func (c *Channel) Audit(rho metric.Finite, o *AuditOptions) (Audit, error) {
	const op = "mechanism: Channel.Audit"
	if o == nil {
		o = &AuditOptions{}
	}
	if err := cmpErr(c.built(op), fault.Delta(op, "Delta", o.Delta)); err != nil {
		return Audit{}, err
	}
	if n := fault.Len(rho); n != c.n {
		return Audit{}, &fault.SizeError{Op: op, Arg: "rho", Got: n, Want: fmt.Sprint(c.n)}
	}
	if o.Delta >= leastDelta {
		return c.auditDelta(rho, o, o.Delta)
	}
	a, err := c.auditPure(rho, o, false)
	if err == nil && a.Hi-a.Lo > roughAudit*a.Hi && a.Hi < math.Inf(1) && c.log {
		a, err = c.auditPure(rho, o, true)
	}
	if err != nil || o.Delta == 0 {
		return a, err
	}
	// The level falls as delta grows: it is at most that at 0, and at least that
	// at leastDelta.
	b, err := c.auditDelta(rho, o, leastDelta)
	b.Hi, b.Delta = a.Hi, o.Delta
	return b, err
}

// leastDelta is the least delta > 0 at which sums of probabilities keep their
// relative accuracy in float64: those below 2^-1022 lose theirs.
const leastDelta = 0x1p-900

// roughAudit is the relative width above which the audit of a logarithmic
// channel is repeated with normalisers in double-double: tight levels times
// distances far below 1 need them.
const roughAudit = 0x1p-36

// Certify audits the channel under rho and returns it with the guarantee that
// the audit proves: its upper end, per unit. An infinite level is returned
// with a guarantee that promises nothing; check Alpha.
func (c *Channel) Certify(rho metric.Finite, unit metric.Unit, o *AuditOptions) (*Channel, Audit, error) {
	a, err := c.Audit(rho, o)
	if err != nil {
		return nil, a, err
	}
	g, err := NewGuarantee(a.Hi, a.Delta, unit)
	if err == nil && o != nil && o.reach > 0 {
		g, err = g.Within(o.reach)
	}
	if err != nil {
		return nil, a, err
	}
	return c.WithGuarantee(g), a, nil
}

// tile is how many inputs are compared with each other input in one go: their
// rows stay in the second-level cache.
const tile = 16

// pairs calls f for every pair x < x' of rows, on all cores, and folds the
// audits that f returns: the largest Lo with its witness and the largest Hi,
// the earlier of equals. f gets the running result of its block.
func (c *Channel) pairs(rho metric.Finite, o *AuditOptions, f func(x, xp int, a, b row, d float64, sofar *Audit) error) (Audit, error) {
	blocks := (c.n + tile - 1) / tile
	res, errs := make([]Audit, blocks), make([]error, blocks)
	err := parallel.Chunks(o.Context, c.n, tile, o.Workers, o.Progress, func(k, lo, hi int) {
		best := Audit{X: -1, XPrime: -1, Y: -1}
		var own [tile]row
		var bufs [tile][]float64
		var other, dist []float64
		dists := make([]float64, 0, tile*c.n)
		for x := lo; x < hi && errs[k] == nil; x++ {
			own[x-lo], errs[k] = c.read(x, &bufs[x-lo])
			dist = metric.Row(rho, x, dist)
			dists = append(dists, dist...)
		}
		for xp := lo + 1; xp < c.n && errs[k] == nil; xp++ {
			if xp%64 == 0 && o.Context != nil && o.Context.Err() != nil {
				errs[k] = o.Context.Err()
				break
			}
			var b row
			if xp < hi {
				b = own[xp-lo]
			} else if b, errs[k] = c.read(xp, &other); errs[k] != nil {
				break
			}
			for x := lo; x < min(hi, xp) && errs[k] == nil; x++ {
				d := dists[(x-lo)*c.n+xp]
				if !(d >= 0) || math.IsInf(d, 1) {
					errs[k] = fault.Value("mechanism: Channel.Audit", fmt.Sprintf("rho.Distance(%d, %d)", x, xp), d, "a finite number >= 0")
					break
				}
				if o.reach > 0 && d > o.reach {
					continue
				}
				errs[k] = f(x, xp, own[x-lo], b, d, &best)
			}
		}
		res[k] = best
	})
	for _, e := range errs {
		err = cmpErr(err, e)
	}
	if err != nil {
		return Audit{}, err
	}
	a := res[0]
	for _, b := range res[1:] {
		a.merge(b)
	}
	return a, nil
}

// merge keeps the larger Lo, with its witness, and the larger Hi.
func (a *Audit) merge(b Audit) {
	if b.Lo > a.Lo {
		a.Lo, a.X, a.XPrime, a.Y = b.Lo, b.X, b.XPrime, b.Y
	}
	a.Hi = max(a.Hi, b.Hi)
}

// auditPure is the audit at delta = 0: over all pairs, the largest
//
//	|ln w[x,y] - ln w[x',y] - (ln S_x - ln S_x')| / rho(x,x'),
//
// S the row sums. The first difference is exact to an ulp for logarithmic
// weights and for the quotient of plain ones; the second is one interval a
// pair.
func (c *Channel) auditPure(rho metric.Finite, o *AuditOptions, fine bool) (Audit, error) {
	sums, err := c.rowSums(o, fine)
	if err != nil {
		return Audit{}, err
	}
	return c.pairs(rho, o, func(x, xp int, a, b row, d float64, best *Audit) error {
		if slices.Equal(a.W, b.W) { // one law: 0 exactly, which intervals of sums cannot say
			return nil
		}
		sl, sh := lnRatio(sums[x], sums[xp])
		var up, down ratio // of w[x,y]/w[x',y]: the largest and the smallest
		if c.log {
			up, down = logExtremes(a.W, b.W)
		} else {
			up, down = extremes(a.W, b.W)
		}
		pos := Audit{Lo: directed.SubDown(up.lo, sh), Hi: directed.SubUp(up.hi, sl), X: x, XPrime: xp, Y: up.at}
		neg := Audit{Lo: directed.SubDown(sl, down.hi), Hi: directed.SubUp(sh, down.lo), X: xp, XPrime: x, Y: down.at}
		if d == 0 {
			if up.at >= 0 && !proportional(a, b) {
				*best = Audit{Lo: math.Inf(1), Hi: math.Inf(1), X: x, XPrime: xp, Y: up.at}
			}
			return nil
		}
		for _, p := range [2]Audit{pos, neg} {
			p.Lo, p.Hi = directed.DivDown(p.Lo, d), directed.DivUp(p.Hi, d)
			// An infinite ratio is a weight of 0 in one row only; the steps down
			// took it for an overflow.
			if p.X == x && math.IsInf(up.lo, 1) || p.X == xp && math.IsInf(down.hi, -1) {
				p.Lo = math.Inf(1)
			}
			best.merge(p)
		}
		return nil
	})
}

// sum is the total of a row: t * e^ln (log) or t * 2^exp, t within a relative
// error err.
type sum struct {
	t   exact.DD
	ln  float64
	exp int
	err float64
}

func (c *Channel) rowSums(o *AuditOptions, fine bool) ([]sum, error) {
	sums := make([]sum, c.n)
	errs := make([]error, c.n)
	err := parallel.Chunks(o.Context, c.n, 8, o.Workers, nil, func(_, lo, hi int) {
		var buf []float64
		for x := lo; x < hi; x++ {
			var r row
			if r, errs[x] = c.read(x, &buf); errs[x] != nil {
				continue
			}
			switch {
			case !c.log:
				_, e := math.Frexp(r.scale)
				sums[x] = sum{t: r.TotalDD(r.scale), exp: e, err: exact.TotalDDErr}
			case fine:
				sums[x] = sum{t: r.TotalDD(r.scale), ln: r.scale, err: exact.TotalDDErr}
			default:
				sums[x] = sum{t: exact.DD{Hi: r.total}, ln: r.scale, err: exact.TotalErr}
			}
		}
	})
	for _, e := range errs {
		err = cmpErr(err, e)
	}
	return sums, err
}

// lnRatio bounds ln of the quotient of two row sums.
func lnRatio(a, b sum) (lo, hi float64) {
	t := a.t
	if k := a.exp - b.exp; k >= -900 && k <= 900 {
		f := math.Ldexp(1, k) // exact: t is between 1/2 and 2^32
		t = exact.DD{Hi: t.Hi * f, Lo: t.Lo * f}
	} else {
		lo = directed.MulDown(float64(k), math.Ln2) - 0x1p-43 // |k| < 2^12, ln 2 to 2^-55
		hi = directed.MulUp(float64(k), math.Ln2) + 0x1p-43
	}
	q := t.Hi / b.t.Hi
	var l, h float64
	if q > 0.5 && q < 2 {
		// (a-b)/b: the sums err by at most err*(a+b) <= 3*err*b, the
		// double-double difference by far less, its rounding and the
		// quotient's by 2^-53 each, the divisor by err.
		q = t.Add(b.t.Neg()).Hi / b.t.Hi
		slack := 4*max(a.err, b.err) + 0x1p-50*math.Abs(q)
		l, h = directed.Log1pDown(q-slack), directed.Log1pUp(q+slack)
	} else {
		slack := float64((4*max(a.err, b.err) + 0x1p-50) * q)
		l, h = directed.LogDown(q-slack), directed.LogUp(q+slack)
	}
	if a.ln != b.ln {
		l = directed.AddDown(l, directed.SubDown(a.ln, b.ln))
		h = directed.AddUp(h, directed.SubUp(a.ln, b.ln))
	}
	if lo != 0 || hi != 0 {
		return directed.AddDown(l, lo), directed.AddUp(h, hi)
	}
	return l, h
}
