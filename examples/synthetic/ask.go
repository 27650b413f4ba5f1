package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/mechanism/measure"
)

const (
	maxColumns = 6
	maxRows    = 10_000_000
	// Levels outside [1/maxEps, maxEps] release nothing or everything.
	maxEps = 1e6
	// maxBound keeps squares and sums of them finite, and 1/maxBound is the least
	// range: both within what NewBox takes.
	maxBound = 1e99
)

// shipped is the data set that comes with the example, with the bounds of
// Europe, which are no secret.
var shipped = struct{ file, cols, bounds string }{"places.csv", "lon,lat", "-11:41,35:71"}

// request is what the flags ask for.
type request struct {
	file    string
	names   []string
	columns []measure.Column // weighted such that every one has length 1
	eps     float64
	rows    int // 0: as many as there are records
	size    int // 0: to be found out
	seed    uint64
	jitter  bool
	secure  bool
}

// ask reads the flags.
func ask(p *demo.Program) (q request, err error) {
	cols := p.Flags.String("cols", "", "columns to use, as a,b,c: one to six, all numbers (default "+shipped.cols+" of the data that ships with the example)")
	bounds := p.Flags.String("bounds", "", "range of every column, as lo:hi,lo:hi: public knowledge, not taken from the data; what lies outside is moved to the nearer bound")
	p.Flags.Float64Var(&q.eps, "eps", 1, "privacy level: the smaller, the more private and the less accurate")
	p.Flags.IntVar(&q.rows, "rows", 0, fmt.Sprintf("how many synthetic records to make (default as many as there are originals, up to %d)", defaultRows))
	p.Flags.IntVar(&q.size, "records", 0, "about how many records -in has, where that is public; it is then read only once, as a pipe must be")
	p.Flags.BoolVar(&q.jitter, "jitter", true, "spread the synthetic records over their cells; false puts them at the centers")
	p.Flags.BoolVar(&q.secure, "secure", false, "draw the noise from the secure generator, not from -seed: do this for all that is published")
	p.ReadsFile("CSV with the columns of -cols, and a header line")
	if err := p.Parse(); err != nil {
		return q, err
	}
	q.seed = p.Seed
	seeded := false
	p.Flags.Visit(func(f *flag.Flag) { seeded = seeded || f.Name == "seed" })
	switch {
	case q.secure && seeded:
		return q, errors.New("-seed makes the noise repeat, and -secure makes sure that it does not: want one of them")
	case !(q.eps >= 1/maxEps && q.eps <= maxEps):
		return q, fmt.Errorf("-eps %v: want a number in [%v, %v]", q.eps, 1/maxEps, maxEps)
	case q.rows < 0 || q.rows > maxRows:
		return q, fmt.Errorf("-rows %d: want 1 to %d, or 0 for as many as there are records", q.rows, maxRows)
	case q.size < 0:
		return q, fmt.Errorf("-records %d: want a number > 0", q.size)
	}
	q.file = filepath.Base(p.In)
	if p.In == "" {
		q.file = shipped.file
		if *cols == "" {
			*cols = shipped.cols
		}
		if *bounds == "" && *cols == shipped.cols {
			*bounds = shipped.bounds
		}
	}
	if q.names, err = parseNames(*cols); err != nil {
		return q, err
	}
	q.columns, err = parseBounds(*bounds, q.names)
	return q, err
}

// parseNames reads -cols.
func parseNames(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, errors.New("-cols is missing: name the columns to use, as -cols a,b")
	}
	names := strings.Split(list, ",")
	for k := range names {
		names[k] = strings.TrimSpace(names[k])
		if names[k] == "" {
			return nil, fmt.Errorf("-cols %q: a column without a name", list)
		}
		if slices.ContainsFunc(names[:k], func(s string) bool { return strings.EqualFold(s, names[k]) }) {
			return nil, fmt.Errorf("-cols %q: %s appears twice", list, names[k])
		}
	}
	if len(names) > maxColumns {
		return nil, fmt.Errorf("-cols %q: %d columns, want at most %d", list, len(names), maxColumns)
	}
	return names, nil
}

// parseBounds reads -bounds. Distances are shares of a column's range: columns
// in different units compare.
func parseBounds(list string, names []string) ([]measure.Column, error) {
	if strings.TrimSpace(list) == "" {
		return nil, fmt.Errorf("-bounds is missing: give the range of %s as lo:hi,... from what anybody may know; read off the data it would give away its extremes, which are somebody's records",
			strings.Join(names, ","))
	}
	spans := strings.Split(list, ",")
	if len(spans) != len(names) {
		return nil, fmt.Errorf("-bounds %q: %d of them, want %d, one for each of %s", list, len(spans), len(names), strings.Join(names, ","))
	}
	var columns []measure.Column
	for _, span := range spans {
		from, to, _ := strings.Cut(span, ":")
		lo, err1 := strconv.ParseFloat(strings.TrimSpace(from), 64)
		hi, err2 := strconv.ParseFloat(strings.TrimSpace(to), 64)
		if err1 != nil || err2 != nil || !(lo < hi && hi-lo >= 1/maxBound && math.Abs(lo) <= maxBound && math.Abs(hi) <= maxBound) {
			return nil, fmt.Errorf("-bounds %q: %q is not lo:hi with numbers lo < hi", list, span)
		}
		columns = append(columns, measure.Column{Lo: lo, Hi: hi, Weight: 1 / (hi - lo)})
	}
	return columns, nil
}

// spans words the columns with their bounds.
func (q *request) spans() []string {
	var s []string
	for k, c := range q.columns {
		s = append(s, fmt.Sprintf("%s in [%v, %v]", q.names[k], c.Lo, c.Hi))
	}
	return s
}
