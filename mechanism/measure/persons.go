package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// ErrPersons reports counts that are not of persons with at most SynthesizerOptions.PerPerson
// records each, or that are where it is 0.
var ErrPersons = errors.New("PerPerson and the records disagree: set it with records of known persons (CountPersons, Counts.AddPerson, ReleasePersons of package table), and not with others")

func checkPerPerson(op, arg string, most int) error {
	if most < 1 || most > region.MostPerPerson {
		return fault.Value(op, arg, float64(most), "a number from 1 to 2^30")
	}
	return nil
}

// check refuses counts for a release that protects persons with up to so many records, or records
// where that is 0. Counts by person do not protect records: a record less can let in another one of
// the same person, and two counts change.
func (m marks) check(op string, perPerson int) error {
	switch {
	case perPerson == 0 && m.most > 0:
		return fmt.Errorf("%s: %w: PerPerson is not set, and records were counted by person", op, ErrPersons)
	case perPerson > 0 && m.loose:
		return fmt.Errorf("%s: %w: PerPerson is %d, and records were not counted by person", op, ErrPersons, perPerson)
	case perPerson > 0 && m.most > perPerson:
		return fmt.Errorf("%s: %w: PerPerson is %d, and there may be %d records of a person", op, ErrPersons, perPerson, m.most)
	}
	return nil
}

// Row is a record and the person whose it is.
type Row[K comparable, P any] struct {
	Person K
	Record P
}

// CountPersons counts the first most records of each person, in the order of seq, for
// SynthesizerOptions.PerPerson of at least most. Where later records differ from the first, as in
// time, bring them in random order.
//
// Persons are equal by ==; one that is not equal to itself, such as NaN, is an error. A record that
// SkipErrors leaves out is one of the first most too. All else is as in [Count], and memory linear
// in the number of persons.
func CountPersons[K comparable, P any](ctx context.Context, d *domain.Domain[P], seq iter.Seq2[Row[K, P], error], most int, o *CountOptions) (*Counts[P], error) {
	const op = "measure: CountPersons"
	c, err := newCounts(op, d)
	if err != nil {
		return nil, err
	}
	if err := checkPerPerson(op, "most", most); err != nil {
		return nil, err
	}
	c.most = most
	seen := make(map[K]int32)
	return c.count(ctx, "CountPersons", func(yield func(P, error) bool) {
		for row, err := range seq {
			if err == nil {
				err = errDropped
				if n := seen[row.Person]; n < int32(most) {
					seen[row.Person] = n + 1
					if err = nil; seen[row.Person] != n+1 {
						err = errors.New("a Person that is not equal to itself")
					}
				}
			}
			if !yield(row.Record, err) {
				return
			}
		}
	}, o)
}

// AddPerson counts the first most of records, which are all that one person has: [CountPersons] for
// rows that were grouped elsewhere. No person may come twice, in c or in what is merged with c;
// nothing here can tell. The errors are those of [Counts.Add], and a [*metric.ValueError] unless
// most >= 1; nothing of the person is counted then.
func (c *Counts[P]) AddPerson(records []P, most int) error {
	const op = "measure: Counts.AddPerson"
	if err := c.check(op); err != nil {
		return err
	}
	if err := checkPerPerson(op, "most", most); err != nil {
		return err
	}
	cells, i, err := locateAll(c.space, records[:min(most, len(records))], false)
	if err != nil {
		err = fmt.Errorf("%s: record %d: %w", op, i, err)
	}
	// The mark stays where the records do not: it says nothing of them.
	s := snapshot{run: newRun(cells), total: int64(len(cells)), marks: marks{most: most}}
	return cmp.Or(err, c.merge(op, "len(records)", s))
}
