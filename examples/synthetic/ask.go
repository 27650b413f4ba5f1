package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

const (
	maxLevels = 5
	// Levels outside [1/maxEps, maxEps] release nothing or everything.
	maxEps = 1e6
)

// request is what the flags ask for.
type request struct {
	file   string
	schema *table.Schema
	levels []float64
	seed   uint64
	secure bool
	person string // the column that says whose a record is; "" where everybody has one
	most   int    // records of a person
}

// ask reads the flags.
func ask(p *demo.Program) (q request, err error) {
	file := p.Flags.String("schema", "", "JSON `FILE` that says which columns to use and which values they may have: public knowledge, not taken from the data")
	columns := p.Flags.String("columns", "", "the same in one line, as age:whole:0..120,joined?:date:2000-01-01..2029-12-31,city:category:Paris|London|*elsewhere,size:number:0..2.5,home:place:lat|lon")
	levels := p.Flags.String("eps", "0.1,1,10", "levels of privacy, one or several: the smaller, the more private and the less accurate")
	p.Flags.BoolVar(&q.secure, "secure", false, "draw the noise from the secure generator, not from -seed: do this for all that is published")
	p.Flags.StringVar(&q.person, "person", "", "`COLUMN` that says whose a record is, where persons have many: eps protects all that are counted of one")
	p.Flags.IntVar(&q.most, "most", 0, "how many records of a person are counted, the first ones: each gets eps divided by that; only with -person")
	p.ReadsFile("CSV with a header line, its columns as -schema or -columns says")
	if err := p.Parse(); err != nil {
		return q, err
	}
	q.seed = p.Seed
	seeded := false
	p.Flags.Visit(func(f *flag.Flag) { seeded = seeded || f.Name == "seed" })
	if q.secure && seeded {
		return q, errors.New("-seed makes the noise repeat, and -secure makes sure that it does not: want one of them")
	}
	if (q.person == "") != (q.most == 0) || q.most < 0 {
		return q, errors.New("-person and -most go together: want a column, and a number from 1")
	}
	for _, text := range strings.Split(*levels, ",") {
		eps, err := fault.Decimal(strings.TrimSpace(text))
		if err != nil || !(eps >= 1/maxEps && eps <= maxEps) {
			return q, fmt.Errorf("-eps %q: want numbers in [%v, %v]", *levels, 1/maxEps, maxEps)
		}
		q.levels = append(q.levels, eps)
	}
	if len(q.levels) > maxLevels {
		return q, fmt.Errorf("-eps %q: %d levels, want at most %d", *levels, len(q.levels), maxLevels)
	}
	switch {
	case *file != "" && *columns != "":
		return q, errors.New("-schema and -columns say the same thing: want one of them")
	case *file == "" && *columns == "" && p.In != "":
		return q, errors.New("-schema or -columns is missing: say which columns there are and which values they may have, from what anybody may know; read off the data it would give somebody away")
	case *file == "" && *columns == "":
		*columns = shipped
	}
	if *file == "" {
		if q.schema, err = table.ParseSchema(*columns); err != nil {
			return q, fmt.Errorf("-columns: %s", fault.Reason(err, "table: ParseSchema"))
		}
		return q, nil
	}
	f, err := os.Open(*file)
	if err != nil {
		return q, err
	}
	defer f.Close()
	if q.schema, err = table.ReadSchema(f); err != nil {
		return q, fmt.Errorf("%s: %s", *file, fault.Reason(err, "table: ReadSchema"))
	}
	return q, nil
}

// entry is an entry of a record: a number, or a name where names is not nil.
type entry struct {
	name   string
	at     int // in the record
	field  int // of the schema
	kind   table.Kind
	lo, hi float64
	names  []string
	// missing tells whether it may be NaN.
	missing bool
	weight  float64
}

// entriesOf lists the entries of a schema's records.
func entriesOf(schema *table.Schema) (entries []entry) {
	for k, f := range schema.Fields() {
		e := entry{f.Name, len(entries), k, f.Kind(), f.Lo, f.Hi, f.Names, f.Missing, f.Share}
		if f.Kind() != table.Place {
			entries = append(entries, e)
			continue
		}
		e.name, e.lo, e.hi = f.Lat, -90, 90
		entries = append(entries, e)
		e.name, e.at, e.lo, e.hi = f.Lon, e.at+1, -180, 180
		entries = append(entries, e)
	}
	return entries
}
