package csvfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var wanted = Columns{Place: true, Optional: []string{"name", "population"}}

type place struct {
	name     string
	lat, lon float64
	people   float64
}

func readPlaces(r io.Reader) ([]place, error) {
	var ps []place
	err := Read("in.csv", r, wanted, func(w *Row) {
		at := w.LatLon()
		ps = append(ps, place{w.Text("name"), at.Lat, at.Lon, w.Float("population", 0, math.Inf(1))})
	})
	return ps, err
}

// Columns stand in any order and among others, with quotes, blanks and a byte order mark.
// Those of a place go by several names, its longitudes count on beyond 180, and what is
// optional may be missing or empty.
func TestRead_Good(t *testing.T) {
	people := func(w *Row) string {
		at := w.LatLon()
		return fmt.Sprintf("%q %v %v %v", w.Text("name"), at.Lat, at.Lon, w.Float("population", 0, math.Inf(1)))
	}
	places := func(w *Row) string {
		at := w.LatLon()
		return fmt.Sprint(at.Lat, at.Lon, w.Position("lat"), w.Position("lon"))
	}
	cells := func(w *Row) string { return fmt.Sprintf("%q %q", w.Header(), w.Fields()) }
	const cities = `"Paris" 48.85 2.35 2.138551e+06;"Nice, FR" 43.7 7.27 0`
	for _, c := range []struct {
		in, want string
		columns  Columns
		show     func(*Row) string
	}{
		{"name,lat,lon,population\nParis,48.85,2.35,2138551\n\"Nice, FR\",43.7,7.27,\n", cities, wanted, people},
		{"\ufeffLON,junk,LAT,Name, population \r\n 2.35 ,x, 48.85,Paris,2138551\r\n7.27,,43.7,\"Nice, FR\",\r\n", cities, wanted, people},
		{"\ufeff\"lat\",lon,name,population\n48.85,2.35,Paris,2138551\n43.7,7.27,\"Nice, FR\",", cities, wanted, people},
		{"lat,lon\n1,2\n", `"" 1 2 0`, wanted, people},
		{"name,lat,lon\nx,1,2", `"x" 1 2 0`, wanted, people},
		{"Latitude,LNG\n1,2\n", "1 2 0 1", Columns{Place: true}, places},
		{"long,x,latitude\n190.5,0,-3\n", "-3 -169.5 2 0", Columns{Place: true}, places},
		{"lat,longitude\n1,-359\n", "1 1 0 1", Columns{Place: true}, places},
		{"longitude,latitude,lat,lon\n9,9,1,180\n", "1 180 2 3", Columns{Place: true}, places},
		{"lat,lon,longitude\n1,-180,9\n", "1 -180 0 1", Columns{Place: true}, places},
		{" Name , lat,lon\nParis, 48.85,2.35\n", `["Name" "lat" "lon"] ["Paris" "48.85" "2.35"]`, wanted, cells},
	} {
		var got []string
		err := Read("in.csv", iotest.OneByteReader(strings.NewReader(c.in)), c.columns, func(w *Row) { got = append(got, c.show(w)) })
		if s := strings.Join(got, ";"); err != nil || s != c.want {
			t.Errorf("%q: %s, %v; want %s", c.in, s, err, c.want)
		}
	}
	if err := Read("in.csv", strings.NewReader("latitude,lon\n1,2\n"), Columns{Required: []string{"lat"}}, func(*Row) {}); err == nil {
		t.Error("a column by another name, which was not asked for")
	}
}

