package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// result is one way to release the histogram.
type result struct {
	name         string
	level        level
	users        [][]int // whose items go in
	moves, whole float64 // what its guarantee says of them
	delta        float64
	bound        float64 // of the mean error, proved
	err          error   // why there is none
	release      func(rng *rand.Rand) ([]float64, error)

	measured float64   // the mean error
	first    []float64 // the first release
	bar      func() (distribution.ErrorBar, error)
}

// seen tells whether someone sees the items.
func (r *result) seen() bool { return r.name == distributed || r.name == noise }

// Names of the ways to release. The first two need someone who sees all items. Then
// come those where every user adds noise, and where each item is replaced at random.
const (
	distributed   = "distribution"
	noise         = "noise on the shares"
	local         = "distribution, local"
	hadamard      = "Hadamard response"
	response      = "randomized response"
	exponentially = "exponential mechanism"
)

func (s *study) methods(ctx context.Context, alpha float64) (list [3][]result, err error) {
	mech, err := s.shares(ctx, level{alpha: alpha})
	if err != nil {
		return list, err
	}
	levels, err := s.levels(mech.Guarantee())
	for k, l := range levels {
		if l.alpha > 0 {
			list[k] = []result{s.distribution(ctx, distributed, l), s.linear(ctx, l), s.distribution(ctx, local, l), s.itemWise(ctx, l)}
		} else {
			list[k] = []result{s.linear(ctx, l), s.hadamard(ctx, l), s.response(ctx, l)}
		}
	}
	return list, err
}

// all is the model of all items of all users.
func (s *study) all() emd.Model {
	m := s.model
	m.Users, m.Items = len(s.items), 0
	return m
}

// distribution is the release by distribution.Distribution, of a curator or of the users.
func (s *study) distribution(ctx context.Context, name string, l level) result {
	r := result{name: name, level: l, users: s.items}
	model, o := s.all(), &distribution.Options{}
	if name == local {
		model.Trust, model.Users, o.Reports = emd.Local, 0, len(s.items)
	}
	mech, err := distribution.New(ctx, distribution.Finite(s.space), model, l.alpha, o)
	if r.err = err; err != nil {
		return r
	}
	s.promised(&r, mech.Guarantee(), false)
	r.bound = mech.ErrorBound()
	var first *distribution.Histogram[int]
	r.release = func(rng *rand.Rand) ([]float64, error) {
		report, err := mech.Collect(ctx, rng, slices.Values(s.items))
		if err != nil {
			return nil, err
		}
		h, err := mech.Estimate(ctx, report)
		if err != nil {
			return nil, err
		}
		first = cmp.Or(first, h)
		return h.Weights, nil
	}
	r.bar = func() (distribution.ErrorBar, error) {
		return first.Error(ctx, random.Seeded(s.seed), quantile, &distribution.ErrorOptions{Draws: 4 * s.runs(histogramRuns)})
	}
	return r
}

// shares is noise on the shares of the regions, times their weights where the
// distance counts.
func (s *study) shares(ctx context.Context, l level) (*query.Linear[int], error) {
	q := s.indicators
	if l.alpha > 0 {
		q = s.weighted
	}
	return noisy(ctx, q, 2, s.all(), l, nil)
}

// linear is noise on the shares by query.Linear.
func (s *study) linear(ctx context.Context, l level) result {
	r := result{name: noise, level: l, users: s.items}
	mech, err := s.shares(ctx, l)
	if r.err = err; err != nil {
		return r
	}
	s.promised(&r, mech.Guarantee(), l.alpha == 0)
	weight := s.weight
	if l.alpha == 0 {
		weight = slices.Repeat([]float64{1}, len(s.weight))
	}
	each := make([]float64, len(weight))
	for x, w := range weight {
		each[x] = mech.StdDev() / w
	}
	r.bound = 2 * s.spread(each)
	r.release = func(rng *rand.Rand) ([]float64, error) {
		y, err := mech.Release(rng, slices.Values(s.items))
		for x := range y {
			y[x] /= weight[x]
		}
		return y, err
	}
	return r
}

// spread bounds how far the mass must move to make up for errors of these mean sizes
// in the shares: to one region and back, or half of it across the space.
func (s *study) spread(errors []float64) float64 {
	least := 0.0
	for _, e := range errors {
		least += s.wide * e / 2
	}
	for c := range s.regions {
		sum := 0.0
		for x, e := range errors {
			sum += e * s.space.Distance(c, x)
		}
		least = min(least, sum)
	}
	return least
}

func (s *study) shuffled() emd.Model {
	m := s.model
	m.Trust = emd.Shuffled
	return m
}

// hadamard is the usual baseline for items that nobody sees.
func (s *study) hadamard(ctx context.Context, l level) result {
	mech, err := frequency.NewHadamardBaseline(ctx, s.space, s.shuffled(), emd.DP{Eps: l.eps, Delta: delta}, nil)
	return s.frequencies(hadamard, l, mech, err, 1, false)
}

