package parallel

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

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
