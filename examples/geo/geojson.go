package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/metric"
)

// maxFeature is how many bytes a feature may have: it is read as a whole, since
// whether it is good is known at its end.
const maxFeature = 64 << 20

// feature is what is read of one.
type feature struct {
	Type       string                     `json:"type"`
	ID         json.RawMessage            `json:"id"`
	Geometry   *geometry                  `json:"geometry"`
	Properties map[string]json.RawMessage `json:"properties"`
}

type geometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
	Geometries  []*geometry     `json:"geometries"`
}

// depth is how many arrays lie around a position.
var depth = map[string]int{"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}

const collection = "GeometryCollection"

// shape is the positions of a geometry: one, or parts.
type shape struct {
	at    metric.LatLon
	parts []shape
}

// statement is what the output says of its privacy.
type statement struct {
	Alpha   float64  `json:"alpha_per_km"` // of each distinct place
	Places  int      `json:"places"`       // distinct ones
	Total   float64  `json:"total_per_km"` // of all of them
	Merged  *int     `json:"merged_s2_level,omitempty"`
	Skipped int      `json:"skipped,omitempty"`
	Cells   []string `json:"s2_cells,omitempty"` // released, in order
}

func (j *job) state(p *places) *statement {
	s := &statement{Alpha: j.alpha, Places: p.n, Total: j.total(p)}
	if j.merge != noCell {
		s.Merged = &j.merge
	}
	return s
}

// mark begins every record of a GeoJSON text sequence (RFC 8142).
const mark = '\x1e'

// sequence reads a text sequence as the JSON in it: the mark stands in no text of JSON.
type sequence struct{ r io.Reader }

func (s sequence) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for k, c := range p[:n] {
		if c == mark {
			p[k] = ' '
		}
	}
	return n, err
}

// textSequence filters a GeoJSON text sequence, and writes one.
func (j *job) textSequence(r io.Reader) error {
	j.marks = true
	return j.geoJSON(sequence{r})
}

// geoJSON filters a feature collection, a feature, a geometry, or a sequence of
// these as some programs write, one a line.
func (j *job) geoJSON(r io.Reader) error {
	in := &bounded.Reader{R: r, Max: maxFeature, What: "a feature"}
	g := &geoJSON{job: j, in: in, dec: json.NewDecoder(in)}
	for n := 0; ; n++ {
		in.Begin(g.dec.InputOffset())
		switch t, err := g.dec.Token(); {
		case err == io.EOF && n > 0:
			return nil
		case err != nil:
			return g.broken(err)
		case t != json.Delim('{'):
			return fmt.Errorf("%s: want GeoJSON objects", j.name)
		}
		if j.marks {
			j.w.WriteByte(mark)
		}
		if err := g.object(); err != nil {
			return err
		}
		if err := j.w.WriteByte('\n'); err != nil {
			return err
		}
	}
}

// geoJSON is the reading of one stream.
type geoJSON struct {
	*job
	in  *bounded.Reader
	dec *json.Decoder
	n   int // features begun
}

// broken is the error of a stream that is no JSON, from here on.
func (g *geoJSON) broken(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	where := fmt.Sprintf("byte %d", g.dec.InputOffset())
	if g.n > 0 {
		where = fmt.Sprintf("after features[%d], %s", g.n-1, where)
	}
	return fmt.Errorf("%s: %s: %w", g.name, where, err)
}

