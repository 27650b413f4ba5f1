package table

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

const people = `[
	{"name": "age", "kind": "whole", "lo": 0, "hi": 120},
	{"name": "joined", "kind": "date", "lo": "2000-01-01", "hi": "2029-12-31", "missing": ["", "unknown"]},
	{"name": "city", "kind": "category", "names": ["Paris", "London", "elsewhere"], "other": "elsewhere", "weight": 2},
	{"name": "job", "kind": "taxonomy", "names": ["crafts/mason", "crafts/smith", "clerk"]},
	{"name": "height", "kind": "number", "lo": 0.5, "hi": 2.5, "step": 0.01},
	{"name": "home", "kind": "place", "lat": "latitude", "lon": "longitude"}
]`

func TestReadSchema_Fields(t *testing.T) {
	s := testkit.Must(ReadSchema(strings.NewReader("\ufeff" + people))) // a byte order mark is skipped
	share := func(c domain.Column, share float64) domain.Column { c.Share = share; return c }
	want := []Field{
		{Name: "age", Column: share(domain.Column{Hi: 120, Whole: true}, 1)},
		{Name: "joined", Column: share(domain.Column{Lo: 10957, Hi: 21914, Whole: true, Missing: true}, 1), Date: true, Layout: day, Absent: []string{"", "unknown"}},
		{Name: "city", Column: share(domain.Column{Categories: 3}, 2), Names: []string{"Paris", "London", "elsewhere"}, Other: "elsewhere"},
		{Name: "job", Column: share(domain.Column{Taxonomy: s.Columns()[3].Taxonomy}, 1), Names: []string{"mason", "smith", "clerk"}},
		{Name: "height", Column: share(domain.Column{Lo: 0.5, Hi: 2.5}, 1), Step: 0.01},
		{Name: "home", Column: share(domain.Column{Radius: metric.EarthRadiusKm}, 1), Lat: "latitude", Lon: "longitude"},
	}
	if got := s.Fields(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for i, kind := range []Kind{Whole, Date, Category, Taxonomy, Number, Place} {
		if got := want[i].Kind(); got != kind {
			t.Errorf("%s: kind %s", want[i].Name, got)
		}
	}
	s.Fields()[2].Names[0] = "Rome"
	if again := testkit.Must(NewSchema(s.Fields())); !reflect.DeepEqual(again.Fields(), want) {
		t.Errorf("%+v\nwant %+v", again.Fields(), want)
	}
}

func TestParseSchema_AgreesWithFiles(t *testing.T) {
	line := testkit.Must(ParseSchema("age:whole:0..120, joined?:date: 2000-01-01..2029-12-31,city :category:Paris| London |*elsewhere," +
		"job:taxonomy:crafts/mason|*crafts/smith|clerk,height:number:-.5..2.5e0,home:place:latitude|longitude"))
	file := testkit.Must(ReadSchema(strings.NewReader(strings.NewReplacer(`, "unknown"`, "", `, "weight": 2`, "", `, "step": 0.01`, "", "0.5", "-0.5",
		`"clerk"]`, `"clerk"], "other": "smith"`).Replace(people))))
	if got, want := line.Fields(), file.Fields(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// What is refused, and how, in a file, a line and in Go.
func TestSchema_Refuses(t *testing.T) {
	file := func(in string) error { return testkit.Err(ReadSchema(strings.NewReader(in))) }
	settings := func(in string) error { return file(`[{"name": "a", ` + in + `}]`) }
	whole := func(more string) error { return settings(`"kind": "whole", "lo": 0, "hi": 1, ` + more) }
	number := func(lo, hi, more string) error {
		return settings(fmt.Sprintf(`"kind": "number", "lo": %s, "hi": %s%s`, lo, hi, more))
	}
	date := func(kind, layout string) error {
		lo := map[string]string{"date": "1850-01-01", "time": "2020-01-01"}[kind] // fewer than 2^30 seconds, for 32 bits
		return settings(fmt.Sprintf(`"kind": %q, "lo": %q, "hi": "2050-01-01", "layout": %q`, kind, lo, layout))
	}
	names := func(kind, names string) error { return settings(`"kind": "` + kind + `", "names": [` + names + `]`) }
	line := func(in string) error { return testkit.Err(ParseSchema(in)) }
	fields := func(f ...Field) error { return testkit.Err(NewSchema(f)) }
	one, nan := domain.Column{Hi: 1, Whole: true}, math.NaN()
	tree := testkit.Must(metric.TreeFromPaths([][]string{{"r", "a"}, {"r", "b"}}))
	testkit.Check(t, whole(`"layout": "1.234,5 €", "missing": ["", "€ 1"]`))
	for _, layout := range []string{"1.234.5", "(1.234,5", "(1.234,5-)", "1 234 5", "-1234.5"} {
		testkit.Refused(t, [][3]any{{number("0", "1", fmt.Sprintf(`, "layout": %q`, layout)), fmt.Sprintf("layout %q, want how", layout)}})
	}
	for _, layout := range []string{"01/02", "02.2006", "yyyy-mm-dd"} {
		testkit.Refused(t, [][3]any{{date("date", layout), fmt.Sprintf("layout %q, want one of package time that says which date", layout)}})
	}
	testkit.Refused(t, [][3]any{
		{file(""), "ReadSchema: want a list of fields"},
		{file(`{"fields": [], "fields": []}`), `"fields" is given twice`},
		{file(`{"separator": "x", "fields": [{"name": "a", "kind": "whole", "lo": 0, "hi": 1}]}`), `ReadSchema: separator "x", want a comma`},
		{testkit.Err(testkit.Must(ParseSchema("a:whole:0..1")).Separated('"')), `Schema.Separated: separator "\"", want`},
		{file("[] []"), "ReadSchema: want a list of fields"},
		{file("[]"), "ReadSchema: fields: empty input"},
		{file("[[]]"), "cannot unmarshal array"},
		{file(strings.Repeat(" ", maxSchema+1)), "more than 4194304 bytes"},
		{testkit.Err(ReadSchema(nil)), "ReadSchema: no reader"},
		{whole(`"unit": "m"`), `field 1, "a": json: unknown field "unit"`},
		{whole(`"Lo": 1`), `field 1, "a": "lo" is given twice`},
		{whole(`"lat": "b"`), "lat and lon are not for kind whole"},
		{whole(`"names": ["b"]`), `names are not for kind "whole"`},
		{whole(`"names": "b"`), `field 1, "a": names is of JSON's kind string, want []string`},
		{whole(`"weight": -1`), "share = -1"},
		{whole(`"step": 1.5`), "whole for kind whole"},
		{whole(`"missing": ["", ""]`), `missing has "" twice`},
		{whole(`"missing": [" "]`), "has spaces around it"},
		{whole(`"missing": ["", "2", "1.0"]`), `"1.0" stands for missing values, and is a value`},
		{settings(`"kind": "int"`), `field 1, "a": kind "int", want number, whole, date, time, category, taxonomy or place`},
		{settings(`"kind": "whole", "hi": 1`), `field 1, "a": lo is missing`},
		{settings(`"kind": "whole", "lo": "0x1", "hi": 1`), `field 1, "a": lo = "0x1", want a number`},
		{settings(`"kind": "whole", "lo": 0, "hi": 1.5`), "hi = 1.5, want a whole number"},
		{settings(`"kind": "category", "lo": 0, "names": ["b"]`), `field 1, "a": lo is not for kind "category"`},
		{settings(`"kind": "category", "names": ["b"], "missing": ["b"]`), `"b" is a name, and stands for missing`},
		{settings(`"kind": "category", "names": ["b"], "other": "c"`), `other is "c", want one of the names`},
		{settings(`"kind": "date", "lo": 0, "hi": 1`), `field 1, "a": lo = "0", want a date as 2006-01-02`},
		{settings(`"kind": "time", "layout": "02.01.2006 15:04", "lo": "01.01.2024 00:00", "hi": 1`), `lo = "01.01.2024 00:00", want a time as 2006-01-02 15:04:05 or 2006-01-02, whatever the layout`},
		{settings(`"kind": "date", "lo": "1970-01-01", "hi": "1970-01-03", "step": 5`), "step is not for kind date"},
		{settings(`"kind": "date", "lo": "1970-01-01", "hi": "1970-01-03", "missing": ["1970-01-02"]`), `"1970-01-02" stands for missing values, and is a value`},
		{settings(`"kind": "place", "lat": "a", "lon": "a"`), `another name than "a"`},
		{settings(`"kind": "place", "lat": "a", "lon": "b", "missing": ["0"]`), `"0" stands for missing values, and is a value`},
		{names("category", `"b"], "layout": "1234", "missing": ["x"`), "layout is not for kind category"},
		{whole(`"layout": "#.##0"`), "want how the number 1234.5, or 1234 without decimals, stands in a cell"},
		{whole(`"layout": "1.234,5 €", "missing": ["", "1,0 €"]`), `"1,0 €" stands for missing values, and is a value`},
		{number("0", "1", `, "layout": " 1234.5"`), `has spaces around it`},
		{number("0", "1", `, "layout": "1,234"`), `layout "1,234" has no decimals: want how`},
		{date("time", "2006-01-02 03:04"), `that says which time, as 02.01.2006 15:04 is for dd.mm.yyyy hh:mm, or "excel"`}, // morning or evening
		{date("time", "2006-01-02 15:04 MST"), "has a zone by its name"},
		{date("date", "2/1/06"), "want hi less than a hundred years above lo"},
		{settings(`"kind": "date", "lo": "1930-01-01", "hi": "2030-01-01", "layout": "2/1/06"`), "want hi less than a hundred years above lo"},
		{settings(`"kind": "time", "lo": "2020-01-01 00:30:00", "hi": "2020-01-01 00:40:00", "layout": "2006-01-02 03:04"`), "want one of package time that says which time"}, // 12:30
		{file(`{"separator": "", "fields": [{"name": "a", "kind": "whole", "lo": 0, "hi": 1}]}`), `separator "", want a comma`},
		{date("date", "excel"), "no day from 1900-01-01 to 9999-12-31"},
		{date("date", "excel1904"), "no day from 1904-01-01 to"},
		{settings(`"kind": "date", "lo": "0000-12-31", "hi": "1970-01-01"`), "want days from 0001-01-01 to 9999-12-31"},
		{settings(`"kind": "time", "lo": "1970-01-01", "hi": "1970-01-01 25:00:00"`), `hi = "1970-01-01 25:00:00", want a time`},
		{number("2", "1", ""), `field 1, "a": hi = 1, want a number in (Lo, 1e100], Lo = 2`},
		{number("0", "1e999", ""), `hi = "1e999", want a number`},
		{number("0", "1", `, "step": -1`), "step = -1, want 0 or a finite number > 0"},
		{number("0", "1", `, "step": 1e-17`), "at least 2^-53 times the larger bound"},
		{number("0", "1", `, "step": 0.3`), "step = 0.3, want one of which lo = 0 and hi = 1 are multiples"},
		{names("category", ""), "names are missing"},
		{names("category", `""`), "a name is empty"},
		{names("category", `"b", "b"`), `names have "b" twice`},
		{names("category", `"b "`), "has spaces around it"},
		{names("category", `"b\u202e"`), "a mark of the direction of text"},
		{names("taxonomy", `"b/x", "c/x"`), `names have "x" twice`},
		{names("taxonomy", `"b/x", "b"`), "ends at an inner node"},

		{line("a"), `ParseSchema: field 1, "a": want name:kind:values`},
		{line("a:whole:0..1,"), `ParseSchema: field 2, "": want`},
		{line("a:whole:..1"), `lo = "", want a number`},
		{line("a:date:2000-01-01..1999-01-01"), "hi = 1999-01-01, want a day from lo = 2000-01-01 on"},
		{line("a:whole:0..1,a:whole:0..1"), `field 2, "a": want another name`},
		{line("a:category:*b|*c"), "want one star at most"},
		{line("a:place:b"), "want the columns of a place as lat|lon"},

		{fields(), "NewSchema: fields: empty input"},
		{fields(Field{Column: one}), `NewSchema: field 1, "": a column has no name`},
		{fields(Field{Name: "a\n", Column: one}), "control character"},
		{fields(Field{Name: "a", Column: one}, Field{Name: "A", Column: one}), `field 2, "A": want another name than "A" for a column, which is used before`},
		{fields(Field{Name: "a", Column: one}, Field{Name: "p", Column: domain.Column{Radius: 1}, Lat: "a", Lon: "b"}), `field 2, "p": want another name than "a"`},
		{fields(Field{Name: "p", Column: domain.Column{Radius: 1, Hi: 1}, Lat: "a", Lon: "b"}), "lo and hi are not for kind place"},
		{fields(Field{Name: "a", Column: domain.Column{Hi: 1}, Step: nan}), "step = NaN, want 0 or a finite"},
		{fields(Field{Name: "a", Column: domain.Column{Hi: 1e7}, Date: true}), "want days from 0001-01-01 to 9999-12-31"},
		{fields(Field{Name: "a", Column: domain.Column{Categories: 2}}), "0 names of 2 categories"},
		{fields(Field{Name: "a", Column: domain.Column{Taxonomy: tree}, Names: []string{"x"}}), "1 names of 2 leaves"},
		{fields(Field{Name: "a", Column: domain.Column{Categories: 1}, Date: true, Names: []string{"x"}}), "date and time are not for kind category"},
	})
	unnamed := testkit.Must(NewSchema([]Field{{Name: "a", Column: domain.Column{Taxonomy: tree, Missing: true}}})).Fields()[0]
	if fmt.Sprint(unnamed.Names, len(unnamed.Absent)) != "[a b] 1" {
		t.Errorf("%+v", unnamed)
	}
}

// Two values of a field are at most its weight apart, some are, and its records have a cell.
func TestSchema_ColumnsAreShares(t *testing.T) {
	s := testkit.Must(ReadSchema(strings.NewReader(people)))
	columns, nan := s.Columns(), math.NaN()
	for i, c := range []struct{ x, y []float64 }{
		{[]float64{0}, []float64{120}}, {[]float64{10957}, []float64{21914}}, {[]float64{0}, []float64{2}},
		{[]float64{0}, []float64{2}}, {[]float64{0.5}, []float64{2.5}}, {[]float64{90, 0}, []float64{-90, 0}},
	} {
		f := s.Fields()[i]
		d := testkit.Must(domain.NewBox(columns[i:i+1], nil))
		if got := d.Distance(c.x, c.y); math.Abs(got-f.Share) > 1e-9 {
			t.Errorf("%s: %v and %v are %v apart, want %v", f.Name, c.x, c.y, got, f.Share)
		}
		if f.Missing && math.Abs(d.Distance([]float64{nan}, c.x)-f.Share) > 1e-9 {
			t.Errorf("%s: what is missing is %v from %v", f.Name, d.Distance([]float64{nan}, c.x), c.x)
		}
		if _, err := d.Cell([]float64{nan, nan}[:len(c.x)]); (err == nil) != (f.Missing) {
			t.Errorf("%s: a missing value: %v", f.Name, err)
		}
		if got := testkit.Must(measure.CountAll(context.Background(), d, [][]float64{c.x, c.y}, nil)); got.Len() != 2 {
			t.Errorf("%s: %d records", f.Name, got.Len())
		}
	}
}

func TestSchema_ZeroIsRefused(t *testing.T) {
	const constructors = "not from NewSchema, ReadSchema or ParseSchema"
	testkit.Unmade[Schema](t, constructors, "Read", "ReadPersons")
	for _, err := range new(Schema).Read(strings.NewReader("a\n")) {
		if err == nil || !strings.Contains(err.Error(), constructors) {
			t.Error(err)
		}
	}
}

// TestSchema_FoldsCase: names and texts for missing values are read in any case, written as
// the schema has them, and may not differ in case alone.
func TestSchema_FoldsCase(t *testing.T) {
	city := Field{Name: "city", Names: []string{"Paris", "ΑΘΗΝΑΣ", "elsewhere"}, Other: "elsewhere", Absent: []string{"NA"}, Fold: true}
	s := testkit.Must(NewSchema([]Field{city}))
	file := testkit.Must(ReadSchema(strings.NewReader(`[{"name": "city", "kind": "category", "names": ["Paris", "ΑΘΗΝΑΣ", "elsewhere"], "other": "elsewhere", "missing": ["NA"], "fold": true}]`)))
	if !reflect.DeepEqual(s.Fields(), file.Fields()) {
		t.Errorf("%+v\nwant %+v", file.Fields(), s.Fields())
	}
	var rows [][]float64
	for x, err := range s.Read(strings.NewReader("city\nPARIS\nαθήνας\nαθηνας\nna\nElsewhere\nRome\n")) {
		testkit.Check(t, err)
		rows = append(rows, x)
	}
	var out strings.Builder
	testkit.Check(t, s.Write(&out, rows))
	if want := "city\nParis\nelsewhere\nΑΘΗΝΑΣ\nNA\nelsewhere\nelsewhere\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	for want, change := range map[string]func(f *Field){
		"twice":              func(f *Field) { f.Names = []string{"Paris", "paris", "elsewhere"} },
		"missing has":        func(f *Field) { f.Absent = []string{"NA", "na"} },
		"stands for missing": func(f *Field) { f.Absent = []string{"paris"} },
		"fold is for names":  func(f *Field) { *f = Field{Name: "n", Column: domain.Column{Hi: 1}, Fold: true} },
	} {
		f := city
		change(&f)
		if _, err := NewSchema([]Field{f}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
