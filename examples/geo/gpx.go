package main

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/metric"
)

const (
	// maxElement is how many bytes a tag, a text or a comment of GPX may have.
	maxElement = 1 << 20
	// namespace is that of the elements that state the privacy of a GPX file.
	namespace = "https://github.com/metricdp/metricdp/examples/geo"
)

// gpx is the reading of one GPX file.
type gpx struct {
	*job
	in    *bounded.Reader
	dec   *xml.Decoder
	paths []path
}

// path is a route or a track.
type path struct {
	kind string
	*places
}

// gpx filters the way points, routes and tracks of a GPX file. Of what else there is
// it keeps the texts of elements that are public. The levels come last, in the
// extensions of the file: at the end of a track it is known how many places it has,
// and its own extensions would have to come before them.
func (j *job) gpx(r io.Reader) error {
	r, err := inUTF8(r)
	if err != nil {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	in := &bounded.Reader{R: r, Max: maxElement, What: "an element"}
	g := &gpx{job: j, in: in, dec: xml.NewDecoder(in)}
	g.dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // see inUTF8
	root, err := g.next()
	if err != nil {
		return err
	}
	if root == nil || root.Name.Local != "gpx" {
		return g.wrong("want an element gpx")
	}
	fmt.Fprintf(g.w, "%s<gpx version=\"1.1\" creator=\"metricdp examples/geo\" xmlns=\"http://www.topografix.com/GPX/1/1\" xmlns:privacy=%q>\n", xml.Header, namespace)
	err = g.children(func(e *xml.StartElement) error {
		switch kind := e.Name.Local; kind {
		case "wpt":
			p, err := g.point(e)
			if err != nil {
				return err
			}
			if p.bad == nil {
				g.features++
			}
			return g.write(p, g.all)
		case "rte", "trk":
			g.features++
			track := g.track()
			if err := g.path(kind, track); err != nil {
				return err
			}
			g.ends(track)
			g.paths = append(g.paths, path{kind, &places{n: track.n, any: track.any}})
			return nil
		default: // metadata, with bounds and the like
			return g.pass()
		}
	})
	if err != nil {
		return err
	}
	if e, err := g.next(); e != nil || err != nil {
		return g.wrong("more behind the end of gpx")
	}
	return g.state()
}

// declared is the encoding that an XML declaration names.
var declared = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"'>]*)["']`)

// inUTF8 reads XML in the encoding that it declares as UTF-8.
func inUTF8(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(1 << 10) // what is wrong is for the next to read to say
	m := declared.FindSubmatch(head)
	if m == nil || strings.EqualFold(string(m[1]), "utf-8") {
		return in, nil
	}
	e, err := htmlindex.Get(string(m[1]))
	if err != nil {
		return nil, fmt.Errorf("line 1: the encoding %.40q is unknown", m[1])
	}
	return e.NewDecoder().Reader(in), nil
}

// state writes the levels, and the end.
func (g *gpx) state() error {
	fmt.Fprintf(g.w, "<extensions>\n<privacy:release alpha_per_km=\"%v\" %s", g.alpha, g.stated(g.all))
	if g.merge != noCell {
		fmt.Fprintf(g.w, " merged_s2_level=\"%d\"", g.merge)
	}
	if g.skipped > 0 {
		fmt.Fprintf(g.w, " skipped=\"%d\"", g.skipped)
	}
	fmt.Fprint(g.w, ">\n")
	for _, p := range g.paths {
		fmt.Fprintf(g.w, "<privacy:%s %s/>\n", p.kind, g.stated(p.places))
	}
	_, err := fmt.Fprint(g.w, "</privacy:release>\n</extensions>\n</gpx>\n")
	return err
}

// stated is what was released, and at which level: of distinct places, or of ways as wholes, where
// each is moved by so much altogether, and where each of its points is elsewhere.
func (g *gpx) stated(p *places) string {
	if !g.whole() {
		return fmt.Sprintf("places=\"%d\" total_per_km=\"%v\"", p.n, g.total(p))
	}
	kind := "trails"
	if g.knots != nil {
		kind = "knots"
	}
	return fmt.Sprintf("%s=\"%d\" total_per_km=\"%v\" largest_per_km=\"%v\"", kind, p.n, g.total(p), p.any)
}

// path filters a route, a track or a segment of a track, whose start has been read.
func (g *gpx) path(kind string, track *places) error {
	fmt.Fprintf(g.w, "<%s>\n", kind)
	w := &way{gpx: g, track: track}
	begun := 0      // points, malformed ones too
	var late []*fix // the last points so far, which may be the end
	err := g.children(func(e *xml.StartElement) error {
		switch name := e.Name.Local; {
		case kind == "trk" && name == "trkseg":
			return g.path(name, track)
		case kind == "trkseg" && name == "trkpt", kind == "rte" && name == "rtept":
			p, err := g.point(e)
			if err != nil {
				return err
			}
			if begun++; begun <= g.settings.ends {
				return nil
			}
			if late = append(late, p); len(late) <= g.settings.ends {
				return nil
			}
			p, late = late[0], late[1:]
			return w.add(p)
		default:
			return g.text(e, g.w)
		}
	})
	if err == nil {
		err = w.end()
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(g.w, "</%s>\n", kind)
	return err
}

// fix is a point of a file.
type fix struct {
	tag    string
	at     metric.LatLon
	bad    error  // what is wrong with the position
	inside string // its elements that are public
}

// point reads one point, whose start has been read.
func (g *gpx) point(e *xml.StartElement) (*fix, error) {
	x, err := at(e)
	if err != nil {
		return &fix{bad: g.wrong("%s: %w", e.Name.Local, err)}, g.pass()
	}
	var inside strings.Builder
	if err := g.children(func(e *xml.StartElement) error { return g.text(e, &inside) }); err != nil {
		return nil, err
	}
	return &fix{tag: e.Name.Local, at: x, inside: inside.String()}, nil
}

// write writes a point, made private.
func (g *gpx) write(p *fix, track *places) error {
	if p.bad != nil {
		return g.job.bad(p.bad)
	}
	y, err := g.release(p.at, track)
	if err != nil {
		return err
	}
	return g.emit(p, y)
}

// emit writes a point at a private place.
func (g *gpx) emit(p *fix, y metric.LatLon) (err error) {
	y = center(y, g.cell)
	g.w.Write(append(degrees(append(degrees(fmt.Appendf(nil, `<%s lat="`, p.tag), y.Lat), `" lon="`...), y.Lon), '"'))
	inside := p.inside
	if g.cell != noCell {
		inside += fmt.Sprintf("<extensions><privacy:cell token=%q/></extensions>", cell(y, g.cell).ToToken())
	}
	if inside == "" {
		_, err = g.w.WriteString("/>\n")
	} else {
		_, err = fmt.Fprintf(g.w, ">%s</%s>\n", inside, p.tag)
	}
	return err
}

// at reads the position of a point.
func at(e *xml.StartElement) (metric.LatLon, error) {
	degrees := map[string]float64{}
	for _, name := range []string{"lat", "lon"} {
		found := false
		for _, a := range e.Attr {
			if a.Name.Local != name {
				continue
			}
			v, err := number(name, a.Value)
			if err != nil {
				return metric.LatLon{}, err
			}
			degrees[name], found = v, true
		}
		if !found {
			return metric.LatLon{}, fmt.Errorf("no attribute %s", name)
		}
	}
	return position(degrees["lat"], degrees["lon"])
}

// text copies an element, whose start has been read, if it is public and holds text.
func (g *gpx) text(e *xml.StartElement, w io.Writer) error {
	name := e.Name.Local
	if name == "extensions" || !g.keeps(name) {
		return g.pass()
	}
	var text []byte
	for level := 1; level > 0; {
		t, err := g.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			level++
		case xml.EndElement:
			level--
		case xml.CharData:
			if level == 1 {
				text = append(text, t...)
			}
		}
		if len(text) > maxElement {
			return g.wrong("%s: %w", name, &bounded.Error{What: "a text", Max: maxElement})
		}
	}
	if len(text) == 0 {
		return nil
	}
	fmt.Fprintf(w, "<%s>", name)
	if err := xml.EscapeText(w, text); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "</%s>", name)
	return err
}

