// Geo makes the places in GeoJSON, GPX and CSV files private, each by noise of a
// stated level, and writes the same format out:
//
//	go run .
//	go run . -in walk.gpx -within 500 -prob .95 -out /tmp/private
//	go run . -in - -alpha 10 -keep name < places.geojson > private.geojson
//
// A place that comes again comes out as before, so that repeats do not average
// away, and each new one costs the level once more: the output says how much that
// is for a feature, a track and the file. Without -in it runs on made-up files.
package main

import (
	"bufio"
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

//go:embed places.geojson walk.gpx sightings.csv
var samples embed.FS

func main() { demo.Main("geo", run) }

func run(ctx context.Context, p *demo.Program) error {
	s := newSettings(p)
	p.Secure()
	p.ReadsFile("GeoJSON, GPX or CSV with the columns lat and lon, or latitude and longitude; - is the standard input, and then the standard output is written")
	if err := p.Parse(); err != nil {
		return err
	}
	if p.In == "" { // nobody's places
		if s.within == 0 && s.alpha == 0 {
			s.within = sampleWithin
		}
		if s.whole() && s.center == "" {
			s.center = "0,0"
		}
	}
	f, err := s.filter(p.Rand())
	if err != nil {
		return err
	}
	if p.In == "-" {
		j, err := f.run(ctx, "standard input", p.Stdin, p.Stdout)
		if err == nil {
			f.warn(p)
		}
		if err == nil && !p.Quiet {
			err = summary(j).WriteText(p.Stderr)
		}
		return err
	}
	var done []*job
	for _, name := range s.inputs(p) {
		j, err := file(ctx, p, f, name)
		if err != nil {
			return err
		}
		done = append(done, j)
	}
	f.warn(p)
	p.Remark("%s", f)
	p.Print(summary(done...))
	return nil
}

// warn says which names of -keep may be misspelled.
func (f *filter) warn(p *demo.Program) {
	if names := f.unused(); len(names) > 0 {
		fmt.Fprintf(p.Stderr, "geo: -keep: nothing is named %s\n", strings.Join(names, ", "))
	}
}

// inputs are the files to read: that of -in, or those that ship.
func (s *settings) inputs(p *demo.Program) []string {
	switch {
	case p.In != "":
		return []string{p.In}
	case s.whole():
		return []string{"walk.gpx"}
	}
	return []string{"places.geojson", "walk.gpx", "sightings.csv"}
}

// file filters one file into the folder of -out, under its name with "private-"
// before it, so that no input is written over.
func file(ctx context.Context, p *demo.Program, f *filter, name string) (j *job, err error) {
	var in io.ReadCloser
	if p.In == "" {
		in, err = samples.Open(name)
	} else {
		in, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var failed error
	err = p.WriteFile("private-"+filepath.Base(name), func(w io.Writer) error {
		j, failed = f.run(ctx, name, in, w)
		return failed
	})
	return j, cmp.Or(failed, err) // what failed is in the input, and WriteFile names the output
}

// run filters a stream of any of the formats, which it tells by the first byte that
// is no space.
func (f *filter) run(ctx context.Context, name string, r io.Reader, w io.Writer) (*job, error) {
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	const bom = "\ufeff"
	if head, _ := in.Peek(len(bom)); string(head) == bom {
		in.Discard(len(bom))
	}
	j := &job{filter: f, ctx: ctx, name: name, w: out, room: f.seen}
	j.all = j.track()
	head, err := in.Peek(in.Size())
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	convert := j.csv
	text := strings.TrimLeft(string(head), " \t\r\n")
	switch {
	case strings.HasPrefix(text, string(mark)):
		convert = j.textSequence
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		convert = j.geoJSON
	case strings.HasPrefix(text, "<"):
		convert = j.gpx
	}
	if f.whole() && !strings.HasPrefix(text, "<") {
		return nil, fmt.Errorf("%s: -trail and -every take GPX", name)
	}
	return j, cmp.Or(convert(in), out.Flush())
}

// summary tells what was in files and what their release costs.
func summary(jobs ...*job) *demo.Table {
	t := demo.NewTable("file", "features", "skipped", "points", "distinct places", "level of all (per km)", "most places of a track", "its level (per km)")
	for _, j := range jobs {
		t.Row(filepath.Base(j.name), j.features, j.skipped, j.points, j.all.n, j.total(j.all), j.most, j.totalOf(j.most))
	}
	return t
}
