package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/golang/geo/s2"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

var program = demotest.Program{Name: "geo", Main: run, Ext: ".in"}

// through filters a text by the standard input and output.
func through(t *testing.T, in string, args ...string) (out, stderr string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = demo.Run(context.Background(), "geo", append([]string{"-in", "-", "-quiet"}, args...), &o, &e, func(ctx context.Context, p *demo.Program) error {
		p.Stdin = strings.NewReader(in)
		return run(ctx, p)
	})
	return o.String(), e.String(), status
}

// private is through, for input that is good, from seed 1.
func private(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, stderr, status := through(t, in, append([]string{"-seed", "1"}, args...)...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: status %d, %s", args, status, stderr)
	}
	return out
}

const golden = `
file            features  skipped  points  distinct places  level of all (per km)  most places of a track  its level (per km)
places.geojson         6        0      23               19                  171.0                      10               90.00
walk.gpx               2        0     155               28                  252.0                      28               252.0
sightings.csv         60        0      60               21                  189.0                       0                   0
`

func TestGeo_Golden(t *testing.T) {
	dir := t.TempDir()
	demotest.Golden(t, program.Must(t, "-seed", "1", "-alpha", "9", "-quiet", "-out", dir), golden)
	for file, want := range map[string]string{
		"private-places.geojson": `{"type":"Feature","geometry":{"type":"Point","coordinates":[-0.011588,-0.001320]},"properties":{"privacy":{"alpha_per_km":9,"places":1,"total_per_km":9}}},`,
		"private-walk.gpx":       `<trkpt lat="-0.001320" lon="-0.011588"/>`, // at home, as above
		"private-sightings.csv":  "-0.007083,0.011854,9",
	} {
		if got := string(testkit.Must(os.ReadFile(filepath.Join(dir, file)))); !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("%s: no %s in\n%.2000s", file, want, got)
		}
	}
}

func TestGeo_Flags(t *testing.T) {
	program.Agrees(t)
	dir := t.TempDir()
	in := program.File(t, "\ufeff lat,lon\n1,2\n")
	out := program.Must(t, "-in", in, "-out", dir, "-alpha", "2")
	if !strings.Contains(out, "Each distinct place: 2-private per km, within 2.37e+03 m with probability 0.95.") {
		t.Error(out)
	}
	if rows := demotest.Lines(t, dir, "private-in.in"); len(rows) != 2 || rows[1][2] != "2" {
		t.Error(rows)
	}
	if _, stderr, _ := through(t, "lat,lon\n1,2\n", "-alpha", "2", "-quiet=false"); !strings.Contains(stderr, "standard input         1        0       1                1") {
		t.Error(stderr)
	}
}

