package mechanism

import (
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Of draws that make the table of a row at once, one is counted.
func TestChannel_KeptRowsAreCountedOnce(t *testing.T) {
	const n, m = 40, 2000
	c, err := NewChannel(t.Context(), Rows{n, m, true, func(_ int, dst []float64) { clear(dst) }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rng := random.Seeded(uint64(g))
			for x := range 3 * n {
				if _, err := c.Release(rng, x%n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for x := range n {
		if c.kept.table(x) == nil {
			t.Errorf("row %d is not kept", x)
		}
	}
	if got, least := keptBytes-c.kept.left.Load(), int64(n*(128+24*m)); got < least || got >= least+24*m {
		t.Errorf("%d bytes, want %d", got, least)
	}
}
