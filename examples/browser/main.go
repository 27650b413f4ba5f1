// Browser serves a page on which a place of the world is released privately: the
// library itself runs in it, as WebAssembly, and nothing leaves the browser.
//
//	go run ./examples/browser
//	go run ./examples/browser -addr 127.0.0.1:9000 -in towns.csv
//	go run ./examples/browser -out /tmp/site
//
// With -out it writes the page as a static site and ends. The site is built by the
// go command at every start, so that the program has to run inside a clone of the
// repository.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/csvfile"
)

//go:embed cities.csv
var cities []byte

func main() {
	demo.Main("browser", func(ctx context.Context, p *demo.Program) error { return run(ctx, p, compile) })
}

// maxCities bounds what the page looks through whenever it draws.
const maxCities = 50000

// run is the program. compile builds the WebAssembly part of the site.
func run(ctx context.Context, p *demo.Program, compile func(context.Context) (site, error)) error {
	addr := p.Flags.String("addr", "127.0.0.1:8080", "`HOST:PORT` to serve the page on, port 0 for any that is free; with -out nothing is served")
	p.ReadsFile("CSV with the columns name, lat and lon in degrees, and country if there is: the cities on the map, largest first")
	if err := p.Parse(); err != nil {
		return err
	}
	towns, err := readCities(p)
	if err != nil {
		return err
	}
	p.Remark("building the page; the first time takes half a minute")
	s, err := assemble(ctx, towns, compile)
	if err != nil {
		return err
	}
	if p.Folder() == "" {
		return s.serve(ctx, p, *addr)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		err := p.WriteFile(name, func(w io.Writer) error {
			_, err := w.Write(s[name])
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// city is a place with a name on the map.
type city struct {
	Name, Country string
	Lat, Lon      float64
}

// readCities reads the embedded cities, or the file of -in.
func readCities(p *demo.Program) (all []city, err error) {
	f, name, err := p.Input("cities.csv", cities)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = csvfile.Read(name, f, csvfile.Columns{Required: []string{"name"}, Place: true, Optional: []string{"country"}}, func(r *csvfile.Row) {
		at := r.LatLon()
		all = append(all, city{r.Text("name"), r.Text("country"), at.Lat, at.Lon})
	})
	if err == nil && len(all) > maxCities {
		err = fmt.Errorf("%s: %d cities: want %d at most", name, len(all), maxCities)
	}
	return all, err
}
