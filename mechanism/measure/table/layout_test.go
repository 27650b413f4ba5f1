package table

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// of is a field of a kind, from 1930 to 2029 or between 1e6 either way.
func of(kind Kind, layout string) Field {
	f := Field{Name: "a", Layout: layout, Column: domain.Column{Lo: -1e6, Hi: 1e6}, Step: .01}
	switch kind {
	case Whole:
		f.Whole, f.Step = true, 0
	case Date, Time:
		f.Date, f.Time, f.Step = kind == Date, kind == Time, 0
		f.Lo, f.Hi = testkit.Must(parseDay(kind, "1930-01-01")), testkit.Must(parseDay(kind, "2029-12-31"))
		if kind == Time { // fewer than 2^30 seconds, for 32 bits
			f.Lo, f.Hi = testkit.Must(parseDay(kind, "1969-12-01")), testkit.Must(parseDay(kind, "2003-01-01"))
		}
	}
	return f
}

// Files that people report: a byte order mark, both ends of lines, separators, quoted ends of
// lines and separators, empty cells between tabs, blanks of all kinds around cells.
func TestSchema_Separated(t *testing.T) {
	s := testkit.Must(ReadSchema(strings.NewReader(`{"separator": ";", "fields": [
		{"name": "paid", "kind": "number", "lo": -1000, "hi": 5000, "step": 0.01, "layout": "1.234,5 €", "missing": ["", "NA", "-"]},
		{"name": "on", "kind": "date", "lo": "2000-01-01", "hi": "2029-12-31", "layout": "02.01.2006"},
		{"name": "by", "kind": "category", "names": ["card", "cash; or, note"]},
		{"name": "home", "kind": "place", "lat": "lat", "lon": "lon", "layout": "1234,5"}]}`)))
	const semicolons = "\ufeffremark;Paid;on;by;lat;lon\r\n\"a\n;b\";1.234,50 €; 03.09.2001 ;card\u00a0;48,85;2,35\n;NA;29.02.2024;\"cash; or, note\";-1;0,5\r\n"
	const tabs = "remark\tpaid\ton\tby\tlat\tlon\n\t1234,5\t03.09.2001\tcard\t48,85\t2,35\n \t\t29.02.2024\tcash; or, note\t-1\t0,5\n"
	want := [][]float64{{1234.5, 11568, 0, 48.85, 2.35}, {math.NaN(), 19782, 1, -1, .5}}
	for by, in := range map[rune]string{';': semicolons, '\t': tabs, '|': strings.ReplaceAll(tabs, "\t", "|")} {
		s := testkit.Must(s.Separated(by))
		got, err := all(s, strings.NewReader(in))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, %v", by, got, err)
		}
		var b strings.Builder
		testkit.Check(t, s.Write(&b, got))
		note := "cash; or, note"
		if by == ';' {
			note = `"` + note + `"`
		}
		back := ""
		for _, line := range [][]string{{"paid", "on", "by", "lat", "lon"}, {"1.234,50 €", "03.09.2001", "card", "48,85", "2,35"}, {"", "29.02.2024", note, "-1", "0,5"}} {
			back += strings.Join(line, string(by)) + "\n"
		}
		if b.String() != back {
			t.Errorf("%q: %q, want %q", by, b.String(), back)
		}
	}
	if _, err := all(s, strings.NewReader(tabs)); err == nil || !strings.HasSuffix(err.Error(), `separated by "\t": want ';' between fields, or Schema.Separated`) {
		t.Error(err)
	}
}

