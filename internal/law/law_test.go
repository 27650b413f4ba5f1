package law

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Failures are joined in order and named; a panic is the last of its trial.
func TestTrial_JoinsFailures(t *testing.T) {
	trial := &Trial{Op: "kit: Test"}
	holds := trial.Law("a", func() error { return nil })
	fails := trial.Law("b", func() error { return errors.New("bad") })
	trial.Law("c", func() error { panic("at the disco") })
	trial.Law("d", func() error { t.Error("law d is tried"); return nil })
	if err := trial.Err(); !holds || fails || !strings.HasPrefix(err.Error(), "kit: Test: b: bad\nkit: Test: c: at the disco\n") {
		t.Error(holds, fails, err)
	}
	if !Panics(func() { panic(1) }) || Panics(func() {}) || len(Brief(strings.Repeat("a", 1000))) > 130 {
		t.Error("Panics or Brief")
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
