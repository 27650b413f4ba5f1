package ipm

import (
	"context"
	"runtime"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// heap is what is on it now.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// What is said to be needed is what there is on the heap in the middle of a
// solve, to a factor of 2, and no less but for what the runtime adds. With dense
// factors it is at most 8 n^3 float64s.
func TestBytes_AgainstTheHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name   string
		p      *Problem
		sparse bool
		lazy   bool
	}{
		{"grid of 100", grid(10, .5), true, false},
		{"dense, 60", square(60, 5), false, false},
		{"lazy, 110", square(110, 5), false, true},
		{"tree of 256", randomTree(256, .5), true, false},
		{"grid of 256", grid(16, .5), true, false},
		{"grid of 900, 12 outputs", few(grid(30, .5), 12), true, false},
	}[:testkit.Sweep(3, 6)] {
		before, peak := heap(), 0.0
		l, err := Prepare(context.Background(), c.p)
		if err != nil || l.Sparse() != c.sparse {
			t.Fatal(c.name, err)
		}
		ctx, stop := context.WithCancel(context.Background())
		o := Settings{Tolerance: 1e-6, Progress: func(i int, _, _ float64) {
			if i == 2 { // every array was used
				peak = heap() - before
				stop()
			}
		}}
		if c.lazy {
			l = testkit.Must(l.Lazily(context.Background()))
		}
		bytes := l.Bytes()
		r := l.Solve(ctx, o)
		if c.lazy {
			bytes = r.Bytes
		}
		t.Logf("%s: %.3g of %.3g bytes", c.name, peak, bytes)
		if dense := !c.sparse && !c.lazy; !(bytes > .95*peak && bytes < 2*peak) || dense && (bytes != Bytes(60, 60, 60) || bytes > 8*8*60*60*60) {
			t.Errorf("%s: %.3g bytes on the heap, %.3g stated", c.name, peak, bytes)
		}
	}
}

// Graphs of 1,000 points take less than 1 GB.
func TestBytes_GraphsOfAThousandPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, p := range map[string]*Problem{"grid": grid(32, .5), "tree": randomTree(1000, .5)} {
		l, err := Prepare(context.Background(), p)
		if err != nil || !l.Sparse() || l.Bytes() > 1e9 {
			t.Errorf("%s: %v bytes, %v", name, l.Bytes(), err)
		}
	}
}