// object filters the object whose brace has been read.
func (g *geoJSON) object() error {
	rest := map[string]json.RawMessage{}
	features := false
	for g.dec.More() {
		g.in.Begin(g.dec.InputOffset())
		t, err := g.dec.Token()
		if err != nil {
			return g.broken(err)
		}
		switch key := t.(string); key {
		case "features":
			if features {
				return fmt.Errorf("%s: a second array of features", g.name)
			}
			features = true
			if err := g.collection(); err != nil {
				return err
			}
		default:
			var raw json.RawMessage
			if err := g.dec.Decode(&raw); err != nil {
				return g.broken(err)
			}
			switch key {
			case "type", "id", "geometry", "properties", "coordinates", "geometries", "crs":
				rest[key] = raw
			}
		}
	}
	if _, err := g.dec.Token(); err != nil {
		return g.broken(err)
	}
	if name, ok := wgs84(rest["crs"]); !ok {
		return fmt.Errorf("%s: crs %.60q: want longitude and latitude, WGS 84", g.name, name)
	}
	var kind string
	if json.Unmarshal(rest["type"], &kind) != nil || features != (kind == "FeatureCollection") {
		return fmt.Errorf("%s: type %.40q: want a FeatureCollection with features, a Feature or a geometry", g.name, kind)
	}
	if features {
		s := g.state(g.all)
		s.Skipped = g.skipped
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(g.w, `,"privacy":%s}`, text)
		return err
	}
	raw, err := json.Marshal(rest)
	if err == nil && kind != "Feature" { // a geometry, which has no room for a level
		raw, err = json.Marshal(map[string]any{"type": "Feature", "geometry": json.RawMessage(raw)})
	}
	if err != nil {
		return err
	}
	_, err = g.feature(raw, "")
	return err
}

// wgs84 tells whether a crs, as GeoJSON of 2008 has them, is that of WGS 84, by its
// name. None, and null, are.
func wgs84(crs json.RawMessage) (name string, ok bool) {
	var c struct {
		Properties struct {
			Name string `json:"name"`
		} `json:"properties"`
	}
	if len(crs) == 0 || string(crs) == "null" {
		return "", true
	}
	if err := json.Unmarshal(crs, &c); err != nil || c.Properties.Name == "" {
		return string(crs), false
	}
	name = c.Properties.Name // as in urn:ogc:def:crs:OGC:1.3:CRS84, EPSG:4326 or .../EPSG/0/4326
	switch strings.ToUpper(name[strings.LastIndexAny(name, ":/#")+1:]) {
	case "CRS84", "4326", "WGS84", "WGS 84":
		return name, true
	}
	return name, false
}

// collection filters the array of features.
func (g *geoJSON) collection() error {
	switch t, err := g.dec.Token(); {
	case err != nil:
		return g.broken(err)
	case t != json.Delim('['):
		return fmt.Errorf("%s: features are no array", g.name)
	}
	g.w.WriteString(`{"type":"FeatureCollection","features":[`)
	separator := "\n"
	for g.dec.More() {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		g.in.Begin(g.dec.InputOffset())
		var raw json.RawMessage
		if err := g.dec.Decode(&raw); err != nil {
			return g.broken(err)
		}
		written, err := g.feature(raw, separator)
		if err != nil {
			return err
		}
		if written {
			separator = ",\n"
		}
	}
	if _, err := g.dec.Token(); err != nil {
		return g.broken(err)
	}
	_, err := g.w.WriteString("\n]")
	return err
}

// feature filters one feature and writes it behind the separator, unless it is
// malformed and skipped.
func (g *geoJSON) feature(raw json.RawMessage, separator string) (written bool, err error) {
	g.n++
	var f feature
	s, err := f.read(raw, g.settings.ends)
	if err != nil {
		return false, g.bad(fmt.Errorf("%s: features[%d]: %w", g.name, g.n-1, err))
	}
	g.features++
	out := feature{Properties: map[string]json.RawMessage{}}
	if len(f.ID) > 0 && g.keeps("id") {
		out.ID = f.ID
	}
	for name, value := range f.Properties {
		if g.keeps(name) {
			out.Properties[name] = value
		}
	}
	track := g.track()
	line := []byte(`{"type":"Feature",`)
	if len(out.ID) > 0 {
		line = append(append(append(line, `"id":`...), out.ID...), ',')
	}
	w := &writer{geoJSON: g, track: track}
	if line, err = w.geometry(append(line, `"geometry":`...), f.Geometry, s); err != nil {
		return false, err
	}
	g.ends(track)
	said := g.state(track)
	said.Cells = w.cells
	if out.Properties["privacy"], err = json.Marshal(said); err != nil {
		return false, err
	}
	properties, err := json.Marshal(out.Properties)
	if err != nil {
		return false, err
	}
	line = append(append(append(line, `,"properties":`...), properties...), '}')
	g.w.WriteString(separator)
	_, err = g.w.Write(line)
	return true, err
}

