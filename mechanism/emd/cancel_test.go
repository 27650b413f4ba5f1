package emd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
)

// The decomposition of a large channel is left to itself when its context ends.
func TestNewInverse_EndsWithItsContext(t *testing.T) {
	large := randomChannel(t, random.Seeded(1), 400, 400)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := newInverse(ctx, "", large, 1e12); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 500*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}
