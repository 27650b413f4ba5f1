package parallel

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// Every index is visited once, chunk bounds do not depend on the workers, and
// progress counts every chunk without overlap.
func TestChunks_CoverOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		for _, n := range []int{0, 1, 5, 64, 1000} {
			seen := make([]atomic.Int32, n)
			last := 0
			progress := func(done, total int) {
				if done != last+1 || total != (n+6)/7 {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			}
			err := Chunks(context.Background(), n, 7, workers, progress, func(c, lo, hi int) {
				if lo != 7*c || hi != min(n, lo+7) {
					t.Errorf("chunk %d is [%d, %d)", c, lo, hi)
				}
				for i := lo; i < hi; i++ {
					seen[i].Add(1)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range seen {
				if seen[i].Load() != 1 {
					t.Fatalf("index %d of %d visited %d times", i, n, seen[i].Load())
				}
			}
		}
	}
}

func TestChunks_StopWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Int32
	err := Chunks(ctx, 1000, 1, 2, nil, func(c, _, _ int) {
		switch n := ran.Add(1); {
		case n == 10:
			cancel()
		case n > 10: // the other worker's, begun before
			<-ctx.Done()
		}
	})
	if !errors.Is(err, context.Canceled) || ran.Load() > 11 {
		t.Errorf("%v after %d chunks", err, ran.Load())
	}
	// Work that was finished all the same is finished.
	if err := Chunks(ctx, 0, 1, 2, nil, nil); err != nil {
		t.Error(err)
	}
}

// An enormous number of workers starts no goroutine each.
func TestWorkers_AreLimited(t *testing.T) {
	for w, want := range map[int]int{1: 1, 7: 7, mostWorkers: mostWorkers, mostWorkers + 1: mostWorkers, 1<<31 - 1: mostWorkers} {
		if got := Workers(w); got != want {
			t.Errorf("Workers(%d) = %d, want %d", w, got, want)
		}
	}
}

// A panic of f or progress reaches the caller, who may recover from it, and stops
// the other workers.
func TestChunks_Panics(t *testing.T) {
	const n = 1000
	fault := errors.New("fault")
	for _, workers := range []int{1, 2, 7} {
		for _, inProgress := range []bool{false, true} {
			var ran atomic.Int32
			throw := func(here bool) {
				if here && ran.Load() >= 10 {
					panic(fault)
				}
			}
			v := func() (v any) {
				defer func() { v = recover() }()
				err := Chunks(context.Background(), n, 1, workers, func(int, int) { throw(inProgress) }, func(int, int, int) {
					ran.Add(1)
					throw(!inProgress)
				})
				t.Errorf("%d workers, progress %v: returned %v", workers, inProgress, err)
				return nil
			}()
			if err, ok := v.(error); !ok || !errors.Is(err, fault) || ran.Load() > 10+3*int32(workers) {
				t.Errorf("%d workers, progress %v: %v after %d chunks", workers, inProgress, v, ran.Load())
			}
			if p, ok := v.(*Panic); ok != (workers > 1) || ok && !strings.Contains(p.Error(), "TestChunks_Panics") {
				t.Errorf("%d workers, progress %v: %v", workers, inProgress, v)
			}
		}
	}
}

// Sort sorts, at sizes of no block, one, some and about a power of two of them.
func TestSort_IsSortFunc(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, sortBlock, sortBlock + 1, 3 * sortBlock, 4*sortBlock - 1, 5*sortBlock + 7} {
		x := r.Perm(n)
		if err := Sort(context.Background(), x, cmp.Compare[int]); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if i != v {
				t.Fatalf("n = %d: %d at %d", n, v, i)
			}
		}
	}
}

func TestSort_StopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x := rand.New(rand.NewPCG(3, 4)).Perm(64 * sortBlock)
	calls := 0
	err := Sort(ctx, slices.Clone(x[:sortBlock]), func(a, b int) int {
		if calls++; calls == 10 {
			cancel()
		}
		return cmp.Compare(a, b)
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Sort(ctx, x, cmp.Compare[int]); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
