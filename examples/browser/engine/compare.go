package engine

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// What a comparison takes: a place is hidden among others, and a press of a button
// should be answered within a second.
const (
	minPlaces = 2
	maxPlaces = 60
)

type compareQuestion struct {
	Wish
	Places []metric.LatLon
	At     int // the place that is released
}

// Row is one mechanism that releases places of a list, at the level of the wish.
type Row struct {
	Name   string
	Remark string    // why there is none, where Probs is nil
	Level  float64   // audited, per km
	Mean   float64   // km: expected loss, places being equally likely
	Worst  float64   // km: the largest expected loss of a place
	Probs  []float64 // of the answers at the place asked about
}

func (q compareQuestion) answer(ctx context.Context) ([]Row, error) {
	alpha, err := q.alpha()
	if err != nil {
		return nil, err
	}
	if len(q.Places) < minPlaces || len(q.Places) > maxPlaces {
		return nil, fmt.Errorf("%d places: want %d to %d", len(q.Places), minPlaces, maxPlaces)
	}
	if q.At < 0 || q.At >= len(q.Places) {
		return nil, fmt.Errorf("place %d of %d", q.At, len(q.Places))
	}
	points, err := metric.NewPoints(q.Places, metric.GreatCircle{})
	if err != nil {
		return nil, err
	}
	prior := make([]float64, len(q.Places))
	for i := range prior {
		prior[i] = 1 / float64(len(prior))
	}
	best, err := exponential.Best(ctx, metric.Same(points), alpha, &exponential.BestOptions{Prior: prior})
	if err != nil {
		return nil, err
	}
	rows := []Row{}
	for _, m := range []struct {
		name  string
		build func() (*mechanism.Channel, error)
	}{
		{"best: " + string(best.Method), func() (*mechanism.Channel, error) { return best.Channel, nil }},
		{"noise, snapped", func() (*mechanism.Channel, error) {
			return channel(exponential.Snapped(ctx, points, alpha, nil))
		}},
		{"exponential, standard", func() (*mechanism.Channel, error) {
			return channel(exponential.Standard(ctx, points, alpha, nil))
		}},
		{"one place for all", func() (*mechanism.Channel, error) {
			_, center, err := metric.Radius(ctx, points)
			if err != nil {
				return nil, err
			}
			return channel(exponential.Constant(points.Len(), center, metric.UnitOf(points)))
		}},
	} {
		r := Row{Name: m.name}
		c, err := m.build()
		if err == nil {
			err = r.measure(ctx, c, points, prior, q.At)
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			r = Row{Name: m.name, Remark: err.Error()}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// channel is that of m, where there is no error.
func channel(m *exponential.Mechanism, err error) (*mechanism.Channel, error) {
	if err != nil {
		return nil, err
	}
	return m.Channel, nil
}

// measure fills in what c costs, and its answers at x by place.
func (r *Row) measure(ctx context.Context, c *mechanism.Channel, points metric.Finite, prior []float64, x int) error {
	losses, err := c.Loss(ctx, points)
	if err != nil {
		return err
	}
	if r.Mean, err = losses.Mean(prior); err != nil {
		return err
	}
	r.Worst, _ = losses.Worst()
	r.Level = c.Guarantee().Alpha()
	r.Probs = make([]float64, points.Len())
	for y, p := range c.Row(x, nil) {
		r.Probs[c.Output(y)] += p
	}
	return nil
}