// read reads a feature and the positions of its geometry, without so many at both ends
// of every line.
func (f *feature) read(raw json.RawMessage, ends int) (s shape, err error) {
	if err := json.Unmarshal(raw, f); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return s, fmt.Errorf("%s is a JSON %s", cmp.Or(wrong.Field, "the feature"), wrong.Value)
		}
		return s, err
	}
	if f.Type != "Feature" {
		return s, fmt.Errorf("type %.40q: want Feature", f.Type)
	}
	return f.Geometry.read("geometry", ends)
}

// read returns the positions; no geometry has none. Those at the ends of lines are not
// read: nothing depends on them, nor on whether they are positions.
func (g *geometry) read(path string, ends int) (s shape, err error) {
	if g == nil {
		return s, nil
	}
	if g.Type == collection {
		for k, part := range g.Geometries {
			path := fmt.Sprintf("%s.geometries[%d]", path, k)
			if part == nil {
				return s, fmt.Errorf("%s: null", path)
			}
			sub, err := part.read(path, ends)
			if err != nil {
				return s, err
			}
			s.parts = append(s.parts, sub)
		}
		return s, nil
	}
	d, ok := depth[g.Type]
	if !ok {
		return s, fmt.Errorf("%s.type %.40q: want a geometry of GeoJSON", path, g.Type)
	}
	if g.Type != "LineString" && g.Type != "MultiLineString" {
		ends = 0
	}
	return positions(g.Coordinates, d, path+".coordinates", ends)
}

// positions reads an array of so many dimensions of positions, without the ends of the
// innermost arrays.
func positions(raw json.RawMessage, depth int, path string, ends int) (s shape, err error) {
	if depth == 0 {
		var p []*float64 // a null is no 0
		if json.Unmarshal(raw, &p) != nil || len(p) < 2 || p[0] == nil || p[1] == nil {
			return s, fmt.Errorf("%s: want a longitude and a latitude", path)
		}
		if s.at, err = position(*p[1], *p[0]); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return s, err
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || parts == nil {
		return s, fmt.Errorf("%s: want an array", path)
	}
	from, to := 0, len(parts)
	if depth == 1 {
		from = min(ends, to)
		to = max(from, to-ends)
	}
	s.parts = make([]shape, to-from)
	for k := range s.parts {
		if s.parts[k], err = positions(parts[from+k], depth-1, fmt.Sprintf("%s[%d]", path, from+k), ends); err != nil {
			return s, err
		}
	}
	return s, nil
}

// writer makes the geometry of one feature private.
type writer struct {
	*geoJSON
	track *places
	cells []string
}

func (w *writer) geometry(dst []byte, g *geometry, s shape) (_ []byte, err error) {
	if g == nil {
		return append(dst, "null"...), nil
	}
	dst = fmt.Appendf(dst, `{"type":%q,`, g.Type)
	if g.Type != collection {
		dst, err = w.positions(append(dst, `"coordinates":`...), s, depth[g.Type])
		return append(dst, '}'), err
	}
	dst = append(dst, `"geometries":[`...)
	for k, part := range g.Geometries {
		if k > 0 {
			dst = append(dst, ',')
		}
		if dst, err = w.geometry(dst, part, s.parts[k]); err != nil {
			return dst, err
		}
	}
	return append(dst, "]}"...), nil
}

func (w *writer) positions(dst []byte, s shape, depth int) ([]byte, error) {
	if depth == 0 {
		y, err := w.release(s.at, w.track)
		if w.cell != noCell {
			w.cells = append(w.cells, cell(y, w.cell).ToToken())
		}
		dst = degrees(append(dst, '['), y.Lon)
		return append(degrees(append(dst, ','), y.Lat), ']'), err
	}
	dst = append(dst, '[')
	for k, part := range s.parts {
		if k > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.positions(dst, part, depth-1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}
