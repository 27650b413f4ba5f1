package kl10

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Target is (gamma, delta)-utility (KL10, Definition 2.2): at every input x the output is farther
// than Gamma >= 0 from f(x) with probability at most Delta, in (0, 1). Balls are closed and
// distances float64: .8-.6 is above .2, so give Gamma a margin of 1e-9.
type Target struct{ Gamma, Delta float64 }

// Options tune [MostPrivate]. Nil and the zero value mean the defaults.
type Options struct {
	// Unit names the unit of the privacy metric, for the guarantee; the default is that
	// of the metric itself ([metric.UnitOf]), and another is refused.
	Unit     metric.Unit
	Progress func(done, total int) // of the audit
	Workers  int                   // 0: all processors
}

// Mechanism is a channel that reaches a [Target]. Its guarantee is the upper end of Audited.
type Mechanism struct {
	*mechanism.Channel
	Audited mechanism.Audit
	Beta    float64   // the rate, per unit of the utility metric
	Mu      []float64 // the base measure, on the points of the utility metric
	Miss    float64   // at least the probability of missing ([Misses]), at most Target.Delta
	// FormulaBeta is the rate at which KL10 prove the target (Theorem 3.4, (3) to (2)), and
	// FormulaLevel the level that they prove for it (Theorem 2.7). +Inf where Gamma is 0 or a ball
	// of radius Gamma/2 has no measure.
	FormulaBeta, FormulaLevel float64
}

// MostPrivate returns the exponential mechanism (KL10, Definition 2.6), P{y|x} proportional to
// mu[y] exp(-beta*sigma(f(x),y)), at the smallest beta that reaches the target, to a relative 1e-9
// on the safe side. Its guarantee is its audited level under b.Privacy.
//
// The first points of sigma = b.Utility are f(x) for the points x of b.Privacy, in order; it may
// have more, which can only be released.
//
// mu is a public distribution on the points of b.Utility; nil is its [scale.PositiveMeasure]. A
// ball of radius Gamma around an f(x) with measure 0 is an error, and so is an infinite level.
// O(n^2 m) time for n inputs and m outputs, O(m^2) memory.
func MostPrivate(ctx context.Context, b metric.Bimetric, mu []float64, t Target, o *Options) (*Mechanism, error) {
	const op = "kl10: MostPrivate"
	if o == nil {
		o = &Options{}
	}
	n, m := fault.Len(b.Privacy), fault.Len(b.Utility)
	if err := cmp.Or(fault.Empty(op, "Privacy", n), fault.Empty(op, "Utility", m), fault.AtLeast(op, "Utility", m, n),
		fault.NonNegative(op, "Gamma", t.Gamma), fault.Fraction(op, "Delta", t.Delta)); err != nil {
		return nil, err
	}
	unit, err := fault.Unit(op, o.Unit, metric.UnitOf(b.Privacy))
	if err != nil {
		return nil, err
	}
	if mu == nil {
		if mu, err = scale.PositiveMeasure(ctx, b.Utility); err != nil {
			return nil, err
		}
	}
	if err := fault.Distribution(op, "mu", mu, m, 1e-9); err != nil {
		return nil, err
	}
	d, err := metric.Densify(ctx, b.Utility)
	if err != nil {
		return nil, fault.Within(op, err)
	}
	b.Utility = d
	beta, err := smallestBeta(ctx, op, n, d, mu, t, o.Workers)
	if err != nil {
		return nil, err
	}
	best := &Mechanism{Mu: slices.Clone(mu)}
	if best.FormulaBeta, best.FormulaLevel, err = formula(ctx, b, mu, t); err != nil {
		return nil, err
	}
	// The search knows the probability of missing to about 1e-14 and stops a relative 1e-9 above the rate
	// where it is delta, so that the first look suffices unless the probability hardly moves with the rate.
	step := max(1e-9*beta, 1e-12*smallRate(d))
	for range 40 {
		c, err := channel(ctx, op, n, d, mu, beta, o.Workers)
		if err != nil {
			return nil, err
		}
		if best.Miss, _, err = misses(ctx, c, d, t.Gamma, o.Workers); err != nil {
			return nil, err
		}
		if best.Miss > t.Delta {
			beta, step = beta+step, 2*step
			continue
		}
		best.Beta = beta
		best.Channel, best.Audited, err = c.Certify(ctx, b.Privacy, unit, &mechanism.AuditOptions{Progress: o.Progress, Workers: o.Workers})
		if err != nil {
			return nil, fault.Within(op, err)
		}
		if a := best.Audited; math.IsInf(a.Hi, 1) {
			return nil, fmt.Errorf("%s: no level: points %d and %d are at privacy distance 0 and utility distance %v", op, a.X, a.XPrime, d.Distance(a.X, a.XPrime))
		}
		return best, nil
	}
	return nil, fmt.Errorf("%s: rounding keeps the probability of missing above %v", op, t.Delta)
}

