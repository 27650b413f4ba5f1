package ipm

import (
	"context"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// What is said to be needed is what there is on the heap in the middle of a
// solve, to a factor of 2, and no less but for what the runtime adds. With dense
// factors it is at most 8 n^3 float64s.
func TestBytes_AgainstTheHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name string
		p    *Problem
		kind Kind
	}{
		{"grid of 100", grid(10, .5), Sparse},
		{"dense, 60", square(60, 5), Dense},
		{"lazy, 110", square(110, 5), Lazy},
		{"tree of 256", randomTree(256, .5), Sparse},
		{"grid of 256", grid(16, .5), Sparse},
		{"grid of 900, 12 outputs", few(grid(30, .5), 12), ByInput},
	}[:testkit.Sweep(3, 6)] {
		before, peak := testkit.Heap(), 0.0
		l := testkit.Must(Prepare(t.Context(), c.p))
		if c.kind == Lazy {
			l = testkit.Must(l.Lazily(t.Context()))
		}
		ctx, stop := context.WithCancel(t.Context())
		r := l.Solve(ctx, Settings{Tolerance: 1e-6, Progress: func(i int, _, _ float64) {
			if i == 2 { // every array was used
				peak = testkit.Heap() - before
				stop()
			}
		}})
		bytes := l.Bytes()
		if c.kind == Lazy {
			bytes = r.Bytes
		}
		t.Logf("%s: %.3g of %.3g bytes", c.name, peak, bytes)
		if l.Kind != c.kind || !(bytes > .95*peak && bytes < 2*peak) || c.kind == Dense && (bytes != Bytes(60, 60, 60) || bytes > 8*8*60*60*60) {
			t.Errorf("%s: engine %d, %.3g bytes on the heap, %.3g stated", c.name, l.Kind, peak, bytes)
		}
	}
}
