package frequency

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// The decomposition of a large channel is left to itself when its context ends.
func TestNewInverse_EndsWithItsContext(t *testing.T) {
	large := randomChannel(t, random.Seeded(1), 400, 400)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	clock := testkit.StartClock()
	_, err := newInverse(ctx, "", large, 1e12)
	if took := clock.Took(); !errors.Is(err, context.DeadlineExceeded) || took > 500*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
}
