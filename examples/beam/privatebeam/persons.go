package privatebeam

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// SyntheticPersons is [SyntheticData] where a person may have many records: it turns a
// PCollection<KV<string,R>> of persons and records into synthetic records, eps-private per
// person, of whose records at most o.Release.PerPerson count, drawn from all. That number,
// and AddRemoveOne, must be given. The records of one person must fit a worker's memory.
func SyntheticPersons[R any, D Domain[R]](s beam.Scope, d D, eps float64, records beam.PCollection, o *SyntheticOptions) (beam.PCollection, error) {
	const op = "privatebeam: SyntheticPersons"
	if o == nil || o.Release.PerPerson == 0 {
		return beam.PCollection{}, fmt.Errorf("%s: want Release.PerPerson, how many records of a person may count", op)
	}
	if err := batch(op, records); err != nil {
		return beam.PCollection{}, err
	}
	release, err := newRelease(op, d, eps, o)
	if err != nil {
		return beam.PCollection{}, err
	}
	s = s.Scope("privatebeam.SyntheticPersons")
	nonce := release.Secret.nonce(s)
	persons := beam.ParDo(s, newPerson(release), beam.GroupByKey(s, records), nonce)
	merge := &mergeFn[R, D]{countFn[R, D]{Domain: d}}
	return release.of(s, beam.Combine(s, merge, persons), nonce), nil
}

// personFn counts the records of a person.
type personFn[R any, D Domain[R]] struct {
	Domain     D
	PerPerson  int
	SkipErrors bool
	Secret     secret

	domain  *domain.Domain[R]
	streams keyed
}

func newPerson[R any, D Domain[R]](f *releaseFn[R, D]) *personFn[R, D] {
	return &personFn[R, D]{Domain: f.Domain, PerPerson: f.Options.Release.PerPerson, SkipErrors: f.Options.SkipErrors, Secret: f.Secret}
}

func (f *personFn[R, D]) Setup(ctx context.Context) (err error) {
	if f.streams, err = f.Secret.load(ctx); err != nil {
		return err
	}
	f.domain, err = build(f.Domain, f.Domain.Domain)
	return err
}

// ProcessElement draws records by their cells in ascending order: runners deliver
// them in any, another at a retry, and those of one cell are alike.
func (f *personFn[R, D]) ProcessElement(id string, records func(*R) bool, nonce string, emit func(tally)) error {
	type placed struct {
		cell   int
		record R
	}
	var all []placed
	bad := false
	for {
		var x R // which decoding might write into again
		if !records(&x) {
			break
		}
		cell, err := f.domain.Cell(x)
		if err == nil {
			all = append(all, placed{cell, x})
		} else if !f.SkipErrors {
			bad = true
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.cell, b.cell) })
	cells := make([]byte, 0, 8*len(all))
	for _, p := range all {
		cells = binary.AppendUvarint(cells, uint64(p.cell))
	}
	r := f.streams(nonce)(fmt.Sprintf("SyntheticPersons %d", f.PerPerson), []byte(id), cells)
	drawn := make([]R, min(f.PerPerson, len(all)))
	for i := range drawn {
		j := i + r.IntN(len(all)-i)
		all[i], all[j] = all[j], all[i]
		drawn[i] = all[i].record
	}
	c := measure.NewCounts(f.domain)
	if err := c.AddPerson(drawn, f.PerPerson); err != nil {
		return err
	}
	emit(tally{&tallied{counts: c, bad: bad}})
	return nil
}

// mergeFn adds up the counts of persons. Each comes once, from the group of all
// that is the person's, so that no two parts have a person in common.
type mergeFn[R any, D Domain[R]] struct{ countFn[R, D] }

func (f *mergeFn[R, D]) AddInput(a, person tally) (tally, error) {
	return f.MergeAccumulators(a, person)
}
