package measure

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/parallel"
)

// CountOptions are the settings of [Count] and [CountAll]. Nil and the zero
// value mean the defaults.
type CountOptions struct {
	// SkipErrors leaves out records that have no cell, where the default stops
	// at the first with its error. Whether any were left out is not reported,
	// being private, and so is the number that remains: a record replaced by
	// one without a cell is a record removed. Such counts can only be released
	// under [AddRemoveOne], where that costs no more than eps; [ReplaceOne]
	// publishes their number and is refused with [ErrSkipped], whether or not
	// any were left out.
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

// Count counts the records that seq yields. An error that seq yields, or that a
// record has (see [CountOptions]), ends the count and is returned with the
// position of the record. With more than one worker the records must not share
// memory that the iterator overwrites. Memory is that of the counts and a few
// thousand records, however many there are.
func Count[P any](ctx context.Context, d *Domain[P], seq iter.Seq2[P, error], o *CountOptions) (*Counts[P], error) {
	if err := d.check("measure: Count"); err != nil {
		return nil, err
	}
	opt := orZero(o)
	c := d.NewCounts()
	c.skipped.Store(opt.SkipErrors)
	if parallel.Workers(opt.Workers) == 1 {
		n := 0
		for p, err := range seq {
			if err == nil {
				err = opt.tolerate(c.addAlone(p))
			}
			if err != nil {
				return nil, fmt.Errorf("measure: Count: record %d: %w", n, err)
			}
			if n++; n%batch == 0 {
				if err := opt.pause(ctx, n); err != nil {
					return nil, err
				}
			}
		}
		return c, nil
	}
	if err := c.stream(ctx, seq, opt); err != nil {
		return nil, err
	}
	return c, nil
}

// stream hands batches of records from the calling goroutine to workers.
func (c *Counts[P]) stream(ctx context.Context, seq iter.Seq2[P, error], opt CountOptions) error {
	type job struct {
		first   int
		records []P
	}
	workers := parallel.Workers(opt.Workers)
	jobs, free := make(chan job, workers), make(chan []P, 2*workers+1)
	var first firstError
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				for i, p := range j.records {
					if err := opt.tolerate(c.addAlone(p)); err != nil {
						first.set(j.first+i, err)
						break
					}
				}
				clear(j.records)
				free <- j.records[:0]
			}
		})
	}
	for range cap(free) {
		free <- make([]P, 0, batch)
	}
	finish := sync.OnceFunc(func() { close(jobs); wg.Wait() })
	defer finish() // where seq panics
	n, records := 0, <-free
	var stop error
	for p, err := range seq {
		if err != nil {
			first.set(n, err)
			break
		}
		records = append(records, p)
		if n++; len(records) == batch {
			jobs <- job{n - batch, records}
			records = <-free
			if stop = opt.pause(ctx, n); stop != nil || first.failed.Load() {
				break
			}
		}
	}
	jobs <- job{n - len(records), records}
	finish()
	if first.err != nil {
		return fmt.Errorf("measure: Count: record %d: %w", first.at, first.err)
	}
	return stop
}

// CountAll counts the records of a slice, on every core and without copies.
// All else is as in [Count].
func CountAll[P any](ctx context.Context, d *Domain[P], records []P, o *CountOptions) (*Counts[P], error) {
	if err := d.check("measure: CountAll"); err != nil {
		return nil, err
	}
	opt := orZero(o)
	c := d.NewCounts()
	c.skipped.Store(opt.SkipErrors)
	var first firstError
	var progress parallel.Progress
	if opt.Progress != nil {
		progress = func(done, _ int) { opt.Progress(min(done*batch, len(records))) }
	}
	err := parallel.Chunks(ctx, len(records), batch, opt.Workers, progress, func(_, lo, hi int) {
		for i := lo; i < hi && !first.failed.Load(); i++ {
			if err := opt.tolerate(c.addAlone(records[i])); err != nil {
				first.set(i, err)
			}
		}
	})
	if first.err != nil {
		return nil, fmt.Errorf("measure: CountAll: record %d: %w", first.at, first.err)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (o *CountOptions) tolerate(err error) error {
	if o.SkipErrors {
		return nil
	}
	return err
}

func (o *CountOptions) pause(ctx context.Context, n int) error {
	if o.Progress != nil {
		o.Progress(n)
	}
	return ctx.Err()
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
