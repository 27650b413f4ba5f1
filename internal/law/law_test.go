package law

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Failures are joined in order, found by errors.As and Is, and named.
func TestTrial_JoinsFailures(t *testing.T) {
	bad, worse := errors.New("bad"), errors.New("worse")
	trial := &Trial{Op: "kit: Test"}
	if trial.Err() != nil {
		t.Error("failures before any law")
	}
	if !trial.Law("a", func() error { return nil }) || trial.Law("b", func() error { return bad }) || trial.Law("c", func() error { return worse }) {
		t.Error("Law does not report whether the law holds")
	}
	err := trial.Err()
	var f *Failure
	if !errors.Is(err, bad) || !errors.Is(err, worse) || !errors.As(err, &f) || f.Law != "b" || f.Op != "kit: Test" {
		t.Errorf("%v", err)
	}
	if want := "kit: Test: b: bad\nkit: Test: c: worse"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// A panic is a failure with its stack, and the last of its trial.
func TestTrial_EndsAtAPanic(t *testing.T) {
	trial := &Trial{}
	trial.Law("a", func() error { panic("at the disco") })
	if trial.Law("b", func() error { t.Error("law b is tried"); return nil }) {
		t.Error("law b holds")
	}
	var p *parallel.Panic
	if err := trial.Err(); !errors.As(err, &p) || p.Value != "at the disco" || !strings.Contains(err.Error(), "law_test.go") {
		t.Errorf("%v", err)
	}
	if !Panics(func() { panic(1) }) || Panics(func() {}) {
		t.Error("Panics")
	}
}

func TestTogether_ReturnsTheFirstWorkersError(t *testing.T) {
	var ran atomic.Int64
	three := errors.New("three")
	err := Together(8, func(w int) error {
		ran.Add(1)
		switch w {
		case 3:
			return three
		case 5:
			panic("five")
		}
		return nil
	})
	if err != three || ran.Load() != 8 {
		t.Errorf("%v after %d workers", err, ran.Load())
	}
	if err := Together(8, func(int) error { panic("all") }); !errors.As(err, new(*parallel.Panic)) {
		t.Errorf("a panic on a goroutine: %v", err)
	}
}

func TestShow_SeesContents(t *testing.T) {
	x := []int{1, 2}
	before := Show(&struct{ A []int }{x})
	x[1] = 3
	if Show(&struct{ A []int }{x}) == before {
		t.Error("a change behind a pointer and a slice is not seen")
	}
	if s := Brief(strings.Repeat("a", 1000)); len(s) > 130 {
		t.Errorf("%d bytes", len(s))
	}
}