// channel is the mechanism with P{y|x} proportional to mu[y] exp(-beta*rho(x,y)) for the first n points.
func channel(ctx context.Context, op string, n int, rho metric.Finite, mu []float64, beta float64, workers int) (*mechanism.Channel, error) {
	var outputs []int
	var logs []float64
	for y, w := range mu {
		if w > 0 {
			outputs, logs = append(outputs, y), append(logs, directed.Log(w))
		}
	}
	c, err := mechanism.NewChannel(ctx, mechanism.Rows{Inputs: n, Outputs: len(outputs), Log: true, Fill: func(x int, dst []float64) {
		for j, y := range outputs {
			dst[j] = logs[j] - float64(beta*rho.Distance(x, y))
		}
	}}, &mechanism.ChannelOptions{Labels: outputs, Workers: workers})
	if err != nil {
		return nil, fault.Within(op, err)
	}
	return c, nil
}

// formula returns KL10's rate for the target, (2/Gamma) ln(1/(Delta*m)), m the least measure of a
// ball of radius Gamma/2 around an f(x), and the level that they prove for it, 2*C times the rate,
// C the largest utility distance of two f(x) over the privacy distance of their inputs.
func formula(ctx context.Context, b metric.Bimetric, mu []float64, t Target) (beta, level float64, err error) {
	if t.Gamma == 0 {
		return math.Inf(1), math.Inf(1), nil
	}
	images, least := make([]int, b.Privacy.Len()), 1.0
	for x := range images {
		images[x] = x
		mass := 0.0
		for y, w := range mu {
			if b.Utility.Distance(x, y) <= t.Gamma/2 {
				mass = directed.AddDown(mass, w)
			}
		}
		least = min(least, mass)
	}
	if !(least > 0) {
		return math.Inf(1), math.Inf(1), nil
	}
	if b.Utility, err = metric.Subset(b.Utility, images); err != nil {
		return 0, 0, err
	}
	beta = formulaBeta(t, least)
	c, _, _, err := b.Lipschitz(ctx)
	return beta, directed.MulUp(2*c*(1+0x1p-52), beta), err // c is rounded
}

// formulaBeta is KL10's rate for the target, where every ball of radius Gamma/2 has at
// least that mass, in (0, 1]:
//
//	beta = (2/Gamma) ln(1/(Delta*mass)),
//
// rounded up.
func formulaBeta(t Target, mass float64) float64 {
	return directed.DivUp(2*directed.SubUp(0-directed.LogDown(t.Delta), directed.LogDown(mass)), t.Gamma)
}

