// Sample writes the made-up files that ship with the example:
//
//	go run ./sample
//
// They are of an islet at latitude 0, longitude 0, where no land is: what a
// naturalist put on a map, her walk of a day, and the birds that she and another saw.
package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

func main() {
	dir := flag.String("out", ".", "`DIR` of the files")
	flag.Parse()
	for name, write := range files {
		f, err := os.Create(filepath.Join(*dir, name))
		if err != nil {
			log.Fatal(err)
		}
		if err := write(f); err != nil {
			log.Fatal(err)
		}
		if err := f.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

var files = map[string]func(io.Writer) error{
	"places.geojson": places,
	"walk.gpx":       walk,
	"sightings.csv":  sightings,
}

// point is a longitude and a latitude, as GeoJSON has them.
type point [2]float64

// at is the point so many meters east and north of the islet's middle.
func at(east, north float64) point {
	const degree = 111_195 // meters, at the equator in either direction
	round := func(v float64) float64 { return math.Round(v/degree*1e6) / 1e6 }
	return point{round(east), round(north)}
}

var (
	home  = at(-820, 310)
	hide  = at(1240, -560) // from which birds are watched
	nests = []point{at(1310, -640), at(1180, -705), at(1415, -520), at(960, 880), at(905, 930)}
	// The way from home to the hide.
	way = []point{home, at(-640, 250), at(-410, 295), at(-150, 180), at(70, 30), at(330, -60), at(540, -230), at(820, -300), at(1050, -420), hide}
)

type object map[string]any

// places are the features of a map.
func places(w io.Writer) error {
	geometry := func(kind string, coordinates any) object { return object{"type": kind, "coordinates": coordinates} }
	feature := func(name, kind string, g object) object {
		return object{"type": "Feature", "properties": object{"name": name, "kind": kind}, "geometry": g}
	}
	garden := []point{at(-860, 330), at(-790, 335), at(-780, 275), at(-850, 270), at(-860, 330)}
	features := []object{
		feature("home", "house", geometry("Point", home)),
		feature("the hide", "hut", geometry("Point", hide)),
		feature("terns", "nests", geometry("MultiPoint", nests)),
		feature("to the hide", "path", geometry("LineString", way)),
		feature("garden", "land", geometry("Polygon", [][]point{garden})),
		feature("the post comes here", "house", geometry("Point", home)),
	}
	fmt.Fprint(w, `{"type":"FeatureCollection","features":[`)
	separator := "\n"
	for _, f := range features {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s", separator, text)
		separator = ",\n"
	}
	_, err := fmt.Fprint(w, "\n]}\n")
	return err
}

// walk is a day's track, a fix a minute: at home, to the hide and back. While she
// rests, the receiver repeats its last fix.
func walk(w io.Writer) error {
	clock := time.Date(2026, 5, 3, 6, 40, 0, 0, time.UTC)
	height := func(p point) float64 { return math.Max(2, 40-2000*math.Hypot(p[0], p[1])) }
	fix := func(p point) {
		fmt.Fprintf(w, "<trkpt lat=\"%v\" lon=\"%v\"><ele>%.1f</ele><time>%s</time></trkpt>\n", p[1], p[0], height(p), clock.Format(time.RFC3339))
		clock = clock.Add(time.Minute)
	}
	rest := func(p point, minutes int) {
		for range minutes {
			fix(p)
		}
	}
	leg := func(from, to point) {
		const minutes = 3
		for k := range minutes {
			s := float64(k) / minutes
			round := func(v float64) float64 { return math.Round(v*1e6) / 1e6 }
			fix(point{round(from[0] + s*(to[0]-from[0])), round(from[1] + s*(to[1]-from[1]))})
		}
	}
	fmt.Fprint(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"examples/geo/sample\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n")
	fmt.Fprintf(w, "<wpt lat=\"%v\" lon=\"%v\"><name>home</name></wpt>\n<trk>\n<name>To the terns</name>\n<trkseg>\n", home[1], home[0])
	rest(home, 20)
	for k := range len(way) - 1 {
		leg(way[k], way[k+1])
	}
	rest(hide, 30)
	fmt.Fprint(w, "</trkseg>\n<trkseg>\n")
	rest(hide, 30)
	for k := len(way) - 1; k > 0; k-- {
		leg(way[k], way[k-1])
	}
	rest(home, 20)
	_, err := fmt.Fprint(w, "</trkseg>\n</trk>\n</gpx>\n")
	return err
}

// sightings are a table of birds, many of them at the nests.
func sightings(w io.Writer) error {
	r := rand.New(rand.NewPCG(3, 1))
	out := csv.NewWriter(w)
	out.Write([]string{"observer", "date", "species", "lat", "lon"}) // Error has the first error
	day := time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC)
	for range 60 {
		p, species := nests[r.IntN(len(nests))], "common tern"
		if r.IntN(3) == 0 {
			p = at(math.Round(1500*r.NormFloat64()), math.Round(1500*r.NormFloat64()))
			species = []string{"gannet", "oystercatcher", "rock pipit"}[r.IntN(3)]
		}
		text := func(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
		out.Write([]string{[]string{"Ada", "Bo"}[r.IntN(2)], day.Format(time.DateOnly), species, text(p[1]), text(p[0])})
		day = day.AddDate(0, 0, r.IntN(2))
	}
	out.Flush()
	return out.Error()
}
