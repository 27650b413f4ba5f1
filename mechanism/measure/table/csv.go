package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure"
)

// Read yields the records of a CSV file, one entry a field and two for a place. The header names
// the columns, in any order and among others. Spaces around values and a byte order mark are
// dropped. An empty line is a record without a value where the file has one column, otherwise an
// error.
//
// The first error is the last that is yielded. It names the line and the column, not the value. The
// sequence can be used once. A record is the caller's, memory that of one line.
func (s *Schema) Read(r io.Reader) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		s.read("table: Schema.Read", r, nil, func(_ *csvfile.Row, x []float64, err error) bool { return yield(x, err) })
	}
}

// ReadPersons is [Schema.Read] for a file in which one person may have many rows: with each record
// comes the text of a column that says whose it is, for [measure.CountPersons]. The column need not
// be a field of the schema; no text in it is an error.
func (s *Schema) ReadPersons(r io.Reader, column string) iter.Seq2[measure.Row[string, []float64], error] {
	type person = measure.Row[string, []float64]
	return func(yield func(person, error) bool) {
		s.read("table: Schema.ReadPersons", r, []string{column}, func(row *csvfile.Row, x []float64, err error) bool {
			if err != nil {
				return yield(person{}, err)
			}
			who := row.Text(column)
			if who == "" {
				row.Fail(column, "not a person")
				return true
			}
			return yield(person{Person: who, Record: x}, nil)
		})
	}
}

// read yields records, and their rows, which have more columns. The last is an error
// without a row, if there is one.
func (s *Schema) read(op string, r io.Reader, more []string, yield func(*csvfile.Row, []float64, error) bool) {
	err := s.check(op)
	if err == nil && r == nil {
		err = fmt.Errorf("%s: no reader", op)
	}
	if err == nil {
		columns := csvfile.Columns{Required: slices.Concat(s.header, more), AnyLength: true, Separator: s.separator}
		err = csvfile.Read(op, r, columns, func(row *csvfile.Row) {
			x := make([]float64, s.width)
			for i := range s.fields {
				s.fields[i].read(row, x[s.fields[i].at:])
			}
			if row.Err() == nil && !yield(row, x, nil) {
				row.Stop()
			}
		})
	}
	if err != nil {
		yield(nil, nil, err)
	}
}

// read puts the field's entries into x; the row keeps what is wrong.
func (f *field) read(row *csvfile.Row, x []float64) {
	if f.kind == Place {
		lat, lon := f.missing(row, f.Lat), f.missing(row, f.Lon)
		switch {
		case lat && lon:
			x[0], x[1] = math.NaN(), math.NaN()
		case lat:
			row.Fail(f.Lat, "missing, but not "+f.Lon)
		case lon:
			row.Fail(f.Lon, "missing, but not "+f.Lat)
		default:
			x[0], x[1] = f.number(row, f.Lat, 90), f.number(row, f.Lon, maxLon)
		}
		return
	}
	if f.missing(row, f.Name) {
		x[0] = math.NaN()
		return
	}
	if f.kind != Category && f.kind != Taxonomy && row.Text(f.Name) == "" {
		row.Fail(f.Name, "no value, which the schema does not allow: see Field.Absent")
		return
	}
	switch f.kind {
	case Number:
		x[0] = f.number(row, f.Name, math.MaxFloat64)
	case Whole:
		if x[0] = f.number(row, f.Name, math.MaxFloat64); x[0] != math.Trunc(x[0]) {
			row.Fail(f.Name, "not a whole number")
		}
	case Date, Time:
		v, err := f.stamp(row.Text(f.Name))
		if err != nil {
			row.Fail(f.Name, fmt.Sprintf("not a %s as %s: see Field.Layout", f.kind, f.Layout))
		}
		x[0] = v
	default:
		n, known := f.numbers[f.key(row.Text(f.Name))]
		if !known {
			if f.Other == "" {
				row.Fail(f.Name, "not a name of the schema: see Field.Other and Field.Fold")
			}
			n = f.numbers[f.key(f.Other)]
		}
		x[0] = float64(n)
	}
}

