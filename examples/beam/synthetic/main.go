// Synthetic turns a table of numbers, of any size, into synthetic records that may
// be published, on any runner of Apache Beam. It needs no set-up:
//
//	go run ./synthetic
//	go run ./synthetic --input 'people-*.csv' --columns age,income --bounds 0:110,0:200000 --about 1000000
//	go run ./synthetic --runner flink --endpoint localhost:8099 --input ... --output ...
//
// Rows are counted in the cells of the box that the public bounds span, on all
// workers, and the counts are released once. Rows that cannot be read are left
// out, so it protects that a record is there at all (AddRemoveOne); with
// --public_size the number of rows is public, and they stand at the center.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/metricdp/metricdp/examples/beam/internal/table"
	"github.com/metricdp/metricdp/examples/beam/privatebeam"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

const name = "synthetic.csv"

// request is what the flags ask for.
type request struct {
	table.Job
	input, columns, bounds string
	eps, about             float64
	records                int
	publicSize, jitter     bool
}

func main() {
	var q request
	q.Flags(name)
	flag.StringVar(&q.input, "input", "", "CSV to read, a row a line, with a header: a file or a pattern, on any file system that Beam knows (default: the places of ../synthetic/places.csv)")
	flag.StringVar(&q.columns, "columns", "", "columns to use: numbers (lon,lat of the places)")
	flag.StringVar(&q.bounds, "bounds", "", "range of every column, as lo:hi,lo:hi: public knowledge, not taken from the data; what lies outside is moved to the nearer bound (-11:41,35:71 for the places)")
	flag.Float64Var(&q.eps, "eps", 1, "privacy level: the smaller, the more private and the less accurate")
	flag.Float64Var(&q.about, "about", 10_000, "about how many records there are, as far as that is public: it decides the size of the cells")
	flag.IntVar(&q.records, "records", 0, "how many synthetic records to make (default: as many as there are originals, by a noisy count)")
	flag.BoolVar(&q.publicSize, "public_size", false, "the number of rows is public and protects nobody; rows that cannot be read then count at the center of the bounds")
	flag.BoolVar(&q.jitter, "jitter", true, "spread the synthetic records over their cells; false puts them at the centers")
	table.Main("synthetic", q.pipeline, &q.Job)
}

// pipeline builds what the request asks for.
func (q *request) pipeline(ctx context.Context) (*beam.Pipeline, error) {
	if q.input == "" && q.columns == "" && q.bounds == "" {
		q.input, q.columns, q.bounds = "../synthetic/places.csv", "lon,lat", "-11:41,35:71"
	}
	if q.input == "" || q.columns == "" || q.bounds == "" {
		return nil, errors.New("want --input, --columns and --bounds, or none of them for the places that ship with the examples")
	}
	if !(q.eps > 0) {
		return nil, fmt.Errorf("--eps %v: want a number > 0", q.eps)
	}
	names := strings.Split(q.columns, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	columns, err := parseBounds(q.bounds, len(names))
	if err != nil {
		return nil, err
	}
	if !(q.about >= 1 && q.about <= 1e15) {
		return nil, fmt.Errorf("--about %v: want a number of records", q.about)
	}
	box := privatebeam.Box{Columns: columns}
	header, err := table.ReadHeader(ctx, q.input, names...)
	if err != nil {
		return nil, err
	}
	read := &readFn{Header: header}
	o := &privatebeam.SyntheticOptions{Records: q.records, Output: measure.RecordOptions{Centers: !q.jitter}}
	if q.publicSize {
		for _, c := range columns {
			read.Unreadable = append(read.Unreadable, c.Lo+(c.Hi-c.Lo)/2)
		}
	} else {
		o.Release.Relation = measure.AddRemoveOne
	}
	random, err := q.Prepare(ctx, name)
	if err != nil {
		return nil, err
	}
	o.Key, o.KeyFile = random.Key, random.KeyFile

	if err := q.describe(ctx, box, o.Release); err != nil {
		return nil, err
	}
	p, s := beam.NewPipelineWithRoot()
	records := beam.ParDo(s, read, textio.Read(s, q.input))
	out, err := privatebeam.SyntheticData(s, box, q.eps, records, o)
	if err != nil {
		return nil, err
	}
	table.Write(s, q.Output, strings.Join(names, ","), beam.ParDo(s, formatFn, out))
	return p, nil
}

// describe says what will be released, before any data are read.
func (q *request) describe(ctx context.Context, box privatebeam.Box, o measure.SynthesizerOptions) error {
	d, err := box.Domain()
	if err != nil {
		return err
	}
	y, err := measure.NewSynthesizer(d, q.eps, &o)
	if err != nil {
		return err
	}
	least, err := y.LowerBound(ctx, q.about)
	if err != nil {
		return err
	}
	fmt.Printf("Records are counted in a %s.\n", d)
	fmt.Printf("The release is %v.\n", y.Guarantee())
	fmt.Printf("With %v records some data cost every mechanism as private at least %.3g of a column's range, in W1.\n", q.about, least)
	return nil
}

// parseBounds reads --bounds. Distances are shares of a column's range, so that
// columns in different units compare.
func parseBounds(list string, n int) ([]domain.Column, error) {
	spans := strings.Split(list, ",")
	if len(spans) != n {
		return nil, fmt.Errorf("--bounds %q: %d of them, want %d, one for each of --columns", list, len(spans), n)
	}
	var columns []domain.Column
	for _, span := range spans {
		from, to, _ := strings.Cut(span, ":")
		lo, err1 := strconv.ParseFloat(strings.TrimSpace(from), 64)
		hi, err2 := strconv.ParseFloat(strings.TrimSpace(to), 64)
		if err1 != nil || err2 != nil || !(lo < hi) || math.IsInf(1/(hi-lo), 0) || math.IsInf(hi-lo, 0) {
			return nil, fmt.Errorf("--bounds %q: %q is not lo:hi with numbers lo < hi", list, span)
		}
		columns = append(columns, domain.Column{Lo: lo, Hi: hi, Share: 1})
	}
	return columns, nil
}

func init() {
	register.DoFn3x0[context.Context, string, func([]float64)](&readFn{})
	register.Function1x1(formatFn)
	register.Emitter1[[]float64]()
}

// readFn reads a row.
type readFn struct {
	Header table.Header
	// Unreadable is the record that rows count as that cannot be read; nil leaves
	// them out.
	Unreadable []float64
}

func (f *readFn) ProcessElement(ctx context.Context, line string, emit func([]float64)) {
	fields, err := f.Header.Fields(line)
	if err == nil && fields == nil {
		return
	}
	x := make([]float64, len(f.Header.At))
	for i := 0; i < len(fields) && err == nil; i++ {
		x[i], err = fault.Decimal(fields[i])
		if x[i]-x[i] != 0 { // NaN or infinite
			err = strconv.ErrRange
		}
	}
	if err != nil {
		table.Malformed.Inc(ctx, 1)
		if x = f.Unreadable; x == nil {
			return
		}
	}
	emit(x)
}

// digits are what a synthetic number is written with: more would only be noise.
const digits = 8

func formatFn(x []float64) string {
	var b []byte
	for i, v := range x {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, v, 'g', digits, 64)
	}
	return string(b)
}
