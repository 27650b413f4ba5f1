package table

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
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
	want := []Field{
		{Name: "age", Kind: Whole, Hi: 120, Weight: 1},
		{Name: "joined", Kind: Date, Lo: 10957, Hi: 21914, Missing: []string{"", "unknown"}, Weight: 1},
		{Name: "city", Kind: Category, Names: []string{"Paris", "London", "elsewhere"}, Other: "elsewhere", Weight: 2},
		{Name: "job", Kind: Taxonomy, Names: []string{"crafts/mason", "crafts/smith", "clerk"}, Weight: 1},
		{Name: "height", Kind: Number, Lo: 0.5, Hi: 2.5, Step: 0.01, Weight: 1},
		{Name: "home", Kind: Place, Lat: "latitude", Lon: "longitude", Weight: 1},
	}
	if got := s.Fields(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
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

func TestSchema_RefusesAndNamesTheField(t *testing.T) {
	names := func(n ...string) []Field { return []Field{{Name: "a", Kind: Category, Names: n}} }
	nan := math.NaN()
	for _, c := range []struct {
		fields []Field
		want   string
	}{
		{nil, "fields: empty input"},
		{[]Field{{Name: "a", Kind: "int"}}, `field 1, "a": kind "int", want number, whole, date, category, taxonomy or place`},
		{[]Field{{Kind: Whole, Hi: 1}}, `field 1, "": want another name than "" for a column`},
		{[]Field{{Name: " a", Kind: Whole, Hi: 1}}, "has spaces around it"},
		{[]Field{{Name: "a\n", Kind: Whole, Hi: 1}}, "control character"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1}, {Name: "A", Kind: Whole, Hi: 1}}, `field 2, "A": want another name than "A" for a column, which is empty or used before`},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1}, {Name: "p", Kind: Place, Lat: "a", Lon: "b"}}, `field 2, "p": want another name than "a"`},
		{[]Field{{Name: "p", Kind: Place, Lat: "a", Lon: "a"}}, `another name than "a"`},
		{[]Field{{Name: "p", Kind: Place, Lat: "a"}}, `another name than ""`},
		{[]Field{{Name: "p", Kind: Place, Lat: "a", Lon: "b", Hi: 1}}, "lo and hi are not for kind place"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Lat: "b"}}, "lat and lon are not for kind whole"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Names: []string{"b"}}}, "names and other are not for kind whole"},
		{[]Field{{Name: "a", Kind: Number}}, "lo = 0 and hi = 0, want lo < hi"},
		{[]Field{{Name: "a", Kind: Number, Lo: 2, Hi: 1}}, "lo = 2 and hi = 1, want lo < hi"},
		{[]Field{{Name: "a", Kind: Number, Lo: nan, Hi: 1}}, "lo = NaN"},
		{[]Field{{Name: "a", Kind: Number, Hi: math.Inf(1)}}, "hi = +Inf"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1e-300}}, "not closer than"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1.5}}, "want whole numbers up to 2^53"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1e17}}, "want whole numbers up to 2^53"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1, Step: -1}}, "step = -1, want 0 or a finite number > 0"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1, Step: nan}}, "step = NaN, want 0 or a finite"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1, Step: math.Inf(1)}}, "step = +Inf, want 0 or a finite"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1, Step: 1e-17}}, "at least 2^-53 times the larger bound"},
		{[]Field{{Name: "a", Kind: Number, Lo: -1, Hi: 0, Step: 1e-17}}, "at least 2^-53 times the larger bound"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 3, Step: 1.5}}, "whole for kind whole"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1, Step: 0.3}}, "step = 0.3, want one of which lo = 0 and hi = 1 are multiples"},
		{[]Field{{Name: "a", Kind: Number, Lo: 0.05, Hi: 1, Step: 0.1}}, "step = 0.1, want one of which lo = 0.05 and hi = 1 are"},
		{[]Field{{Name: "a", Kind: Number, Hi: 1, Step: 2}}, "step = 2, want one of which"},
		{[]Field{{Name: "a", Kind: Date, Hi: 10, Step: 5}}, "step is not for kind date"},
		{[]Field{{Name: "a", Kind: Date, Hi: 1e7}}, "want days from 0001-01-01 to 9999-12-31"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Weight: -1}}, "weight = -1"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Weight: nan}}, "weight = NaN"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Weight: 1e300}}, "weight = 1e+300"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Missing: []string{"", ""}}}, `missing has "" twice`},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Missing: []string{" "}}}, "has spaces around it"},
		{[]Field{{Name: "a", Kind: Whole, Hi: 1, Missing: []string{"", "2", "1.0"}}}, `"1.0" stands for missing values, and is a value`},
		{[]Field{{Name: "a", Kind: Date, Hi: 1, Missing: []string{"1970-01-02"}}}, `"1970-01-02" stands for missing values, and is a value`},
		{[]Field{{Name: "p", Kind: Place, Lat: "a", Lon: "b", Missing: []string{"0"}}}, `"0" stands for missing values, and is a value`},
		{names(), "names are missing"},
		{names(""), "a name is empty"},
		{names("b", "b"), `names have "b" twice`},
		{names("b "), "has spaces around it"},
		{names("b\u202e"), "a mark of the direction of text"},
		{[]Field{{Name: "a", Kind: Category, Names: []string{"b"}, Missing: []string{"b"}}}, `"b" is a name, and stands for missing`},
		{[]Field{{Name: "a", Kind: Category, Names: []string{"b"}, Other: "c"}}, `other is "c", want one of the names`},
		{[]Field{{Name: "a", Kind: Taxonomy, Names: []string{"b/x", "c/x"}}}, `names have "x" twice`},
		{[]Field{{Name: "a", Kind: Taxonomy, Names: []string{"b/x", "b/"}}}, "a name is empty"},
		{[]Field{{Name: "a", Kind: Taxonomy, Names: []string{"b/x", "b"}}}, "ends at an inner node"},
	} {
		_, err := NewSchema(c.fields)
		if err == nil || !strings.HasPrefix(err.Error(), "table: NewSchema: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.fields, err, c.want)
		}
	}
}

