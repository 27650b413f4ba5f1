package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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
	Date     Kind = "date"     // a day; in a record the days since 1970-01-01
	Time     Kind = "time"     // a second; in a record the seconds since 1970-01-01 00:00:00 UTC
	Category Kind = "category" // one of some names; in a record its position among them
	Taxonomy Kind = "taxonomy" // the same, of names that a tree arranges
	Place    Kind = "place"    // two columns of CSV and entries of a record, latitude and longitude in degrees
)

// Field is one column of a table, or two for a place: a [domain.Column], with the texts that stand
// for its values in CSV. All of it must be public, not read off private data.
//
// What lies outside of bounds is read as it is; a [Synthesizer] moves it to the nearer bound.
// Without a Weight the Share of a column is 1. Missing, without any text Absent, is an empty cell.
type Field struct {
	// Name is that of the column in the header of CSV, in any case of letters. A place has Lat and
	// Lon.
	Name string
	domain.Column
	// Date makes numbers days since 1970-01-01, and Time seconds.
	Date, Time bool
	// Layout is how the values stand in CSV; nothing is guessed. "" means 1234.5, 2006-01-02, and
	// 2006-01-02 15:04:05.
	//
	// Of numbers and places it is how 1234.5 stands there, or 1234 if all are whole: "1.234,5 €",
	// "$1,234.5", "1 234,5", or how it stands below zero: "(1,234.5)" and "1,234.5-". A cell may
	// lack the unit, all marks between thousands or the decimals; what else differs is an error.
	//
	// Of dates and times it is a layout of package time, such as "02.01.2006", or [Excel] or
	// [Excel1904]. Two digits of a year stand for one in the hundred years from Lo on. A date is
	// the day that stands there, in any zone; a time without a zone is UTC, as which times are
	// written.
	Layout string
	// Step rounds the numbers that [Schema.Write] writes to its multiples, with as many digits as
	// it has; Lo and Hi must be multiples too. It costs no privacy. 0 means a millionth of the
	// range, and 1 for whole numbers.
	Step float64
	// Names are those of the categories, and set their number; of a taxonomy they are by default
	// those of its leaves.
	Names []string
	// Other is the name that all other texts are taken for; "" makes those errors.
	Other string
	// Absent are texts that stand for what is missing; "" is that of an empty cell. [Schema.Write]
	// writes the first.
	Absent []string
	// Fold reads Names and Absent in whatever case of letters they come.
	Fold bool
	// Lat and Lon name the columns of a place.
	Lat, Lon string
}

// Kind says what the values are.
func (f *Field) Kind() Kind {
	switch {
	case f.Radius != 0:
		return Place
	case f.Taxonomy != nil:
		return Taxonomy
	case f.Names != nil || f.Categories != 0:
		return Category
	case f.Date:
		return Date
	case f.Time:
		return Time
	case f.Whole:
		return Whole
	}
	return Number
}

// Schema describes the fields of a table, and so how to read and write them. It is immutable. The
// zero value is refused.
type Schema struct {
	fields    []field
	header    []string // of the CSV
	width     int      // entries of a record
	separator rune     // of its cells
}

// field is a Field with what follows from it.
type field struct {
	Field
	kind    Kind
	at      int             // its first entry in a record
	numbers map[string]int  // of Names, by their key
	absent  map[string]bool // of Absent, by their key
	digits  int             // behind the point, of numbers that are written
	numeral *numeral        // of Layout, nil for the default
	century bool            // Layout has two digits of a year
}

const (
	maxWhole  = 1 << 53 // beyond it not every whole number is a float64
	maxLon    = 360     // degrees
	maxSchema = 4 << 20 // bytes of a schema file
)

// NewSchema returns the schema of the fields, in the order of a record's entries. Errors name the
// field and what is wrong with it: no name, or that of another; what [domain.NewBox] refuses; no
// names, or the same twice; settings that do not belong to the kind.
func NewSchema(fields []Field) (*Schema, error) { return newSchema("table: NewSchema", fields) }

