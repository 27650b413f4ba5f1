// Roads releases places of a town privately, where distances are those along its
// streets, by the best mechanism there is:
//
//	go run .
//	go run . -in town.osm.pbf -alpha 0.002 -k 30 -n 1500 -time 5m -out /tmp/roads
//
// It reads an OpenStreetMap extract, takes the crossings of its largest connected
// network of roads as inputs and a few of them as the places that may be released,
// solves the linear program of the mechanism of least loss between the two, with a
// proof, compares it with what else there is, and draws a map.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/metric"
)

//go:embed town.osm
var town []byte

func main() { demo.Main("roads", run) }

const (
	minCrossings = 2    // a place is hidden among others
	maxCrossings = 6000 // all pairs have a distance, which is stored
	maxPlaces    = 500
)

func run(ctx context.Context, p *demo.Program) error {
	alpha := p.Flags.Float64("alpha", 0.005, "privacy level per meter of road")
	k := p.Flags.Int("k", 20, "how many places may be released")
	n := p.Flags.Int("n", 1000, "how many crossings to use at most: those nearest to the center by road")
	center := p.Flags.String("center", "", "`LAT,LON` of the center of what is used and of the input that is drawn (default the middle)")
	worst := p.Flags.Bool("worst", false, "minimize the largest loss of a crossing, not their mean")
	limit := p.Flags.Duration("time", time.Minute, "for the optimal mechanism, which is stopped then")
	p.ReadsFile("OpenStreetMap extract, PBF or XML")
	if err := p.Parse(); err != nil {
		return err
	}
	switch {
	case !(*alpha > 0) || math.IsInf(*alpha, 1):
		return fmt.Errorf("-alpha %v: want a finite number > 0", *alpha)
	case *k < 1 || *k > maxPlaces:
		return fmt.Errorf("-k %d: want 1 to %d", *k, maxPlaces)
	case *n < minCrossings || *n > maxCrossings:
		return fmt.Errorf("-n %d: want %d to %d", *n, minCrossings, maxCrossings)
	case *limit <= 0:
		return fmt.Errorf("-time %v: want a duration > 0", *limit)
	}
	s := &study{alpha: *alpha, worst: *worst, limit: *limit, seed: p.Seed, own: p.In == ""}
	middle, err := parseCenter(*center)
	if err != nil {
		return err
	}
	if s.chart, err = read(ctx, func() (io.ReadCloser, string, error) { return p.Input("town.osm", town) }); err != nil {
		return err
	}
	if err := s.choose(ctx, p, *n, *k, middle); err != nil {
		return err
	}
	if err := s.compare(ctx, p); err != nil {
		return err
	}
	table := s.table()
	p.Print(table)
	s.explain(p)
	if err := s.samples(p); err != nil {
		return err
	}
	return cmp.Or(
		p.WriteFile("table.csv", table.WriteCSV),
		p.WriteFile("released.csv", s.release),
		s.draw(p))
}

// parseCenter reads -center; nil is none.
func parseCenter(text string) (*metric.LatLon, error) {
	if text == "" {
		return nil, nil
	}
	var c metric.LatLon
	if _, err := fmt.Sscanf(text, "%g,%g", &c.Lat, &c.Lon); err != nil || earth.Check(c, c) != nil {
		return nil, fmt.Errorf("-center %q: want a latitude and a longitude in degrees, as in 48.85,2.35", text)
	}
	return &c, nil
}
