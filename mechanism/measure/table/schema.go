package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// Kind says what the values of a [Field] are.
type Kind string

// The kinds, as schemas spell them.
const (
	Number   Kind = "number"   // a number in a range
	Whole    Kind = "whole"    // a whole number in a range
	Date     Kind = "date"     // a day as 2006-01-02; in a record the days since 1970-01-01
	Category Kind = "category" // one of some names; in a record its position among them
	Taxonomy Kind = "taxonomy" // the same, of names that a tree arranges
	Place    Kind = "place"    // two columns of CSV and entries of a record, latitude and longitude in degrees
)

// Field is one column of a table, or two for a place. All of it is public: bounds
// and names that are read off private data give away who is in them.
type Field struct {
	// Name is that of the column in the header of CSV; letters' case does not matter
	// there. A place has Lat and Lon for that.
	Name string
	Kind Kind
	// Lo < Hi bound numbers, whole numbers and dates, both included. What lies outside
	// is read as it is; a [Synthesizer] moves it to the nearer bound, and a box does
	// what [domain.BoxOptions].Outside says.
	Lo, Hi float64
	// Step rounds the numbers and whole numbers that [Schema.Write] writes to its
	// multiples, with as many digits as it has: 0.01 is for prices. Lo and Hi must be
	// multiples too. To round what is released costs no privacy. 0 means a millionth of
	// the range, and 1 for whole numbers.
	Step float64
	// Names are those of the categories. Of a taxonomy they are ways down a tree, as
	// in "Europe/France": what stands in CSV is the last part. A [Synthesizer] learns
	// more where names that have much in common follow one another.
	Names []string
	// Other is the one of them, as it stands in CSV, that all other texts are taken
	// for; "" makes those errors.
	Other string
	// Missing are texts that stand for no value, NaN in a record, and for none of the
	// field's; "" is that of an empty cell. The first is what [Schema.Write] writes.
	// Without any, a value that is missing is an error.
	Missing []string
	// Lat and Lon name the columns of a place.
	Lat, Lon string
	// Weight multiplies distances, which are shares of the largest between two
	// values: of a range, of the distance of two categories, of half a great circle.
	// 0 means 1.
	Weight float64
}

// Schema describes the fields of a table: what they are called, which values they
// have, and so how to read and write them without codes. It is immutable. The zero
// value has no fields and is refused.
type Schema struct {
	fields []field
	header []string // of the CSV
	width  int      // entries of a record
}

// field is a Field with what follows from it.
type field struct {
	Field
	at      int             // its first entry in a record
	texts   []string        // of the categories in CSV
	numbers map[string]int  // of those texts
	absent  map[string]bool // the texts for missing values
	column  domain.Column
	digits  int // behind the point, of numbers that are written
}

const (
	maxWhole  = 1 << 53 // beyond it not every whole number is a float64
	maxBound  = 1e90    // within what NewBox takes, with any weight
	maxWeight = 1e9
	maxLon    = 360     // degrees
	maxSchema = 4 << 20 // bytes of a schema file
	day       = "2006-01-02"
	secondsOf = 24 * 60 * 60 // a day
)

// The first and last day that the format has.
var firstDay, lastDay = days(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), days(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))

func days(t time.Time) float64 { return float64(t.Unix() / secondsOf) }

func parseDay(text string) (float64, error) {
	t, err := time.Parse(day, text)
	if err == nil && t.Year() == 0 { // which no calendar has, but the package
		err = fmt.Errorf("no year")
	}
	return days(t), err
}

func dayOf(v float64) string { return time.Unix(int64(v)*secondsOf, 0).UTC().Format(day) }

// NewSchema returns the schema of the fields, in the order of a record's entries.
// Errors name the field and what is wrong with it: no name, or that of another; an
// unknown kind; bounds the wrong way, not finite or missing; no names, or the same
// twice; settings that do not belong to the kind. O(names).
func NewSchema(fields []Field) (*Schema, error) { return newSchema("table: NewSchema", fields) }

