package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

// describe words the fields.
func (s *study) describe() (words []string) {
	for _, f := range s.schema.Fields() {
		switch f.Kind() {
		case table.Category, table.Taxonomy:
			words = append(words, fmt.Sprintf("%s one of %d names", f.Name, len(f.Names)))
		case table.Date, table.Time:
			words = append(words, fmt.Sprintf("%s from %s to %s", f.Name, date(f.Kind(), f.Lo), date(f.Kind(), f.Hi)))
		case table.Place:
			words = append(words, fmt.Sprintf("%s a place", f.Name))
		default:
			words = append(words, fmt.Sprintf("%s in [%v, %v]", f.Name, f.Lo, f.Hi))
		}
	}
	return words
}

// date is a day, or a second with its day.
func date(kind table.Kind, v float64) string {
	if kind == table.Time {
		return time.Unix(int64(v), 0).UTC().Format(time.DateTime)
	}
	return time.Unix(int64(v)*24*60*60, 0).UTC().Format(time.DateOnly)
}

// report is the table of what an analyst asks, of the originals and of every release.
func (s *study) report(ctx context.Context, p *demo.Program) (*demo.Table, error) {
	columns := []string{"of", "what", "original"}
	sets := [][][]float64{s.original}
	for _, r := range s.releases {
		columns = append(columns, fmt.Sprintf("eps = %v", r.eps))
		sets = append(sets, r.records)
	}
	r := &report{demo.NewTable(columns...), sets, "all"}
	for i := range s.entries {
		r.marginals(&s.entries[i])
	}
	for i := range s.entries {
		for j := range i {
			a, b := &s.entries[j], &s.entries[i]
			what, _ := association(a, b, nil)
			r.row(a.name+", "+b.name, what, func(k int) any { _, v := association(a, b, sets[k]); return v })
		}
	}
	if len(s.entries) == 1 {
		r.all = s.entries[0].name
	}
	err := cmp.Or(r.ranges(ctx, s), r.clusters(ctx, s), r.distances(ctx, p, s), r.stated(ctx, p, s))
	return r.Table, err
}

// report is a table of answers for several sets of records, the originals first.
type report struct {
	*demo.Table
	sets [][][]float64
	all  string // what rows on all columns are called
}

func (r *report) row(of, what string, value func(k int) any) {
	cells := []any{of, what}
	for k := range r.sets {
		cells = append(cells, value(k))
	}
	r.Row(cells...)
}

// marginals adds what is asked of one entry.
func (r *report) marginals(e *entry) {
	if e.names != nil {
		r.names(e)
	} else {
		values := make([][]float64, len(r.sets))
		for k, records := range r.sets {
			values[k] = e.values(records)
		}
		quantile := func(p float64) func(k int) any {
			return func(k int) any {
				if len(values[k]) == 0 {
					return math.NaN()
				}
				v := stat.Quantile(p, stat.Empirical, values[k], nil)
				if e.kind == table.Date || e.kind == table.Time {
					return date(e.kind, v)
				}
				return v
			}
		}
		r.row(e.name, "5 % quantile", quantile(0.05))
		r.row(e.name, "median", quantile(0.5))
		r.row(e.name, "95 % quantile", quantile(0.95))
		if e.kind != table.Date && e.kind != table.Time {
			r.row(e.name, "mean", func(k int) any { return stat.Mean(values[k], nil) })
		}
	}
	if e.missing {
		r.row(e.name, "missing", func(k int) any { return percent(missing(e, r.sets[k])) })
	}
}

func missing(e *entry, records [][]float64) (share float64) {
	for _, x := range records {
		if math.IsNaN(x[e.at]) {
			share += 1 / float64(len(records))
		}
	}
	return share
}

// shown is how many names the report has, the most frequent ones.
const shown = 5

// names adds the shares of the most frequent names.
func (r *report) names(e *entry) {
	shares := make([][]float64, len(r.sets))
	order := make([]int, len(e.names))
	for k, records := range r.sets {
		shares[k] = e.shares(records)
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(shares[0][j], shares[0][i]) })
	for _, i := range order[:min(shown, len(order))] {
		r.row(e.name, e.names[i], func(k int) any { return percent(shares[k][i]) })
	}
	r.row(e.name, "in other names than before", func(k int) any {
		moved := 0.0
		for i, p := range shares[k] {
			moved += max(0, p-shares[0][i])
		}
		return percent(moved)
	})
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// ranges adds by how much counts of random ranges are off.
func (r *report) ranges(ctx context.Context, s *study) error {
	ranges := s.newRanges()
	errs := make([]float64, len(r.sets))
	var truth []float64
	for k, records := range r.sets {
		p, err := ranges.shares(ctx, records)
		if err != nil {
			return err
		}
		if k == 0 {
			truth = p
		}
		for i := range p {
			errs[k] += math.Abs(p[i]-truth[i]) / float64(len(p))
		}
	}
	r.row(r.all, "counts of ranges, mean error", func(k int) any { return fmt.Sprintf("%.2f %%", 100*errs[k]) })
	return nil
}

