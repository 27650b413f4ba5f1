package table

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
)

// Release is what a [Synthesizer] publishes: columns, the pairs of columns that were picked, and
// rows that fit them, private at its level however often it is used. It must not be modified.
type Release struct {
	// Total is the number of rows under ReplaceOne, and a noisy number of at least 1 under
	// AddRemoveOne.
	Total float64

	s       *Synthesizer
	margins []*margin
	pairs   []Pair
	tables  []population.Table // of the pairs
	bins    [][]uint8          // of the rows that stand for all, by column
}

func (r *Release) check(op string) error {
	return fault.Made(r != nil && r.s != nil, op, "Release", "Synthesizer.Release")
}

// Pairs returns the pairs of columns that were counted together, in the order in which they
// were picked.
func (r *Release) Pairs() []Pair {
	return slices.Clone(fault.Must(r, r.check("table: Release.Pairs")).pairs)
}

const mostTries = 100 // for a row

// Records returns m rows in random order, or Total rounded, at least 1, where m is 0. Of up to 2^17
// rows every column has its margin to within some rows, before impossible rows are replaced; more
// are made of the same bins. It is an error if 100 rows in a row are impossible. O(m columns).
func (r *Release) Records(ctx context.Context, rng *rand.Rand, m int) ([][]float64, error) {
	const op = "table: Release.Records"
	if err := r.check(op); err != nil {
		return nil, err
	}
	if m == 0 {
		m = int(max(1, min(maxRows, math.Round(r.Total))))
	}
	if m < 0 || m > maxRows {
		return nil, fault.Value(op, "m", float64(m), fmt.Sprintf("an integer in [0, %d]", maxRows))
	}
	if err := fault.Memory(op, float64(m), 24+8*r.s.width+40*2); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	from, err := population.Spread(ctx, rng, slices.Repeat([]float64{1}, len(r.bins[0])), m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	rows := make([][]float64, m)
	bins := make([]uint8, m)
	for a, c := range r.margins {
		for i, k := range from {
			bins[i] = r.bins[a][k]
		}
		values, err := c.values(ctx, rng, bins)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		for i, x := range values {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w", op, ctx.Err())
			}
			rows[i] = append(rows[i], x...)
		}
	}
	possible := r.s.opt.Possible
	for i, k := range from {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", op, ctx.Err())
		}
		for tries := 0; possible != nil && !possible(rows[i], rows[i]); tries++ {
			if tries == 2*mostTries {
				return nil, fmt.Errorf("%s: Possible refuses %d rows in a row", op, tries)
			}
			if tries > mostTries {
				k = rng.IntN(len(r.bins[0]))
			}
			x := rows[i][:0]
			for a, c := range r.margins {
				value, _ := c.values(context.Background(), rng, r.bins[a][k:k+1]) // one: without a look
				x = append(x, value[0]...)
			}
		}
	}
	return rows, nil
}
