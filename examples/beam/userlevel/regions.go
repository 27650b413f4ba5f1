package main

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/metricdp/metricdp/examples/beam/internal/table"
	"github.com/metricdp/metricdp/examples/beam/privatebeam"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// regions describes the estimator to the workers.
type regions struct {
	At     []metric.LatLon
	Model  emd.Model
	Alpha0 float64 // of the channel, per km
	Delta  float64
}

// channel is the exponential mechanism on the regions.
func (r *regions) channel(ctx context.Context) (*mechanism.Channel, *metric.Points[metric.LatLon], error) {
	space, err := metric.NewPoints(r.At, metric.GreatCircle{})
	if err != nil {
		return nil, nil, err
	}
	m, err := exponential.Tuned(ctx, space, r.Alpha0, &exponential.Options{Unit: km})
	if err != nil {
		return nil, nil, err
	}
	return m.Channel, space, nil
}

func (r *regions) itemWise(ctx context.Context) (*frequency.ItemWise, error) {
	c, _, err := r.channel(ctx)
	if err != nil {
		return nil, err
	}
	return frequency.NewItemWise(ctx, c, r.Model, &frequency.ItemWiseOptions{Delta: r.Delta})
}

// Frequencies implements privatebeam.Estimator.
func (r regions) Frequencies(ctx context.Context) (*frequency.Estimator, error) {
	c, space, err := r.channel(ctx)
	if err != nil {
		return nil, err
	}
	return frequency.New(ctx, c, space, r.Model, &frequency.Options{Delta: r.Delta})
}

func init() {
	register.DoFn3x1[context.Context, string, func(string, int), error](&readFn{})
	register.DoFn2x0[privatebeam.Estimate, func(string)](&formatFn{})
	register.Emitter2[string, int]()
	register.Emitter1[string]()
	privatebeam.RegisterEstimator[regions]()
}

// readFn reads a row: a user, and the region nearest to the place.
type readFn struct {
	Header  table.Header
	Regions []metric.LatLon

	locator *metric.Locator[metric.LatLon]
}

func (f *readFn) Setup() error {
	points, err := metric.NewPoints(f.Regions, metric.GreatCircle{})
	if err != nil {
		return err
	}
	f.locator = metric.NewLocator(points)
	return nil
}

// ProcessElement leaves out rows that name no user. Where only the place cannot be
// read, it is the first region: the user stays, because the number of users is
// public.
func (f *readFn) ProcessElement(ctx context.Context, line string, emit func(string, int)) error {
	fields, err := f.Header.Fields(line)
	if err == nil && fields == nil {
		return nil
	}
	if err != nil || fields[0] == "" {
		table.Malformed.Inc(ctx, 1)
		return nil
	}
	region := 0
	if at, err := parsePlace(fields[1], fields[2]); err != nil {
		table.Malformed.Inc(ctx, 1)
	} else {
		region, _ = f.locator.Nearest(at)
	}
	emit(fields[0], region)
	return nil
}

// formatFn writes an estimate, a line for each region.
type formatFn struct {
	Names   []string
	Regions []metric.LatLon
}

func (f *formatFn) ProcessElement(e privatebeam.Estimate, emit func(string)) {
	for x, name := range f.Names {
		emit(line(name, f.Regions[x], e.Mean[x], e.StdErr[x], e.Distribution[x]))
	}
}