func TestGeo_BadInput(t *testing.T) {
	bad := func(text string, args ...string) []string {
		return append([]string{"-alpha", "1", "-quiet", "-out", t.TempDir(), "-in", program.File(t, text)}, args...)
	}
	features := func(text string) []string { return bad(`{"type":"FeatureCollection","features":[` + text + `]}`) }
	geometry := func(text string) []string { return bad(`{"type":"Feature","geometry":` + text + `}`) }
	gpx := func(text string) []string { return bad("<gpx>\n" + text + "</gpx>") }
	good := `{"type":"Feature","geometry":null},`
	program.Rejects(t, map[string][]string{
		"no level: want -within METERS":             {"-in", program.File(t, "lat,lon\n1,2\n")},
		"-within and -alpha: want one":              {"-within", "5", "-alpha", "1"},
		"-within -5: want":                          {"-within", "-5"},
		"-within NaN: want":                         {"-within", "NaN"},
		"-prob 1: want a number in (0, 1)":          {"-within", "5", "-prob", "1"},
		"-alpha +Inf: want":                         {"-alpha", "Inf"},
		"-alpha -1: want":                           {"-alpha", "-1"},
		"-cell 31: want an S2 level in [0, 30]":     {"-cell", "31"},
		"-merge -2: want an S2 level":               {"-merge", "-2"},
		"-ends -1: want":                            {"-ends", "-1"},
		"-every -1: want":                           {"-every", "-1"},
		"-trail and -every take GPX":                bad("lat,lon\n1,2\n", "-trail", "-center", "0,0"),
		"-center: want LATITUDE,LONGITUDE":          bad("lat,lon\n1,2\n", "-trail"),
		"-center: latitude: want":                   {"-trail", "-center", "91,0"},
		"-key: a track that is released as a whole": {"-trail", "-key", filepath.Join(t.TempDir(), "key")},
		"the distance of track[1] from the center, want at most 60 degrees": bad("<gpx><rte>"+`<rtept lat="9" lon="1"/><rtept lat="9" lon="99"/>`+"</rte></gpx>", "-every", "2", "-center", "0,0"),
		"-ends: a table has none":                   bad("lat,lon\n1,2\n", "-ends", "1"),
		"-seed and -key":                            {"-seed", "1", "-key", filepath.Join(t.TempDir(), "key")},
		"want a file of 64 hexadecimal digits":      {"-key", program.File(t, "12")},
		"no such file":                              {"-alpha", "1", "-in", "/no/such/file"},
		`no column "lon"`:                           bad("lat,name\n1,x\n"),
		`no column "who"`:                           bad("lat,lon\n1,2\n", "-track", "who"),
		`line 3: lat: want a number in [-90, 90]`:   bad("lat,lon\n1,2\n91,2\n"),
		`column "alpha_per_km" is there already`:    bad("lat,lon,alpha_per_km\n1,2,3\n", "-keep", "*"),
		"a record is longer than":                   bad("lat,lon\n1,\"" + strings.Repeat("x", 1<<20)),
		"want GeoJSON objects":                      bad("[1]"),
		"byte 1: unexpected EOF":                    bad("{"),
		`type "Point": want Feature`:                features(`{"type":"Point","coordinates":[1,2]}`),
		"features[1]: the feature is a JSON number": features(good + "5"),
		"features[1]: geometry.coordinates: want a longitude and a latitude": features(good + `{"type":"Feature","geometry":{"type":"Point","coordinates":[null,2]}}`),
		"features[1]: geometry.coordinates[1]: latitude: want a number in":   features(good + `{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,97]]}}`),
		"after features[0], byte":                                            features(good + "]"),
		"features are no array":                                              bad(`{"features":{}}`),
		"a second array of features":                                         bad(`{"features":[],"features":[]}`),
		`type "Feature": want a FeatureCollection`:                           bad(`{"type":"Feature","features":[]}`),
		"want a FeatureCollection with features, a Feature":                  bad(`{"type":"FeatureCollection"}`),
		"crs \"EPSG:3857\": want longitude and latitude, WGS 84":             bad(`{"type":"FeatureCollection","features":[],"crs":{"properties":{"name":"EPSG:3857"}}}`),
		"geometry is a JSON string":                                          geometry(`"x"`),
		`geometry.type "Circle": want a geometry`:                            geometry(`{"type":"Circle","coordinates":[1,2]}`),
		"geometry.coordinates: want an array":                                geometry(`{"type":"LineString","coordinates":null}`),
		"longitude: want a number in [-360, 360]":                            geometry(`{"type":"Point","coordinates":[361,2]}`),
		"geometry.geometries[0]: null":                                       geometry(`{"type":"GeometryCollection","geometries":[null]}`),
		`geometry.geometries[1].type ""`:                                     geometry(`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{}]}`),
		"want an element gpx":                                                bad("<kml></kml>"),
		"line 2: wpt: latitude: want":                                        gpx(`<wpt lat="97" lon="1"/>`),
		"line 3: trkpt: no attribute lon":                                    gpx("<trk><trkseg>\n" + `<trkpt lat="9"/></trkseg></trk>`),
		`line 2: rtept: lon: not a number`:                                   gpx(`<rte><rtept lat="9" lon="x"/></rte>`),
		"line 2: XML syntax error":                                           gpx("<trk></wpt>"),
		"line 1: the encoding \"x-secret\" is unknown":                       bad(`<?xml version="1.0" encoding="x-secret"?><gpx></gpx>`),
		`crs "urn:ogc:def:crs:OGC:1.3:CRS83": want`:                          bad(`{"type":"Feature","geometry":null,"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS83"}}}`),
		`crs "EPSG:43261": want`:                                             bad(`{"type":"Feature","geometry":null,"crs":{"properties":{"name":"EPSG:43261"}}}`),
		`crs "{\"type\":\"link\",\"properties\":{\"href\":\"4326\"}}": want`: bad(`{"type":"Feature","geometry":null,"crs":{"type":"link","properties":{"href":"4326"}}}`),
		"more behind the end of gpx":                                         bad("<gpx></gpx><gpx></gpx>"),
		"an element is longer than":                                          gpx("<wpt lat=\"" + strings.Repeat("1", 3<<20)),
	})
	// What could not be read leaves no file, and nothing on the standard output is taken for good.
	dir := t.TempDir()
	program.Rejects(t, map[string][]string{"line 3": {"-alpha", "1", "-quiet", "-out", dir, "-in", program.File(t, "lat,lon\n1,2\n91,2\n")}})
	if left := testkit.Must(os.ReadDir(dir)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// -skip leaves out what is malformed, counts it, and writes the rest.
func TestGeo_Skip(t *testing.T) {
	for in, want := range map[string]struct {
		records string
		n       int
		skipped string
	}{
		`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}},7,
			{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,97]]}},{"type":"Feature","geometry":null}]}`: {`"type":"Feature"`, 2, `"places":1,"total_per_km":1,"skipped":2}`},
		`<gpx><wpt lat="1" lon="2"/><trk><trkseg><trkpt lat="97" lon="2"><time>x</time></trkpt><trkpt lat="1" lon="3"/></trkseg></trk></gpx>`: {"pt lat=", 2, `places="2" total_per_km="2" skipped="1">`},
		"lat,lon\n1,2\n97,3\n5\n1,3\n": {",1\n", 2, ""},
	} {
		out := private(t, in, "-alpha", "1", "-skip")
		if strings.Count(out, want.records) != want.n || !strings.Contains(out, want.skipped) {
			t.Errorf("%s:\n%s", in, out)
		}
		if _, stderr, _ := through(t, in, "-alpha", "1", "-skip", "-quiet=false"); !regexp.MustCompile(`standard input +2 +[12] +2 +`).MatchString(stderr) && !strings.Contains(in, "null") {
			t.Errorf("%s: %s", in, stderr)
		}
	}
}

// Whatever is not named as public stays out: names, times, heights, boxes, bounds,
// extensions. Seven sevens in a row are no digits of a released place, which has six.
func TestGeo_LeavesOutWhatIsNotPublic(t *testing.T) {
	for in, public := range map[string]string{
		`{"bbox":[7,7,7,7],"type":"FeatureCollection","title":"secret","features":[{"id":"secret","bbox":[7,7,7,7],"type":"Feature","geometry":{"type":"Point","coordinates":[1,2,7777777777],"bbox":[7,7,7,7]},"properties":{"kind":"open","street":"secret"},"secret":1}]}`:                                                                            `"kind":"open"`,
		`<gpx><metadata><bounds minlat="7"/><name>secret</name></metadata><wpt lat="1" lon="2"><ele>7777777777</ele><kind>open<b>secret</b></kind><extensions><kind>secret</kind></extensions></wpt><trk><name>secret</name><trkseg><trkpt lat="1" lon="2" secret="1"><ele>7777777777</ele></trkpt><extensions>secret</extensions></trkseg></trk></gpx>`: "<kind>open</kind>",
		"lat,lon,kind,street,ele\n1,2,open,secret,7777777777\n": ",open,",
	} {
		for _, args := range [][]string{{"-alpha", "1"}, {"-alpha", "1", "-keep", "street2, kind"}} {
			out, stderr, _ := through(t, in, args...)
			if said := "geo: -keep: nothing is named \"street2\"\n"; (stderr == said) != (len(args) > 2) {
				t.Errorf("%v: %q", args, stderr)
			}
			if strings.Contains(out, "secret") || strings.Contains(out, "7777777") || strings.Contains(out, "7,7,7") || strings.Contains(out, public) != (len(args) > 2) {
				t.Errorf("%v: %s", args, out)
			}
		}
		if out := private(t, in, "-alpha", "1", "-keep", "*"); !strings.Contains(out, "secret") || strings.Contains(out, "7,7,7") || strings.Contains(out, "extensions>secret") {
			t.Errorf("-keep *: %s", out)
		}
	}
}

// Of the columns that are not public that of -track alone is kept, whatever its case; one
// without a name, as some programs write before the others, is not.
func TestGeo_KeepsTheTrackAlone(t *testing.T) {
	const in = ",lat,lon,Who,ele\nsecret,1,2,ann,secret\n"
	for want, args := range map[string][]string{
		"lat,lon,alpha_per_km\n":                              {"-alpha", "1"},
		"lat,lon,Who,alpha_per_km,places,total_per_km\n":      {"-alpha", "1", "-track", "wHO"},
		"lat,lon,Who,ele,alpha_per_km,places,total_per_km\n":  {"-alpha", "1", "-track", "who", "-keep", "ele"},
		",lat,lon,Who,ele,alpha_per_km,places,total_per_km\n": {"-alpha", "1", "-track", "who", "-keep", "*"},
	} {
		out := private(t, in, args...)
		if !strings.HasPrefix(out, want) || strings.Contains(out, "secret") != strings.Contains(want, "ele") || strings.Contains(out, "ann") != strings.Contains(want, "Who") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// point matches the positions of every format.
var point = regexp.MustCompile(`(?:lat=")?(-?\d+\.\d{6})(?:" lon="|,)(-?\d+\.\d{6})`)

// released are the positions of an output, in order.
func released(t *testing.T, out string) (at []metric.LatLon) {
	for _, m := range point.FindAllStringSubmatch(out, -1) {
		x := metric.LatLon{Lat: demotest.Number(t, m[1]), Lon: demotest.Number(t, m[2])}
		if strings.HasPrefix(out, "{") {
			x.Lat, x.Lon = x.Lon, x.Lat
		}
		at = append(at, x)
	}
	return at
}

// The three formats of one walk: home, away, home again, written otherwise.
var walks = []string{
	`{"type":"Feature","geometry":{"type":"LineString","coordinates":[[180,0],[5,6],[-180,-0.0],[5.0,6]]}}`,
	`<gpx><trk><trkseg><trkpt lat="0" lon="180"/><trkpt lat="6" lon="5"/></trkseg><trkseg><trkpt lat="-0" lon="-180.0"/><trkpt lat="6e0" lon="5"/></trkseg></trk></gpx>`,
	"lat,lon,who\n0,180,a\n6,5,a\n-0,-180,a\n6,5,a\n",
}

// Equal places come out equal, and each distinct one costs once.
func TestGeo_Sticky(t *testing.T) {
	var first []metric.LatLon
	for _, in := range walks {
		out := private(t, in, "-alpha", "3", "-track", "who")
		at := released(t, out)
		if len(at) != 4 || at[0] != at[2] || at[1] != at[3] || at[0] == at[1] {
			t.Errorf("%s: %v", out, at)
		}
		if first == nil {
			first = at
		}
		if at[0] != first[0] {
			t.Errorf("%v in one format, %v in another", first, at)
		}
		said := regexp.MustCompile(`"places":2,"total_per_km":6}|<privacy:trk places="2" total_per_km="6"/>|,3,2,6\n$`)
		if !said.MatchString(out) {
			t.Errorf("no level of 2 places in %s", out)
		}
	}
	csv := private(t, "lat,lon,who\n1,2,a\n1,2,b\n1,2,a\n3,2,a\n", "-alpha", "3", "-track", "who")
	if !regexp.MustCompile(`(?s),a,3,1,3\n.*,b,3,1,3\n.*,a,3,1,3\n.*,a,3,2,6\n`).MatchString(csv) {
		t.Error(csv)
	}
}

// Other runs answer otherwise, but for those with the same key and level.
func TestGeo_Key(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	answer := func(args ...string) string {
		out, stderr, status := through(t, walks[2], args...)
		if status != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	once := answer("-alpha", "3")
	if again := answer("-alpha", "3"); again == once {
		t.Error("two runs, one answer")
	}
	if a := answer("-alpha", "3", "-key", key); a != answer("-alpha", "3", "-key", key) || a == once {
		t.Error("one key, two answers")
	}
	if a, b := answer("-alpha", "3", "-key", key), answer("-alpha", "3.1", "-key", key); released(t, a)[1] == released(t, b)[1] {
		t.Error("two levels, one answer")
	}
	if info := testkit.Must(os.Stat(key)); info.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %v", info.Mode())
	}
}

// The noise is that of the level which the output states: P{moved within r} is
// 1 - (1 + alpha r) e^(-alpha r), at distances where the Earth is flat.
func TestGeo_NoiseHasTheStatedLevel(t *testing.T) {
	const n = 20_000
	r := random.Seeded(5)
	var in strings.Builder
	in.WriteString("lat,lon\n")
	var from []metric.LatLon
	for range n {
		x := metric.LatLon{Lat: 170*r.Float64() - 85, Lon: 360*r.Float64() - 180}
		from = append(from, x)
		fmt.Fprintf(&in, "%v,%v\n", x.Lat, x.Lon)
	}
	out := private(t, in.String(), "-within", "500", "-prob", ".9")
	alpha := demotest.Number(t, regexp.MustCompile(`,([0-9.]+)\n`).FindStringSubmatch(out)[1])
	below, within := make([]float64, n), 0
	for k, y := range released(t, out) {
		d := metric.GreatCircle{}.Distance(from[k], y)
		below[k] = 1 - (1+alpha*d)*math.Exp(-alpha*d)
		if d <= .5 {
			within++
		}
	}
	testkit.Uniform(t, "1 - (1 + alpha r) e^(-alpha r)", below)
	// 5 deviations: 6e-7.
	if dev := math.Sqrt(n * .9 * .1); math.Abs(float64(within)-.9*n) > 5*dev {
		t.Errorf("%d of %d within 500 m", within, n)
	}
}

// A cell is the one of its level around what would be released without.
func TestGeo_Cells(t *testing.T) {
	for _, in := range walks {
		plain, cells := released(t, private(t, in, "-alpha", "1")), private(t, in, "-alpha", "1", "-cell", "14")
		tokens := regexp.MustCompile(`[:",\[]([0-9a-f]{8})["\],\n]`).FindAllStringSubmatch(cells, -1)
		if len(tokens) != len(plain) {
			t.Fatalf("%d tokens in %s", len(tokens), cells)
		}
		for k, y := range released(t, cells) {
			want := s2.CellIDFromLatLng(s2.LatLngFromDegrees(plain[k].Lat, plain[k].Lon)).Parent(14)
			c := want.LatLng()
			if tokens[k][1] != want.ToToken() || math.Abs(c.Lat.Degrees()-y.Lat)+math.Abs(c.Lng.Degrees()-y.Lon) > 2e-6 {
				t.Errorf("%v: cell %s at %v, want %s at %v", plain[k], tokens[k][1], y, want.ToToken(), c)
			}
		}
	}
}

// Positions in one cell of -merge are one place.
func TestGeo_Merge(t *testing.T) {
	in := "lat,lon,who\n48.85001,2.35001,a\n48.85002,2.35002,a\n48.95,2.35,a\n"
	out := private(t, in, "-alpha", "1", "-merge", "13", "-track", "who")
	if at := released(t, out); at[0] != at[1] || at[0] == at[2] || !strings.Contains(out, ",a,1,2,2,13\n") {
		t.Error(out)
	}
	if at := released(t, private(t, in, "-alpha", "1")); at[0] == at[1] {
		t.Error("merged without -merge")
	}
}

// The ends of lines are left out, and what is released does not depend on them.
func TestGeo_Ends(t *testing.T) {
	lines := []string{
		`{"type":"Feature","geometry":{"type":"MultiLineString","coordinates":[[[%v,1],[1,1],[2,2],[3,3],[1,%[1]v]],[[%[1]v,5],[1,5]]]}}`,
		`<gpx><trk><trkseg><trkpt lat="1" lon="%v"/><trkpt lat="1" lon="1"/><trkpt lat="2" lon="2"/><trkpt lat="3" lon="3"/><trkpt lat="%[1]v" lon="1"/></trkseg><trkseg><trkpt lat="5" lon="%[1]v"/><trkpt lat="5" lon="1"/></trkseg></trk></gpx>`,
	}
	for _, line := range lines {
		all := released(t, private(t, fmt.Sprintf(line, 8), "-alpha", "1"))
		out := private(t, fmt.Sprintf(line, 8), "-alpha", "1", "-ends", "1")
		at := released(t, out)
		if !slices.Equal(at, all[1:4]) || !regexp.MustCompile(`places"?[:=]"?3"?[ ,]"?total`).MatchString(out) {
			t.Errorf("%s: %v of %v", line, at, all)
		}
		if other := private(t, fmt.Sprintf(line, 9), "-alpha", "1", "-ends", "1"); other != out {
			t.Errorf("another end, another release: %s", other)
		}
		if at := released(t, private(t, fmt.Sprintf(line, 8), "-alpha", "1", "-ends", "3")); len(at) != 0 {
			t.Errorf("%v of lines all of which are ends", at)
		}
	}
}

// What stands at the ends of a line does not show, not even that it is malformed: with
// -ends a point is an end by where it stands, skipped or not.
func TestGeo_EndsAreEndsIfMalformed(t *testing.T) {
	for _, line := range []string{
		`{"type":"Feature","geometry":{"type":"MultiLineString","coordinates":[[%s,[1,1],[2,2],[3,3],%[2]s],[%[1]s]]}}`,
		`{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[%s,[1,1],[2,2],[3,3],%[2]s]}]}}`,
		`<gpx><trk><trkseg>%s<trkpt lat="1" lon="1"/><trkpt lat="2" lon="2"/><trkpt lat="3" lon="3"/>%s</trkseg><trkseg>%[1]s</trkseg></trk></gpx>`,
	} {
		good, bad := `[8,1]`, []string{`[8,97]`, `[null,1]`, `"x"`}
		if strings.HasPrefix(line, "<") {
			good, bad = `<trkpt lat="1" lon="8"/>`, []string{`<trkpt lat="97" lon="8"/>`, `<trkpt lat="1"><ele>7</ele></trkpt>`, `<trkpt/>`}
		}
		want := private(t, fmt.Sprintf(line, good, good), "-alpha", "1", "-ends", "1")
		if n := len(released(t, want)); n != 3 {
			t.Fatalf("%d points of three", n)
		}
		for _, b := range bad {
			for _, in := range []string{fmt.Sprintf(line, b, good), fmt.Sprintf(line, good, b), fmt.Sprintf(line, b, b)} {
				for _, args := range [][]string{{"-alpha", "1", "-ends", "1"}, {"-alpha", "1", "-ends", "1", "-skip"}} {
					if out := private(t, in, args...); out != want {
						t.Errorf("%v: an end %s shows:\n%s", args, b, out)
					}
				}
			}
		}
		// Within the line it is malformed, and counts as the point that it stands for.
		in := strings.Replace(fmt.Sprintf(line, good, good), `[2,2]`, `[2,97]`, 1)
		in = strings.Replace(in, `lat="2"`, `lat="92"`, 1)
		if _, stderr, status := through(t, in, "-alpha", "1", "-ends", "1"); status != 2 || !strings.Contains(stderr, "latitude") {
			t.Errorf("%d, %s", status, stderr)
		}
		if strings.HasPrefix(line, "<") {
			at := released(t, want)
			if got := released(t, private(t, in, "-alpha", "1", "-ends", "1", "-skip")); !slices.Equal(got, []metric.LatLon{at[0], at[2]}) {
				t.Errorf("%v of %v", got, at)
			}
		}
	}
}

// A line takes memory, and so time, linear in its points.
func TestGeo_LongLine(t *testing.T) {
	f := testkit.Must((&settings{alpha: 1, merge: noCell, cell: noCell}).filter(random.Seeded(1)))
	bytes := func(n int) float64 {
		in := `{"type":"Feature","geometry":{"type":"LineString","coordinates":[` + strings.Repeat("[1,2],", n-1) + `[1,2]]}}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		testkit.Must(f.run(context.Background(), "in", strings.NewReader(in), io.Discard))
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if few, many := bytes(1_000), bytes(10_000); many > 15*few { // 100 times, if it were quadratic
		t.Errorf("1,000 points take %.0f bytes, 10,000 take %.0f", few, many)
	}
}

// The same places in other clothes: names of columns, text sequences, encodings, and
// longitudes beyond 180.
func TestGeo_Dialects(t *testing.T) {
	feature := func(lon string) string {
		return `{"type":"Feature","geometry":{"type":"Point","coordinates":[` + lon + `,2]},"properties":{"name":"é"}}`
	}
	want := released(t, private(t, feature("-170"), "-alpha", "1"))[0]
	for name, in := range map[string]string{
		"columns":   "Latitude,Longitude,name\n2,-170,é\n",
		"lng":       "name,lat,LNG\né,2,190\n",
		"beyond":    feature("190"),
		"sequence":  "\x1e" + feature("-170") + "\n\x1e" + feature("190") + "\n",
		"latin 1":   "<?xml version='1.0' encoding='ISO-8859-1' ?>\n<gpx><wpt lat=\"2\" lon=\"190\"><name>\xe9</name></wpt></gpx>",
		"utf-8":     `<?xml version="1.0" encoding="UTF-8"?><gpx><wpt lat="2" lon="-170"><name>é</name></wpt></gpx>`,
		"marked":    "\ufeff" + feature("-170"),
		"crs":       strings.TrimSuffix(feature("190"), "}") + `,"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}}`,
		"other crs": strings.TrimSuffix(feature("190"), "}") + `,"crs":{"type":"name","properties":{"name":"http://www.opengis.net/def/crs/EPSG/0/4326"}}}`,
	} {
		out := private(t, in, "-alpha", "1", "-keep", "name")
		at := released(t, strings.TrimPrefix(out, "\x1e"))
		if len(at) == 0 || at[0] != want || at[len(at)-1] != want || !strings.Contains(out, "é") {
			t.Errorf("%s: %v, want %v\n%s", name, at, want, out)
		}
		if marks := strings.Count(in, "\x1e"); strings.Count(out, "\x1e") != marks || marks > 0 && out[0] != mark {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// Counts that can remember no more places never say too little.
func TestPlaces_CountAtLeast(t *testing.T) {
	f := testkit.Must((&settings{alpha: 1, merge: noCell, cell: noCell}).filter(random.Seeded(1)))
	f.seen = 5
	j := testkit.Must(f.run(context.Background(), "in", strings.NewReader("lat,lon\n"+strings.Repeat("1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n", 2)), io.Discard))
	if j.all.n != 7 || j.room != 0 {
		t.Errorf("%d places, room for %d", j.all.n, j.room)
	}
}

// What is written is what it should be, and can be filtered again.
func TestGeo_OutputIsOfTheFormat(t *testing.T) {
	in := `{"type":"GeometryCollection","geometries":[{"type":"MultiPolygon","coordinates":[[[[1,2],[3,4],[5,6],[1,2]]]]},{"type":"MultiPoint","coordinates":[]}]}` + "\n" + walks[0]
	out := private(t, in, "-alpha", "1", "-cell", "9")
	again := private(t, out, "-alpha", "1")
	dec := json.NewDecoder(strings.NewReader(again))
	for range 2 {
		var f feature
		if err := dec.Decode(&f); err != nil || f.Type != "Feature" {
			t.Errorf("%v: %s", err, again)
		}
		if _, err := f.Geometry.read("", 0); err != nil {
			t.Error(err)
		}
	}
	if at := released(t, out); at[0] != at[3] {
		t.Error("the ring is open")
	}
	gpx := private(t, walks[1], "-alpha", "1", "-cell", "9")
	if err := xml.Unmarshal([]byte(gpx), new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
	private(t, gpx, "-alpha", "1")
}

// FuzzRun: whatever the bytes, the filter ends, and what it takes it takes again.
func FuzzRun(f *testing.F) {
	for _, in := range walks {
		f.Add([]byte(in))
	}
	f.Add([]byte(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null}]}`))
	filter := testkit.Must((&settings{alpha: 1, merge: 20, cell: noCell, keep: "*", skip: true}).filter(random.Seeded(1)))
	f.Fuzz(func(t *testing.T, in []byte) {
		var once bytes.Buffer
		j, err := filter.run(context.Background(), "in", bytes.NewReader(in), &once)
		if err != nil || j.points == 0 { // where all is skipped there may be nothing to read
			return
		}
		again, err := filter.run(context.Background(), "out", &once, io.Discard)
		if err != nil && !strings.Contains(err.Error(), "is there already") || err == nil && again.points != j.points {
			t.Errorf("%q: %v, %d points and %d", in, err, j.points, again.points)
		}
	})
}

// A segment is released as a whole, drawn anew, at the level that the file states: once for each
// segment where it is moved as a whole, and where any point of it may be elsewhere that of the
// mechanism, by knots the same. What is malformed is left out, and what is longer than a trail is two.
func TestGeo_Wholes(t *testing.T) {
	point := `<trkpt lat="1" lon="2"/>`
	file := func(a, b int) string {
		return "<gpx><wpt lat=\"1\" lon=\"2\"/><trk><trkseg>" + strings.Repeat(point, a) + `</trkseg><trkseg><trkpt lat="x" lon="1"/>` + strings.Repeat(point, b) + "</trkseg></trk></gpx>"
	}
	positions := regexp.MustCompile(`<trkpt lat="([^"]*)"`)
	for _, c := range []struct {
		args   string
		a, b   int
		want   []string
		unlike int // how many points differ
	}{
		{"-every 3", 7, 2, []string{`<privacy:trk knots="2" total_per_km="18" largest_per_km="18"/>`, `knots="3" total_per_km="27" largest_per_km="18" skipped="1"`}, 8}, // a line, and the ends stay
		{"-every 3", 0, 0, []string{`<privacy:trk knots="0" total_per_km="0" largest_per_km="0"/>`}, 0},
		{"-trail", 2, 1, []string{`<privacy:trk trails="2" total_per_km="18" largest_per_km="36`}, 3},
		{"-trail -every 2", 512, 3, []string{`<privacy:trk trails="2" total_per_km="18" largest_per_km=`}, 515},
		{"-trail", 257, 0, []string{`<privacy:trk trails="2" total_per_km="18" largest_per_km=`}, 257},
	} {
		out := private(t, file(c.a, c.b), append(strings.Fields(c.args), "-alpha", "9", "-center", "0,-1", "-skip")...)
		at := map[string]bool{}
		all := positions.FindAllStringSubmatch(out, -1)
		for _, m := range all {
			at[m[1]] = true
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s, %d and %d points: no %s in %s", c.args, c.a, c.b, want, out)
			}
		}
		if len(all) != c.a+c.b || len(at) > c.unlike || c.a > 0 && len(at) < c.unlike/3 {
			t.Errorf("%s: %d points at %d places, want %d at some %d", c.args, len(all), len(at), c.a+c.b, c.unlike)
		}
	}
}