func TestRead_NamesLineColumnAndReason(t *testing.T) {
	long := strings.Repeat("9", 200)
	for _, c := range []struct{ in, want string }{
		{"", "in.csv: empty, want a header line with lat, lon"},
		{"lat,lon\n", "in.csv: no rows below the header"},
		{"lat,name\n1,2\n", `in.csv: line 1: no column "lon", the header is "lat,name"`},
		{"lat;lon\n1,5;2\n", `in.csv: line 1: no column "lat", the header is "lat;lon", separated by ";": want commas between fields`},
		{"\xff\xfel\x00a\x00t\x00\n", `in.csv: line 1: no column "lat", the header is "\xff\xfel\x00a\x00t\x00", UTF-16: want UTF-8`},
		{"lat,lon\r1,2\r", `in.csv: line 1: no column "lon", the header is "lat,lon\r1,2", with lines that end in CR alone: want LF or CR LF`},
		{"lat,lon,name\n1,2,Z\xfcrich\n", `in.csv: line 2: name: not valid UTF-8: want a file in that encoding`},
		{"lat,a|b\n", `in.csv: line 1: no column "lon", the header is "lat,a|b"`},
		{"\"lat\";\"lon\"\n", `in.csv: line 1: extraneous or missing " in quoted-field (want a header line with commas between fields)`},
		{"lat,LAT,lon\n1,2,3\n", `in.csv: line 1: column "lat" appears twice`},
		{"lat,lon\n1,2\n9x,3\n", `in.csv: line 3: lat: not a number`},
		{"\n\nlat,lon\n1,2\n\n3,4\n", "in.csv: line 5: empty, and no row"},
		{"lat,lon,name\n1,2,\"a\nb\"\n\n3,4,c\n", "in.csv: line 4: empty, and no row"},
		{"lat,lon\n1_0,1\n", `in.csv: line 2: lat: not a number`},
		{"lat,lon\n1,0X_1P-2\n", `in.csv: line 2: lon: not a number`},
		{"lat,lon\n1,NaN\n", `in.csv: line 2: lon: not a finite number`},
		{"lat,lon\n1,1e999\n", `in.csv: line 2: lon: not a finite number`},
		{"lat,lon\n1,361\n", `in.csv: line 2: lon: want a number in [-360, 360]`},
		{"lat,lon\n90.5,1\n", `in.csv: line 2: lat: want a number in [-90, 90]`},
		{"lat,lon,population\n9,1,-1\n", `in.csv: line 2: population: want a number >= 0`},
		{"lat,lon\nx,y\n", `in.csv: line 2: lat: not a number`}, // the first failure stays
		{"lat,lon\n1,2\n1,2,3\n", "in.csv: line 3: not the 2 fields of the header"},
		{"lat,lon\n1,\"2\n", `in.csv: line 2: extraneous or missing " in quoted-field`},
		{"lat,lon\n1,x\x1b[2J\n", `in.csv: line 2: lon: not a number`},
		{"lat,lon\n" + long + ",x\n", `in.csv: line 2: lat: want a number in [-90, 90]`},
		{"lat,lon\n1,2\n1,\"" + strings.Repeat("x\n", 1<<20), "in.csv: after line 2: a record is longer than 65536 bytes (a quote left open?)"},
		{strings.Repeat("x", 1<<20), "in.csv: after line 0: a record is longer than 65536 bytes (a quote left open?)"},
	} {
		_, err := readPlaces(strings.NewReader(c.in))
		var ie *Error
		if !errors.As(err, &ie) || err.Error() != c.want {
			t.Errorf("%.60q: %v\nwant %s", c.in, err, c.want)
		}
	}
}

func TestRead_TooManyRows(t *testing.T) {
	in := "lat,lon\n" + strings.Repeat("1,2\n", maxRows+1)
	n := 0
	err := Read("in.csv", strings.NewReader(in), wanted, func(*Row) { n++ })
	if want := "in.csv: line 1000002: more than 1000000 rows"; err == nil || err.Error() != want || n != maxRows {
		t.Errorf("%d rows, %v; want %d, %s", n, err, maxRows, want)
	}
	n = 0
	anyLength := Columns{Required: []string{"lat"}, AnyLength: true}
	if err := Read("in.csv", strings.NewReader(in), anyLength, func(*Row) { n++ }); err != nil || n != maxRows+1 {
		t.Errorf("any length: %d rows, %v; want %d", n, err, maxRows+1)
	}
	if err := Read("in.csv", strings.NewReader("lat\n"), anyLength, func(*Row) { t.Error("a row out of none") }); err != nil {
		t.Error(err)
	}
}