// Cells that people report: what they are by the layout of their column, "" an error that
// names the line and the column and not the cell; and how they are written back.
func TestLayout_ReadsAndWrites(t *testing.T) {
	for _, c := range []struct {
		kind         Kind
		layout, cell string
		want, back   string
	}{
		{Number, "", "1234.5", "1234.5", "1234.50"},
		{Number, "", "1234,5", "", ""},
		{Number, "", "1,234.5", "", ""},
		{Number, "", "$5", "", ""},
		{Number, "1234,5", "9,99", "9.99", "9,99"}, // was read as 999, or 9
		{Number, "1234,5", "-2,40", "-2.4", "-2,40"},
		{Number, "1234,5", ",5", "0.5", "0,50"},
		{Number, "1234,5", "7", "7", "7,00"},
		{Number, "1234,5", "1,5E+05", "150000", "150000,00"}, // as Excel has it in German
		{Number, "1234,5", "1.5", "", ""},
		{Number, "1234,5", "1.234,5", "", ""},
		{Number, "1234,5", "1,2,3", "", ""},
		{Number, "1.234,56 €", "4.711,98 €", "4711.98", "4.711,98 €"}, // was read as 1.35, or 4.71
		{Number, "1.234,56 €", "10,00 €", "10", "10,00 €"},            // was read as 1000
		{Number, "1.234,56 €", "1.355,90€", "1355.9", "1.355,90 €"},
		{Number, "1.234,56 €", "-1.234,56\u00a0€", "-1234.56", "-1.234,56 €"},
		{Number, "1.234,56 €", "−5 €", "-5", "-5,00 €"},
		{Number, "1.234,56 €", "+5,00 €", "5", "5,00 €"},
		{Number, "1.234,56 €", "1234,5", "1234.5", "1.234,50 €"},
		{Number, "1.234,56 €", "1.000.000,00 €", "1e6", "1.000.000,00 €"},
		{Number, "1.234,56 €", "-1e17 €", "-1e17", "-1e+17 €"}, // out of bounds
		{Number, "1.234,56 €", "1.5 €", "", ""},                // a point before decimals
		{Number, "1.234,56 €", "1.2345,6 €", "", ""},
		{Number, "1.234,56 €", "1234.567,8 €", "", ""},
		{Number, "1.234,56 €", ".123 €", "", ""},
		{Number, "1.234,56 €", "5 $", "", ""},
		{Number, "1.234,56 €", "(5 €)", "", ""},
		{Number, "1.234,56 €", "--5 €", "", ""},
		{Number, "1.234,56 €", "€", "", ""},
		{Number, "1.234,56 €", "NaN", "", ""},
		{Number, "1.234,56 €", "0x1,8 €", "", ""},
		{Number, "€ 1.234,5", "€ 1.000.000,00", "1e6", "€ 1.000.000,00"},
		{Number, "1 234,5", "1\u202f234,5", "1234.5", "1 234,50"}, // narrow no-break space, of France
		{Number, "1\u00a0234,5", "-1 234 567,8", "-1234567.8", "-1\u00a0234\u00a0567,80"},
		{Number, "1 234,5", "1 23,5", "", ""},
		{Number, "1'234.5", "1’234.55", "1234.55", "1'234.55"}, // Switzerland
		{Number, "$1,234.5", "-$1,234.50", "-1234.5", "-$1,234.50"},
		{Number, "$1,234.5", "$-5", "-5", "-$5.00"},
		{Number, "$1,234.5", " $ 5 ", "5", "$5.00"},
		{Number, "$1,234.5", "1,5", "", ""}, // not 15
		{Number, "$1,234.5", "$1,234,5", "", ""},
		{Number, "($1,234.5)", "(1,234.50)", "-1234.5", "($1,234.50)"},
		{Number, "($1,234.5)", "($5)", "-5", "($5.00)"},
		{Number, "($1,234.5)", "-5", "-5", "($5.00)"},
		{Number, "($1,234.5)", "(5", "", ""},
		{Number, "($1,234.5)", "(-5)", "", ""},
		{Number, "1.234,5-", "1.234,50-", "-1234.5", "1.234,50-"}, // SAP
		{Number, "1.234,5-", "7,00", "7", "7,00"},
		{Number, "1.234,5-", "-7-", "", ""},
		{Number, "1234.5%", "51.1 %", "51.1", "51.10%"},
		{Whole, "1.234", "12.000", "12000", "12.000"},
		{Whole, "1.234", "1,5", "", ""},
		{Whole, "1.234,5", "12.000,00", "12000", "12.000"},
		{Whole, "1.234,5", "12,5", "", ""},

		{Date, "", "2001-09-03", "2001-09-03", "2001-09-03"},
		{Date, "", "2001-09-03 10:00", "", ""},
		{Date, "02.01.2006", "03.09.2001", "2001-09-03", "03.09.2001"},
		{Date, "02.01.2006", "31.06.2001", "", ""},
		{Date, "1/2/2006", "09/03/2001", "2001-09-03", "9/3/2001"},
		{Date, "1/2/2006", "13/3/2001", "", ""}, // the day first
		{Date, "1/2/2006", "9/3/01", "", ""},
		{Date, "1/2/06", "9/3/30", "1930-09-03", "9/3/30"}, // package time has 2030
		{Date, "1/2/06", "2/29/00", "2000-02-29", "2/29/00"},
		{Date, "1/2/06", "2/29/30", "", ""},
		{Date, "1/2/06", "12/31/29", "2029-12-31", "12/31/29"},
		{Date, "1/2/06", "9/3/2001", "", ""},
		{Date, "2 Jan 2006", "3 Sep 2001", "2001-09-03", "3 Sep 2001"},
		{Date, "2006-01", "2001-09", "2001-09-01", "2001-09"}, // a month begins
		{Date, "2006-01-02T15:04:05Z07:00", "2001-09-03T23:30:00-05:00", "2001-09-03", "2001-09-03T00:00:00Z"},
		{Date, Excel, "37137", "2001-09-03", "37137"},
		{Date, Excel, "37137.75", "2001-09-03", "37137"},
		{Date, Excel, "37137,75", "", ""},
		{Date, Excel, "2001-09-03", "", ""},
		{Date, Excel, "1", "1900-01-01", "1"},
		{Date, Excel, "59.9", "1900-02-28", "59"},
		{Date, Excel, "60", "", ""}, // a 29 February 1900
		{Date, Excel, "60.9", "", ""},
		{Date, Excel, "61", "1900-03-01", "61"},
		{Date, Excel, "2958465.9", "9999-12-31", "2958465"},
		{Date, Excel, "2958466", "", ""},
		{Date, Excel, "0", "", ""},
		{Date, Excel, "3e6", "", ""},
		{Date, Excel, "NaN", "", ""},
		{Date, Excel1904, "0", "1904-01-01", "0"},
		{Date, Excel1904, "-1", "", ""},
		{Date, Excel1904, "35675", "2001-09-03", "35675"},
		{Time, "", "2001-09-03 10:20:30", "2001-09-03 10:20:30", "2001-09-03 10:20:30"},
		{Time, "", "1969-12-31 23:59:59.9", "1969-12-31 23:59:59", "1969-12-31 23:59:59"},
		{Time, "", "2001-09-03T10:20:30", "", ""},
		{Time, time.RFC3339, "2001-09-03T10:20:30+02:00", "2001-09-03 08:20:30", "2001-09-03T08:20:30Z"},
		{Time, "1/2/06 3:04 PM", "9/3/01 1:05 PM", "2001-09-03 13:05:00", "9/3/01 1:05 PM"},
		{Time, Excel, "37137.75", "2001-09-03 18:00:00", "37137.75"},
		{Time, Excel, "37137.4309027777", "2001-09-03 10:20:30", "37137.43090277778"},
		{Time, Excel, "37137.4309027778", "2001-09-03 10:20:30", "37137.43090277778"},
	} {
		s := testkit.Must(NewSchema([]Field{of(c.kind, c.layout)}))
		file := "a\n\"" + c.cell + "\"\n"
		got, err := all(s, strings.NewReader(file))
		if c.want == "" {
			if err == nil || !strings.HasPrefix(err.Error(), "table: Schema.Read: line 2: a: not a ") || c.cell != "€" && strings.Contains(err.Error(), c.cell) {
				t.Errorf("%s %q: %q is %v, %v", c.kind, c.layout, c.cell, got, err)
			}
			continue
		}
		want, bad := parseDay(c.kind, c.want)
		if !s.fields[0].Date && !s.fields[0].Time {
			want, bad = fault.Decimal(c.want)
		}
		testkit.Check(t, bad)
		if err != nil || len(got) != 1 || math.Abs(got[0][0]-want) > 1e-9 {
			t.Errorf("%s %q: %q is %v, %v, want %v", c.kind, c.layout, c.cell, got, err, want)
			continue
		}
		var b strings.Builder
		testkit.Check(t, testkit.Must(s.Separated('|')).Write(&b, got)) // without quotes
		if b.String() != "a\n"+c.back+"\n" {
			t.Errorf("%s %q: %q is written as %q, want %q", c.kind, c.layout, c.cell, b.String(), c.back)
		}
	}
}

