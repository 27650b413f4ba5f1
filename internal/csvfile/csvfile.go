// Package csvfile reads CSV files with a header line, and names the line and column
// of what it rejects.
package csvfile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/bounded"
	"github.com/metricdp/metricdp/internal/fault"
)

// Limits of Read against input that is not what it says. The longest record
// of the project's own data, a word with 300 numbers, is about 4 KiB.
const (
	maxRows        = 1_000_000
	maxRecordBytes = 64 << 10 // a record with its quotes; so also a bound for every field
	maxQuoted      = 40       // runes of a header that a message repeats
)

// Columns names the columns of a CSV file that a program reads, in any order
// and among others. Names are matched without regard to case.
type Columns struct {
	Required, Optional []string
	// Place requires the columns that [Row.LatLon] reads: lat or latitude, and lon, lng,
	// long or longitude, the first that there is.
	Place bool
	// AnyLength allows no rows, and more than a million, to a program that keeps none of them.
	AnyLength bool
	// Separator is what stands between fields; 0 means a comma.
	Separator rune
	// Skip, where it is not nil, is called with what is wrong with a record, and the reading
	// goes on behind it. What ends the file is an error of Read all the same.
	Skip func(error)
}

// Error says where a file is wrong and why, and not what stands there, which is as
// private as the rows.
type Error struct {
	File   string
	Line   int    // from 1, the header's; 0 where the whole file is meant
	Column string // "" where no single column is at fault
	Reason string
}

