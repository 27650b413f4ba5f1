package distribution

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
)

// Distribution releases how the items of the users are distributed: the mean over users of the
// distribution of each one's items. Every user weighs the same, however many items it has. In the
// Central trust a curator makes one [emd.Report] of all; in the Local trust every user makes its own,
// and whoever collects them adds them up. Immutable and safe for concurrent use.
//
// # How
//
// A map Phi takes items, as they are given, to vectors, with ||Phi(x) - Phi(y)||_1 <= L d(x,y) for a
// constant L that is proved or computed from all pairs. Each coordinate of the mean S/m of a user's m
// vectors is rounded at random to one of the two integers next to it, exactly right on average. These
// are added over all users, and every coordinate gets discrete Laplace noise: an integer k with
// probability proportional to e^(-a|k|). From the noisy mean the weights of points are fitted.
//
// # Why it is private
//
// A user's coordinate of mean v = k + f, k an integer and 0 <= f <= 1, becomes y with probability
// p_v(y) = (1-f) q(y-k) + f q(y-k-1), q being the distribution of the noise and of what all other
// users add. As q(y-1)/q(y) lies in [e^-a, e^a], so do the ratios of q(y-k) and q(y-k-1), and
//
//	|d ln p_v(y) / dv| = |q(y-k-1) - q(y-k)| / p_v(y) <= e^a - 1.
//
// Coordinates are independent given the users, so ln P{y} moves by at most (e^a - 1) ||S/m -
// S'/m'||_1. The mean of Phi over a distribution moves by at most L d_EM (move the items the shortest
// way), so with a = ln(1 + alpha/L), rounded down, the promise is alpha, without delta. All numbers
// drawn are integers, drawn exactly: the promise is that of the bits.
//
// Source: IRC24, Theorem 4.1 for the Lipschitz map. The maps, estimates and constants are new.
type Distribution[P any] struct {
	plan     plan[P]
	g        emd.Guarantee
	a        float64    // P{noise = k} prop. to e^(-a|k|)
	planned  emd.Report // how many users and reports are planned for, and the plan
	diameter float64
}

// Options tune [New]. Nil and the zero value mean the
// defaults, but in the Local trust, where Reports must be given.
type Options struct {
	// Reports is, in the Local trust, about how many users will report: the resolution and ErrorBound are
	// for it. 0 elsewhere.
	Reports int
	// Spacing, where positive, is the resolution: the width of the cells of a line or a box, and the
	// diameter up to which a subtree is one cell. 0 chooses what errs the least.
	Spacing float64
}

// New returns the mechanism with the promise alpha > 0 per unit of d_EM in the model, Local or
// Central, bounded or not. A Model.Diameter of 0 stands for the domain's; a smaller one is an error.
// Alpha times the diameter must be at least 2^-20. Errors are [*metric.ValueError] and those of the
// domain. O(n) for n leaves of a [Tree], and at least O(n^2) distances for [Finite].
func New[P any](ctx context.Context, domain *Domain[P], model emd.Model, alpha float64, o *Options) (*Distribution[P], error) {
	const op = "distribution: New"
	o = cmp.Or(o, &Options{})
	if err := fault.Made(domain != nil && domain.open != nil, op, "Domain", "Line, Box, Sphere, Tree or Finite"); err != nil {
		return nil, err
	}
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), fault.NonNegative(op, "Spacing", o.Spacing)); err != nil {
		return nil, err
	}
	given := model
	if given.Diameter == 0 {
		given.Diameter = 1 // refused before the domain is read
	}
	if _, err := given.Check(op); err != nil {
		return nil, err
	}
	ground, err := domain.open(ctx, op)
	if err != nil {
		return nil, err
	}
	if err := fault.Positive(op, "diameter of the domain", ground.diameter); err != nil {
		return nil, err
	}
	if model.Diameter == 0 {
		model.Diameter = ground.diameter
	}
	if model.Unit, err = fault.Unit(op, model.Unit, ground.unit); err != nil {
		return nil, err
	}
	if model, err = model.Check(op); err != nil {
		return nil, err
	}
	d := &Distribution[P]{diameter: ground.diameter}
	switch {
	case ground.diameter > model.Diameter:
		return nil, fault.Value(op, "Model.Diameter", model.Diameter, fmt.Sprintf("at least that of the domain, %v", ground.diameter))
	case model.Trust == emd.Shuffled:
		return nil, fault.Value(op, "Model.Trust", float64(model.Trust), "Local or Central: nothing is shuffled")
	case model.Trust == emd.Local:
		if o.Reports < 1 || int64(o.Reports) > 1<<53 {
			return nil, fault.Value(op, "Reports", float64(o.Reports), "how many users will report, in [1, 2^53]")
		}
		d.planned = emd.Report{Users: int64(o.Reports), Reports: int64(o.Reports)}
	case o.Reports != 0:
		return nil, fault.Value(op, "Reports", float64(o.Reports), "none outside the Local trust")
	default:
		d.planned = emd.Report{Users: int64(model.Users), Reports: 1}
	}
	s, err := d.setting(op, alpha, o.Spacing)
	if err != nil {
		return nil, err
	}
	if d.plan, err = ground.plan(ctx, op, s); err != nil {
		return nil, err
	}
	if d.plan.Largest() > math.MaxInt64/2/d.planned.Users {
		return nil, fault.Value(op, "users", float64(d.planned.Users), "fewer: sums overflow")
	}
	d.a = d.plan.level(alpha)
	if !(d.a >= check.LeastNoise/2) {
		return nil, fault.Value(op, "alpha", alpha, fmt.Sprintf("more, as the constant of the map is %v", d.plan.lipschitz))
	}
	d.planned.Plan = d.plan.fingerprint(model.Unit, ground.named)
	level, err := mechanism.NewGuarantee(alpha, 0, model.Unit)
	if err != nil {
		return nil, err
	}
	d.g, err = emd.NewGuarantee(model, level)
	return d, err
}