// Of two digits 00 may be a year that is no leap year, as package time's is.
func TestLayout_LeapYearOfTheOtherCentury(t *testing.T) {
	s := testkit.Must(ReadSchema(strings.NewReader(`[{"name": "a", "kind": "date", "lo": "1850-01-01", "hi": "1949-12-31", "layout": "2/1/06"}]`)))
	if got, err := all(s, strings.NewReader("a\n28/2/00\n")); err != nil || got[0][0] != testkit.Must(parseDay(Date, "1900-02-28")) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := all(s, strings.NewReader("a\n29/2/00\n")); err == nil {
		t.Errorf("29 February 1900 is %v", got)
	}
}

// Days between two are written as the nearer, and none beyond the last.
func TestLayout_DaysAreRounded(t *testing.T) {
	s, b := testkit.Must(NewSchema([]Field{of(Date, "")})), new(strings.Builder)
	if err := s.Write(b, [][]float64{{.6}, {-.6}, {lastDay + .4}}); err != nil || b.String() != "a\n1970-01-02\n1969-12-31\n9999-12-31\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := s.Write(b, [][]float64{{lastDay + 1}}); err == nil {
		t.Errorf("%q", b)
	}
}

// Times are whole seconds, in a line as in a file, and of a domain.
func TestSchema_Times(t *testing.T) {
	s := testkit.Must(ParseSchema("a?:time:2000-01-01..2000-12-31 23:59:59"))
	file := testkit.Must(ReadSchema(strings.NewReader(`[{"name": "a", "kind": "time", "lo": "2000-01-01 00:00:00", "hi": "2000-12-31 23:59:59", "missing": [""]}]`)))
	if f := s.Fields()[0]; !reflect.DeepEqual(s.Fields(), file.Fields()) || f.Kind() != Time || !f.Whole || f.Hi-f.Lo != 366*secondsOf-1 || f.Layout != second {
		t.Errorf("%+v and %+v", s.Fields(), file.Fields())
	}
	d := testkit.Must(domain.NewBox(s.Columns(), nil))
	got := testkit.Must(all(s, strings.NewReader("a\n2000-01-01 00:00:00\n2000-12-31 23:59:59\n\n")))
	if len(got) != 3 || d.Distance(got[0], got[1]) != 1 || d.Distance(got[0], got[2]) != 1 {
		t.Errorf("%v", got)
	}
}
