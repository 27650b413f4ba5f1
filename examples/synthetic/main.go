// Synthetic turns a table into synthetic records that may be published.
//
//	go run ./examples/synthetic
//	go run ./examples/synthetic -in examples/synthetic/towns.csv -schema examples/synthetic/towns.json
//	go run ./examples/synthetic -in people.csv -columns 'age:whole:0..120,city?:category:Paris|London|*elsewhere' -eps 1 -secure
//	go run ./examples/synthetic -in visits.csv -columns 'lat:number:35..71,lon:number:-11..41' -person id -most 5
//
// A public schema says which columns there are and which values they may have: bounds and
// names that are read off private data give somebody away. Records are released at several
// levels eps, and a report sets them beside the originals: quantiles and shares,
// correlations, counts of ranges, k-means, and W1; of three columns and more also what was
// planned, and the errors that releases state. Report and picture read the originals and
// are not private.
//
// A run repeats with its -seed, and whoever knows that can take the noise off. What is to
// be published has to be made with -secure.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

//go:embed places.csv
var places []byte

// shipped are the columns of places.csv, with the bounds of Europe, which are no
// secret.
const shipped = "lon:number:-11..41,lat:number:35..71"

func main() { demo.Main("synthetic", run) }

// study is what was asked for and what came of it.
type study struct {
	request
	entries  []entry     // of a record
	original [][]float64 // numbers moved into their bounds
	moved    int         // how many records that changed
	releases []release   // by level
	metric   *domain.Domain[[]float64]
}

// release is what a level gave.
type release struct {
	eps     float64
	records [][]float64
	regions *measure.Release[[]float64] // of a box; nil where there are more than two columns
	table   *table.Release              // and of those
	plan    *table.Expected
}

func run(ctx context.Context, p *demo.Program) error {
	q, err := ask(p)
	if err != nil {
		return err
	}
	s := &study{request: q, entries: entriesOf(q.schema)}
	if err := s.read(ctx, p); err != nil {
		return err
	}
	if s.metric, err = domain.NewBox(s.schema.Columns(), nil); err != nil {
		return err
	}
	noise := random.Seeded(p.Seed)
	if s.secure {
		noise = nil // the library's own
	}
	for _, eps := range s.levels {
		r, err := s.release(ctx, noise, eps)
		if err != nil {
			return err
		}
		s.releases = append(s.releases, r)
	}
	p.Remark("Records in %s: %d, with %s.\n", s.file, len(s.original), strings.Join(s.describe(), ", "))
	report, err := s.report(ctx, p)
	if err != nil {
		return err
	}
	p.Print(report)
	if err := s.plans(ctx, p); err != nil {
		return err
	}
	s.explain(p)
	for _, r := range s.releases {
		err := p.WriteFile(fmt.Sprintf("synthetic-%v.csv", r.eps), func(w io.Writer) error { return s.schema.Write(w, r.records) })
		if err != nil {
			return err
		}
	}
	return cmp.Or(p.WriteFile("report.csv", report.WriteCSV), s.draw(p), s.drawPairs(p))
}

// read reads the originals.
func (s *study) read(ctx context.Context, p *demo.Program) error {
	f, name, err := p.Input("places.csv", places)
	if err != nil {
		return err
	}
	defer f.Close()
	s.file = filepath.Base(name)
	for x, err := range s.records(f) {
		if err != nil {
			return fmt.Errorf("%s: %s", s.file, fault.Reason(err, "table: Schema.Read", "table: Schema.ReadPersons"))
		}
		if len(s.original)%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		moved := false
		for _, e := range s.entries {
			if v := min(max(x[e.at], e.lo), e.hi); e.names == nil && v != x[e.at] && !math.IsNaN(v) {
				x[e.at], moved = v, true
			}
		}
		if moved {
			s.moved++
		}
		s.original = append(s.original, x)
	}
	return fault.Empty(s.file, "records", len(s.original))
}

// records are all in a file, or the first of each person.
func (s *study) records(f io.Reader) iter.Seq2[[]float64, error] {
	if s.person == "" {
		return s.schema.Read(f)
	}
	return func(yield func([]float64, error) bool) {
		had := map[string]int{}
		for row, err := range s.schema.ReadPersons(f, s.person) {
			if had[row.Person]++; err == nil && had[row.Person] > s.most {
				continue
			}
			if !yield(row.Record, err) {
				return
			}
		}
	}
}

// release makes as many synthetic records as there are originals, about as many where
// that is private: of one column or two by regions of their box, of more by package
// table. With a cap per person each record has a part of the person's level.
func (s *study) release(ctx context.Context, rng *rand.Rand, eps float64) (release, error) {
	columns := s.schema.Columns()
	relation, level, m := measure.ReplaceOne, eps, len(s.original)
	if s.most > 0 {
		relation, level, m = measure.AddRemoveOne, eps/float64(s.most), 0
	}
	if len(columns) > 2 {
		o := &table.Options{Relation: relation}
		synthesizer, err := table.New(columns, level, o)
		if err != nil {
			return release{}, err
		}
		plan, err := table.Plan(columns, len(s.original), level, o)
		if err != nil {
			return release{}, err
		}
		out, err := synthesizer.Release(ctx, rng, s.original)
		if err != nil {
			return release{}, err
		}
		records, err := out.Records(ctx, rng, m)
		return release{eps: eps, records: records, table: out, plan: plan}, err
	}
	synthesizer, err := measure.NewSynthesizer(s.metric, level, &measure.SynthesizerOptions{Relation: relation})
	if err != nil {
		return release{}, err
	}
	counts, err := measure.CountAll(ctx, s.metric, s.original, nil)
	if err != nil {
		return release{}, err
	}
	out, err := synthesizer.Release(rng, counts)
	if err != nil {
		return release{}, err
	}
	records, err := out.Records(rng, m, &measure.RecordOptions{Shuffle: true})
	return release{eps: eps, records: records, regions: out}, err
}
