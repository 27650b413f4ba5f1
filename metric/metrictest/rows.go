package metrictest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/metric"
)

// rows checks the contract of a RowReader on some of the points idx.
func rows(ctx context.Context, t *law.Trial, f metric.Finite, r metric.RowReader, n int, idx []int) {
	idx = idx[:min(len(idx), max(minRows, maxRowEntries/n))]
	want := make([][]float64, len(idx))
	read := func(k int, dst []float64) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := r.DistancesFrom(idx[k], dst)
		if len(row) != n {
			return nil, fmt.Errorf("DistancesFrom(%d) has %d entries of %d", idx[k], len(row), n)
		}
		for j, d := range want[k] {
			if !sameBits(row[j], d) {
				return nil, fmt.Errorf("DistancesFrom(%d)[%d] = %v, Distance(%d, %d) = %v", idx[k], j, row[j], idx[k], j, d)
			}
		}
		return row, nil
	}
	ok := t.Law("rows", func() error {
		for k, i := range idx {
			if err := ctx.Err(); err != nil {
				return err
			}
			want[k] = make([]float64, n)
			for j := range n {
				want[k][j] = f.Distance(i, j)
			}
		}
		for k := range idx {
			if err := placed(n, idx[k], func(dst []float64) ([]float64, error) { return read(k, dst) }); err != nil {
				return err
			}
		}
		return owned(read, len(idx))
	})
	if !ok {
		return
	}
	t.Law("concurrent use", func() error {
		return law.Together(workers, func(w int) error {
			var dst []float64
			for k := range idx {
				var err error
				if dst, err = read((k+w)%len(idx), dst); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// placed checks that a row goes into dst if large enough, and nowhere beyond.
func placed(n, i int, read func(dst []float64) ([]float64, error)) error {
	mark := math.Float64frombits(0x7ff8_5ca1_ab1e_0000) // a NaN that no distance is
	for _, c := range []struct{ length, capacity int }{{0, 0}, {n - 1, n - 1}, {0, n}, {n, n}, {n, n + 3}, {n + 3, n + 3}} {
		dst := slices.Repeat([]float64{mark}, c.capacity)
		row, err := read(dst[:c.length:c.capacity])
		if err != nil {
			return fmt.Errorf("dst of length %d and capacity %d: %w", c.length, c.capacity, err)
		}
		if c.capacity < n {
			continue
		}
		if &row[0] != &dst[0] {
			return fmt.Errorf("DistancesFrom(%d) is not in dst, whose capacity of %d is enough for %d", i, c.capacity, n)
		}
		if slices.ContainsFunc(dst[n:], func(v float64) bool { return !sameBits(v, mark) }) {
			return fmt.Errorf("DistancesFrom(%d) writes to dst beyond its %d entries", i, n)
		}
	}
	return nil
}

// owned checks that a row returned is the caller's: later calls leave it
// alone, and later answers do not come from it.
func owned(read func(k int, dst []float64) ([]float64, error), n int) error {
	for k := range n {
		row, err := read(k, nil)
		kept := slices.Clone(row)
		other, err2 := read((k+1)%n, nil)
		if err := cmp.Or(err, err2); err != nil {
			return err
		}
		if !slices.EqualFunc(row, kept, sameBits) {
			return errors.New("a later call of DistancesFrom changes a row it returned before")
		}
		for j := range row {
			row[j], other[j] = math.NaN(), math.NaN()
		}
		if _, err := read(k, nil); err != nil {
			return fmt.Errorf("after writing to a row that was returned: %w", err)
		}
	}
	return nil
}
