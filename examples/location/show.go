package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// introduce says what the places are and what alpha means for them.
func (s *study) introduce(ctx context.Context, p *demo.Program) error {
	diameter, i, j, err := metric.Diameter(ctx, s.space)
	if err != nil {
		return err
	}
	p.Remark("%d places, up to %.0f km apart (%s to %s); alpha = %v per km:", len(s.places), diameter, s.name(i), s.name(j), s.alpha)
	p.Remark("two places 1/alpha = %.3g km apart look alike up to a factor e.\n", 1/s.alpha)
	return nil
}

// table is what was measured.
func (s *study) table() *demo.Table {
	t := demo.NewTable("mechanism", "level (per km)", "worst loss (km)", "mean loss (km)", "95 % loss (km)", "build time")
	for _, r := range s.rows {
		if r.err == nil {
			t.Row(r.name, r.level, r.Worst, r.Mean, r.Quantile, r.took)
		}
	}
	return t
}

// explain says what there is to say about single rows.
func (s *study) explain(p *demo.Program) {
	p.Remark("")
	for _, r := range s.rows {
		if r.err != nil {
			p.Remark("no %s: %v", r.name, r.err)
		} else if r.remark != "" {
			p.Remark("%s: %s", r.name, r.remark)
		}
	}
}

// release writes one draw of every mechanism for every place. The seed makes
// the file repeat; a real release would pass a nil generator.
func (s *study) release(w io.Writer) error {
	t := demo.NewTable("name", "lat", "lon", "mechanism", "released", "released_lat", "released_lon", "moved_km")
	r := random.Seeded(s.seed)
	for _, row := range s.rows {
		if row.err != nil {
			continue
		}
		for x, from := range s.places {
			y, err := row.mech.Release(r, x)
			if err != nil {
				return err
			}
			to := s.places[y]
			t.Row(s.name(x), from.at.Lat, from.at.Lon, row.name, s.name(y), to.at.Lat, to.at.Lon, s.space.Distance(x, y))
		}
	}
	return t.WriteCSV(w)
}

// steps is how many levels the picture shows, from a tenth of alpha to ten
// times it.
const steps = 13

// pictured is how many places the picture is computed on: every point of it
// builds and audits a mechanism.
const pictured = 300

// draw writes the picture of mean loss against the level.
func (s *study) draw(ctx context.Context, p *demo.Program) error {
	type line struct {
		name string
		mean func(alpha float64) (float64, error)
	}
	var lines []line
	for _, m := range s.methods() {
		lines = append(lines, line{m.name, func(alpha float64) (float64, error) {
			mech, err := m.build(ctx, alpha, &exponential.Options{Unit: km})
			if err != nil {
				return math.NaN(), nil // a gap in the line: no such mechanism here
			}
			r, err := s.measure(ctx, m.name, mech.Channel, 0)
			return r.Mean, err
		}})
	}
	lines = append(lines, line{noiseName, func(alpha float64) (float64, error) {
		r, err := s.noise(ctx, alpha, simulatedPicture)
		return r.Mean, err
	}})

	chart := demo.Chart{Title: fmt.Sprintf("What privacy costs (%d places)", len(s.places)), X: "alpha (per km)", Y: "mean loss (km)", LogX: true, LogY: true}
	report, wipe := p.Progress("picture")
	defer wipe()
	for k, l := range lines {
		series := demo.Series{Name: l.name}
		for i := range steps {
			alpha := s.alpha * math.Pow(10, 2*float64(i)/(steps-1)-1)
			y, err := l.mean(alpha)
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			series.X, series.Y = append(series.X, alpha), append(series.Y, y)
			report(k*steps+i+1, len(lines)*steps)
		}
		chart.Series = append(chart.Series, series)
	}
	return p.WriteCharts("loss.png", &chart)
}
