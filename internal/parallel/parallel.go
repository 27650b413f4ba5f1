// Package parallel runs loops over both cores with results that do not depend
// on the number of workers: work is cut into chunks whose bounds depend only
// on the problem size, and each chunk writes its own slot.
package parallel

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// mostWorkers is more than any machine has use for: a larger number is taken for
// it, rather than start a goroutine each.
const mostWorkers = 1 << 10

// Workers returns w where it is positive, up to 2^10, and GOMAXPROCS otherwise.
func Workers(w int) int {
	if w > 0 {
		return min(w, mostWorkers)
	}
	return runtime.GOMAXPROCS(0)
}

// Progress is called with the number of chunks done and their total. Calls do not overlap.
type Progress func(done, total int)

// Panic is what the caller of Chunks meets where f or progress, code of users among it, panicked on
// another goroutine: there it would end the process, and no recover of the caller could help it.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value, if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Chunks calls f(c, lo, hi) for the consecutive pieces [lo, hi) of [0, n) of length size (the
// last may be shorter), c counting from 0. It stops between chunks when ctx is done and returns
// its error, so that f may leave off too; nil is context.Background. f runs on up to workers
// goroutines (0: GOMAXPROCS). If it panics on one the others stop at their next chunk, and
// Chunks panics with the first [*Panic].
func Chunks(ctx context.Context, n, size, workers int, progress Progress, f func(c, lo, hi int)) error {
	if n <= 0 {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	total := (n + size - 1) / size
	w := min(Workers(workers), total)
	var next atomic.Int64
	var mu sync.Mutex
	done := 0
	count := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		if progress != nil {
			progress(done, total)
		}
	}
	work := func() {
		for ctx.Err() == nil {
			c := int(next.Add(1)) - 1
			if c >= total {
				return
			}
			f(c, c*size, min(n, (c+1)*size))
			count()
		}
	}
	if w == 1 {
		work()
	} else {
		var wg sync.WaitGroup
		var first atomic.Pointer[Panic]
		for range w {
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						first.CompareAndSwap(nil, &Panic{v, debug.Stack()})
						next.Store(int64(total))
					}
				}()
				work()
			})
		}
		wg.Wait()
		if p := first.Load(); p != nil {
			panic(p)
		}
	}
	return ctx.Err()
}

// Done reports whether ctx is done; nil never is.
func Done(ctx context.Context) bool { return ctx != nil && ctx.Err() != nil }

// Each calls f for 0 to n-1, size at a time, on GOMAXPROCS goroutines. Its error is that of
// the context, or else of the lowest number.
func Each(ctx context.Context, n, size int, f func(i int) error) error {
	bad := make([]error, n)
	err := Chunks(ctx, n, size, 0, nil, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			bad[i] = f(i)
		}
	})
	return cmp.Or(err, cmp.Or(bad...))
}

const (
	sortBlock = 1 << 14 // elements that are sorted in one go
	mergePart = 1 << 16 // and merged between two looks at the context
)

// Sort is slices.SortFunc for a strict order without ties, on every core. The error
// is the context's, and x is then in no order, its elements some of them lost.
func Sort[T any](ctx context.Context, x []T, compare func(a, b T) int) error {
	err := Chunks(ctx, len(x), sortBlock, 0, nil, func(_, lo, hi int) { slices.SortFunc(x[lo:hi], compare) })
	from, to := x, []T(nil)
	for size := sortBlock; size < len(x) && err == nil; size *= 2 {
		if to == nil {
			to = make([]T, len(x))
		}
		err = Chunks(ctx, len(x), 2*size, 0, nil, func(_, lo, hi int) {
			mid := min(lo+size, hi)
			merge(ctx, to[lo:hi], from[lo:mid], from[mid:hi], compare)
		})
		from, to = to, from
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && len(x) > 0 && &from[0] != &x[0] {
		copy(x, from)
	}
	return err
}

// merge merges the sorted a and b to dst, or part of them where the context ends.
func merge[T any](ctx context.Context, dst, a, b []T, compare func(a, b T) int) {
	for k := range dst {
		if k%mergePart == 0 && ctx.Err() != nil {
			return
		}
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0 {
			dst[k], a = a[0], a[1:]
		} else {
			dst[k], b = b[0], b[1:]
		}
	}
}
