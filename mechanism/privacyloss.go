package mechanism

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// PrivacyLoss is the law of the privacy loss of one release between two inputs: of
// ln(P{y at x}/P{y at x'}), y drawn at x. Mechanisms that know theirs by the distance, where inputs
// differ that of the worst, have
//
//	PrivacyLoss(distance float64) (PrivacyLoss, error)
//
// as the noise of package additive has, and are composed by it ([Composition.AuditAt]). That takes that the
// loss over the distance does not fall, in law, as the distance grows, that inputs x and x' may change
// places, and, for Lo, that the same inputs are the worst for all. For noise of a log-concave density f the
// first holds: ln f(z) - ln f(z + u) is convex along the line of u, and 0 where u is. A type that embeds a
// mechanism and gives it other inputs needs a law of its own. A law is taken at its word: where masses
// contradict their losses, an audit may be wrong and take any memory.
type PrivacyLoss struct {
	// Bottom and Top are the least and the largest loss, -Inf and +Inf where there is none. All
	// losses may be off by a relative 2^-48.
	Bottom, Top float64
	// Mass returns the probabilities at x and at x' that the loss is in (lo, hi]. Those at x of
	// all losses, +Inf too, add up to 1.
	Mass func(lo, hi float64) (here, there float64)
	// Err bounds the relative error of both.
	Err float64
	// Bound is for a law above that of the release, as of noise that is then rounded to words:
	// it bounds levels from above alone.
	Bound bool
	// Below, of a Bound, is the law of some two inputs at most the distance apart, which bounds
	// levels from below; nil where none is known.
	Below *PrivacyLoss
}

func (p *PrivacyLoss) check() error {
	if !(p.Bottom <= p.Top && p.Top > math.Inf(-1) && p.Err >= 0 && p.Err < 1e-6) || p.Mass == nil {
		return errors.New("its PrivacyLoss needs Bottom <= Top > -Inf, Mass, and Err in [0, 1e-6)")
	}
	return nil
}

// AuditAt computes the level at delta, in [0, 1), of all releases together between inputs up to a distance
// > 0 apart: the least alpha such that no two at a distance d up to that one are told apart beyond
// (alpha*d, delta). Both ends are proved. X, XPrime and Y are -1.
//
// Hi counts a mechanism with a [PrivacyLoss] by that, also where [Then], [On] or [Labels] process what it
// releases, and others by their guarantee, as if they were randomized response, which no mechanism of their
// level exceeds. Lo counts only the former, not processed, and noise as it is before it is rounded to its
// public grid. Where all are such, with losses of one order, and delta is at least 1e-200, Hi-Lo is at most
// Hi/1000, up to some 10^8 releases. An audit takes from milliseconds to a second, and many seconds where delta
// is below 1e-50 or the releases are more: ctx ends it.
//
// Sources: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", 2015, for
// randomized response; Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic
// function", 2022, for pairs that dominate; and that of [Composition.Audit].
func (c *Composition) AuditAt(ctx context.Context, distance, delta float64) (Audit, error) {
	return c.auditAt(ctx, "mechanism: Composition.AuditAt", distance, delta)
}

// CertifyAt audits the composition at a distance and a delta and returns it with the guarantee
// that the audit proves, which reaches as far as the distance.
func (c *Composition) CertifyAt(ctx context.Context, distance, delta float64) (*Composition, Audit, error) {
	const op = "mechanism: Composition.CertifyAt"
	a, err := c.auditAt(ctx, op, distance, delta)
	if err != nil {
		return nil, a, err
	}
	g, err := NewGuarantee(a.Hi, delta, c.g.unit)
	if err != nil {
		return nil, a, fault.Within(op, err)
	}
	if g, err = g.Within(distance); err != nil {
		return nil, a, fault.Within(op, err)
	}
	return &Composition{c.cs, c.channels, g}, a, nil
}

