package frequency

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
)

// run is one input and how many items it has.
type run struct {
	x     int
	count int64
}

// tally returns how often each of k inputs occurs in data, by ascending input,
// and for how many users: the model's, which may be [check.AnyNumber].
func tally(ctx context.Context, op string, model emd.Model, k int, data emd.Users[int]) ([]run, int64, error) {
	if err := fault.Memory(op, float64(k), 8); err != nil {
		return nil, 0, err
	}
	counts := make([]int64, k)
	users := int64(0)
	add := func(user int, items []int) error {
		for i, x := range items {
			if uint(x) >= uint(k) {
				return &fault.ValueError{Op: op, Arg: fmt.Sprintf("user %d", user), Index: i, Value: float64(x), Want: fmt.Sprintf("an index in [0, %d)", k), Private: true}
			}
			counts[x]++
		}
		users++
		return ctx.Err()
	}
	if err := check.Each(op, model.Users, model.Items, data, add); err != nil {
		return nil, 0, err
	}
	var runs []run
	for x, c := range counts {
		if c > 0 {
			runs = append(runs, run{x, c})
		}
	}
	return runs, users, nil
}

// drawChunk draws of one generator take far longer than keying it.
const drawChunk = 1 << 16

// drawer adds the outputs of n.count draws for input n.x to sum.
type drawer func(rng *rand.Rand, n run, sum []int64) error

// eachBy draws one output after another.
func eachBy(draw func(rng *rand.Rand, x int) int) drawer {
	return func(rng *rand.Rand, n run, sum []int64) error {
		for range n.count {
			sum[draw(rng, n.x)]++
		}
		return nil
	}
}

// drawRuns returns how often each output comes up. Chunks depend on the number
// of draws only, each with its own generator: workers change nothing.
func drawRuns(ctx context.Context, rng *rand.Rand, in []run, outputs, workers int, draw drawer) ([]int64, error) {
	ends := make([]int64, len(in)) // of the runs, in the list of all draws
	total := int64(0)
	for i, n := range in {
		total += n.count
		ends[i] = total
	}
	chunks := int((total + drawChunk - 1) / drawChunk)
	var seeds []uint64
	if rng != nil {
		seeds = make([]uint64, chunks)
		for c := range seeds {
			seeds[c] = rng.Uint64()
		}
	}
	chunk := func(c int, sum []int64) error {
		own, done := random.Get(nil)
		defer done()
		if seeds != nil {
			own = random.Seeded(seeds[c])
		}
		lo := int64(c) * drawChunk
		hi := min(total, lo+drawChunk)
		for i, _ := slices.BinarySearch(ends, lo+1); lo < hi; i++ {
			end := min(hi, ends[i])
			if err := draw(own, run{in[i].x, end - lo}, sum); err != nil {
				return err
			}
			lo = end
		}
		return nil
	}
	errs := make([]error, chunks)
	var mu sync.Mutex
	var free [][]int64 // one sum a worker, between chunks
	err := parallel.Chunks(ctx, chunks, 1, workers, nil, func(c, _, _ int) {
		mu.Lock()
		if len(free) == 0 {
			free = append(free, make([]int64, outputs))
		}
		sum := free[len(free)-1]
		free = free[:len(free)-1]
		mu.Unlock()
		errs[c] = chunk(c, sum)
		mu.Lock()
		free = append(free, sum)
		mu.Unlock()
	})
	if err := cmp.Or(cmp.Or(errs...), err); err != nil {
		return nil, err
	}
	for _, sum := range free[1:] {
		for y, v := range sum {
			free[0][y] += v
		}
	}
	return free[0], nil
}