// setting chooses the quantum: the noise of a coordinate is about 1/alpha on a report, and should be
// 2^10 quanta at least on the mean of all users, so that neither their rounding nor e^a - 1 > a costs
// anything. It must be 2^41 at most on a report, and sums must fit int64.
func (d *Distribution[P]) setting(op string, alpha, spacing float64) (setting, error) {
	n, r := float64(d.planned.Users), float64(d.planned.Reports)
	s := setting{noise: math.Sqrt(r) / n / alpha, rounding: math.Sqrt(r/n) / alpha, spacing: spacing}
	finest := max(0x1p-40/alpha, d.diameter/maxPositions, d.diameter*n*0x1p-61)
	quantum := max(finest, min(s.noise*0x1p-10, 0x1p-22/alpha, d.diameter*0x1p-20))
	frac, exp := math.Frexp(quantum)
	if frac == 0.5 {
		exp--
	}
	s.quantum = math.Ldexp(1, exp) // rounded up
	// Both must be normal numbers, and cells need room.
	if !(s.quantum >= 0x1p-1000 && s.quantum <= 0x1p1000 && s.quantum <= d.diameter*0x1p-10) {
		return s, fault.Value(op, "alpha", alpha, "a number that times the diameter is at least 2^-20, and diameters and numbers of users within bounds")
	}
	return s, nil
}

func (d *Distribution[P]) made(op string) error {
	return fault.Made(d != nil && d.a > 0, op, "Distribution", "New")
}

// Guarantee is the promise of one report.
func (d *Distribution[P]) Guarantee() emd.Guarantee {
	if d == nil {
		return emd.Guarantee{}
	}
	return d.g
}

// Resolution bounds, in d_EM, how far the estimate would be from the truth without noise.
func (d *Distribution[P]) Resolution() float64 {
	return fault.Must(d, d.made("distribution: Distribution.Resolution")).plan.Resolution()
}

// ErrorBound bounds the expected earth mover's distance of the estimate from the mean of the users'
// distributions, whatever it is, resolution included; never above the diameter. In the Local trust it
// is for as many reports as were planned. [Histogram.Error] is mostly a half to a fifteenth of it.
func (d *Distribution[P]) ErrorBound() float64 {
	fault.Must(d, d.made("distribution: Distribution.ErrorBound"))
	return min(d.diameter, d.plan.Bound(d.noise(&d.planned)))
}

// noise returns the expected size of the noise of a coordinate of a report's mean, or a bound on it,
// and its standard deviation: discrete Laplace has E|Z| = 1/sinh a and E Z^2 = 1/(2 sinh^2(a/2)), and
// rounding at most 1/4 a user.
func (d *Distribution[P]) noise(r *emd.Report) (size, deviation float64) {
	n, rounding := float64(r.Users), float64(r.Users)/4
	if d.whole() {
		rounding = 0
	}
	sinh := math.Sinh(d.a / 2)
	deviation = math.Sqrt(float64(r.Reports)/2/(sinh*sinh)+rounding) / n
	if r.Reports == 1 {
		return min(deviation, (1/math.Sinh(d.a)+math.Sqrt(rounding))/n), deviation
	}
	return deviation, deviation
}