// number is that of a column, in [-most, most].
func (f *field) number(row *csvfile.Row, column string, most float64) float64 {
	text, as := row.Text(column), " as 1234.5: see Field.Layout"
	if f.numeral != nil {
		text, as = f.numeral.plain(text), " as "+f.Layout
	}
	return row.Number(column, text, as, -most, most)
}

// value is that of a text of a field with numbers, dates or places.
func (f *field) value(text string) (float64, error) {
	if f.kind == Date || f.kind == Time {
		return f.stamp(text)
	}
	if f.numeral != nil {
		text = f.numeral.plain(text)
	}
	return fault.Decimal(text)
}

func (f *field) missing(row *csvfile.Row, column string) bool {
	return len(f.absent) > 0 && f.absent[f.key(row.Text(column))]
}

// Write writes records as CSV that Read reads, with a header line: numbers to a multiple of
// Field.Step or, without one, to a millionth of their range. An entry that its field does not have
// is an error with the index of the record, as are NaN where no value may be missing, and what is
// infinite.
func (s *Schema) Write(w io.Writer, records [][]float64) error {
	const op = "table: Schema.Write"
	if err := s.check(op); err != nil {
		return err
	}
	if w == nil {
		return fmt.Errorf("%s: no writer", op)
	}
	out := csv.NewWriter(w)
	out.Comma = s.separator
	out.Write(s.header) // the writer keeps its first error for Error
	line := make([]string, s.width)
	for i, x := range records {
		if err := fault.Size(op, fmt.Sprintf("records[%d]", i), len(x), s.width); err != nil {
			return fault.Private(err)
		}
		for k := range s.fields {
			f := &s.fields[k]
			if err := f.write(line[f.at:], x[f.at:]); err != nil {
				return fmt.Errorf("%s: records[%d]: field %q: %w", op, i, f.Name, err)
			}
		}
		if len(line) > 1 || line[0] != "" {
			out.Write(line)
			continue
		}
		out.Flush() // an empty line would be no record
		if _, err := io.WriteString(w, "\"\"\n"); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// write puts the texts of the field's entries into line.
func (f *field) write(line []string, x []float64) error {
	entries := 1
	if f.kind == Place {
		entries = 2
	}
	missing := 0
	for k, v := range x[:entries] {
		if math.IsNaN(v) {
			missing++
		}
		switch {
		case math.IsInf(v, 0):
			return errors.New("not a finite number")
		case math.IsNaN(v) && !f.Missing:
			return fmt.Errorf("NaN, and no value may be missing")
		case math.IsNaN(v):
			line[k] = f.Absent[0]
		default:
			text, err := f.text(v)
			if err != nil {
				return err
			}
			if f.numeral != nil {
				text = f.numeral.text(text)
			}
			line[k] = text
		}
	}
	if missing == 1 && entries == 2 {
		return fmt.Errorf("half a place is missing")
	}
	return nil
}

// text is a finite value as it stands in CSV.
func (f *field) text(v float64) (string, error) {
	switch f.kind {
	case Number, Place:
		return f.decimal(v), nil
	case Whole:
		whole := math.Round(v)
		if math.Abs(whole) > maxWhole {
			return "", errors.New("beyond 2^53")
		}
		if f.Step > 0 {
			return f.decimal(v), nil // not of whole: rounded twice, 2.6 would be 4 in steps of 2
		}
		return strconv.FormatInt(int64(whole), 10), nil
	case Date, Time:
		return f.stampText(v)
	}
	if !(v >= 0 && v < float64(len(f.Names))) || v != math.Trunc(v) {
		return "", fmt.Errorf("want a category, an integer in [0, %d)", len(f.Names))
	}
	return f.Names[int(v)], nil
}

// decimal rounds, but not out of the bounds.
func (f *field) decimal(v float64) string {
	if steps := math.Round(v / f.Step); f.Step > 0 && math.Abs(steps) <= maxWhole {
		return strconv.FormatFloat(float64(steps*f.Step)+0, 'f', f.digits, 64)
	}
	if f.digits > 15 || math.Abs(v) >= 1e15 { // digits that a float64 does not have
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	ten := math.Pow(10, float64(f.digits))
	r := math.Round(v*ten) / ten
	if f.kind == Number && v >= f.Lo && v <= f.Hi {
		r = min(max(r, f.Lo), f.Hi)
	}
	return strconv.FormatFloat(r+0, 'f', -1, 64)
}
