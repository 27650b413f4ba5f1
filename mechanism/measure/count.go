package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// CountOptions are for [Count], [CountAll] and [CountPersons]. Nil and zero mean the defaults.
type CountOptions struct {
	// SkipErrors leaves out records that have no cell, where the default stops at the first with
	// its error. How many remain is private then: such counts can only be released under
	// [AddRemoveOne]; [ReplaceOne] publishes their number and is refused with [ErrSkipped], whether
	// or not any were left out.
	SkipErrors bool
	// Workers is the number of goroutines that find cells; 0 means one a core. With 1 each record
	// is counted before the next is asked for, so that an iterator may yield the same memory again.
	Workers int
	// Progress, where not nil, gets from time to time how many records have been read. Calls do not
	// overlap.
	Progress func(records int)
}

// batch is how many records travel together between goroutines.
const batch = 4096

// chunk is how many records of a slice a goroutine takes at a time.
const chunk = 4 * batch

// Count counts the records that seq yields. The first error, of seq or of a record (see
// [CountOptions]), is returned with the record's position. With more than one worker the records
// must not share memory that the iterator overwrites.
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

// count is a function that adds records to c, which nobody else knows.
func (c *Counts[P]) count(ctx context.Context, function string, seq iter.Seq2[P, error], o *CountOptions) (*Counts[P], error) {
	opt := region.OrZero(o)
	c.skipped = opt.SkipErrors
	var first firstError
	add, finish := func(_ int, p P) error { return c.addOne(p) }, func() {}
	if workers := parallel.Workers(opt.Workers); workers > 1 {
		add, finish = c.addInBatches(workers, opt.SkipErrors, &first)
		defer finish() // where seq panics
	}
	n := 0
	var stop error
	for p, err := range seq {
		if err == nil {
			err = add(n, p)
		}
		if err != nil && err != errDropped {
			first.set(n, err)
			break
		}
		if n++; n%batch == 0 {
			if opt.Progress != nil {
				opt.Progress(n)
			}
			if stop = ctx.Err(); stop != nil || first.failed.Load() {
				break
			}
		}
	}
	finish()
	if err := cmp.Or(first.of(function), stop, ctx.Err()); err != nil {
		return nil, err
	}
	return c, nil
}

// addInBatches returns what hands records and their positions to workers, and what waits for them.
func (c *Counts[P]) addInBatches(workers int, skip bool, first *firstError) (add func(at int, p P) error, finish func()) {
	type job struct {
		at      []int
		records []P
	}
	jobs, free := make(chan job, workers), make(chan job, 2*workers+1)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				if i, err := c.addAll(j.records, skip); err != nil {
					first.set(j.at[i], err)
				}
				clear(j.records)
				free <- job{j.at[:0], j.records[:0]}
			}
		})
	}
	for range cap(free) {
		free <- job{make([]int, 0, batch), make([]P, 0, batch)}
	}
	j := <-free
	add = func(at int, p P) error {
		if j.at, j.records = append(j.at, at), append(j.records, p); len(j.at) == batch {
			jobs <- j
			j = <-free
		}
		return nil
	}
	return add, sync.OnceFunc(func() {
		jobs <- j
		close(jobs)
		wg.Wait()
	})
}

// addOne adds a record to counts that only the caller knows. There is no error where records are
// skipped.
func (c *Counts[P]) addOne(p P) error {
	cell, err := c.space.Locate(p)
	if err == nil {
		err = c.add(cell, 1)
	} else if c.skipped {
		err = nil
	}
	return err
}

// addAll adds records to counts that only other calls of it know, but those without a cell if they
// are to be skipped. The error is that of record i.
func (c *Counts[P]) addAll(records []P, skip bool) (i int, err error) {
	cells, i, err := locateAll(c.space, records, skip)
	if err == nil {
		err = c.merge("", "", snapshot{run: newRun(cells), total: int64(len(cells))})
	}
	return i, err
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

// CountAll counts the records of a slice, on every core and without copies.
// All else is as in [Count].
func CountAll[P any](ctx context.Context, d *domain.Domain[P], records []P, o *CountOptions) (*Counts[P], error) {
	c, err := newCounts("measure: CountAll", d)
	if err != nil {
		return nil, err
	}
	opt := region.OrZero(o)
	c.skipped, c.loose = opt.SkipErrors, true
	var first firstError
	var progress parallel.Progress
	if opt.Progress != nil {
		progress = func(done, _ int) { opt.Progress(min(done*chunk, len(records))) }
	}
	err = parallel.Chunks(ctx, len(records), chunk, opt.Workers, progress, func(_, lo, hi int) {
		if first.failed.Load() {
			return
		}
		if i, err := c.addAll(records[lo:hi], opt.SkipErrors); err != nil {
			first.set(lo+i, err)
		}
	})
	if err := cmp.Or(first.of("CountAll"), err); err != nil {
		return nil, err
	}
	return c, nil
}

// firstError keeps the error of the lowest position among those reported.
type firstError struct {
	failed atomic.Bool
	mu     sync.Mutex
	at     int
	err    error
}

func (f *firstError) set(at int, err error) {
	f.mu.Lock()
	if f.err == nil || at < f.at {
		f.at, f.err = at, err
	}
	f.mu.Unlock()
	f.failed.Store(true)
}

// of returns the error as that of a function, once all have been set.
func (f *firstError) of(function string) error {
	if f.err == nil {
		return nil
	}
	return fmt.Errorf("measure: %s: record %d: %w", function, f.at, f.err)
}