// clusters adds what the centers are worth that k-means finds in each set: their cost
// on the originals, against that of the originals' own.
func (r *report) clusters(ctx context.Context, s *study) error {
	originals := s.points(sample(r.sets[0], clusteredRecords))
	if len(originals) == 0 {
		return nil
	}
	costs := make([]float64, len(r.sets))
	for k, records := range r.sets {
		found, err := means(ctx, random.Seeded(s.seed), s.points(sample(records, clusteredRecords)))
		if err != nil {
			return err
		}
		costs[k] = cost(originals, found, nil)
	}
	r.row(r.all, fmt.Sprintf("k-means of %d, cost", centers), func(k int) any { return costs[k] / costs[0] })
	return nil
}

// distances adds W1, in the metric of the schema.
func (r *report) distances(ctx context.Context, p *demo.Program, s *study) error {
	limit := sampledRecords
	switch {
	case s.line():
		limit = len(s.original)
	case s.slow() || len(s.entries) > 2:
		limit = min(slowRecords, len(s.original))
	case len(s.original) <= exactRecords:
		limit = len(s.original)
	}
	what := "W1"
	if limit < len(s.original) {
		what = fmt.Sprintf("W1 of %d records", limit)
	}
	bar, wipe := p.Progress("measuring")
	defer wipe()
	w, errs := make([]float64, len(r.sets)), make([]error, len(r.sets))
	err := parallel.Chunks(ctx, len(r.sets), 1, 0, bar, func(k, _, _ int) {
		a, b := sample(r.sets[0], limit), sample(r.sets[k], limit)
		if k == 0 { // what drawing so few makes of it
			both := sample(r.sets[0], 2*limit)
			a, b = both[:len(both)/2], both[len(both)/2:]
			if limit == len(r.sets[0]) {
				return
			}
		}
		w[k], errs[k] = s.w1(ctx, a, b)
	})
	r.row(r.all, what, func(k int) any { return w[k] })
	return errors.Join(append(errs, err)...)
}

const (
	prob  = 0.95 // with which errors are at most as a release tells
	draws = 60   // of simulations that say so
)

// stated adds what releases state of their W1 without a look at the originals.
func (r *report) stated(ctx context.Context, p *demo.Program, s *study) error {
	if s.releases[0].regions == nil {
		return nil
	}
	w := []any{math.NaN()}
	for _, out := range s.releases {
		step, wipe := p.Progress("simulating")
		bar, err := out.regions.Error(ctx, random.Seeded(s.seed), prob, &measure.ErrorOptions{Draws: draws, Progress: step})
		wipe()
		if err != nil {
			return err
		}
		w = append(w, bar.Quantile)
	}
	r.row(r.all, fmt.Sprintf("W1, told by the release (%v %%)", 100*prob), func(k int) any { return w[k] })
	return nil
}

// plans says what was planned for tables, and what their releases state of their errors.
func (s *study) plans(ctx context.Context, p *demo.Program) error {
	for _, r := range s.releases {
		if r.table == nil {
			return nil
		}
		_, wipe := p.Progress("simulating")
		told, err := r.table.Report(ctx, random.Seeded(s.seed), s.schema, 1)
		wipe()
		if err != nil {
			return err
		}
		p.Remark("\nPlanned at eps = %v, of %d rows: %v.\nReleased: %s", r.eps, len(s.original), r.plan, strings.TrimSpace(told))
	}
	return nil
}

// explain says in words what was protected and what the table says.
func (s *study) explain(p *demo.Program) {
	p.Remark("")
	what, times := "whichever one record was replaced by another", fmt.Sprintf("%.4g times at eps = %v", math.Exp(s.levels[0]), s.levels[0])
	if s.most > 0 {
		what = "whichever one person was added, with all records, or left out"
	}
	p.Remark("What is protected: %s, no output gets more than e^eps times as likely, which is", what)
	if s.most == 0 {
		p.Remark("%s. All releases of the same data together spend the sum of their eps, and who has several records", times)
		p.Remark("needs eps divided by their number. How many records there are, %d, is public.", len(s.original))
	} else {
		p.Remark("%s. All releases of the same data together spend the sum of their eps. Up to %d records of a person", times, s.most)
		p.Remark("are counted, the first ones, each with eps/%d; how many there are is private, and synthetic files have about as many.", s.most)
	}
	p.Remark("What the table says: the last rows are about all columns at once. Counts of random ranges are off by so many percent of all")
	p.Remark("records, on average. The %d centers that k-means finds in the synthetic records cost so many times as much, on the originals,", centers)
	p.Remark("as their own. W1 is how far records must move, on average, to turn the originals into the synthetic ones, as a share of a")
	p.Remark("range: the mean of anything that changes no faster than across one range is off by no more.")
	if s.releases[0].regions != nil {
		p.Remark("What a release tells of its own W1, by simulating its noise, reads no original, and may be published with it.")
	}
	if s.releases[0].table != nil {
		p.Remark("What a release tells of its own errors, by releasing what it released again, reads no original either: it is by how much")
		p.Remark("shares of values err, numbers in 64 parts. A pair that was not released together may err by more.")
	}
	if s.moved > 0 {
		p.Remark("Records outside the bounds: %d, counted and compared as if on them. Do not choose bounds by this: it is private.", s.moved)
	}
	p.Remark("What may be published: synthetic files. The table and the picture read the originals without any noise: they demonstrate,")
	p.Remark("and are not private themselves.")
	if s.secure {
		p.Remark("The noise came from the secure generator: nobody can repeat it.")
	} else {
		p.Remark("This run is a rehearsal: whoever knows the seed can take the noise off. Publish only what -secure has made.")
	}
	p.Remark("")
}
