package law

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/parallel"
)

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
