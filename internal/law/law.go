// Package law is what the conformance kits metric/metrictest and mechanism/mechanismtest share:
// laws tried one after another, panics caught, failures joined into one error.
package law

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Failure reports one law that does not hold.
type Failure struct {
	Op  string // the call, as in "metrictest: TestFinite"
	Law string // its name, from the list in the kit's doc
	Err error  // what shows it
}

func (f *Failure) Error() string { return f.Op + ": " + f.Law + ": " + f.Err.Error() }

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// Trial collects the failures of one value under test.
type Trial struct {
	Op       string
	failures []error
	panicked bool
}

// Law runs check and records its error as a failure of the named law. A panic
// is one too, and ends the trial: later laws, which would most likely panic in the
// same place, are not run. It reports whether the law holds.
func (t *Trial) Law(name string, check func() error) bool {
	if t.panicked {
		return false
	}
	err := Caught(check)
	if err == nil {
		return true
	}
	t.panicked = errors.As(err, new(*parallel.Panic))
	t.failures = append(t.failures, &Failure{t.Op, name, err})
	return false
}

// Err returns all failures, joined, or nil.
func (t *Trial) Err() error { return errors.Join(t.failures...) }

// Caught returns f's error, or its panic as a [*parallel.Panic].
func Caught(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &parallel.Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Panics reports whether f panics.
func Panics(f func()) bool {
	return Caught(func() error { f(); return nil }) != nil
}

// Together runs f on n goroutines that start at the same time, and returns the
// first error in order of worker.
func Together(n int, f func(worker int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	start := make(chan struct{})
	for w := range n {
		wait.Go(func() {
			<-start
			errs[w] = Caught(func() error { return f(w) })
		})
	}
	close(start)
	wait.Wait()
	return cmp.Or(errs...)
}

// Show is v in Go syntax: the contents of slices, maps and structs, and of
// what one pointer at the top points to.
func Show(v any) string { return fmt.Sprintf("%#v", v) }

// Brief is Show cut off at a length that suits a message.
func Brief(v any) string {
	const most = 120
	s := Show(v)
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}
