package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// CountOptions are for [Count], [CountAll] and [CountPersons]. Nil and zero mean the defaults.
type CountOptions struct {
	// SkipErrors leaves out records that have no cell, where the default stops at the first. How
	// many remain is private then: [ReplaceOne], which publishes it, refuses such counts with
	// [ErrSkipped].
	SkipErrors bool
	// Workers is the number of goroutines that find cells; 0 means one a core. With 1 each record
	// is counted before the next is asked for, so that an iterator may yield the same memory again.
	Workers int
	// Progress, where not nil, gets from time to time how many records have been read. Calls do not
	// overlap.
	Progress func(records int)
}

const (
	batch = 4096      // records that are counted one by one, before they are brought in order
	chunk = 4 * batch // records that a goroutine takes at a time
)

// Count counts the records that seq yields. The first error, of seq or of a record, is returned
// with the record's position. With more than one worker the records must not share memory that the
// iterator overwrites.
func Count[P any](ctx context.Context, d *domain.Domain[P], seq iter.Seq2[P, error], o *CountOptions) (*Counts[P], error) {
	c, err := newCounts("measure: Count", d)
	if err != nil {
		return nil, err
	}
	c.loose = true
	return c.count(ctx, "Count", seq, o)
}

// errDropped comes with a record that is to be read and not counted.
var errDropped = errors.New("dropped")

// count adds records to c, which nobody else knows.
func (c *Counts[P]) count(ctx context.Context, function string, seq iter.Seq2[P, error], o *CountOptions) (*Counts[P], error) {
	opt := region.OrZero(o)
	c.skipped = opt.SkipErrors
	workers, n := parallel.Workers(opt.Workers), 0
	var records []P // that are not counted yet, and their positions
	var at []int
	flush := func() error {
		err := c.addChunks(ctx, function, records, func(i int) int { return at[i] }, workers, nil)
		clear(records)
		at, records = at[:0], records[:0]
		return err
	}
	for p, err := range seq {
		if err == nil && workers == 1 {
			err = c.addOne(p)
		} else if err == nil {
			records, at = append(records, p), append(at, n)
		}
		if err != nil && err != errDropped {
			return nil, cmp.Or(flush(), recordError(function, n, err))
		}
		if n++; n%batch > 0 {
			continue
		}
		if opt.Progress != nil {
			opt.Progress(n)
		}
		if err = ctx.Err(); err == nil && len(records) >= workers*chunk {
			err = flush()
		}
		if err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(flush(), ctx.Err()); err != nil {
		return nil, err
	}
	return c, nil
}

// addChunks adds records to counts that only the caller knows, some at a time. The error is that of
// the first record that has one, which is named by its position.
func (c *Counts[P]) addChunks(ctx context.Context, function string, records []P, at func(i int) int, workers int, progress parallel.Progress) error {
	errs, skipped := make([]error, (len(records)+chunk-1)/chunk), c.skipped // which merge sets
	err := parallel.Chunks(ctx, len(records), chunk, workers, progress, func(k, lo, hi int) {
		cells, i, err := locateAll(c.space, records[lo:hi], skipped)
		if err == nil {
			err = c.merge("", "", snapshot{run: newRun(cells), total: int64(len(cells))})
		}
		if err != nil {
			errs[k] = recordError(function, at(lo+i), err)
		}
	})
	return cmp.Or(cmp.Or(errs...), err)
}

func recordError(function string, at int, err error) error {
	return fmt.Errorf("measure: %s: record %d: %w", function, at, err)
}

// addOne adds a record to counts that only the caller knows.
func (c *Counts[P]) addOne(p P) error {
	cell, err := c.space.Locate(p)
	if err == nil {
		err = c.add(cell, 1)
	} else if c.skipped {
		err = nil
	}
	return err
}

func locateAll[P any](space *region.Space[P], records []P, skip bool) (cells []int, i int, err error) {
	cells = make([]int, 0, len(records))
	for i, p := range records {
		cell, err := space.Locate(p)
		if err == nil {
			cells = append(cells, cell)
		} else if !skip {
			return nil, i, err
		}
	}
	return cells, 0, nil
}

// CountAll counts the records of a slice, on every core and without copies. All else is as in
// [Count].
func CountAll[P any](ctx context.Context, d *domain.Domain[P], records []P, o *CountOptions) (*Counts[P], error) {
	c, err := newCounts("measure: CountAll", d)
	if err != nil {
		return nil, err
	}
	opt := region.OrZero(o)
	c.skipped, c.loose = opt.SkipErrors, true
	var progress parallel.Progress
	if opt.Progress != nil {
		progress = func(done, _ int) { opt.Progress(min(done*chunk, len(records))) }
	}
	if err := c.addChunks(ctx, "CountAll", records, func(i int) int { return i }, opt.Workers, progress); err != nil {
		return nil, err
	}
	return c, nil
}
