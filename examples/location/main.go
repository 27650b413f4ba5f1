// Location releases real places privately, and shows what each mechanism
// costs: its proved level, its loss in km, and the time to build it.
//
//	go run ./examples/location
//	go run ./examples/location -alpha 0.2 -prior population -out /tmp/location
//
// It reads places with latitude and longitude, builds every mechanism that the
// library has for them at the same privacy level, audits them, prints a table,
// draws loss against alpha and writes one released place per input.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"github.com/metricdp/metricdp/internal/demo"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

//go:embed cities.csv
var cities []byte

func main() { demo.Main("location", run) }

// place is one row of the input.
type place struct {
	name       string
	at         metric.LatLon
	population float64
}

// study is the input and what was asked of it.
type study struct {
	places []place
	points *metric.Points[metric.LatLon]
	space  *metric.Dense // the distances in km, stored
	prior  []float64     // nil: uniform
	alpha  float64
	seed   uint64
}

const (
	maxPlaces = 3000 // every mechanism here compares all pairs of rows
	km        = metric.Unit("km")
)

func run(ctx context.Context, p *demo.Program) error {
	alpha := p.Flags.Float64("alpha", 0.1, "privacy level per km")
	n := p.Flags.Int("n", 300, "how many places to use, from the top")
	prior := p.Flags.String("prior", "uniform", "uniform or population: whose mean loss is reported, and what the remap knows")
	p.ReadsFile("CSV with the columns lat and lon in degrees, and name and population if there are")
	if err := p.Parse(); err != nil {
		return err
	}
	if !(*alpha > 0) || math.IsInf(*alpha, 1) {
		return fmt.Errorf("-alpha %v: want a finite number > 0", *alpha)
	}
	if *n < 1 || *n > maxPlaces {
		return fmt.Errorf("-n %d: want 1 to %d", *n, maxPlaces)
	}
	s := &study{alpha: *alpha, seed: p.Seed}
	if err := s.read(p, *n, *prior); err != nil {
		return err
	}
	diameter, i, j := metric.Diameter(s.space)
	p.Remark("%d places, up to %.0f km apart (%s to %s); alpha = %v per km:", len(s.places), diameter, s.name(i), s.name(j), *alpha)
	p.Remark("two places 1/alpha = %.3g km apart look alike up to a factor e.\n", 1 / *alpha)

	rows, err := s.compare(ctx, p)
	if err != nil {
		return err
	}
	table := demo.NewTable("mechanism", "level (per km)", "worst loss (km)", "mean loss (km)", "95 % loss (km)", "build time")
	for _, r := range rows {
		if r.err != nil {
			continue
		}
		table.Row(r.name, r.level, r.worst, r.mean, r.quantile, r.took)
	}
	if err := table.WriteText(p.Stdout); err != nil {
		return err
	}
	p.Remark("")
	for _, r := range rows {
		if r.err != nil {
			p.Remark("no %s: %v", r.name, r.err)
		} else if r.remark != "" {
			p.Remark("%s: %s", r.name, r.remark)
		}
	}
	if err := p.WriteFile("table.csv", table.WriteCSV); err != nil {
		return err
	}
	if err := p.WriteFile("released.csv", func(w io.Writer) error { return s.release(w, rows) }); err != nil {
		return err
	}
	head, err := s.head(pictured)
	if err != nil {
		return err
	}
	return head.draw(ctx, p)
}

