package mechanism

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

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
func (c *Channel) auditDelta(rho metric.Finite, o *AuditOptions, delta float64) (Audit, error) {
	l, err := c.logMatrix(o)
	if err != nil {
		return Audit{}, err
	}
	ratioErr := 0x1p-40 + l.largest()*0x1p-49
	r := margin(ratioErr)
	if ratioErr > 0x1p-10 { // beyond alpha*rho of 10^11: fall back on what holds for any delta
		a, err := c.auditPure(rho, o, false)
		return Audit{Hi: a.Hi, Delta: delta, X: -1, XPrime: -1, Y: -1}, err
	}
	sumErr := 2*(probErr+ratioErr) + float64(c.m)*0x1p-51
	atMost := delta * (1 - 2*sumErr) // F <= atMost proves f <= delta
	above := delta * (1 + 2*sumErr)  // F > above proves f > delta
	a, err := c.pairs(rho, o, func(x, xp int, _, _ row, d float64, best *Audit) error {
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
		return nil
	})
	a.Delta = delta
	return a, err
}

// margin is how far the computed log-ratios, and so the argument of f, may be
// from the true ones.
type margin float64

// passes tells whether f proves that the level of a pair at distance d is at most
// level.
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

// excess is F(s - shift): the sum over y with a_y - b_y > s of
// e^(a_y - ln) (1 - e^(s - (a_y - b_y))).
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
		for hi-lo > 0x1p-50*hi {
			if mid := lo + (hi-lo)/2; f(mid) > target {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo, hi
	}
	_, hi = least(atMost)
	lo, _ = least(above)
	return lo, hi
}

// logMatrix is every weight's logarithm and every row sum's.
type logMatrix struct {
	w  []float64
	ln []float64
	m  int
}

func (l *logMatrix) row(x int) []float64 { return l.w[x*l.m : (x+1)*l.m] }

// largest returns the largest finite |w| or |ln|.
func (l *logMatrix) largest() float64 {
	big := 0.0
	for _, s := range [2][]float64{l.w, l.ln} {
		for _, v := range s {
			if a := math.Abs(v); a > big && !math.IsInf(a, 1) {
				big = a
			}
		}
	}
	return big
}

func (c *Channel) logMatrix(o *AuditOptions) (*logMatrix, error) {
	l := &logMatrix{c.w, make([]float64, c.n), c.m}
	own := c.w == nil || !c.log
	if own {
		if err := fault.Memory("mechanism: Channel.Audit", float64(c.n)*float64(c.m), 8); err != nil {
			return nil, err
		}
		l.w = make([]float64, c.n*c.m)
	}
	errs := make([]error, c.n)
	err := parallel.Chunks(o.Context, c.n, 8, o.Workers, nil, func(_, lo, hi int) {
		var buf []float64
		for x := lo; x < hi; x++ {
			var r row
			if r, errs[x] = c.read(x, &buf); errs[x] != nil {
				continue
			}
			dst := l.row(x)
			switch {
			case !c.log:
				for y, v := range r.W {
					dst[y] = directed.Log(v)
				}
				l.ln[x] = math.Log(r.scale) + math.Log(r.total)
			default:
				if own {
					copy(dst, r.W)
				}
				l.ln[x] = r.scale + math.Log(r.total)
			}
		}
	})
	for _, e := range errs {
		err = cmpErr(err, e)
	}
	return l, err
}
