package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/metric"
)

// place is one row of the input.
type place struct {
	name       string
	at         metric.LatLon
	population float64
}

// study is the input, what was asked of it and what was found.
type study struct {
	places []place
	points *metric.Points[metric.LatLon]
	space  *metric.Dense // the distances in km, stored
	alpha  float64
	seed   uint64

	demo.Comparison
}

// read fills in the places and their metric.
func (s *study) read(ctx context.Context, p *demo.Program, n int, prior string) error {
	f, name, err := p.Input("cities.csv", cities)
	if err != nil {
		return err
	}
	defer f.Close()
	columns := csvfile.Columns{Place: true, Optional: []string{"name", "population"}}
	weighted := prior == "population"
	if weighted {
		columns = csvfile.Columns{Required: []string{"population"}, Place: true, Optional: []string{"name"}}
	} else if prior != "uniform" {
		return fmt.Errorf("-prior %q: want uniform or population", prior)
	}
	err = csvfile.Read(name, f, columns, func(r *csvfile.Row) {
		q := place{
			name: r.Text("name"),
			at:   r.LatLon(),
		}
		if weighted {
			q.population = r.Float("population", 0, 1e12)
		}
		if len(s.places) < n {
			s.places = append(s.places, q)
		}
	})
	if err != nil {
		return err
	}
	if len(s.places) < minPlaces {
		return fmt.Errorf("%s: one place alone: want at least %d, for a place is hidden among others", name, minPlaces)
	}
	if weighted && !slices.ContainsFunc(s.places, func(q place) bool { return q.population > 0 }) {
		return fmt.Errorf("%s: nobody lives in the first %d places", name, len(s.places))
	}
	return s.setup(ctx, weighted)
}

// setup fills in the metric and the prior of the places.
func (s *study) setup(ctx context.Context, weighted bool) (err error) {
	var coordinates []metric.LatLon
	for _, q := range s.places {
		coordinates = append(coordinates, q.at)
		if weighted {
			s.Prior = append(s.Prior, q.population)
		}
	}
	floats.Scale(1/floats.Sum(s.Prior), s.Prior)
	if s.points, err = metric.NewPoints(coordinates, metric.GreatCircle{}); err != nil {
		return err
	}
	s.space, err = metric.Densify(ctx, s.points)
	s.Space = s.space
	return err
}

func (s *study) name(i int) string {
	if s.places[i].name != "" {
		return s.places[i].name
	}
	return fmt.Sprintf("place %d", i+1)
}

// head is the study of the first n places.
func (s *study) head(ctx context.Context, n int) (*study, error) {
	if n >= len(s.places) {
		return s, nil
	}
	h := &study{places: s.places[:n], alpha: s.alpha, seed: s.seed}
	return h, h.setup(ctx, s.Prior != nil)
}
