package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// all collects what Read yields.
func all(s *Schema, in io.Reader) (records [][]float64, err error) {
	for x, e := range s.Read(in) {
		if err = e; e == nil {
			records = append(records, x)
		}
	}
	return records, err
}

func TestSchema_ReadByName(t *testing.T) {
	s := testkit.Must(ReadSchema(strings.NewReader(people)))
	const in = "\ufeffCITY,extra,longitude,latitude,job,age,height,joined\r\n" +
		"Paris,x,2.35,48.85,smith,3.0e1, 1.75 ,2000-01-02\r\n" +
		"\"Rome\",,-170.5,-90,clerk,120,9,unknown\r\n" +
		"London,\"a\nb\",0,0,mason,-7,0,\r\n"
	got, err := all(s, iotest.OneByteReader(strings.NewReader(in)))
	nan := math.NaN()
	want := [][]float64{
		{30, 10958, 0, 1, 1.75, 48.85, 2.35},
		{120, nan, 2, 2, 9, -90, -170.5}, // what lies outside of bounds is the domain's matter
		{-7, nan, 1, 0, 0, 0, 0},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
}

// A row without a value is a row, quoted or not: what replaces a value by none does not
// change how many there are, which measure.ReplaceOne publishes.
func TestSchema_ReadKeepsEmptyLines(t *testing.T) {
	s := testkit.Must(ParseSchema("a?:whole:0..9"))
	for _, in := range []string{"a\n1\n\"\"\n3\n", "a\n1\n\n3\n", "\ufeffa\r\n\r\n1\r\n3\r\n", "a\n1\n3\n\n"} {
		got, err := all(s, strings.NewReader(in))
		missing := 0
		for _, x := range got {
			if math.IsNaN(x[0]) {
				missing++
			}
		}
		if err != nil || len(got) != 3 || missing != 1 {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for in, line := range map[string]int{"a\n1\n\n3\n": 3, "a,b\n1,2\n\n3,4\n": 3, "a,b\n1,2\n\n": 3} {
		got, err := all(testkit.Must(ParseSchema("a:whole:0..9")), strings.NewReader(in))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(": line %d: ", line)) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestSchema_ReadPersons(t *testing.T) {
	s := testkit.Must(ParseSchema("a:whole:0..9"))
	var got []string
	for row, err := range s.ReadPersons(strings.NewReader("a,Who\n1,x\n2, y \n3,x\n4,\n5,x\n"), "who") {
		got = append(got, fmt.Sprint(row.Person, row.Record, err))
	}
	if want := []string{"x[1] <nil>", "y[2] <nil>", "x[3] <nil>", `[] table: Schema.ReadPersons: line 5: who: not a person`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, err := range s.ReadPersons(strings.NewReader("a\n1\n"), "who") {
		if err == nil || !strings.Contains(err.Error(), `no column "who"`) {
			t.Error(err)
		}
	}
}

func TestSchema_ReadNamesLineAndColumn(t *testing.T) {
	s := testkit.Must(ParseSchema("n:number:0..1,w:whole:0..9,d?:date:2000-01-01..2000-12-31,c:category:b|c,t:taxonomy:x/y|x/z,p?:place:lat|lon"))
	const header = "n,w,d,c,t,lat,lon\n"
	for in, want := range map[string]string{
		"":                                                 "empty, want a header line with n, w, d, c, t, lat, lon",
		"n,w,d,c,t,lat\n":                                  `line 1: no column "lon"`,
		"n;w;d;c;t;lat;lon\n0,5;1;;b;y;1;2\n":              `line 1: no column "n", the header is "n;w;d;c;t;lat;lon", separated by ";": want commas between fields, or Schema.Separated`,
		"n,n,w,d,c,t,lat,lon\n":                            `line 1: column "n" appears twice`,
		header + "0,1,,b,y,1,2\n0,1,,b,y,1\n":              "line 3: not the 7 fields of the header",
		header + "x,1,,b,y,1,2\n":                          `line 2: n: not a number`,
		header + ",1,,b,y,1,2\n":                           `line 2: n: no value, which the schema does not allow`,
		header + "NaN,1,,b,y,1,2\n":                        `line 2: n: not a finite number`,
		header + "-Inf,1,,b,y,1,2\n":                       `line 2: n: not a finite number`,
		header + "0,1.5,,b,y,1,2\n":                        `line 2: w: not a whole number`,
		header + "0,1,2000-1-1,b,y,1,2\n":                  `line 2: d: not a date as 2006-01-02`,
		header + "0,1,2000-02-30,b,y,1,2\n":                `line 2: d: not a date`,
		header + "0,1,0000-12-31,b,y,1,2\n":                `line 2: d: not a date`,
		header + "0,1,,B,y,1,2\n":                          `line 2: c: not a name of the schema`,
		header + "0,1,,b,x,1,2\n":                          `line 2: t: not a name`,
		header + "0,1,,b,y,91,2\n":                         `line 2: lat: want a number in [-90, 90]`,
		header + "0,1,,b,y,1,361\n":                        `line 2: lon: want a number in [-360, 360]`,
		header + "0,1,,b,y,,2\n":                           `line 2: lat: missing, but not lon`,
		header + "0,1,,b,y,1,\n":                           `line 2: lon: missing, but not lat`,
		header + "0,1,,\"b\n" + strings.Repeat("x", 1<<20): "after line 1: a record is longer than 65536 bytes",
	} {
		got, err := all(s, strings.NewReader(in))
		if err == nil || !strings.HasPrefix(err.Error(), "table: Schema.Read: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, %v, want %q", in, got, err, want)
		}
	}
	if _, err := all(s, nil); err == nil || err.Error() != "table: Schema.Read: no reader" {
		t.Error(err)
	}
	if _, err := all(s, iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// What is written reads back: all that is no number exactly, numbers to a millionth of
// their range and within their bounds.
func TestSchema_WriteRoundTrips(t *testing.T) {
	fields := []Field{
		{Name: "n", Column: domain.Column{Lo: -1.23456789, Hi: math.Pi}},
		{Name: "tiny, \"quoted\"", Column: domain.Column{Lo: 1e-30, Hi: 3e-30}, Absent: []string{"NA", ""}},
		{Name: "huge", Column: domain.Column{Lo: -1e80, Hi: 1e80}},
		{Name: "far", Column: domain.Column{Lo: 1e9, Hi: 1e9 + 1}},
		{Name: "w", Column: domain.Column{Lo: -1 << 29, Hi: 1<<29 - 2, Whole: true}, Absent: []string{"-1e17"}},
		{Name: "d", Column: domain.Column{Lo: firstDay, Hi: lastDay}, Date: true, Absent: []string{""}},
		{Name: "c", Names: []string{"a, b", `"`, "ä", "#", `\.`, "-"}, Absent: []string{"?"}},
		{Name: "t", Column: domain.Column{Taxonomy: testkit.Must(metric.TreeFromPaths([][]string{{"r", "a", "b"}, {"r", "a", "c"}, {"r", "e"}}))}},
		{Name: "p", Column: domain.Column{Radius: 1, Missing: true}, Lat: "lat", Lon: "lon"},
	}
	s := testkit.Must(NewSchema(fields))
	rng := rand.New(rand.NewPCG(1, 2))
	var records [][]float64
	var tolerance []float64 // of entries
	for range 300 {
		x, nan := []float64(nil), math.NaN()
		tolerance = nil
		for _, f := range s.Fields() {
			v, tol := []float64{[]float64{f.Lo, f.Hi, f.Lo + rng.Float64()*(f.Hi-f.Lo)}[rng.IntN(3)]}, 0.0
			switch {
			case f.Kind() == Place:
				v, tol = []float64{180*rng.Float64() - 90, 360*rng.Float64() - 180}, 180*fineness
			case f.Names != nil:
				v[0] = float64(rng.IntN(len(f.Names)))
			case f.Kind() == Number:
				tol = (f.Hi - f.Lo) * fineness
			default:
				v[0] = math.Round(v[0])
			}
			if f.Missing && rng.IntN(3) == 0 {
				v = []float64{nan, nan}[:len(v)]
			}
			x, tolerance = append(x, v...), append(tolerance, []float64{tol, tol}[:len(v)]...)
		}
		records = append(records, x)
	}
	var b bytes.Buffer
	testkit.Check(t, s.Write(&b, records))
	got, err := all(s, &b)
	if err != nil || len(got) != len(records) {
		t.Fatalf("%d records, %v", len(got), err)
	}
	for i, x := range records {
		for k, a := range x {
			if b := got[i][k]; math.IsNaN(a) != math.IsNaN(b) || math.Abs(a-b) > tolerance[k] || k < 4 && (b < fields[k].Lo || b > fields[k].Hi) {
				t.Errorf("record %d, entry %d: %v came back as %v", i, k, a, b)
			}
		}
	}
}

func TestSchema_WriteDigits(t *testing.T) {
	for _, c := range []struct {
		lo, hi, v float64
		want      string
	}{
		{0, 1, 1 / 3.0, "0.333333"}, {0, 1e6, 1e6 / 3, "333333"}, {-90, 90, 48.853409, "48.8534"}, {0, 1, 0.5, "0.5"},
		{-1, 1, -1e-9, "0"}, {1e9, 1e9 + 1, 1e9 + 1/3.0, "1000000000.333333"}, {0, 1e20, 3e19, "3e+19"}, {0.05, 0.15, 0.05, "0.05"},
	} {
		s := testkit.Must(NewSchema([]Field{{Name: "a", Column: domain.Column{Lo: c.lo, Hi: c.hi}}}))
		var b strings.Builder
		if err := s.Write(&b, [][]float64{{c.v}}); err != nil || b.String() != "a\n"+c.want+"\n" {
			t.Errorf("%v in [%v, %v]: %q, %v, want %s", c.v, c.lo, c.hi, b.String(), err, c.want)
		}
	}
}

// Steps give multiples with as many digits, and none beyond the bounds.
func TestSchema_WriteSteps(t *testing.T) {
	for _, c := range []struct {
		lo, hi, step, v float64
		want            string
	}{
		{0, 100, 0.01, 12.499, "12.50"}, {0, 100, 0.05, 12.52, "12.50"}, {0, 100, 0.5, 12.3, "12.5"}, {0, 120, 1, 37.21, "37"},
		{-1, 1, 0.1, -0.04, "0.0"}, {-1, 1, 0.1, 0.3, "0.3"}, {0, 5000, 250, 1360, "1250"}, {0, 100, 2, 2.6, "2"}, {-0.3, 0.3, 0.1, -7, "-7.0"},
		{0, 1, 0.01, 1e300, "1e+300"}, {0, 4e20, 2e20, 3.1e20, "400000000000000000000"},
	} {
		for _, kind := range []Kind{Number, Whole} {
			if kind == Whole && (c.step != math.Trunc(c.step) || c.hi > maxWhole) {
				continue
			}
			s := testkit.Must(NewSchema([]Field{{Name: "a", Column: domain.Column{Lo: c.lo, Hi: c.hi, Whole: kind == Whole}, Step: c.step}}))
			var b strings.Builder
			if err := s.Write(&b, [][]float64{{c.v}}); err != nil || b.String() != "a\n"+c.want+"\n" {
				t.Errorf("%v of %v in [%v, %v]: %q, %v, want %s", c.v, c.step, c.lo, c.hi, b.String(), err, c.want)
			}
		}
	}
	r, taken := rand.New(rand.NewPCG(3, 4)), 0
	for range 3000 {
		step := []float64{0.1, 0.05, 1 / 3.0, 0.7e-9, 2.5e7}[r.IntN(5)]
		lo, hi := step*float64(r.IntN(3000)-1500), step*float64(r.IntN(3000)+1500)
		s, err := NewSchema([]Field{{Name: "a", Column: domain.Column{Lo: lo, Hi: hi}, Step: step}})
		if err != nil { // as 3*0.1 is not 0.3
			continue
		}
		taken++
		v := []float64{lo, hi, math.Nextafter(lo, hi), math.Nextafter(hi, lo), lo + r.Float64()*(hi-lo)}[r.IntN(5)]
		var b strings.Builder
		testkit.Check(t, s.Write(&b, [][]float64{{v}}))
		if got := testkit.Must(all(s, strings.NewReader(b.String())))[0][0]; got < lo || got > hi || math.Abs(got-v) > step*(0.5+1e-9) {
			t.Fatalf("%v of %v in [%v, %v]: %v", v, step, lo, hi, got)
		}
	}
	if taken < 500 {
		t.Errorf("%d schemas", taken)
	}
}

func TestSchema_WriteRefuses(t *testing.T) {
	s := testkit.Must(ParseSchema("n:number:0..1,w:whole:0..9,d:date:2000-01-01..2000-12-31,c:category:b|c,p?:place:lat|lon"))
	nan, inf := math.NaN(), math.Inf(1)
	for want, x := range map[string][]float64{
		"records[1], want size 6":                                 {0, 0, 0, 0, 0},
		`records[1]: field "n": NaN, and no value may be missing`: {nan, 0, 0, 0, 0, 0},
		`records[1]: field "n": not a finite number`:              {inf, 0, 0, 0, 0, 0},
		`records[1]: field "w": beyond 2^53`:                      {0, 1e300, 0, 0, 0, 0},
		`records[1]: field "d": no day from 0001-01-01`:           {0, 0, 1e300, 0, 0, 0},
		`records[1]: field "c": want a category, an integer in [`: {0, 0, 0, 2, 0, 0},
		`records[1]: field "c": want a category, an`:              {0, 0, 0, 0.5, 0, 0},
		`records[1]: field "c": want a category`:                  {0, 0, 0, -1, 0, 0},
		`records[1]: field "p": half a place is missing`:          {0, 0, 0, 0, 0, nan},
	} {
		err := s.Write(io.Discard, [][]float64{{0, 0, 0, 0, 0, 0}, x})
		if err == nil || !strings.HasPrefix(err.Error(), "table: Schema.Write: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", x, err, want)
		}
	}
	if err := s.Write(nil, nil); err == nil || err.Error() != "table: Schema.Write: no writer" {
		t.Error(err)
	}
	one := testkit.Must(ParseSchema("a?:whole:0..9"))
	for _, x := range []float64{1, nan} {
		if err := one.Write(broken{}, [][]float64{{x}}); !errors.Is(err, errFull) {
			t.Error(err)
		}
	}
}

var errFull = errors.New("disk full")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errFull }

// FuzzSchema: whatever the schema and the file, reading ends, records fit the schema,
// are written, and read back as many.
func FuzzSchema(f *testing.F) {
	const line = "age?:whole:0..120,height:number:0..2.5,joined?:date:2000-01-01..2029-12-31,city:category:Paris|London|*elsewhere,p?:place:lat|lon"
	f.Add(line, "age,height,joined,city,lat,lon\n7,1.5,2001-02-03,Paris,1,2\n,0,,Rome,,\n")
	f.Add(line, "\ufefflon,lat,CITY,joined,height,age,x\r\n1,1,\"\",2001-02-03,1e308,-1e300,0\r\n")
	f.Add("a?:whole:0..9", "a\n1\n\"\"\n\n3\n")
	f.Add("t:taxonomy:a/b|a/*c", "t\nb\nx\n")
	f.Add("n:number:-1e80..1e-80", "n\n1e300\n-0\n")
	f.Fuzz(func(t *testing.T, line, in string) {
		s, err := ParseSchema(line)
		if err != nil {
			return
		}
		records, err := all(s, strings.NewReader(in))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 1<<10+2*len(line)+len(in) {
				t.Fatalf("%q", err)
			}
			return
		}
		var b bytes.Buffer
		if err := s.Write(&b, records); err != nil {
			for _, x := range records {
				for _, v := range x {
					if math.Abs(v) > maxWhole {
						return // out of bounds, where a domain would have clipped it
					}
				}
			}
			t.Fatalf("%v in %q is not written: %v", records, line, err)
		}
		again, err := all(s, &b)
		if err != nil || len(again) != len(records) {
			t.Fatalf("%d records came back as %d, %v", len(records), len(again), err)
		}
	})
}