func newSchema(op string, fields []Field) (*Schema, error) {
	if err := fault.Empty(op, "fields", len(fields)); err != nil {
		return nil, err
	}
	s := &Schema{}
	used := map[string]bool{}
	for i, f := range fields {
		g := field{Field: f, at: s.width}
		g.Names, g.Missing = slices.Clone(f.Names), slices.Clone(f.Missing)
		err := g.check()
		columns := []string{f.Name}
		if f.Kind == Place {
			columns = []string{f.Lat, f.Lon}
		}
		for _, name := range columns {
			if err == nil {
				err = checkText("a column's name", name)
			}
			if err == nil && (name == "" || used[strings.ToLower(name)]) {
				err = fmt.Errorf("want another name than %q for a column, which is empty or used before", name)
			}
			used[strings.ToLower(name)] = true
		}
		if err != nil {
			return nil, fmt.Errorf("%s: field %d, %.40q: %w", op, i+1, f.Name, err)
		}
		s.fields, s.header, s.width = append(s.fields, g), append(s.header, columns...), s.width+len(columns)
	}
	return s, nil
}

// checkText refuses what would not come back from a cell of CSV as it is.
func checkText(what, text string) error {
	if at, why := fault.Text(text); at >= 0 {
		return fmt.Errorf("%s, %.40q, has at byte %d %s", what, text, at, why)
	}
	if strings.TrimSpace(text) != text {
		return fmt.Errorf("%s, %.40q, has spaces around it, which CSV is read without", what, text)
	}
	return nil
}

// check applies the defaults, derives the rest, or says what is wrong.
func (f *field) check() error {
	if err := checkText("its name", f.Name); err != nil {
		return err
	}
	ranged := f.Kind == Number || f.Kind == Whole || f.Kind == Date
	named := f.Kind == Category || f.Kind == Taxonomy
	switch {
	case !ranged && !named && f.Kind != Place:
		return fmt.Errorf("kind %.40q, want %s, %s, %s, %s, %s or %s", f.Kind, Number, Whole, Date, Category, Taxonomy, Place)
	case !ranged && (f.Lo != 0 || f.Hi != 0):
		return fmt.Errorf("lo and hi are not for kind %s", f.Kind)
	case f.Step != 0 && f.Kind != Number && f.Kind != Whole:
		return fmt.Errorf("step is not for kind %s", f.Kind)
	case !named && (len(f.Names) > 0 || f.Other != ""):
		return fmt.Errorf("names and other are not for kind %s", f.Kind)
	case f.Kind != Place && (f.Lat != "" || f.Lon != ""):
		return fmt.Errorf("lat and lon are not for kind %s", f.Kind)
	case f.Weight != 0 && !(f.Weight >= 1/maxWeight && f.Weight <= maxWeight):
		return fmt.Errorf("weight = %v, want 0 or a number in [%v, %v]", f.Weight, 1/maxWeight, maxWeight)
	}
	if f.Weight == 0 {
		f.Weight = 1
	}
	f.absent = make(map[string]bool, len(f.Missing))
	for _, text := range f.Missing {
		if err := checkText("a text for a missing value", text); err != nil {
			return err
		}
		if f.absent[text] {
			return fmt.Errorf("missing has %.40q twice", text)
		}
		f.absent[text] = true
	}
	switch {
	case ranged:
		if err := cmp.Or(f.checkRange(), f.checkMissing(f.Lo, f.Hi)); err != nil {
			return err
		}
	case named:
		if err := f.checkNames(); err != nil {
			return err
		}
	default:
		if err := f.checkMissing(-maxLon, maxLon); err != nil {
			return err
		}
		f.digits = decimals(180)
		f.column = domain.Column{Radius: metric.EarthRadiusKm, Weight: f.Weight / (math.Pi * metric.EarthRadiusKm)}
	}
	f.column.Missing = len(f.Missing) > 0
	return nil
}