// whole says whether users' means are integers, which rounding leaves.
func (d *Distribution[P]) whole() bool { return d.plan.whole && d.g.Model().Items == 1 }

// Release makes one report of the users of the model. Errors name the user and the item that does not
// fit. They depend on the data, so keep them from whom the report is for. Each user takes O(len(Sums)).
func (d *Distribution[P]) Release(rng *rand.Rand, data emd.Users[P]) (*emd.Report, error) {
	return d.release(context.Background(), "distribution: Distribution.Release", d.Guarantee().Model(), rng, data)
}

// Collect makes one report for each user, any number of them, and returns their sum: in the
// Local trust, what a collector merges. In the Central trust it is [Distribution.Release].
func (d *Distribution[P]) Collect(ctx context.Context, rng *rand.Rand, data emd.Users[P]) (*emd.Report, error) {
	model := d.Guarantee().Model()
	if model.Trust == emd.Local {
		model.Users = check.AnyNumber
	}
	return d.release(ctx, "distribution: Distribution.Collect", model, rng, data)
}

func (d *Distribution[P]) release(ctx context.Context, op string, model emd.Model, rng *rand.Rand, data emd.Users[P]) (*emd.Report, error) {
	if err := d.made(op); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	k := d.plan.Dim()
	r := &emd.Report{Level: d.a, Plan: d.planned.Plan, Sums: make([]int64, k)}
	mean, round := make([]int64, k), d.plan.rounder()
	largest := d.plan.Largest()
	err := check.Each(op, model.Users, model.Items, data, func(user int, items []P) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if int64(len(items)) > math.MaxInt64/largest {
			return fault.Private(&fault.SizeError{Op: op, Arg: fmt.Sprintf("user %d", user), Got: len(items), Want: "fewer items: their sum overflows"})
		}
		if err := round(mean, rng, items); err != nil {
			return fmt.Errorf("%s: user %d: %w", op, user, err)
		}
		if model.Trust == emd.Local {
			d.addNoise(rng, mean)
			r.Reports++
		}
		r.Users++
		return fault.Private(check.AddSums(op, r.Sums, mean))
	})
	if err != nil {
		return nil, err
	}
	if model.Trust != emd.Local {
		d.addNoise(rng, r.Sums)
		r.Reports = 1
	}
	return r, nil
}

func (d *Distribution[P]) addNoise(rng *rand.Rand, sum []int64) {
	for i, s := range sum {
		sum[i] = exact.AddDiscreteLaplace(rng, s, d.a)
	}
}

// Estimate fits a distribution to a report; it costs no privacy. A report of another level, domain,
// unit or map is an error (by a checksum, which misses one in 2^32). So is one from a machine that
// computes a metric's distances differently in the last bit: then give both a [metric.Dense].
func (d *Distribution[P]) Estimate(ctx context.Context, r *emd.Report) (*Histogram[P], error) {
	const op = "distribution: Distribution.Estimate"
	if err := d.made(op); err != nil {
		return nil, err
	}
	if r == nil || r.Users == 0 {
		return nil, fault.Empty(op, "Report", 0)
	}
	if err := r.Check(); err != nil {
		return nil, fault.Within(op, err)
	}
	if err := fault.Size(op, "Report", len(r.Sums), d.plan.Dim()); err != nil {
		return nil, err
	}
	if !check.SameLevel(r.Level, d.a) {
		return nil, fault.Value(op, "Level of the Report", r.Level, fmt.Sprintf("%v, as all of this Distribution", d.a))
	}
	if r.Plan != d.planned.Plan {
		return nil, fault.Value(op, "Plan of the Report", float64(r.Plan), fmt.Sprintf("%d: it is about another domain or map", d.planned.Plan))
	}
	y := make([]float64, len(r.Sums))
	for i, s := range r.Sums {
		y[i] = float64(s) / float64(r.Users)
	}
	p, err := d.plan.Fit(ctx, y)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	h := &Histogram[P]{Weights: p, Points: make([]P, len(p)), d: d, users: r.Users, reports: r.Reports}
	for i := range h.Points {
		h.Points[i] = d.plan.point(i)
	}
	return h, nil
}