func TestRead_PassesOnReadErrors(t *testing.T) {
	if _, err := readPlaces(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestRow_Fail(t *testing.T) {
	err := Read("in.csv", strings.NewReader("lat,lon,name\n1,2,Atlantis\n"), wanted, func(w *Row) {
		w.Fail("name", "not on any map")
		w.Fail("lat", "too late")
	})
	if want := `in.csv: line 2: name: not on any map`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a column that Columns does not name")
		}
	}()
	Read("in.csv", strings.NewReader("lat,lon\n1,2\n"), wanted, func(w *Row) { w.Text("Lat") })
}

// Where there is one column an empty line is a row of its own, wherever it stands.
func TestRead_EmptyLinesOfOneColumn(t *testing.T) {
	for in, want := range map[string]string{
		"a\n1\n\n3\n":                "2:1 3: 4:3",
		"\ufeffa\r\n\r\n\r\n3\r\n":   "2: 3: 4:3",
		"a\n1\n\n\n":                 "2:1 3: 4:",
		"a\n\"x\ny\"\n\n\"\"\n  \nz": "2:x\ny 4: 5: 6: 7:z",
		"\na\n\n":                    "3:",
		"a\n":                        "",
	} {
		var got []string
		err := Read("in.csv", strings.NewReader(in), Columns{Required: []string{"a"}, AnyLength: true}, func(w *Row) {
			got = append(got, fmt.Sprintf("%d:%s", w.line, w.Text("a")))
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	n := 0
	err := Read("in.csv", strings.NewReader("a\n\n\n1\n"), Columns{Required: []string{"a"}}, func(w *Row) { n++; w.Stop() })
	if n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestRow_StopIsTheLast(t *testing.T) {
	n := 0
	err := Read("in.csv", strings.NewReader("lat,lon\n1,2\nx,y\n"), wanted, func(w *Row) {
		n++
		w.Stop()
		if w.LatLon(); w.Err() != nil {
			t.Error(w.Err())
		}
	})
	if n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// What is wrong with a record is told and the others are read.
func TestRead_Skip(t *testing.T) {
	var bad []string
	var good []float64
	c := Columns{Place: true, Skip: func(err error) { bad = append(bad, err.Error()) }}
	err := Read("in.csv", strings.NewReader("lat,lon\n1,2\nx,2\n3\n4,5\n6,\"7\"8\n\n9,1\n\n"), c, func(w *Row) {
		if at := w.LatLon(); w.Err() == nil {
			good = append(good, at.Lat)
		}
	})
	want := []string{
		`in.csv: line 3: lat: not a number`,
		"in.csv: line 4: not the 2 fields of the header",
		`in.csv: line 6: extraneous or missing " in quoted-field`,
		"in.csv: line 7: empty, and no row",
		"in.csv: line 9: empty, and no row",
	}
	if err != nil || !slices.Equal(good, []float64{1, 4, 9}) || !slices.Equal(bad, want) {
		t.Errorf("%v, %q, %v", good, bad, err)
	}
}

// FuzzRead: whatever the bytes, Read ends, every number it yields is in
// its range, and a refusal is one line that says where.
func FuzzRead(f *testing.F) {
	f.Add([]byte("name,lat,lon,population\nParis,48.85,2.35,2138551\n"))
	f.Add([]byte("\ufefflat,lon\r\n\"1\",0x1p-2\r\n"))
	f.Add([]byte("lat,lon\n1,\"2\n\n3\"\n"))
	f.Add([]byte("lat,lat\n"))
	f.Add([]byte("lat,lon\n1,2\n1,\"" + strings.Repeat("x", 1<<17)))
	f.Fuzz(func(t *testing.T, in []byte) {
		ps, err := readPlaces(strings.NewReader(string(in)))
		if err != nil {
			var ie *Error
			if !errors.As(err, &ie) || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 600 {
				t.Fatalf("%T %q", err, err)
			}
			return
		}
		if len(ps) == 0 {
			t.Fatal("no rows and no error")
		}
		for _, p := range ps {
			if !(math.Abs(p.lat) <= 90 && math.Abs(p.lon) <= 180 && p.people >= 0 && p.people < math.Inf(1)) {
				t.Fatalf("accepted %+v", p)
			}
		}
	})
}