func TestReadSchema_Strict(t *testing.T) {
	for in, want := range map[string]string{
		"":       "want a list of fields",
		"{}":     "want a list of fields",
		"[] []":  "want a list of fields",
		"[]":     "fields: empty input",
		"[1]":    "field 1",
		"[null]": `field 1, "": kind ""`,
		`[{"name": "a", "kind": "whole", "lo": 0, "hi": 1, "unit": "m"}]`:   `field 1, "a": json: unknown field "unit"`,
		`[{"name": "a", "kind": "whole", "hi": 1}]`:                         `field 1, "a": lo is missing`,
		`[{"name": "a", "kind": "whole", "lo": 0}]`:                         `field 1, "a": hi is missing`,
		`[{"name": "a", "kind": "category", "lo": 0, "names": ["b"]}]`:      `field 1, "a": lo is not for kind "category"`,
		`[{"name": "a", "kind": "whole", "lo": "0x1", "hi": 1}]`:            `field 1, "a": lo = "0x1", want a number`,
		`[{"name": "a", "kind": "whole", "lo": [], "hi": 1}]`:               `lo = "[]", want a number`,
		`[{"name": "a", "kind": "date", "lo": 0, "hi": 1}]`:                 `field 1, "a": lo = "0", want a date as 2006-01-02`,
		`[{"name": "a", "kind": "date", "lo": "2000-02-30", "hi": 1}]`:      `lo = "2000-02-30", want a date`,
		`[{"name": "a", "kind": "number", "lo": 1, "hi": 0}]`:               `field 1, "a": lo = 1 and hi = 0, want lo < hi`,
		`[{"name": "a", "kind": "number", "lo": 0, "hi": 1e999}]`:           `hi = "1e999", want a number`,
		`[{"name": "a", "kind": "number", "lo": 0, "hi": 1, "names": "b"}]`: `field 1, "a": json: cannot unmarshal`,
		strings.Repeat(" ", maxSchema+1):                                    "more than 4194304 bytes",
		`[{"name": "a", "kind": "whole", "lo": 0, "hi": 1, "Lo": 1}]`:       `field 1, "a": "lo" is given twice`,
		`[[]]`: "cannot unmarshal array",
	} {
		_, err := ReadSchema(strings.NewReader(in))
		if err == nil || !strings.HasPrefix(err.Error(), "table: ReadSchema: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", in, err, want)
		}
	}
	if _, err := ReadSchema(nil); err == nil || err.Error() != "table: ReadSchema: no reader" {
		t.Error(err)
	}
}

func TestParseSchema_Strict(t *testing.T) {
	for in, want := range map[string]string{
		"":                          `field 1, "": want name:kind:values`,
		"a":                         `field 1, "a": want name:kind:values`,
		"a:whole":                   "want name:kind:values",
		"a:whole:0..1,":             `field 2, "": want`,
		"a:whole:0":                 "hi is missing",
		"a:whole:..1":               `lo = "", want a number`,
		"a:whole:0..1..2":           `hi = "1..2", want a number`,
		"a:date:2000-01-01..x":      `hi = "x", want a date`,
		"a:whole:0..1,a:whole:0..1": `field 2, "a": want another name`,
		"a:category:b|b":            `names have "b" twice`,
		"a:category:*b|*c":          "want one star at most",
		"a:category:":               "a name is empty",
		"a:place:b":                 "want the columns of a place as lat|lon",
		"a:int:0..1":                `kind "int", want`,
	} {
		_, err := ParseSchema(in)
		if err == nil || !strings.HasPrefix(err.Error(), "table: ParseSchema: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// Two values of a field are at most its weight apart, some are, and its records have a
// cell.
func TestSchema_ColumnsAreShares(t *testing.T) {
	s := testkit.Must(ReadSchema(strings.NewReader(people)))
	columns, nan := s.Columns(), math.NaN()
	for i, c := range []struct{ x, y []float64 }{
		{[]float64{0}, []float64{120}}, {[]float64{10957}, []float64{21914}}, {[]float64{0}, []float64{2}},
		{[]float64{0}, []float64{2}}, {[]float64{0.5}, []float64{2.5}}, {[]float64{90, 0}, []float64{-90, 0}},
	} {
		f := s.Fields()[i]
		d := testkit.Must(domain.NewBox(columns[i:i+1], nil))
		if got := d.Distance(c.x, c.y); math.Abs(got-f.Weight) > 1e-9 {
			t.Errorf("%s: %v and %v are %v apart, want %v", f.Name, c.x, c.y, got, f.Weight)
		}
		if f.Missing != nil && math.Abs(d.Distance([]float64{nan}, c.x)-f.Weight) > 1e-9 {
			t.Errorf("%s: what is missing is %v from %v", f.Name, d.Distance([]float64{nan}, c.x), c.x)
		}
		if _, err := d.Cell([]float64{nan, nan}[:len(c.x)]); (err == nil) != (f.Missing != nil) {
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