func (e *Error) Error() string {
	s := e.File + ": "
	if e.Line > 0 {
		s += fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Column != "" {
		s += e.Column + ": "
	}
	return s + e.Reason
}

// Read calls row for every record below the header line of r and stops at the first that is
// malformed, with an [*Error]; file is its name in messages. Spaces around fields and a byte
// order mark are dropped. An empty line below the header is a record where there is one column,
// and malformed where there are more. A file without records is an error, as are more than a
// million of them (but see [Columns]) and one of more than 64 KiB. [Row.Stop] ends it early.
// The next call reuses the Row. One pass, one record in memory.
func Read(file string, r io.Reader, c Columns, row func(*Row)) error {
	in := &counted{r: bounded.WithoutMark(r)}
	lim := &bounded.Reader{R: in, Max: maxRecordBytes, What: "a record"}
	cr := csv.NewReader(lim)
	cr.ReuseRecord = true
	cr.Comma = cmp.Or(c.Separator, ',')
	cr.TrimLeadingSpace = cr.Comma != '\t' // which is such a space

	if c.Place {
		c.Required = slices.Concat(c.Required, []string{"lat", "lon"})
	}
	w := &Row{file: file, at: make(map[string]column, len(c.Required)+len(c.Optional))}
	header, err := cr.Read()
	if err == io.EOF {
		return &Error{File: file, Reason: "empty, want a header line with " + strings.Join(c.Required, ", ")}
	}
	if err != nil {
		err = w.readError(err, cr.FieldsPerRecord)
		if e := new(Error); errors.As(err, &e) && e.Line > 0 {
			e.Reason += " (want a header line with " + between(c.Separator) + " between fields)"
		}
		return err
	}
	if err := w.readHeader(header, c); err != nil {
		return err
	}
	n := 0
	// give hands out a record; what is wrong with it is skipped, or ends the file.
	give := func(fields []string, err error) error {
		w.fields, w.err = fields, err
		if err == nil {
			if n++; n > maxRows && !c.AnyLength {
				return &Error{File: file, Line: w.line, Reason: fmt.Sprintf("more than %d rows", maxRows)}
			}
			row(w)
		}
		if w.err != nil && c.Skip != nil {
			c.Skip(w.err)
			w.err = nil
		}
		return w.err
	}
	first, _ := cr.FieldPos(0)
	next := first + lines(header) // where a record without empty lines before it begins
	for !w.stopped {
		lim.Begin(cr.InputOffset())
		fields, err := cr.Read()
		at := in.lines + 1
		pe := new(csv.ParseError)
		switch {
		case err == nil:
			at, _ = cr.FieldPos(0)
		case errors.As(err, &pe):
			at = pe.StartLine
		case err != io.EOF:
			w.line = next - 1
			return w.readError(err, cr.FieldsPerRecord)
		}
		for ; next < at && !w.stopped; next++ { // package csv passes over empty lines
			w.line = next
			var blank error
			if len(header) > 1 {
				blank = &Error{File: file, Line: next, Reason: "empty, and no row"}
			}
			if err := give([]string{""}, blank); err != nil {
				return err
			}
		}
		switch {
		case w.stopped:
		case err == io.EOF && n == 0 && !c.AnyLength:
			return &Error{File: file, Reason: "no rows below the header"}
		case err == io.EOF:
			return nil
		default:
			if next = at + lines(fields); err != nil {
				next, err = max(next, pe.Line+1), w.readError(err, cr.FieldsPerRecord)
			}
			w.line = at
			if err := give(fields, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// lines is how many lines a record takes.
func lines(fields []string) int {
	n := 1
	for _, f := range fields {
		n += strings.Count(f, "\n")
	}
	return n
}

// counted counts the ends of lines that it reads.
type counted struct {
	r     io.Reader
	lines int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.lines += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

// Row is one record of a CSV file. Its methods take a column that [Columns] names and panic for any
// other. The first failure stays: what later calls return does not matter, and Read returns it.
type Row struct {
	file   string
	line   int
	header []string
	fields []string
	at     map[string]column
	err    error

	stopped bool
}

type column struct {
	pos      int // in Row.fields; -1: not in this file
	required bool
}

// Text returns the column without the spaces around it, or "" where the file lacks it. What
// is not UTF-8 rejects the row.
func (w *Row) Text(name string) string {
	pos := w.Position(name)
	if pos < 0 {
		return ""
	}
	if !utf8.ValidString(w.fields[pos]) {
		w.Fail(name, "not valid UTF-8: want a file in that encoding")
	}
	return strings.TrimSpace(w.fields[pos])
}

// Header returns the names of all columns as the file has them, spaces around them
// dropped. The caller must not change it.
func (w *Row) Header() []string { return w.header }

// Fields returns all columns as the file has them, to be copied by who keeps them.
func (w *Row) Fields() []string { return w.fields }

// Float returns the column as a finite number in [lo, hi], or 0 where it is an optional one that
// the row lacks. Numbers are plain decimals: 0x1p4 and 1_0 are none. Only hi may be infinite.
func (w *Row) Float(name string, lo, hi float64) float64 {
	s := w.Text(name)
	if s == "" && !w.at[name].required {
		return 0
	}
	return w.Number(name, s, "", lo, hi)
}

// Number is Float of a text that the column was made into; as says how numbers stand there.
func (w *Row) Number(name, text, as string, lo, hi float64) float64 {
	v, err := fault.Decimal(text)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		w.Fail(name, "not a number"+as)
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		w.Fail(name, "not a finite number")
	case v < lo || v > hi:
		w.Fail(name, "want "+span(lo, hi))
	}
	return v
}

// places are the columns of a place and what they may be called.
var places = map[string][]string{"lat": {"lat", "latitude"}, "lon": {"lon", "lng", "long", "longitude"}}

// latLon is metric.LatLon, in degrees.
type latLon = struct{ Lat, Lon float64 }

// LatLon returns the columns of Columns.Place, "lat" and "lon" here. A longitude beyond
// 180 degrees, up to 360 either way, is that of the same meridian within.
func (w *Row) LatLon() latLon {
	x := latLon{Lat: w.Float("lat", -90, 90), Lon: w.Float("lon", -360, 360)}
	if math.Abs(x.Lon) > 180 {
		x.Lon -= math.Copysign(360, x.Lon)
	}
	return x
}

// Position returns where in [Row.Header] a column of the file stands, -1 where the file lacks it.
func (w *Row) Position(name string) int {
	c, ok := w.at[name]
	if !ok {
		panic("csvfile: undeclared CSV column " + name)
	}
	return c.pos
}

// Fail rejects the row for a reason of the caller's own, unless it has been rejected before.
func (w *Row) Fail(name, reason string) {
	if w.err == nil {
		w.err = &Error{File: w.file, Line: w.line, Column: name, Reason: reason}
	}
}

// Err is the first failure of the row, nil where there is none.
func (w *Row) Err() error { return w.err }

// Stop makes this row the last that is read.
func (w *Row) Stop() { w.stopped = true }

func (w *Row) readHeader(header []string, c Columns) error {
	pos := make(map[string]int, len(header))
	for i, h := range header {
		w.header = append(w.header, strings.TrimSpace(h))
		h = strings.ToLower(w.header[i])
		if _, twice := pos[h]; twice && h != "" {
			return &Error{File: w.file, Line: 1, Reason: "column " + quote(h) + " appears twice"}
		}
		pos[h] = i
	}
	for k, name := range slices.Concat(c.Required, c.Optional) {
		required := k < len(c.Required)
		called := []string{strings.ToLower(name)}
		if c.Place && places[name] != nil {
			called = places[name]
		}
		i, ok := -1, false
		for _, n := range called {
			if at, there := pos[n]; there && !ok {
				i, ok = at, true
			}
		}
		if !ok && required {
			return &Error{File: w.file, Line: 1,
				Reason: fmt.Sprintf("no column %q, the header is %s%s", name, quote(strings.Join(header, string(cmp.Or(c.Separator, ',')))), seeming(header, c.Separator))}
		}
		w.at[name] = column{pos: i, required: required}
	}
	return nil
}

// seeming says of a header what it seems to be.
func seeming(header []string, separator rune) string {
	all := strings.Join(header, "")
	switch {
	case strings.ContainsAny(all, "\x00") || strings.HasPrefix(all, "\xff\xfe") || strings.HasPrefix(all, "\xfe\xff"):
		return ", UTF-16: want UTF-8"
	case strings.Contains(all, "\r"):
		return ", with lines that end in CR alone: want LF or CR LF"
	case len(header) > 1:
		return ""
	}
	for _, by := range []string{",", ";", "\t", "|"} {
		if strings.Contains(all, by) {
			or := ""
			if separator != 0 {
				or = ", or Schema.Separated"
			}
			return fmt.Sprintf(", separated by %q: want %s between fields%s", by, between(separator), or)
		}
	}
	return ""
}

// between names a separator.
func between(separator rune) string {
	if separator == 0 || separator == ',' {
		return "commas"
	}
	return strconv.QuoteRune(separator)
}

// readError restates what encoding/csv or the reader below it reports; w.line
// is still the last good record's.
func (w *Row) readError(err error, width int) error {
	var (
		pe   *csv.ParseError
		long *bounded.Error
	)
	switch {
	case errors.As(err, &long):
		return &Error{File: w.file, Reason: fmt.Sprintf("after line %d: %v (a quote left open?)", w.line, err)}
	case !errors.As(err, &pe):
		return fmt.Errorf("%s: %w", w.file, err)
	case errors.Is(err, csv.ErrFieldCount):
		return &Error{File: w.file, Line: pe.StartLine,
			Reason: fmt.Sprintf("not the %d fields of the header", width)}
	}
	return &Error{File: w.file, Line: pe.StartLine, Reason: pe.Err.Error()}
}

// span words an interval whose end may be infinite.
func span(lo, hi float64) string {
	if math.IsInf(hi, 1) {
		return fmt.Sprintf("a number >= %v", lo)
	}
	return fmt.Sprintf("a number in [%v, %v]", lo, hi)
}

// quote quotes s, control characters escaped, and cuts what is long.
func quote(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.Quote(string(r[:maxQuoted]) + "...")
	}
	return strconv.Quote(s)
}