// checkRange is the part of check for numbers.
func (f *field) checkRange() error {
	if !(f.Lo < f.Hi && f.Lo >= -maxBound && f.Hi <= maxBound && f.Hi-f.Lo >= 1/maxBound) {
		return fmt.Errorf("lo = %v and hi = %v, want lo < hi, of at most %v, and not closer than %v", f.Lo, f.Hi, maxBound, 1/maxBound)
	}
	f.digits = decimals(f.Hi - f.Lo)
	f.column = domain.Column{Lo: f.Lo, Hi: f.Hi, Weight: f.Weight / (f.Hi - f.Lo)}
	if f.Step != 0 {
		if err := f.checkStep(); err != nil {
			return err
		}
	}
	if f.Kind == Number {
		return nil
	}
	if f.Lo != math.Trunc(f.Lo) || f.Hi != math.Trunc(f.Hi) || max(-f.Lo, f.Hi) > maxWhole {
		return fmt.Errorf("lo = %v and hi = %v, want whole numbers up to 2^53", f.Lo, f.Hi)
	}
	if f.Kind == Date && !(f.Lo >= firstDay && f.Hi <= lastDay) {
		return fmt.Errorf("lo = %v and hi = %v, want days from %s to %s", f.Lo, f.Hi, dayOf(firstDay), dayOf(lastDay))
	}
	f.column.Whole = true
	return nil
}

// checkStep checks that the bounds come back from their texts: a multiple between them
// then does not leave them, as rounding keeps the order.
func (f *field) checkStep() error {
	if !(f.Step > 0) || math.IsInf(f.Step, 1) || max(-f.Lo, f.Hi) > f.Step*maxWhole || f.Kind == Whole && f.Step != math.Trunc(f.Step) {
		return fmt.Errorf("step = %v, want 0 or a finite number > 0, whole for kind %s and at least 2^-53 times the larger bound", f.Step, Whole)
	}
	_, behind, _ := strings.Cut(strconv.FormatFloat(f.Step, 'f', -1, 64), ".")
	f.digits = len(behind)
	for _, b := range []float64{f.Lo, f.Hi} {
		if v, err := strconv.ParseFloat(f.decimal(b), 64); v != b || err != nil {
			return fmt.Errorf("step = %v, want one of which lo = %v and hi = %v are multiples", f.Step, f.Lo, f.Hi)
		}
	}
	return nil
}

// checkMissing refuses texts for missing values that are values between the bounds.
func (f *field) checkMissing(lo, hi float64) error {
	for _, text := range f.Missing {
		v, err := fault.Decimal(text)
		if f.Kind == Date {
			v, err = parseDay(text)
		}
		if err == nil && v >= lo && v <= hi {
			return fmt.Errorf("%.40q stands for missing values, and is a value", text)
		}
	}
	return nil
}

// fineness is the share of a range to which numbers are written.
const fineness = 1e-6

// decimals is how many digits behind the point numbers of such a range have.
func decimals(length float64) int { return max(0, int(math.Ceil(-math.Log10(length*fineness)))) }

// checkNames is the part of check for categories.
func (f *field) checkNames() error {
	if len(f.Names) == 0 {
		return fmt.Errorf("names are missing")
	}
	f.numbers = make(map[string]int, len(f.Names))
	paths := make([][]string, len(f.Names))
	for i, name := range f.Names {
		text := name
		if f.Kind == Taxonomy {
			way := strings.Split(name, "/")
			text = way[len(way)-1]
			paths[i] = append([]string{"all"}, way...)
		}
		if err := checkText("a name", name); err != nil {
			return err
		}
		if err := checkText("a name", text); err != nil {
			return err
		}
		_, twice := f.numbers[text]
		switch {
		case text == "":
			return fmt.Errorf("a name is empty: texts for missing values are a setting of their own")
		case twice:
			return fmt.Errorf("names have %.40q twice", text)
		case f.absent[text]:
			return fmt.Errorf("%.40q is a name, and stands for missing values", text)
		}
		f.numbers[text] = i
		f.texts = append(f.texts, text)
	}
	if _, ok := f.numbers[f.Other]; f.Other != "" && !ok {
		return fmt.Errorf("other is %.40q, want one of the names", f.Other)
	}
	f.column = domain.Column{Categories: len(f.Names), Weight: f.Weight}
	if f.Kind == Category {
		return nil
	}
	tree, err := metric.TreeFromPaths(paths)
	if err != nil {
		return err
	}
	f.column = domain.Column{Taxonomy: tree, Weight: f.Weight / across(tree)}
	return nil
}

