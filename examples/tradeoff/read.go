package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/metric"
)

// points is a list of points that a file gives row by row, and the metrics on
// them.
type points interface {
	columns() csvfile.Columns
	add(r *csvfile.Row)
	// metrics returns the privacy and the utility metric of n points, spread
	// evenly.
	metrics(n int) (rho1, rho2 metric.Finite, err error)
}

// study is a space, and what to call it.
type study struct {
	points
	metric  string // as -metric names it
	file    string // that the points come from
	space   metric.Bimetric
	unit    metric.Unit // of rho1
	loss    string      // the unit of rho2 after a space, or ""
	about   string      // the metrics in words, with a verb for the diameter of rho1
	methods []demo.Method
	rows    []row
}

// read reads the file of -in, or the one that ships for the metric, and
// measures n of its points, or all.
func read(ctx context.Context, p *demo.Program, name string, n int) (*study, error) {
	s := &study{metric: name, unit: "km", loss: " km"}
	file, data := "cities.csv", cities
	switch name {
	case "greatcircle":
		s.points, s.about = &sphere{}, "up to %.0f km apart"
	case "euclidean":
		if p.In == "" {
			return nil, errors.New("-metric euclidean: want a file of -in")
		}
		s.points, s.about = &vectors{}, "up to %.4g units apart"
		s.unit, s.loss = "unit", ""
	case "prefix":
		s.points, s.about = &paths{}, "up to %.0f edges apart; the loss is 2^-k where answer and truth share the first k steps of their paths"
		s.unit, s.loss = "edge", ""
		file, data = "mammals.csv", mammals
	default:
		return nil, fmt.Errorf("-metric %q: want euclidean, greatcircle or prefix", name)
	}
	f, file, err := p.Input(file, data)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s.file = filepath.Base(file)
	if err := csvfile.Read(file, f, s.columns(), s.add); err != nil {
		return nil, err
	}
	rho1, rho2, err := s.metrics(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if rho1.Len() < 2 {
		return nil, fmt.Errorf("%s: one point, want two at least", file)
	}
	if s.space.Privacy, err = metric.Densify(ctx, rho1); err != nil {
		return nil, err
	}
	s.space.Utility, s.methods = s.space.Privacy, s.plain()
	if rho1 != rho2 {
		// As a hierarchy, in which packing numbers are exact and fast.
		s.space.Utility, err = metric.Subdominant(ctx, rho2)
		s.methods = append(s.methods, s.branches()...)
	}
	return s, err
}

// spread returns n points spread evenly over the list, or all.
func spread[P any](pts []P, n int) []P {
	n = min(n, len(pts))
	some := make([]P, n)
	for k := range some {
		some[k] = pts[k*len(pts)/n]
	}
	return some
}

// same is one metric for both.
func same[P any](pts []P, n int, space metric.Space[P]) (rho1, rho2 metric.Finite, err error) {
	f, err := metric.NewPoints(spread(pts, n), space)
	return f, f, err
}

// sphere are places on the Earth, at great-circle distance in km.
type sphere []metric.LatLon

func (s *sphere) columns() csvfile.Columns { return csvfile.Columns{Place: true} }
func (s *sphere) add(r *csvfile.Row) {
	*s = append(*s, r.LatLon())
}
func (s *sphere) metrics(n int) (rho1, rho2 metric.Finite, err error) {
	return same(*s, n, metric.GreatCircle{})
}

// vectors are points of the plane or of space.
type vectors [][]float64

// maxCoordinate keeps sums of squares, and alpha times them, finite.
const maxCoordinate = 1e100

func (v *vectors) columns() csvfile.Columns {
	return csvfile.Columns{Required: []string{"x", "y"}, Optional: []string{"z"}}
}
func (v *vectors) add(r *csvfile.Row) {
	at := make([]float64, 0, 3)
	for _, c := range []string{"x", "y", "z"} {
		at = append(at, r.Float(c, -maxCoordinate, maxCoordinate))
	}
	*v = append(*v, at)
}
func (v *vectors) metrics(n int) (rho1, rho2 metric.Finite, err error) {
	return same(*v, n, metric.Euclidean{})
}

// paths are nodes of a hierarchy, each the steps from the root down. Privacy is
// measured by edges walked, loss by 2^-k where the first k steps agree: what
// matters is to stay in the right branch.
type paths [][]string

func (p *paths) columns() csvfile.Columns { return csvfile.Columns{Required: []string{"path"}} }
func (p *paths) add(r *csvfile.Row) {
	path := strings.Split(r.Text("path"), ">")
	if slices.Contains(path, "") {
		r.Fail("path", "a step without a name")
	}
	*p = append(*p, path)
}
func (p *paths) metrics(n int) (rho1, rho2 metric.Finite, err error) {
	some := spread(*p, n)
	if rho1, err = metric.NewPoints(some, metric.Func[[]string](edges)); err != nil {
		return nil, nil, err
	}
	rho2, err = metric.NewPoints(some, metric.CommonPrefix[string]{})
	return rho1, rho2, err
}

// edges is the number of edges between two nodes.
func edges(x, y []string) float64 {
	k := 0
	for k < min(len(x), len(y)) && x[k] == y[k] {
		k++
	}
	return float64(len(x) + len(y) - 2*k)
}
