package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/metricdp/metricdp/examples/internal/demo"
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
	for _, r := range s.Rows {
		if r.Err == nil {
			t.Row(r.Name, r.Level, r.Worst, r.Mean, r.Quantile, r.Took)
		}
	}
	return t
}

// release writes one draw of every mechanism for every place.
func (s *study) release(w io.Writer) error {
	t := demo.NewTable("name", "lat", "lon", "mechanism", "released", "released_lat", "released_lon", "moved_km")
	err := s.Release(s.seed, func(r demo.Row, x, y int) {
		from, to := s.places[x].at, s.places[y].at
		t.Row(s.name(x), from.Lat, from.Lon, r.Name, s.name(y), to.Lat, to.Lon, s.space.Distance(x, y))
	})
	return cmp.Or(err, t.WriteCSV(w))
}

// steps is how many levels the picture shows, from a tenth of alpha to ten
// times it.
const steps = 13

// pictured is how many places the picture is computed on: every point of it
// builds and audits a mechanism.
const pictured = 300

// draw writes the picture of mean loss against the level.
func (s *study) draw(ctx context.Context, p *demo.Program) error {
	var lines []demo.Line
	for _, m := range s.methods() {
		lines = append(lines, demo.Line{Name: m.Name, At: func(alpha float64) (float64, float64, error) {
			r, err := s.Try(ctx, m, alpha, nil)
			return alpha, r.Mean, err
		}})
	}
	lines = append(lines, demo.Line{Name: noiseName, At: func(alpha float64) (float64, float64, error) {
		r, err := s.noise(ctx, alpha, simulatedPicture)
		return alpha, r.Mean, err
	}})
	chart := demo.Chart{Title: fmt.Sprintf("What privacy costs (%d places)", len(s.places)), X: "alpha (per km)", Y: "mean loss (km)", LogX: true, LogY: true}
	if err := chart.AddLines(ctx, p, demo.Levels(s.alpha/10, s.alpha*10, steps), lines); err != nil {
		return err
	}
	return p.WriteCharts("loss.png", &chart)
}