// response has d_EM under the metric in which any two items are at distance 1,
// where alpha is a user-level eps.
func (s *study) response(ctx context.Context, l level) result {
	model := s.shuffled()
	model.Diameter, model.Unit = 1, ""
	alike, err := metric.NewClustered(len(s.regions), 1, 1)
	if err != nil {
		return result{err: err}
	}
	mech, err := s.clusters(ctx, alike, model, l.eps)
	return s.frequencies(response, l, mech, err, s.wide, true)
}

// clusters is randomized response at the largest level at which every channel keeps alpha: it
// keeps less itself.
func (s *study) clusters(ctx context.Context, c *metric.Clustered, model emd.Model, alpha float64) (*frequency.Estimator, error) {
	budget, err := frequency.ItemWiseBudget(ctx, model, emd.Promise{Alpha: alpha, Delta: delta}, nil)
	if err != nil {
		return nil, err
	}
	g, err := frequency.NewGKRR(c, budget.Value)
	if err != nil {
		return nil, err
	}
	return frequency.NewClustered(ctx, g, model, &frequency.Options{Delta: delta})
}

// itemWise replaces items by near ones rather than by far ones.
func (s *study) itemWise(ctx context.Context, l level) result {
	mech, err := s.randomizer(ctx, l.alpha)
	name := exponentially
	if s.places == nil {
		name = response
	}
	return s.frequencies(name, l, mech, err, 1, false)
}

// randomizer is the estimator with the channel of the largest level.
func (s *study) randomizer(ctx context.Context, alpha float64) (*frequency.Estimator, error) {
	if c, ok := s.space.(*metric.Clustered); ok {
		return s.clusters(ctx, c, s.shuffled(), alpha)
	}
	budget, err := frequency.ItemWiseBudget(ctx, s.shuffled(), emd.Promise{Alpha: alpha, Delta: delta}, nil)
	if err != nil {
		return nil, err
	}
	m, err := exponential.Tight(ctx, s.space, budget.Value, &exponential.Options{Unit: km})
	if err != nil { // tight weights need not exist
		if m, err = exponential.Tuned(ctx, s.space, budget.Value, &exponential.Options{Unit: km}); err != nil {
			return nil, err
		}
	}
	return frequency.New(ctx, m.Channel, s.space, s.shuffled(), &frequency.Options{Delta: delta})
}

// frequencies is an estimate from randomized items. unit is what the mechanism's
// unit of distance is at most in the space, and changed as in moves.
func (s *study) frequencies(name string, l level, mech *frequency.Estimator, err error, unit float64, changed bool) result {
	r := result{name: name, level: l, users: s.first, err: err}
	if err != nil {
		return r
	}
	s.promised(&r, mech.Guarantee(), changed)
	r.bound = 2 * unit * mech.ErrorBound(int64(s.model.Users*s.model.Items))
	r.release = func(rng *rand.Rand) ([]float64, error) {
		counts, err := mech.Release(rng, slices.Values(s.first))
		if err != nil {
			return nil, err
		}
		e, err := mech.Estimate(counts)
		if err != nil {
			return nil, err
		}
		return e.Mean, nil
	}
	return r
}

// promised fills in what a guarantee says.
func (s *study) promised(r *result, g emd.Guarantee, changed bool) {
	r.moves, r.err = s.moves(g, changed)
	r.whole, r.delta = g.UserLevel().Eps, g.UserLevel().Delta
}

// rounding is the part of the largest distance up to which an error is none: sums
// over all items err by some of their ulps.
const rounding = 0x1p-40

// apart is the earth mover's distance between two distributions on the regions.
func (s *study) apart(ctx context.Context, y, z []float64) (float64, error) {
	d, err := wasserstein.W1(ctx, s.space, y, z, nil)
	if err != nil {
		return 0, err
	}
	if d.Cost <= rounding*s.wide {
		return 0, nil
	}
	return d.Cost, nil
}

// measure fills in the mean error of repeated releases, each taken to the nearest
// distribution.
func (s *study) measure(ctx context.Context, r *result, runs int) error {
	r.measured = math.NaN()
	if r.err != nil {
		return ctx.Err()
	}
	exact := exactly(s.indicators, r.users)
	random := random.Seeded(s.seed)
	sum := 0.0
	for range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		y, err := r.release(random)
		if err == nil {
			y, _, err = frequency.Project(ctx, s.space, y)
		}
		if err != nil {
			return fmt.Errorf("%v, %s: %w", r.level, r.name, err)
		}
		if r.first == nil {
			r.first = y
		}
		d, err := s.apart(ctx, y, exact)
		if err != nil {
			return err
		}
		sum += d
	}
	r.measured = sum / float64(runs)
	return nil
}

// sampled is what the moves may reveal where each user's m items are drawn from
// all of its items (emd.Reduced), or +Inf where that cannot be.
func (s *study) sampled(ctx context.Context) float64 {
	mech, err := s.randomizer(ctx, s.alpha)
	if err != nil {
		return math.Inf(1)
	}
	move := 0.0
	for _, row := range s.rows {
		move = max(move, row.Distance*row.Fraction)
	}
	reduced, err := emd.NewReduced[int, *emd.Report](mech, emd.Sampling{Radius: move, Delta: delta})
	if err != nil {
		return math.Inf(1)
	}
	return reduced.Guarantee().At(move).Eps
}
