package accountant

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/search"
)

// f of joint is not monotone in alpha: from some tau_w on e^E grows faster than Psi falls. But
// delta is, and every threshold tau up to tau_w proves as much of (alpha, delta), as it bounds the
// divergence at an E of no more than alpha w:
//
//	E(tau,w) = 2m artanh(tau tanh(alpha0 w/2)) <= alpha w,
//	delta = sup over w of min over tau <= tau_w of (e^E(tau,w)-1) Psi(tau)/tau.
//
// Any fixed thresholds give a valid bound. Let tau* be the best at w = 1. At a smaller w it is
// higher, as the derivative of ln(e^E-1) by tau grows with w. So tau* is enough where G(tau) =
// ln f(1) falls to tau* and rises from there. It does, but it may start with a rise from the bound by
// total variation at tau = 0, and has shallow minima at the kinks 1-2/n of Psi: 0 and a grid of such
// values are fixed too. None depends on alpha, so that a higher alpha has those of a lower one.

// threshold is a fixed one.
type threshold struct {
	tau, psi float64 // psi as of logRatio
}

// gain returns ln(e^E-1), at tau = 0 ln(E/tau), rounded up. As tau tanh(alpha0 w/2) may be next to
// 1, 1 less it is taken from what both factors lack of 1: nothing cancels, and a dozen roundings are
// below gainErr. That of alpha0 w in the exponential counts only where the logarithm is near alpha0 w.
func (b joint) gain(tau, w float64) float64 {
	const gainErr = 0x1p-46
	t := math.Tanh(b.alpha0 * w / 2)
	switch {
	case t == 0:
		return math.Inf(-1)
	case tau == 0:
		return logUp(math.Log(2 * b.items * t))
	}
	rest := (1 - tau) + tau*2/(math.Exp(b.alpha0*w)+1)
	return logUp(logExpm1(b.items * math.Log1p(2*tau*t/rest) * (1 + gainErr)))
}

// thresholds finds fixed thresholds, as far up as asked for.
type thresholds struct {
	joint
	cover  cover
	w      float64 // where G is taken, 1 but for a change that is known
	target float64 // ln delta; those with G above it are of no use at w
	grid   []float64
	g      []float64   // G on the grid as far as looked at, +Inf where too far above target
	found  []threshold // with G <= target
}

const (
	// gridStep is the ratio of tau, or near 1 of 1-tau, of neighbors in the grid.
	gridStep = 1.25
	// gridLow is the least tau > 0 in units of 1/sqrt(E(C+1)).
	gridLow = 0.05
	// chernoffLoss is more than ln(e^X/Psi) exceeds ln(sqrt(n)(1+n tau^2)) by, n = E(C+1) under the
	// tilted distribution: 1.4 is the most seen. Were it more, a threshold would be missed.
	chernoffLoss = 3
	// minTol is the relative width of a minimum: with d^2G/(d ln tau)^2 below 10^5 G is found to 1e-7.
	minTol = 1e-6
	// rootTol is the relative width to which levels and budgets are bisected;
	// varyRootTol goes with varyTol.
	rootTol, varyRootTol = 1e-9, 1e-4
)

// thresholds returns the search for those with G <= target at w that hold from least on. w may
// have been rounded up, and what hides the items grows with it.
func (b joint) thresholds(target, least, w float64) *thresholds {
	t := &thresholds{joint: b, cover: b.coverAt(least * (1 - 0x1p-50)), w: w, target: target}
	if b.items == 1 {
		return t // f is exact, hence monotone
	}
	t.grid = append(t.grid, 0)
	low := 1.0 / 3
	for lowest := gridLow / math.Sqrt(1+float64(float64(b.others)*t.cover.p)); low > lowest; {
		low /= gridStep
	}
	for ; low < 0.3; low *= gridStep {
		t.grid = append(t.grid, low)
	}
	// Beyond e^(alpha0+6) E has ceased to grow and G falls; beyond 2^50 there
	// are no clones.
	last := min(math.Exp(b.alpha0+6), 1<<50)
	for n := 3.0; n < last; n = max(n+1, math.Floor(n*gridStep)) {
		t.grid = append(t.grid, 1-2/n)
	}
	return t
}

// upTo returns those up to tau; there may be some above.
func (t *thresholds) upTo(ctx context.Context, tau float64) ([]threshold, error) {
	// A minimum below tau may be next to a point above it, and that is known
	// from its neighbor.
	for i := len(t.g); i < len(t.grid) && (i < 2 || t.grid[i-2] <= tau); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.g = append(t.g, t.look(i))
		if i < 3 {
			continue
		}
		l, g, r := t.g[i-2], t.g[i-1], t.g[i]
		if g < l && g <= r && leastNear(l, g, r) <= t.target {
			if err := t.minimize(ctx, math.Atanh(t.grid[i-2]), math.Atanh(t.grid[i])); err != nil {
				return nil, err
			}
		}
	}
	return t.found, nil
}

// leastNear is a lower bound of a convex function next to the middle of three points, at which
// it is l, g and r.
func leastNear(l, g, r float64) float64 { return g - max(math.Abs(l-g), math.Abs(r-g)) }

// look returns G at the i-th point of the grid and keeps it if of use; +Inf,
// without the sum, where by its estimates nothing near is.
func (t *thresholds) look(i int) float64 {
	g := t.estimate(t.grid[i])
	l, r := g, g
	if i > 1 {
		l = t.estimate(t.grid[i-1])
	}
	if i > 0 && i+1 < len(t.grid) {
		r = t.estimate(t.grid[i+1])
	}
	if leastNear(l, g, r) > t.target {
		return math.Inf(1)
	}
	return t.keep(t.grid[i])
}

