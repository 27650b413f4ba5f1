package measure

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/parallel"
)

// CountOptions are for [Count] and [CountAll]. Nil and zero mean the defaults.
type CountOptions struct {
	// SkipErrors leaves out records that have no cell, where the default stops at
	// the first with its error. How many are left out, and so how many remain, is
	// private: a record replaced by one without a cell is a record removed. Such
	// counts can only be released under [AddRemoveOne], where that costs no more
	// than eps; [ReplaceOne] publishes their number and is refused with
	// [ErrSkipped], whether or not any were left out.
	SkipErrors bool
	// Workers is the number of goroutines that find cells; 0 means one a core.
	// With 1 each record is counted before the next is asked for, so that an
	// iterator may yield the same memory again and again.
	Workers int
	// Progress, where not nil, is told from time to time how many records have
	// been read. Calls do not overlap.
	Progress func(records int)
}

// batch is how many records travel together between goroutines.
const batch = 4096

// chunk is how many records of a slice a goroutine takes at a time.
const chunk = 4 * batch

// Count counts the records that seq yields. The first error, of seq or of a
// record (see [CountOptions]), is returned with the record's position. With
// more than one worker the records must not share memory that the iterator
// overwrites. Memory is that of the counts and a few thousand records.
func Count[P any](ctx context.Context, d *Domain[P], seq iter.Seq2[P, error], o *CountOptions) (*Counts[P], error) {
	if err := d.check("measure: Count"); err != nil {
		return nil, err
	}
	opt := orZero(o)
	c := d.NewCounts()
	c.skipped = opt.SkipErrors
	var first firstError
	add, finish := c.addOne, func() {}
	if workers := parallel.Workers(opt.Workers); workers > 1 {
		add, finish = c.addInBatches(workers, &first)
		defer finish() // where seq panics
	}
	n := 0
	var stop error
	for p, err := range seq {
		if err == nil {
			err = add(p)
		}
		if err != nil {
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
	if err := cmp.Or(first.of("Count"), stop); err != nil {
		return nil, err
	}
	return c, nil
}

// addInBatches returns what hands records to workers, and what waits for them.
func (c *Counts[P]) addInBatches(workers int, first *firstError) (add func(p P) error, finish func()) {
	type job struct {
		first   int
		records []P
	}
	jobs, free := make(chan job, workers), make(chan []P, 2*workers+1)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				if i, err := c.addAll(j.records); err != nil {
					first.set(j.first+i, err)
				}
				clear(j.records)
				free <- j.records[:0]
			}
		})
	}
	for range cap(free) {
		free <- make([]P, 0, batch)
	}
	n, records := 0, <-free
	add = func(p P) error {
		if records = append(records, p); len(records) == batch {
			jobs <- job{n, records}
			n, records = n+batch, <-free
		}
		return nil
	}
	return add, sync.OnceFunc(func() {
		jobs <- job{n, records}
		close(jobs)
		wg.Wait()
	})
}

// addOne adds a record to counts that only the caller knows. There is no error
// where records are skipped.
func (c *Counts[P]) addOne(p P) error {
	cell, err := c.d.locate(p)
	if err == nil {
		err = c.add(cell, 1)
	} else if c.skipped {
		err = nil
	}
	return err
}

// addAll adds records to counts that only other calls of it know. The error is
// that of record i, and nothing is counted then.
func (c *Counts[P]) addAll(records []P) (i int, err error) {
	cells := make([]int, 0, len(records))
	for i, p := range records {
		cell, err := c.d.locate(p)
		if err == nil {
			cells = append(cells, cell)
		} else if !c.skipped {
			return i, err
		}
	}
	r := newRun(cells)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = c.runs.add(r)
	c.total += int64(len(cells))
	return 0, nil
}

// CountAll counts the records of a slice, on every core and without copies.
// All else is as in [Count].
func CountAll[P any](ctx context.Context, d *Domain[P], records []P, o *CountOptions) (*Counts[P], error) {
	if err := d.check("measure: CountAll"); err != nil {
		return nil, err
	}
	opt := orZero(o)
	c := d.NewCounts()
	c.skipped = opt.SkipErrors
	var first firstError
	var progress parallel.Progress
	if opt.Progress != nil {
		progress = func(done, _ int) { opt.Progress(min(done*chunk, len(records))) }
	}
	err := parallel.Chunks(ctx, len(records), chunk, opt.Workers, progress, func(_, lo, hi int) {
		if first.failed.Load() {
			return
		}
		if i, err := c.addAll(records[lo:hi]); err != nil {
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