func (c *Composition) auditAt(ctx context.Context, op string, distance, delta float64) (a Audit, err error) {
	if err := cmp.Or(c.built(op), fault.Positive(op, "distance", distance), fault.Delta(op, "delta", delta)); err != nil {
		return Audit{}, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	all, err := c.lossesAt(op, distance)
	if err != nil {
		return Audit{}, err
	}
	lo, hi, err := all.level(ctx, delta)
	if below := all.below(); below != nil && err == nil {
		var least float64
		least, _, err = below.level(ctx, delta)
		lo = max(lo, min(least, hi))
	}
	if err != nil {
		return Audit{}, fault.Within(op, err)
	}
	a = Audit{Delta: delta, X: -1, XPrime: -1, Y: -1, Hi: math.Inf(1)}
	if !math.IsInf(hi, 1) {
		a.Hi = directed.DivUp(max(0, hi), distance)
	}
	a.Lo = max(0, directed.DivDown(lo, distance))
	return a, nil
}

// lossAt is the privacy loss of a mechanism at a distance. Without Mass it is randomized
// response at the level Top, but for a part delta that is told apart for sure.
type lossAt struct {
	times int64
	law   PrivacyLoss
	delta float64
}

// exact tells whether levels are bounded from below by it.
func (l *lossAt) exact() bool { return l.law.Mass != nil && !l.law.Bound }

// processed is a mechanism that post-processes what another releases for the same input, whose
// law is above its own.
type processed interface {
	of() interface{ Guarantee() Guarantee }
}

// lossesAt are the losses of all mechanisms of a composition.
type lossesAt []lossAt

func (c *Composition) lossesAt(op string, distance float64) (all lossesAt, err error) {
	for i, r := range c.cs {
		l := lossAt{times: r.Times}
		m, bound := r.Mechanism, false
		for t, ok := m.(processed); ok; t, ok = m.(processed) {
			m, bound = t.of(), true
		}
		switch m := m.(type) {
		case interface {
			PrivacyLoss(distance float64) (PrivacyLoss, error)
		}:
			if l.law, err = m.PrivacyLoss(distance); err == nil {
				err = l.law.check()
			}
			if bound {
				l.law.Bound, l.law.Below = true, nil
			}
			if l.law.Below != nil && err == nil {
				err = l.law.Below.check()
			}
			if err != nil {
				return nil, fmt.Errorf("%s: cs[%d]: %w", op, i, err)
			}
		default:
			l.law.Top, l.delta = r.Mechanism.Guarantee().At(distance)
		}
		all = append(all, l)
	}
	return all, nil
}

// below are the laws that bound from below, nil where those of a Bound have none.
func (all lossesAt) below() (below lossesAt) {
	found := false
	for _, l := range all {
		if l.law.Below != nil {
			l.law, found = *l.law.Below, true
		}
		if l.exact() {
			below = append(below, l)
		}
	}
	if !found {
		return nil
	}
	return below
}

// level bounds the least eps at which all releases together are (eps, delta)-private.
func (all lossesAt) level(ctx context.Context, delta float64) (lo, hi float64, err error) {
	lo, hi = all.pure()
	if delta == 0 {
		return lo, hi, nil
	}
	// The sums of the least and the largest losses bound eps, but not where delta is left out.
	lo = 0
	if delta < leastComposed || math.IsInf(hi, 1) && !all.spread() {
		return lo, hi, nil
	}
	widest := 0.0
	for i := range all {
		widest = max(widest, all[i].cut(delta))
	}
	switch {
	case widest > 1/leastMass:
		return lo, hi, nil
	case widest < leastMass:
		widest = 1
	}
	exponent, stuck := math.Ilogb(widest), 0
	for k := leastCuts; k <= mostCuts; k++ {
		step := math.Ldexp(1, exponent-k)
		var up, down composedLoss
		for i, l := range all {
			u, d, err := l.factors(step)
			if err != nil {
				return 0, 0, fmt.Errorf("cs[%d]: %w", i, err)
			}
			up.factors = append(up.factors, u)
			if l.exact() && len(d.atoms) > 0 {
				down.factors = append(down.factors, d)
			}
		}
		s, err := up.levelOn(ctx, delta, step)
		if err != nil {
			return 0, 0, err
		}
		better := s < hi*(1-fineLattice)
		hi = min(hi, s)
		if len(down.factors) > 0 {
			below, err := down.atLeast(ctx, delta, hi, step)
			if err != nil {
				return 0, 0, err
			}
			below = min(below, hi)
			better = better || below > lo+float64(fineLattice*hi)
			lo = max(lo, below)
		}
		if stuck++; better {
			stuck = 0
		}
		if hi-lo <= 2*fineLattice*hi || stuck == 2 { // a cell's losses may lie in one half
			break
		}
	}
	return lo, hi, nil
}

const (
	// The step of a lattice is 2^-leastCuts of the widest loss at first, and is halved until
	// the ends are near enough, or no longer move, or it is 2^-mostCuts.
	leastCuts, mostCuts = 6, 12
	// tails is what the losses outside of a window may add to delta, relatively.
	tails = 0x1p-12
	// massesOff is what masses may be off by, with Err, from 1.
	massesOff = 2e-6
)

// pure bounds eps at delta = 0: the sum of the largest losses.
func (all lossesAt) pure() (lo, hi float64) {
	for _, l := range all {
		times := float64(l.times)
		switch {
		case !l.exact() || math.IsInf(lo, 1):
		case math.IsInf(l.law.Top, 1):
			lo = l.law.Top
		default:
			lo = directed.AddDown(lo, directed.MulDown(times, l.law.Top-math.Abs(l.law.Top)*0x1p-47))
		}
		if hi = directed.AddUp(hi, directed.MulUp(times, l.law.Top)); l.delta > 0 {
			hi = math.Inf(1)
		}
	}
	return lo, hi
}

// spread tells whether a delta > 0 can make eps finite.
func (all lossesAt) spread() bool {
	for _, l := range all {
		if l.law.Mass == nil && math.IsInf(l.law.Top, 1) {
			return false
		}
	}
	return true
}

// cut makes Bottom and Top finite, so that losses beyond hardly matter at delta, and returns the width
// between them, or what keeps their multiples of a step int64. Losses beyond stay those of Mass.
func (l *lossAt) cut(delta float64) float64 {
	if l.law.Mass == nil {
		return 2 * l.law.Top
	}
	enough := tails * delta / float64(l.times)
	far := func(beyond func(t float64) float64) float64 {
		t := 0x1p-60
		for t < 0x1p30 && !(beyond(t) <= enough) {
			t *= 2
		}
		for by := t / 4; by > t/32; by /= 2 { // between t/2 and t
			if beyond(t-by) <= enough {
				t -= by
			}
		}
		return t
	}
	if math.IsInf(l.law.Top, 1) {
		l.law.Top = far(func(t float64) float64 { p, _ := l.law.Mass(t, math.Inf(1)); return p })
	}
	if math.IsInf(l.law.Bottom, -1) {
		l.law.Bottom = -far(func(t float64) float64 { p, _ := l.law.Mass(math.Inf(-1), -t); return p })
	}
	return max(l.law.Top-l.law.Bottom, 0x1p-8*math.Abs(l.law.Top), 0x1p-8*math.Abs(l.law.Bottom))
}

// factors returns two losses on cells of a lattice of that step, a power of two, so that its
// points are exact: up has no less delta at any level once its atoms are split between the
// ends of their cells, and down no more.
//
// What is in a cell, with masses p at x and q at x', has at most the delta of the two atoms at its ends of
// the same masses together, as delta is convex in e^s and 0 at the upper end; they are the parts that
// [composedLoss.onGrid] makes of an atom of mass p and loss ln(p/q). It has at least the delta of that atom, as
// not to tell apart what is in the cell is post-processing. With p too large and q too small by their
// errors the former still holds, and the other way round the latter. Losses outside of the window are left
// out in down; in up those above are infinite, and those below at its bottom.
func (l *lossAt) factors(step float64) (up, down factorLoss, err error) {
	top := l.law.Top
	if l.law.Mass == nil {
		never := l.delta
		less := math.Exp(-top)
		up = factorLoss{count: l.times, never: never, top: top, bottom: -top, err: 0x1p-44,
			atoms: []atom{{top, (1 - never) / (1 + less)}, {-top, (1 - never) * (less / (1 + less))}}}
		if up.atoms[1].mass < leastMass {
			up.atoms = up.atoms[:1]
		}
		up.loose = float64(step*0x1p-30) + float64(top*0x1p-46)
		return up, down, nil
	}
	ceil := float64(math.Ceil(top/step) * step)
	up = factorLoss{count: l.times, top: ceil, err: l.law.Err + 0x1p-44}
	up.loose = float64(step*0x1p-30) + float64(max(math.Abs(ceil), math.Abs(l.law.Bottom)+step)*0x1p-46)
	off := float64(4*l.law.Err) + 0x1p-42 + 2*up.loose
	down = up
	up.never, _ = l.law.Mass(ceil, math.Inf(1))
	here, there := up.never, 0.0
	at := ceil
	for ; at >= l.law.Bottom; at -= step {
		p, q := l.law.Mass(at-step, at)
		here, there = here+p, there+q
		if p < leastMass {
			up.never += leastMass
			continue
		}
		high, low := at, at-step
		if q >= leastMass {
			loss := math.Log(p / q)
			if !(loss >= at-step-off && loss <= at+off) && p > 1e-100 {
				return up, down, fmt.Errorf("its PrivacyLoss has masses in (%v, %v] whose quotient is that of no loss there", at-step, at)
			}
			high, low = min(at, max(at-step, loss+off)), max(at-step, min(at, loss-off))
		}
		if len(up.atoms) == 0 { // tilts are seen from the top
			up.top, down.top = at, low
		}
		up.atoms = append(up.atoms, atom{high, p})
		down.atoms = append(down.atoms, atom{low, p})
	}
	below, _ := l.law.Mass(math.Inf(-1), at)
	if below >= leastMass {
		up.atoms = append(up.atoms, atom{at, below})
	}
	if here += below; !(math.Abs(here-1) <= massesOff && there <= math.MaxFloat64) {
		return up, down, fmt.Errorf("the masses of its PrivacyLoss add up to %v at x, not 1, or to %v at x'", here, there)
	}
	up.bottom, down.bottom = at, at
	return up, down, nil
}