// read fills in the places and their metric.
func (s *study) read(p *demo.Program, n int, prior string) error {
	f, name, err := p.Input("cities.csv", cities)
	if err != nil {
		return err
	}
	defer f.Close()
	columns := demo.Columns{Required: []string{"lat", "lon"}, Optional: []string{"name", "population"}}
	weighted := prior == "population"
	if weighted {
		columns = demo.Columns{Required: []string{"lat", "lon", "population"}, Optional: []string{"name"}}
	} else if prior != "uniform" {
		return fmt.Errorf("-prior %q: want uniform or population", prior)
	}
	total := 0.0
	err = demo.ReadCSV(name, f, columns, func(r *demo.Row) {
		q := place{
			name: r.Text("name"),
			at:   metric.LatLon{Lat: r.Float("lat", -90, 90), Lon: r.Float("lon", -180, 180)},
		}
		if weighted {
			q.population = r.Float("population", 0, 1e12)
		}
		if len(s.places) < n {
			s.places = append(s.places, q)
			total += q.population
		}
	})
	if err != nil {
		return err
	}
	if weighted && total == 0 {
		return fmt.Errorf("%s: nobody lives in the first %d places", name, len(s.places))
	}
	return s.setup(weighted)
}

// setup fills in the metric and the prior of the places.
func (s *study) setup(weighted bool) (err error) {
	coordinates := make([]metric.LatLon, len(s.places))
	total := 0.0
	for i, q := range s.places {
		coordinates[i] = q.at
		total += q.population
	}
	if weighted {
		for _, q := range s.places {
			s.prior = append(s.prior, q.population/total)
		}
	}
	if s.points, err = metric.NewPoints(coordinates, metric.GreatCircle{}); err != nil {
		return err
	}
	s.space, err = metric.Densify(s.points)
	return err
}

func (s *study) name(i int) string {
	if s.places[i].name != "" {
		return s.places[i].name
	}
	return fmt.Sprintf("place %d", i+1)
}

// result is one row of the table.
type result struct {
	name                         string
	level, worst, mean, quantile float64
	took                         time.Duration
	remark                       string
	err                          error                         // why the mechanism does not exist here
	mech                         mechanism.Mechanism[int, int] // nil where err is set
}

// method is one way to build a mechanism at a level.
type method struct {
	name  string
	build func(alpha float64, o *exponential.Options) (*exponential.Mechanism, error)
}

func (s *study) methods() []method {
	return []method{
		{"constant", func(float64, *exponential.Options) (*exponential.Mechanism, error) {
			_, centre := metric.Radius(s.space)
			return exponential.Constant(s.space.Len(), centre, km)
		}},
		{"exponential, standard", func(alpha float64, o *exponential.Options) (*exponential.Mechanism, error) {
			return exponential.Standard(s.space, alpha, o)
		}},
		{"exponential, tuned", func(alpha float64, o *exponential.Options) (*exponential.Mechanism, error) {
			return exponential.Tuned(s.space, alpha, o)
		}},
		{"exponential, tight weights", func(alpha float64, o *exponential.Options) (*exponential.Mechanism, error) {
			return exponential.Tight(s.space, alpha, o)
		}},
	}
}

// compare builds every mechanism at the study's level and measures it.
func (s *study) compare(ctx context.Context, p *demo.Program) ([]result, error) {
	var rows []result
	best := -1
	for _, m := range s.methods() {
		report, wipe := p.Progress(m.name)
		start := time.Now()
		mech, err := m.build(s.alpha, &exponential.Options{Unit: km, Context: ctx, Progress: report})
		took := time.Since(start)
		wipe()
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			rows = append(rows, result{name: m.name, err: err})
			continue
		}
		r, err := s.measure(m.name, mech.Channel, took)
		if err != nil {
			return nil, err
		}
		if best < 0 || r.mean < rows[best].mean {
			best = len(rows)
		}
		rows = append(rows, r)
	}
	remapped, err := s.remap(rows[best])
	if err != nil {
		return nil, err
	}
	noise, err := s.noise(s.alpha, simulated)
	if err != nil {
		return nil, err
	}
	return append(rows, remapped, noise), nil
}

func (s *study) measure(name string, c *mechanism.Channel, took time.Duration) (r result, err error) {
	losses, err := c.Loss(s.space)
	if err != nil {
		return r, err
	}
	r = result{name: name, level: c.Guarantee().Alpha(), took: took, mech: c}
	return r, s.summarise(&r, losses)
}

