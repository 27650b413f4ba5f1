package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"
	"github.com/paulmach/osm/osmxml"

	"github.com/metricdp/metricdp/metric"
)

// earth measures in meters.
var earth = metric.GreatCircle{Radius: 1000 * metric.EarthRadiusKm}

// streets are the values of the tag highway that count as roads: those that cars
// and walkers have in common, each with how wide it is drawn. What is for one of
// them alone, such as footways and tracks, does not count, and neither do service
// roads. The direction of one-way streets is not looked at, for a metric has none.
var streets = map[string]float64{
	"motorway": 4, "motorway_link": 2.6, "trunk": 4, "trunk_link": 2.6, "primary": 4, "primary_link": 2.6,
	"secondary": 3.2, "secondary_link": 2.4, "tertiary": 2.8, "tertiary_link": 2.2,
	"unclassified": 2, "residential": 2, "living_street": 2, "pedestrian": 2, "road": 2,
}

// kind is how a way is treated.
type kind int

const (
	ignored kind = iota
	water        // a closed way
	river        // a line
	green        // a closed way
	path         // drawn, no road
	road
)

// way is a line or an outline on the map.
type way struct {
	kind  kind
	width float64 // of a road
	nodes []osm.NodeID
}

// extract is what was read of a file.
type extract struct {
	ways []way
	at   map[osm.NodeID]metric.LatLon // of their nodes
}

// kindOf tells the kind of a way, and of a road its width.
func kindOf(w *osm.Way) (kind, float64) {
	tags := w.Tags
	if highway := tags.Find("highway"); highway != "" {
		if tags.Find("area") == "yes" {
			return ignored, 0
		}
		if width, ok := streets[highway]; ok {
			return road, width
		}
		switch highway {
		case "footway", "path", "cycleway", "steps", "track", "service", "bridleway":
			return path, 0
		}
		return ignored, 0 // planned ones, for example
	}
	closed := len(w.Nodes) > 3 && w.Nodes[0].ID == w.Nodes[len(w.Nodes)-1].ID
	switch {
	case closed && (tags.Find("natural") == "water" || tags.Find("waterway") == "riverbank"):
		return water, 0
	case tags.Find("waterway") == "river" || tags.Find("waterway") == "canal":
		return river, 0
	case closed && (tags.Find("leisure") == "park" || tags.Find("landuse") == "forest" || tags.Find("natural") == "wood"):
		return green, 0
	}
	return ignored, 0
}

var errBadFile = errors.New("neither OpenStreetMap XML nor PBF (what is packed as .gz or .bz2 must be unpacked)")

// scan shows every node, or every way, of a file.
func scan(ctx context.Context, f io.Reader, nodes bool, visit func(osm.Object) error) (err error) {
	r := bufio.NewReader(f)
	start, _ := r.Peek(64)
	var s osm.Scanner
	switch {
	case len(start) == 0:
		return errors.New("the file is empty")
	case start[0] == 0: // the size of the first header, which is below 64 kB
		p := osmpbf.New(ctx, r, runtime.GOMAXPROCS(0))
		p.SkipNodes, p.SkipWays, p.SkipRelations = !nodes, nodes, true
		s = p
	case bytes.HasPrefix(bytes.TrimLeft(start, "\ufeff \t\r\n"), []byte("<")):
		s = osmxml.New(ctx, r)
	default:
		return errBadFile
	}
	defer func() { err = cmp.Or(err, s.Err(), s.Close()) }()
	for s.Scan() {
		if err := visit(s.Object()); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file twice, first its ways and then the nodes of these: most nodes
// of an extract belong to houses.
func read(ctx context.Context, open func() (io.ReadCloser, string, error)) (*extract, error) {
	e := &extract{at: map[osm.NodeID]metric.LatLon{}}
	pass := func(nodes bool, visit func(osm.Object) error) error {
		f, name, err := open()
		if err != nil {
			return err
		}
		defer f.Close()
		if err := scan(ctx, f, nodes, visit); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return ctx.Err()
	}
	wanted := map[osm.NodeID]bool{}
	err := pass(false, func(o osm.Object) error {
		if w, ok := o.(*osm.Way); ok {
			if kind, width := kindOf(w); kind != ignored {
				e.ways = append(e.ways, way{kind, width, w.Nodes.NodeIDs()})
				for _, n := range w.Nodes {
					wanted[n.ID] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, pass(true, func(o osm.Object) error {
		n, ok := o.(*osm.Node)
		if !ok || !wanted[n.ID] {
			return nil
		}
		p := metric.LatLon{Lat: n.Lat, Lon: n.Lon}
		if err := earth.Check(p, p); err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
		e.at[n.ID] = p
		return nil
	})
}

// lines are the parts of a way whose nodes the extract has: it may end where the
// way goes on.
func (e *extract) lines(w way) (lines [][]osm.NodeID) {
	var line []osm.NodeID
	for _, id := range w.nodes {
		if _, ok := e.at[id]; ok {
			line = append(line, id)
			continue
		}
		lines, line = append(lines, line), nil
	}
	return append(lines, line)
}
