package demo

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// digits is how many significant digits a text table shows.
const digits = 4

// Table is rows of cells below named columns, to be printed aligned or as CSV.
type Table struct {
	columns []string
	rows    [][]any
	width   []int // of the columns once a row is printed; negative: words, to the left
	printed int   // rows
}

// NewTable returns a table with these columns, their units in the names.
func NewTable(columns ...string) *Table { return &Table{columns: columns} }

// Row appends a row. Cells are strings, ints, float64s and time.Durations;
// anything else prints as fmt.Sprint does. It panics unless there is a cell
// for every column.
func (t *Table) Row(cells ...any) {
	if len(cells) != len(t.columns) {
		panic(fmt.Sprintf("demo: a row of %d cells in a table of %d columns", len(cells), len(t.columns)))
	}
	t.rows = append(t.rows, cells)
}

// WriteText prints the rows that it has not printed yet, numbers to the right at four
// significant digits and a dash for NaN, words to the left. The first call prints the
// names of the columns too.
func (t *Table) WriteText(w io.Writer) error { return t.write(w, 0, 0) }

// write leaves columns that are not aligned yet room for numbers and words of so many
// letters.
func (t *Table) write(w io.Writer, number, word int) error {
	var lines [][]string
	if t.width == nil {
		lines = append(lines, t.columns)
	}
	words := make([]bool, len(t.columns))
	for _, row := range t.rows[t.printed:] {
		line := make([]string, len(row))
		for j, cell := range row {
			line[j] = cellText(cell)
			_, words[j] = cell.(string)
		}
		lines = append(lines, line)
	}
	t.printed = len(t.rows)
	if t.width == nil {
		t.width = make([]int, len(t.columns))
		for j := range t.width {
			for _, line := range lines {
				t.width[j] = max(t.width[j], utf8.RuneCountInString(line[j]))
			}
			if words[j] {
				t.width[j] = -max(t.width[j], word)
			} else {
				t.width[j] = max(t.width[j], number)
			}
		}
	}
	for _, line := range lines {
		cells := make([]string, len(line))
		for j, s := range line {
			cells[j] = fmt.Sprintf("%*s", t.width[j], s)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "  "), " ")); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV prints a header line and the rows, numbers in the shortest form that
// reads back to the same float64, nothing for NaN, durations in seconds.
func (t *Table) WriteCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	cw.Write(t.columns) // the writer keeps its first error for Error
	line := make([]string, len(t.columns))
	for _, row := range t.rows {
		for j, cell := range row {
			switch v := cell.(type) {
			case float64:
				if line[j] = ""; math.IsNaN(v) {
					continue
				}
				line[j] = strconv.FormatFloat(v, 'g', -1, 64)
			case time.Duration:
				line[j] = strconv.FormatFloat(v.Seconds(), 'g', -1, 64)
			default:
				line[j] = fmt.Sprint(v)
			}
		}
		cw.Write(line)
	}
	cw.Flush()
	return cw.Error()
}

// cellText is a cell for the eye.
func cellText(cell any) string {
	switch v := cell.(type) {
	case float64:
		if math.IsNaN(v) {
			return "-"
		}
		return Number(v)
	case time.Duration:
		return seconds(v)
	}
	return printable(fmt.Sprint(cell))
}

// Number formats v at four significant digits, trailing zeros kept, without
// an exponent where 1e-4 <= |v| < 1e7.
func Number(v float64) string {
	a := math.Abs(v)
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	e := strconv.FormatFloat(v, 'e', digits-1, 64)
	if a < 1e-4 || a >= 1e7 {
		return e
	}
	// The exponent after rounding: 9.9999 prints as 10.00, not as 10.000.
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	return strconv.FormatFloat(v, 'f', max(0, digits-1-exp), 64)
}

// seconds formats a duration at three significant digits: 12.3ms.
func seconds(d time.Duration) string {
	unit := time.Duration(1)
	for unit*1000 <= d.Abs() {
		unit *= 10
	}
	return d.Round(unit).String()
}

// printable replaces control characters, which a name out of a file could use
// to drive the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}