// across is the largest distance of two leaves, or 1 where there is one leaf: the
// farthest from the farthest from any.
func across(t *metric.Tree) float64 {
	leaves := t.PathMetric()
	far, from := 0.0, 0
	for range 2 {
		x := from
		for y := range leaves.Len() {
			if d := leaves.Distance(x, y); d > far {
				far, from = d, y
			}
		}
	}
	return max(1, far)
}

// fileField is a field of a schema file.
type fileField struct {
	Name, Kind, Lat, Lon, Other string
	Lo, Hi                      json.RawMessage
	Names, Missing              []string
	Weight, Step                float64
}

// ReadSchema reads a schema from JSON, a list of fields with the settings of
// [Field] in small letters. Dates are texts:
//
//	[
//		{"name": "age", "kind": "whole", "lo": 0, "hi": 120},
//		{"name": "joined", "kind": "date", "lo": "2000-01-01", "hi": "2029-12-31", "missing": ["", "unknown"]},
//		{"name": "city", "kind": "category", "names": ["Paris", "London", "elsewhere"], "other": "elsewhere"},
//		{"name": "home", "kind": "place", "lat": "latitude", "lon": "longitude"}
//	]
//
// A byte order mark is skipped. Unknown settings, one given twice, anything behind the
// list, and more than 4 MiB are errors, and what is one for [NewSchema].
func ReadSchema(r io.Reader) (*Schema, error) {
	const op = "table: ReadSchema"
	if r == nil {
		return nil, fmt.Errorf("%s: no reader", op)
	}
	text, err := io.ReadAll(io.LimitReader(bounded.WithoutMark(r), maxSchema+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("%s: more than %d bytes", op, maxSchema)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: want a list of fields: %w", op, err)
	}
	fields := make([]Field, len(list))
	for i, raw := range list {
		var f fileField
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err := cmp.Or(d.Decode(&f), checkKeys(raw))
		if err == nil {
			fields[i], err = f.field()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: field %d, %.40q: %w", op, i+1, f.Name, err)
		}
	}
	return newSchema(op, fields)
}

// checkKeys refuses an object that has a key twice, of which encoding/json would take
// the last.
func checkKeys(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); t != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if key = strings.ToLower(key); seen[key] {
			return fmt.Errorf("%.40q is given twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// field turns texts into bounds.
func (f *fileField) field() (g Field, err error) {
	g = Field{Name: f.Name, Kind: Kind(f.Kind), Names: f.Names, Other: f.Other, Missing: f.Missing, Lat: f.Lat, Lon: f.Lon, Weight: f.Weight, Step: f.Step}
	for _, b := range []struct {
		name string
		raw  json.RawMessage
		dst  *float64
	}{{"lo", f.Lo, &g.Lo}, {"hi", f.Hi, &g.Hi}} {
		text := string(b.raw)
		if b.raw != nil && b.raw[0] == '"' {
			if err := json.Unmarshal(b.raw, &text); err != nil {
				return g, err
			}
		}
		if *b.dst, err = bound(b.name, g.Kind, text, b.raw != nil); err != nil {
			return g, err
		}
	}
	return g, nil
}

// bound reads a bound of a field of this kind, which has one or not.
func bound(name string, kind Kind, text string, given bool) (float64, error) {
	switch ranged := kind == Number || kind == Whole || kind == Date; {
	case ranged && !given:
		return 0, fmt.Errorf("%s is missing", name)
	case !ranged && given:
		return 0, fmt.Errorf("%s is not for kind %.40q", name, kind)
	case !ranged:
		return 0, nil
	case kind == Date:
		v, err := parseDay(text)
		if err != nil {
			return 0, fmt.Errorf("%s = %.40q, want a date as %s", name, text, day)
		}
		return v, nil
	}
	v, err := fault.Decimal(text)
	if err != nil {
		return 0, fmt.Errorf("%s = %.40q, want a number", name, text)
	}
	return v, nil
}

// ParseSchema reads a schema from one line, as a flag has it: fields
// name:kind:values between commas, with values lo..hi of numbers and dates, names
// between bars of categories, and the columns lat|lon of a place:
//
//	age:whole:0..120,joined?:date:2000-01-01..2029-12-31,city:category:Paris|London|*elsewhere,home:place:latitude|longitude
//
// A question mark behind the name lets cells be empty, and a star before that of a
// category makes it Other. Names with such marks in them, weights, steps and other texts
// for missing values need a file: see [ReadSchema]. Errors are those of [NewSchema].
func ParseSchema(line string) (*Schema, error) {
	const op = "table: ParseSchema"
	var fields []Field
	for i, text := range strings.Split(line, ",") {
		f, err := parseField(text)
		if err != nil {
			return nil, fmt.Errorf("%s: field %d, %.40q: %w", op, i+1, text, err)
		}
		fields = append(fields, f)
	}
	return newSchema(op, fields)
}

func parseField(text string) (f Field, err error) {
	name, rest, _ := strings.Cut(text, ":")
	kind, values, given := strings.Cut(rest, ":")
	f.Name, f.Kind = strings.TrimSpace(name), Kind(strings.TrimSpace(kind))
	if name, optional := strings.CutSuffix(f.Name, "?"); optional {
		f.Name, f.Missing = name, []string{""}
	}
	if !given {
		return f, fmt.Errorf("want name:kind:values")
	}
	names := strings.Split(values, "|")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	switch f.Kind {
	case Category, Taxonomy:
		f.Names = names
		for i, name := range names {
			name, star := strings.CutPrefix(name, "*")
			if !star {
				continue
			}
			if f.Other != "" {
				return f, fmt.Errorf("want one star at most")
			}
			names[i] = name
			f.Other = name[strings.LastIndexByte(name, '/')+1:]
		}
	case Place:
		if len(names) != 2 {
			return f, fmt.Errorf("want the columns of a place as lat|lon")
		}
		f.Lat, f.Lon = names[0], names[1]
	case Number, Whole, Date:
		lo, hi, two := strings.Cut(values, "..")
		if f.Lo, err = bound("lo", f.Kind, strings.TrimSpace(lo), true); err != nil {
			return f, err
		}
		f.Hi, err = bound("hi", f.Kind, strings.TrimSpace(hi), two)
	}
	return f, err
}

func (s *Schema) check(op string) error {
	return fault.Made(s != nil && s.fields != nil, op, "Schema", "NewSchema, ReadSchema or ParseSchema")
}

// Fields returns the fields, with the defaults for what was left out.
func (s *Schema) Fields() []Field {
	fault.Must(s, s.check("table: Schema.Fields"))
	fields := make([]Field, len(s.fields))
	for i := range s.fields {
		fields[i] = s.fields[i].Field
		fields[i].Names, fields[i].Missing = slices.Clone(fields[i].Names), slices.Clone(fields[i].Missing)
	}
	return fields
}

// Columns returns the columns of a box of the records, one a field: see
// [domain.NewBox].
func (s *Schema) Columns() []domain.Column {
	fault.Must(s, s.check("table: Schema.Columns"))
	columns := make([]domain.Column, len(s.fields))
	for i := range s.fields {
		columns[i] = s.fields[i].column
	}
	return columns
}
