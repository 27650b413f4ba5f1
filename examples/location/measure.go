package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// result is one row of the table.
type result struct {
	name  string
	level float64
	demo.Loss
	took   time.Duration
	remark string
	err    error                         // why the mechanism does not exist here
	mech   mechanism.Mechanism[int, int] // nil where err is set
}

const km = metric.Unit("km")

// method is one way to build a mechanism at a level.
type method struct {
	name  string
	build func(ctx context.Context, alpha float64, o *exponential.Options) (*exponential.Mechanism, error)
}

// family names a mechanism of the exponential family.
func (s *study) family(name string, build func(context.Context, metric.Finite, float64, *exponential.Options) (*exponential.Mechanism, error)) method {
	return method{name, func(ctx context.Context, alpha float64, o *exponential.Options) (*exponential.Mechanism, error) {
		return build(ctx, s.space, alpha, o)
	}}
}

// methods are the mechanisms that have a matrix, in the order of the table.
func (s *study) methods() []method {
	return []method{
		{"constant", func(ctx context.Context, _ float64, _ *exponential.Options) (*exponential.Mechanism, error) {
			_, center, err := metric.Radius(ctx, s.space)
			if err != nil {
				return nil, err
			}
			return exponential.Constant(s.space.Len(), center, km)
		}},
		s.family("exponential, standard", exponential.Standard),
		s.family("exponential, tuned", exponential.Tuned),
		s.family("exponential, tight weights", demo.Tight),
	}
}

// compare builds every mechanism at the study's level and measures it.
func (s *study) compare(ctx context.Context, p *demo.Program) error {
	best := -1
	for _, m := range s.methods() {
		report, wipe := p.Progress(m.name)
		start := time.Now()
		mech, err := m.build(ctx, s.alpha, &exponential.Options{Unit: km, Progress: report})
		took := time.Since(start)
		wipe()
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.rows = append(s.rows, result{name: m.name, err: err})
			continue
		}
		r, err := s.measure(ctx, m.name, mech.Channel, took)
		if err != nil {
			return err
		}
		if best < 0 || r.Mean < s.rows[best].Mean {
			best = len(s.rows)
		}
		s.rows = append(s.rows, r)
	}
	remapped, err := s.remap(ctx, s.rows[best]) // the constant mechanism always exists
	if err != nil {
		return err
	}
	noise, err := s.noise(ctx, s.alpha, simulated)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, remapped, noise)
	return nil
}

func (s *study) measure(ctx context.Context, name string, c *mechanism.Channel, took time.Duration) (r result, err error) {
	losses, err := c.Loss(ctx, s.space)
	if err != nil {
		return r, err
	}
	r = result{name: name, level: c.Guarantee().Alpha(), took: took, mech: c}
	r.Loss, err = demo.LossOf(losses, s.prior)
	return r, err
}

// remap post-processes a mechanism by what the prior says of its outputs.
func (s *study) remap(ctx context.Context, r result) (result, error) {
	c := r.mech.(*mechanism.Channel)
	start := time.Now()
	labels, err := c.Remap(ctx, s.prior, s.space)
	if err != nil {
		return result{}, err
	}
	d, err := c.Relabel(labels)
	if err != nil {
		return result{}, err
	}
	return s.measure(ctx, "  the same, remapped", d, time.Since(start))
}

const noiseName = "noise on the sphere, snapped"

// How many releases a place estimate the loss of the mechanism that has no
// matrix: in the table, and for a point of the picture.
const (
	simulated        = 400
	simulatedPicture = 30
)

// noise adds noise on the sphere and snaps to the nearest place.
func (s *study) noise(ctx context.Context, alpha float64, releases int) (result, error) {
	start := time.Now()
	sphere, err := additive.NewSphere(alpha, nil)
	if err != nil {
		return result{}, err
	}
	snapped := additive.Snap(mechanism.Mechanism[metric.LatLon, metric.LatLon](sphere), s.points)
	m := places{snapped, s.points}
	res := result{name: noiseName, level: m.Guarantee().Alpha(), took: time.Since(start), mech: m}
	res.remark = fmt.Sprintf("losses estimated from %d releases a place; before snapping the noise stays within %.3g km with probability 95 %%; it works for any place on Earth, listed or not",
		releases, sphere.RadiusQuantile(0.95))
	res.Loss, err = demo.Simulate(ctx, m, s.space, s.prior, s.seed, releases)
	return res, err
}

// places lets a mechanism that takes coordinates take the index of a place.
type places struct {
	mechanism.Mechanism[metric.LatLon, int]
	points *metric.Points[metric.LatLon]
}

func (p places) Release(rng *rand.Rand, x int) (int, error) {
	return p.Mechanism.Release(rng, p.points.At(x))
}
