package frequency

import (
	"context"
	"errors"
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

// What was drawn until a release is canceled or fails is not published.
func TestDrawRuns_NothingOfAnUnfinishedRelease(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	bad := errors.New("bad")
	for _, c := range []struct {
		want error
		end  func() error
	}{
		{context.Canceled, func() error { cancel(); return nil }},
		{bad, func() error { return bad }},
	} {
		draws := 0
		sum, err := drawRuns(ctx, nil, []run{{0, 100 * drawChunk}}, 1, 1, func(_ *rand.Rand, n run, sum []int64) error {
			sum[0] += n.count
			if draws++; draws == 3 {
				return c.end()
			}
			return nil
		})
		if sum != nil || !errors.Is(err, c.want) {
			t.Errorf("%v: %v, %v", c.want, sum, err)
		}
		ctx = context.Background()
	}
}
