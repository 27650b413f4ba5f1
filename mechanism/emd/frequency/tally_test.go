package frequency

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Every chunk has random bits of its own, whether the caller gives a seed or
// not.
func TestDrawRuns_ChunksDrawIndependently(t *testing.T) {
	const chunks = 20
	for _, r := range []*rand.Rand{nil, random.Seeded(1)} {
		var mu sync.Mutex
		seen := map[uint64]bool{}
		sum, err := drawRuns(context.Background(), r, []run{{0, chunks * drawChunk}}, 1, 2, func(r *rand.Rand, n run, sum []int64) error {
			u := r.Uint64()
			mu.Lock()
			seen[u] = true
			mu.Unlock()
			sum[0] += n.count
			return nil
		})
		if err != nil || sum[0] != chunks*drawChunk || len(seen) != chunks {
			t.Errorf("seeded %t: %v draws, %v, %d different beginnings", r != nil, sum, err, len(seen))
		}
	}
}