// children calls do with the start of every child of the element whose start has
// been read; do reads up to the child's end.
func (g *gpx) children(do func(*xml.StartElement) error) error {
	for {
		e, err := g.next()
		if e == nil || err != nil {
			return err
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

// pass leaves out the element whose start has been read.
func (g *gpx) pass() error {
	for level := 1; level > 0; {
		switch t, err := g.token(); t.(type) {
		case xml.StartElement:
			level++
		case xml.EndElement:
			level--
		default:
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// next reads up to the next start of an element; nil is the end of the one around
// it, or of the file.
func (g *gpx) next() (*xml.StartElement, error) {
	for {
		t, err := g.token()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

// token reads the next token. The end of the file is io.EOF only outside all
// elements.
func (g *gpx) token() (xml.Token, error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	g.in.Begin(g.dec.InputOffset())
	t, err := g.dec.Token()
	if err != nil && err != io.EOF {
		if wrong := new(xml.SyntaxError); errors.As(err, &wrong) {
			err = errors.New("XML syntax error") // whose text may hold some of the file's
		}
		return nil, g.wrong("%w", err)
	}
	return t, err
}

// wrong is an error at the present line.
func (g *gpx) wrong(format string, args ...any) error {
	line, _ := g.dec.InputPos()
	return fmt.Errorf("%s: line %d: "+format, append([]any{g.name, line}, args...)...)
}