// estimate returns Chernoff's bound of G less its loss.
func (t *thresholds) estimate(tau float64) float64 {
	c := t.cover
	if len(c.parts) > 0 {
		c.p = max(c.p, c.parts[0].clones())
	}
	s, x := c.chernoff(tau)
	n := 1 + float64(float64(c.others)*c.p*math.Exp(-s))
	g := t.gain(tau, t.w) + x - math.Log(n)/2 - math.Log1p(float64(n*tau*tau)) - chernoffLoss
	if tau > 0 {
		g -= math.Log(tau)
	}
	return g
}

// keep returns G(tau), and keeps the threshold if it is of use.
func (t *thresholds) keep(tau float64) float64 {
	psi := t.cover.logRatio(tau)
	g := t.gain(tau, t.w) + psi
	if g <= t.target {
		t.found = append(t.found, threshold{tau, psi})
	}
	return g
}

// minimize keeps the minimum of G by golden sections of [lo, hi], 0 < lo, in
// artanh(tau).
func (t *thresholds) minimize(ctx context.Context, lo, hi float64) error {
	x, _, err := search.Least(lo, hi, minTol, func(x float64) (float64, error) {
		tau := math.Tanh(x)
		return t.gain(tau, t.w) + t.cover.logRatio(tau), ctx.Err()
	})
	if err == nil {
		t.keep(math.Tanh(x))
	}
	return err
}

// least returns the least of G up to the threshold of level eps at w: an upper bound of the ln delta
// of a change of the items by w on average.
func (t *thresholds) least(ctx context.Context, eps float64) (float64, error) {
	tau := t.tau(eps, t.w) * (1 - tauErr)
	fixed, err := t.upTo(ctx, tau)
	return logUp(min(t.gain(tau, t.w)+t.cover.logRatio(tau), t.byFixed(fixed, tau, t.w))), err
}

// proves reports that the bound is at most target at level alpha.
func (t *thresholds) proves(ctx context.Context, alpha float64) (bool, error) {
	done := func(best, bound float64) bool { return best > t.target || bound <= t.target }
	log, err := t.sup(ctx, alpha, nil, done)
	if err != nil || log <= t.target {
		return err == nil, err
	}
	fixed, err := t.upTo(ctx, t.tau(alpha, 1)*(1+tauErr))
	if err != nil || len(fixed) == 0 {
		return false, err
	}
	log, err = t.sup(ctx, alpha, fixed, done)
	return err == nil && log <= t.target, err
}

// value returns an upper bound of ln delta at level alpha, above 0 if that proves nothing.
func (b joint) value(ctx context.Context, alpha float64) (float64, error) {
	fixed, err := b.thresholds(0, 0, 1).upTo(ctx, b.tau(alpha, 1)*(1+tauErr))
	if err != nil {
		return 0, err
	}
	return b.sup(ctx, alpha, fixed, func(best, bound float64) bool { return best > 0 })
}

func (b joint) rootTol() float64 {
	if b.varies() {
		return varyRootTol
	}
	return rootTol
}

// level returns an alpha at which the bound reaches delta, the upper end of a bracket of
// relative width rootTol, or top.
func (b joint) level(ctx context.Context, logDelta, top float64) (float64, error) {
	hi := top
	if b.varies() { // start from the quick bound, which p(d) can only better
		var err error
		if hi, err = b.quick().level(ctx, logDelta, top); err != nil {
			return 0, err
		}
	}
	t := b.thresholds(logDelta, 0, 1)
	return lowest(hi, b.rootTol(), func(alpha float64) (bool, error) { return t.proves(ctx, alpha) })
}

// lowest returns the upper end of a bracket of relative width tol of where ok ceases to
// hold below top, where it is known to. It looks no farther down than 2^-40 of top.
func lowest(top, tol float64, ok func(float64) (bool, error)) (float64, error) {
	for lo, hi := top/2, top; ; lo, hi = lo/2, lo {
		holds, err := ok(lo)
		switch {
		case err != nil:
			return 0, err
		case !holds:
			_, hi, err = search.Bisect(lo, hi, tol, ok)
			return hi, err
		case lo < top*0x1p-40:
			return lo, nil
		}
	}
}

// budget returns the largest alpha0 found, from lo up, at which the bound proves alpha and delta.
// level ends up to its tolerance above the least, and is to say no more than alpha of the result.
func (b joint) budget(ctx context.Context, logDelta, alpha, lo float64) (float64, error) {
	tol := rootTol
	if !b.plain {
		var err error
		lo, err = b.quick().budget(ctx, logDelta, alpha, lo)
		mixed := mixes(lo, b.others)
		if err != nil || b.clones == Dominated && !mixed {
			return lo, err
		}
		if mixed || b.varies() {
			tol = varyRootTol
		}
	}
	alpha *= 1 - float64(3*tol)
	return largest(lo, tol, func(alpha0 float64) (bool, error) {
		b := b
		b.set(alpha0)
		return b.thresholds(logDelta, 0, 1).proves(ctx, alpha)
	})
}

// largest returns the largest x up to maxLevel found at which ok holds, from lo up, where it is
// known to.
func largest(lo, tol float64, ok func(float64) (bool, error)) (float64, error) {
	fails := func(x float64) (bool, error) {
		if x > maxLevel {
			return true, nil
		}
		holds, err := ok(x)
		return !holds, err
	}
	hi := 2 * lo
	for {
		if failed, err := fails(hi); err != nil {
			return 0, err
		} else if failed {
			break
		}
		lo, hi = hi, 2*hi
	}
	lo, _, err := search.Bisect(lo, hi, tol, fails)
	return lo, err
}