func newSchema(op string, fields []Field) (*Schema, error) {
	if err := fault.Empty(op, "fields", len(fields)); err != nil {
		return nil, err
	}
	s := &Schema{separator: ','}
	used := map[string]bool{}
	for i, f := range fields {
		g := field{Field: f, kind: f.Kind(), at: s.width}
		g.Names, g.Absent = slices.Clone(f.Names), slices.Clone(f.Absent)
		err := g.check()
		columns := []string{f.Name}
		if g.kind == Place {
			columns = []string{f.Lat, f.Lon}
		}
		for _, name := range columns {
			if err == nil {
				err = checkText("a column's name", name)
			}
			if err == nil && name == "" {
				err = errors.New("a column has no name: it is name, and lat and lon of a place")
			}
			if err == nil && used[strings.ToLower(name)] {
				err = fmt.Errorf("want another name than %q for a column, which is used before", name)
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
	ranged := f.kind.ranged()
	named := f.kind == Category || f.kind == Taxonomy
	switch {
	case !ranged && (f.Lo != 0 || f.Hi != 0):
		return fmt.Errorf("lo and hi are not for kind %s", f.kind)
	case f.Step != 0 && f.kind != Number && f.kind != Whole:
		return fmt.Errorf("step is not for kind %s", f.kind)
	case !named && (len(f.Names) > 0 || f.Other != ""):
		return fmt.Errorf("names and other are not for kind %s", f.kind)
	case f.kind != Place && (f.Lat != "" || f.Lon != ""):
		return fmt.Errorf("lat and lon are not for kind %s", f.kind)
	case f.Date && f.kind != Date || f.Time && f.kind != Time:
		return fmt.Errorf("date and time are not for kind %s", f.kind)
	case f.Layout != "" && named:
		return fmt.Errorf("layout is not for kind %s", f.kind)
	}
	if f.Missing && f.Absent == nil {
		f.Absent = []string{""}
	}
	f.Missing, f.absent = len(f.Absent) > 0, make(map[string]bool, len(f.Absent))
	for _, text := range f.Absent {
		if err := checkText("a text for a missing value", text); err != nil {
			return err
		}
		if f.absent[f.key(text)] {
			return fmt.Errorf("missing has %.40q twice", text)
		}
		f.absent[f.key(text)] = true
	}
	if f.Fold && !named && !f.Missing {
		return fmt.Errorf("fold is for names and texts for missing values")
	}
	if f.Weight == 0 && f.Share == 0 {
		f.Share = 1
	}
	if f.Whole = f.Whole || f.Date || f.Time; named {
		if err := f.checkNames(); err != nil {
			return err
		}
	}
	dated, last := f.Date || f.Time, lastDay
	first := firstDay
	if f.Time {
		first, last = first*secondsOf, float64((last+1)*secondsOf)-1
	}
	if dated && first <= f.Hi && f.Hi < f.Lo && f.Lo <= last {
		return fmt.Errorf("hi = %s, want a day from lo = %s on", dayOf(f.kind, f.Hi), dayOf(f.kind, f.Lo))
	}
	if _, err := domain.NewBox([]domain.Column{f.Column}, nil); err != nil {
		var v *metric.ValueError
		if errors.As(err, &v) {
			return fmt.Errorf("%s = %v, want %s", strings.ToLower(strings.TrimPrefix(v.Arg, "columns.")), v.Value, v.Want)
		}
		return err
	}
	switch {
	case ranged:
		f.digits = decimals(f.Hi - f.Lo)
		if dated && !(f.Lo >= first && f.Hi <= last) {
			return fmt.Errorf("lo = %v and hi = %v, want days from %s to %s", f.Lo, f.Hi, dayOf(Date, firstDay), dayOf(Date, lastDay))
		}
		return cmp.Or(f.checkStep(), f.checkLayout(), f.checkMissing(f.Lo, f.Hi))
	case f.kind == Place:
		f.digits = decimals(180)
		return cmp.Or(f.checkLayout(), f.checkMissing(-maxLon, maxLon))
	}
	return nil
}

// ranged tells whether the values are numbers between bounds.
func (k Kind) ranged() bool { return k == Number || k == Whole || k == Date || k == Time }

// checkLayout reads the layout.
func (f *field) checkLayout() (err error) {
	if err := checkText("layout", f.Layout); err != nil {
		return err
	}
	switch {
	case f.Date || f.Time:
		return f.checkStamps()
	case f.Layout == "":
		return nil
	}
	if f.numeral, err = numeralOf(f.Layout); err == nil && f.numeral.point == "" && f.kind != Whole {
		err = fmt.Errorf("layout %q has no decimals: want %s", f.Layout, numeralWant)
	}
	return err
}

// key is by what a name or a text for a missing value is found.
func (f *field) key(text string) string {
	if f.Fold {
		return strings.ToUpper(text)
	}
	return text
}

// checkStep checks that the bounds come back from their texts: a multiple between them then does
// not leave them, as rounding keeps the order.
func (f *field) checkStep() error {
	if f.Step == 0 {
		return nil
	}
	if !(f.Step > 0) || math.IsInf(f.Step, 1) || max(-f.Lo, f.Hi) > f.Step*maxWhole || f.kind == Whole && f.Step != math.Trunc(f.Step) {
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
	for _, text := range f.Absent {
		if v, err := f.value(text); err == nil && v >= lo && v <= hi {
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
	if f.Taxonomy != nil {
		leaves := f.Taxonomy.Leaves()
		if f.Names == nil {
			for _, v := range leaves {
				f.Names = append(f.Names, f.Taxonomy.Name(v))
			}
		}
		if len(f.Names) != len(leaves) {
			return fmt.Errorf("%d names of %d leaves", len(f.Names), len(leaves))
		}
	} else {
		if len(f.Names) == 0 || f.Categories != 0 && f.Categories != len(f.Names) {
			return fmt.Errorf("%d names of %d categories", len(f.Names), f.Categories)
		}
		f.Categories = len(f.Names)
	}
	f.numbers = make(map[string]int, len(f.Names))
	for i, name := range f.Names {
		if err := checkText("a name", name); err != nil {
			return err
		}
		_, twice := f.numbers[f.key(name)]
		switch {
		case name == "":
			return fmt.Errorf("a name is empty: texts for missing values are a setting of their own")
		case twice:
			return fmt.Errorf("names have %.40q twice", name)
		case f.absent[f.key(name)]:
			return fmt.Errorf("%.40q is a name, and stands for missing values", name)
		}
		f.numbers[f.key(name)] = i
	}
	if _, ok := f.numbers[f.key(f.Other)]; f.Other != "" && !ok {
		return fmt.Errorf("other is %.40q, want one of the names", f.Other)
	}
	return nil
}

// set makes the field one of a kind, as files and flags spell them; the names of a taxonomy are
// ways down a tree.
func (f *Field) set(kind Kind, names []string) error {
	f.Names = names
	switch named := kind == Category || kind == Taxonomy; {
	case named && len(names) == 0:
		return fmt.Errorf("names are missing")
	case !named && len(names) > 0:
		return fmt.Errorf("names are not for kind %.40q", kind)
	}
	switch kind {
	case Number, Category:
	case Whole:
		f.Whole = true
	case Date:
		f.Date = true
	case Time:
		f.Time = true
	case Place:
		f.Radius = metric.EarthRadiusKm
	case Taxonomy:
		return f.setTaxonomy(names)
	default:
		return fmt.Errorf("kind %.40q, want %s, %s, %s, %s, %s, %s or %s", kind, Number, Whole, Date, Time, Category, Taxonomy, Place)
	}
	return nil
}

func (f *Field) setTaxonomy(names []string) (err error) {
	paths := make([][]string, len(names))
	f.Names = nil
	for i, name := range names {
		paths[i] = strings.Split("all/"+name, "/")
		if f.Names = append(f.Names, lastOf(name)); f.Names[i] == "" {
			return fmt.Errorf("a name is empty")
		}
	}
	f.Taxonomy, err = metric.TreeFromPaths(paths)
	return err
}

// lastOf is the last part of a way.
func lastOf(way string) string { return way[strings.LastIndexByte(way, '/')+1:] }

// fileField is a field of a schema file.
type fileField struct {
	Name, Kind, Lat, Lon, Other string
	Layout                      string
	Lo, Hi                      json.RawMessage
	Names, Missing              []string
	Weight, Step                float64
	Fold                        bool
}

// ReadSchema reads a schema from JSON, a list of fields with the settings of [Field] in small
// letters: a [Kind], "missing" for the texts Absent, "weight" for the Share, and as names of a
// taxonomy ways down a tree, as in "Europe/France", of which CSV has the last part. Dates are
// texts:
//
//	[
//		{"name": "age", "kind": "whole", "lo": 0, "hi": 120},
//		{"name": "joined", "kind": "date", "lo": "2000-01-01", "hi": "2029-12-31", "missing": ["", "unknown"]},
//		{"name": "city", "kind": "category", "names": ["Paris", "London", "elsewhere"], "other": "elsewhere"},
//		{"name": "home", "kind": "place", "lat": "latitude", "lon": "longitude"},
//		{"name": "paid", "kind": "number", "lo": 0, "hi": 5000, "step": 0.01, "layout": "1.234,5 €"}
//	]
//
// Where no commas separate the cells of the table, {"separator": ";", "fields": [...]} has the
// list. lo and hi are as above whatever the layout, and "2006-01-02 15:04:05" of a time. A byte order mark is skipped. Unknown settings, one given twice, anything behind the
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
	file := struct {
		Separator string
		Fields    *[]json.RawMessage
	}{",", &list}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		err = cmp.Or(decode(text, &file), checkKeys(text))
	} else {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || list == nil {
		return nil, fmt.Errorf("%s: want a list of fields, or one and a separator: %w", op, cmp.Or(err, fault.ErrEmpty))
	}
	fields := make([]Field, len(list))
	for i, raw := range list {
		var f fileField
		err := cmp.Or(decode(raw, &f), checkKeys(raw))
		if wrong, ok := err.(*json.UnmarshalTypeError); ok && wrong.Field != "" {
			err = fmt.Errorf("%s is of JSON's kind %s, want %v", strings.ToLower(wrong.Field), wrong.Value, wrong.Type)
		}
		if err == nil {
			fields[i], err = f.field()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: field %d, %.40q: %w", op, i+1, f.Name, err)
		}
	}
	s, err := newSchema(op, fields)
	if err == nil {
		err = s.separate(op, file.Separator)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// decode reads all of a text into v, which has all settings that are there.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more behind it")
	}
	return nil
}

// Separated returns the schema of the same fields in a file whose cells are separated by the
// character by: a comma, which is the default, a semicolon, a tab or a bar. In JSON this is
// {"separator": ";", "fields": [...]}.
func (s *Schema) Separated(by rune) (*Schema, error) {
	const op = "table: Schema.Separated"
	if err := s.check(op); err != nil {
		return nil, err
	}
	other := *s
	if err := other.separate(op, string(by)); err != nil {
		return nil, err
	}
	return &other, nil
}

func (s *Schema) separate(op, by string) error {
	if len(by) != 1 || !strings.Contains(",;\t|", by) {
		return fmt.Errorf("%s: separator %.40q, want a comma, a semicolon, a tab or a bar", op, by)
	}
	s.separator = rune(by[0])
	return nil
}

// checkKeys refuses an object that has a key twice, of which encoding/json would take the last.
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
	kind := Kind(f.Kind)
	g = Field{Name: f.Name, Other: f.Other, Absent: f.Missing, Lat: f.Lat, Lon: f.Lon, Step: f.Step, Layout: f.Layout, Fold: f.Fold, Column: domain.Column{Share: f.Weight}}
	if err := g.set(kind, f.Names); err != nil {
		return g, err
	}
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
		if *b.dst, err = bound(b.name, kind, text, b.raw != nil); err != nil {
			return g, err
		}
	}
	return g, nil
}

// bound reads a bound of a field of this kind, which has one or not.
func bound(name string, kind Kind, text string, given bool) (float64, error) {
	switch {
	case kind.ranged() && !given:
		return 0, fmt.Errorf("%s is missing", name)
	case !kind.ranged() && given:
		return 0, fmt.Errorf("%s is not for kind %.40q", name, kind)
	case !kind.ranged():
		return 0, nil
	case kind == Date || kind == Time:
		v, err := parseDay(kind, text)
		switch {
		case err == nil:
			return v, nil
		case kind == Time:
			return 0, fmt.Errorf("%s = %.40q, want a time as %s or %s, whatever the layout", name, text, second, day)
		}
		return 0, fmt.Errorf("%s = %.40q, want a date as %s, whatever the layout", name, text, day)
	}
	v, err := fault.Decimal(text)
	if err != nil {
		return 0, fmt.Errorf("%s = %.40q, want a number", name, text)
	}
	return v, nil
}

// ParseSchema reads a schema from one line, as a flag has it: fields name:kind:values between
// commas, with values lo..hi of numbers and dates, names between bars of categories, and the
// columns lat|lon of a place:
//
//	age:whole:0..120,joined?:date:2000-01-01..2029-12-31,city:category:Paris|London|*elsewhere,home:place:latitude|longitude
//
// A question mark behind the name lets cells be empty, and a star before that of a category makes
// it Other. All other settings need a file: see [ReadSchema]. Errors are those of [NewSchema].
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
	word, values, given := strings.Cut(rest, ":")
	kind := Kind(strings.TrimSpace(word))
	f.Name, f.Missing = strings.CutSuffix(strings.TrimSpace(name), "?")
	if !given {
		return f, fmt.Errorf("want name:kind:values")
	}
	names := strings.Split(values, "|")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	switch kind {
	case Category, Taxonomy:
		for i, name := range names {
			name, star := strings.CutPrefix(name, "*")
			if !star {
				continue
			}
			if f.Other != "" {
				return f, fmt.Errorf("want one star at most")
			}
			if names[i], f.Other = name, name; kind == Taxonomy {
				f.Other = lastOf(name)
			}
		}
		return f, f.set(kind, names)
	case Place:
		if len(names) != 2 {
			return f, fmt.Errorf("want the columns of a place as lat|lon")
		}
		f.Lat, f.Lon = names[0], names[1]
	case Number, Whole, Date, Time:
		lo, hi, two := strings.Cut(values, "..")
		if f.Lo, err = bound("lo", kind, strings.TrimSpace(lo), true); err != nil {
			return f, err
		}
		if f.Hi, err = bound("hi", kind, strings.TrimSpace(hi), two); err != nil {
			return f, err
		}
	}
	return f, f.set(kind, nil)
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
		fields[i].Names, fields[i].Absent = slices.Clone(fields[i].Names), slices.Clone(fields[i].Absent)
	}
	return fields
}

// Columns returns the columns of a box of the records, one a field: see
// [domain.NewBox].
func (s *Schema) Columns() []domain.Column {
	fault.Must(s, s.check("table: Schema.Columns"))
	columns := make([]domain.Column, len(s.fields))
	for i := range s.fields {
		columns[i] = s.fields[i].Column
	}
	return columns
}
