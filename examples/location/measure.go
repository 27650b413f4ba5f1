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

const km = metric.Unit("km")

// methods are the mechanisms that have a matrix, in the order of the table.
func (s *study) methods() []demo.Method {
	return []demo.Method{
		{Name: "constant", Build: func(ctx context.Context, _ float64, _ demo.Report) (demo.Built, error) {
			_, center, err := metric.Radius(ctx, s.space)
			if err != nil {
				return demo.Built{}, err
			}
			return demo.Matrix(exponential.Constant(s.space.Len(), center, km))
		}},
		demo.Family("exponential, standard", s.space, km, exponential.Standard),
		demo.Family("exponential, tuned", s.space, km, exponential.Tuned),
		demo.Family("exponential, tight weights", s.space, km, exponential.Tight),
	}
}

// compare builds every mechanism at the study's level and measures it.
func (s *study) compare(ctx context.Context, p *demo.Program) error {
	if err := s.Run(ctx, p, s.alpha, s.methods()); err != nil {
		return err
	}
	best := s.Rows[0] // the constant mechanism always exists
	for _, r := range s.Rows {
		if r.Mean < best.Mean {
			best = r
		}
	}
	remapped, err := s.remap(ctx, best)
	if err != nil {
		return err
	}
	noise, err := s.noise(ctx, s.alpha, simulated)
	if err != nil {
		return err
	}
	s.Rows = append(s.Rows, remapped, noise)
	return nil
}

// remap post-processes a mechanism by what the prior says of its outputs.
func (s *study) remap(ctx context.Context, r demo.Row) (demo.Row, error) {
	c := r.Mech.(*mechanism.Channel)
	start := time.Now()
	labels, err := c.Remap(ctx, s.Prior, s.space)
	if err != nil {
		return demo.Row{}, err
	}
	d, err := c.Relabel(labels)
	if err != nil {
		return demo.Row{}, err
	}
	took := time.Since(start)
	r, err = s.Of(ctx, "  the same, remapped", d)
	r.Took = took
	return r, err
}

const noiseName = "noise on the sphere, snapped"

// How many releases a place estimate the loss of the mechanism that has no
// matrix: in the table, and for a point of the picture.
const (
	simulated        = 400
	simulatedPicture = 30
)

// noise adds noise on the sphere and snaps to the nearest place.
func (s *study) noise(ctx context.Context, alpha float64, releases int) (demo.Row, error) {
	start := time.Now()
	sphere, err := additive.NewSphere(alpha, nil)
	if err != nil {
		return demo.Row{}, err
	}
	snapped := additive.Snap(mechanism.Mechanism[metric.LatLon, metric.LatLon](sphere), s.points)
	m := places{snapped, s.points}
	res := demo.Row{Name: noiseName, Level: m.Guarantee().Alpha(), Took: time.Since(start), Mech: m}
	res.Remark = fmt.Sprintf("losses estimated from %d releases a place; before snapping the noise stays within %.3g km with probability 95 %%; it works for any place on Earth, listed or not",
		releases, sphere.RadiusQuantile(0.95))
	res.Loss, err = demo.Simulate(ctx, m, s.space, s.Prior, s.seed, releases)
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