func (s *study) summarise(r *result, losses mechanism.Losses) (err error) {
	r.worst, _ = losses.Worst()
	if r.mean, err = losses.Mean(s.prior); err != nil {
		return err
	}
	r.quantile, err = losses.Quantile(0.95)
	return err
}

// remap post-processes a mechanism by what the prior says of its outputs.
func (s *study) remap(r result) (result, error) {
	c := r.mech.(*mechanism.Channel)
	start := time.Now()
	labels, err := c.Remap(s.prior, s.space)
	if err != nil {
		return result{}, err
	}
	d, err := c.Relabel(labels)
	if err != nil {
		return result{}, err
	}
	return s.measure("  the same, remapped", d, time.Since(start))
}

const noiseName = "noise on the sphere, snapped"

// How many releases a place estimate the loss of the mechanism that has no
// matrix: in the table, and for a point of the picture.
const (
	simulated        = 400
	simulatedPicture = 30
)

// noise adds noise on the sphere and snaps to the nearest place.
func (s *study) noise(alpha float64, releases int) (result, error) {
	start := time.Now()
	sphere, err := additive.NewSphere(alpha, nil)
	if err != nil {
		return result{}, err
	}
	snapped := additive.Snap(mechanism.Mechanism[metric.LatLon, metric.LatLon](sphere), s.points)
	m := places{snapped, s.points}
	took := time.Since(start)
	r := rng.Seeded(s.seed)
	losses := make(mechanism.Losses, len(s.places))
	for x := range losses {
		for range releases {
			y, err := m.Release(r, x)
			if err != nil {
				return result{}, err
			}
			losses[x] += s.space.Distance(x, y) / float64(releases)
		}
	}
	res := result{name: noiseName, level: m.Guarantee().Alpha(), took: took, mech: m}
	res.remark = fmt.Sprintf("losses estimated from %d releases a place; before snapping the noise stays within %.3g km with probability 95 %%; it works for any place on Earth, listed or not",
		releases, sphere.RadiusQuantile(0.95))
	return res, s.summarise(&res, losses)
}

// places lets a mechanism that takes coordinates take the index of a place.
type places struct {
	mechanism.Mechanism[metric.LatLon, int]
	points *metric.Points[metric.LatLon]
}

func (p places) Release(r *rand.Rand, x int) (int, error) {
	return p.Mechanism.Release(r, p.points.At(x))
}

// release writes one draw of every mechanism for every place. The seed makes
// the file repeat; a real release would pass a nil generator.
func (s *study) release(w io.Writer, rows []result) error {
	t := demo.NewTable("name", "lat", "lon", "mechanism", "released", "released_lat", "released_lon", "moved_km")
	r := rng.Seeded(s.seed)
	for _, row := range rows {
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

// head is the study of the first n places.
func (s *study) head(n int) (*study, error) {
	if n >= len(s.places) {
		return s, nil
	}
	h := &study{places: s.places[:n], alpha: s.alpha, seed: s.seed}
	return h, h.setup(s.prior != nil)
}

// draw writes the picture of mean loss against the level.
func (s *study) draw(ctx context.Context, p *demo.Program) error {
	type line struct {
		name string
		mean func(alpha float64) (float64, error)
	}
	var lines []line
	for _, m := range s.methods() {
		lines = append(lines, line{m.name, func(alpha float64) (float64, error) {
			mech, err := m.build(alpha, &exponential.Options{Unit: km, Context: ctx})
			if err != nil {
				return math.NaN(), nil // a gap in the line: no such mechanism here
			}
			r, err := s.measure(m.name, mech.Channel, 0)
			return r.mean, err
		}})
	}
	lines = append(lines, line{noiseName, func(alpha float64) (float64, error) {
		r, err := s.noise(alpha, simulatedPicture)
		return r.mean, err
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
	return p.WriteFile("loss.png", func(w io.Writer) error { return chart.Write(w, "png") })
}