// smallestBeta is the rate of [MostPrivate] for the first n points of d: the probability of
// missing falls as beta grows, so that it can bisect. O(n m) for each of some 40 steps.
func smallestBeta(ctx context.Context, op string, n int, d *metric.Dense, mu []float64, t Target, workers int) (float64, error) {
	reaches := func(beta float64) (bool, error) {
		worst := make([]float64, n)
		err := parallel.Chunks(ctx, n, 16, workers, nil, func(_, lo, hi int) {
			var row []float64
			for x := lo; x < hi && ctx.Err() == nil; x++ {
				row = d.DistancesFrom(x, row)
				near := math.Inf(1) // the nearest output, taken out of the exponent
				for y, v := range row {
					if mu[y] > 0 {
						near = min(near, v)
					}
				}
				in, out := 0.0, 0.0
				for y, v := range row {
					if mu[y] == 0 {
						continue
					}
					if w := float64(mu[y] * exact.Exp(-beta*(v-near))); v > t.Gamma {
						out += w
					} else {
						in += w
					}
				}
				worst[x] = out / (in + out)
			}
		})
		return slices.Max(worst) <= t.Delta, err
	}
	if ok, err := reaches(0); ok || err != nil {
		return 0, err
	}
	lo, hi := 0.0, smallRate(d)
	for {
		if ok, err := reaches(hi); err != nil {
			return 0, err
		} else if ok {
			break
		}
		if lo, hi = hi, 2*hi; hi > maxRate {
			return 0, fmt.Errorf("%s: no rate suffices: some closed ball of radius %v has measure 0", op, t.Gamma)
		}
	}
	_, hi, err := search.Bisect(lo, hi, 1e-9, reaches)
	return hi, err
}

// smallRate is the reciprocal of about the largest distance.
func smallRate(f metric.Finite) float64 {
	return min(1/slices.Max(finite.Row(f, 0, nil)), maxRate)
}

// maxRate is what searches for a rate stop at.
const maxRate = 1e300

const (
	// missErr bounds the relative error of a sum of the probabilities that Channel.Row returns,
	// each right to 2^-42; what the additions err by is rounded up.
	missErr = 0x1p-41
	// missFloor stands for probabilities that Channel.Row reads as 0.
	missFloor = 0x1p-1022
)

// Misses returns an upper bound, right to a relative 2^-41, on the largest probability that the
// output at an input x lies farther than gamma from x under rho, and the first such x: the channel
// has (gamma, p)-utility (see [Target]). rho is as for [mechanism.Channel.Loss]. A lazy channel's
// bad row is an error. O(Len()*Outputs()).
func Misses(ctx context.Context, c *mechanism.Channel, rho metric.Finite, gamma float64) (p float64, x int, err error) {
	return misses(ctx, c, rho, gamma, 0)
}

func misses(ctx context.Context, c *mechanism.Channel, rho metric.Finite, gamma float64, workers int) (p float64, x int, err error) {
	const op = "kl10: Misses"
	if err := fault.NonNegative(op, "gamma", gamma); err != nil {
		return 0, 0, err
	}
	points := make([]int, c.Outputs())
	for y := range points {
		points[y] = c.Output(y)
	}
	if err := cmp.Or(fault.AtLeast(op, "rho", fault.Len(rho), c.Len()), fault.Indices(op, "output points", points, fault.Len(rho))); err != nil {
		return 0, 0, err
	}
	miss := make([]float64, c.Len())
	err = parallel.Chunks(ctx, c.Len(), 16, workers, nil, func(_, lo, hi int) {
		var row []float64
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			row = c.Row(x, row)
			for y, q := range row {
				if !(rho.Distance(x, points[y]) <= gamma) {
					miss[x] = directed.AddUp(miss[x], max(q, missFloor))
				}
			}
		}
	})
	if err != nil {
		return 0, 0, err
	}
	for z, q := range miss {
		if math.IsNaN(q) {
			return 0, 0, fmt.Errorf("%s: row %d of the channel holds no distribution", op, z)
		}
		if q > p {
			p, x = q, z
		}
	}
	return min(1, directed.MulUp(p, 1+missErr)), x, nil
}
