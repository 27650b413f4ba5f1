// Package rows reads a matrix of transport costs row by row, on every core.
package rows

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Func returns row i of a matrix of costs, in buf or in memory of its own, which is only read. It
// is called from several goroutines at once, each with a buffer of its own.
type Func func(i int, buf []float64) []float64

// Max bounds the size of a cost, so that no potential overflows. In the network simplex a potential
// is a sum of fewer than 2^32 costs with signs. In the assignment each of at most 2^8 n bids and n
// searches lowers a potential by at most the spread of the reduced costs, and n < 2^28.
const Max = 0x1p960

// Chunk is the number of rows a worker takes at a time.
const Chunk = 64

// BadCost is the error for a cost outside its domain.
type BadCost struct {
	I, J  int
	Value float64
}

func (b *BadCost) Error() string { return fmt.Sprintf("cost[%d][%d] = %v", b.I, b.J, b.Value) }

// Each calls f with every row of an n x m cost, on every core. f may keep nothing of row.
func Each(ctx context.Context, rows Func, n, m, workers int, f func(i int, row []float64)) error {
	size := min(Chunk, 1+n/16)
	return parallel.Chunks(ctx, n, size, workers, nil, func(_, lo, hi int) {
		buf := make([]float64, m)
		for i := lo; i < hi; i++ {
			f(i, rows(i, buf))
		}
	})
}

// Largest returns the largest of the costs, and the first position of one outside [0, Max] or -1.
func Largest(row []float64) (largest float64, bad int) {
	for j, c := range row {
		if !(c >= 0 && c <= largest) {
			if !(c >= 0 && c <= Max) {
				return 0, j
			}
			largest = c
		}
	}
	return largest, -1
}

// Slack returns the largest float64 that is at most c[j]-v[j] for every j as real numbers: the
// potential of the row. Rounding to nearest is monotone, so the least difference is among those
// that round to the least float64, and that is too large by half an ulp at most.
func Slack(c, v []float64) float64 {
	least, low := math.Inf(1), 0.0
	v = v[:len(c)]
	for j, x := range c {
		if d := x - v[j]; d <= least {
			if _, e := directed.TwoSum(x, -v[j]); d < least || e < low {
				least, low = d, e
			}
		}
	}
	if low < 0 {
		return directed.Prev(least)
	}
	return least
}

// Potentials sets v to the potentials of the columns that go with those of the rows: v_j = min over
// i of c_ij - u(i), u being asked once a row. The result does not depend on workers.
func Potentials(ctx context.Context, rows Func, n, m, workers int, v []float64, u func(i int, row []float64) float64) error {
	unknown := slices.Repeat([]float64{math.Inf(1)}, m)
	copy(v, unknown)
	var mu sync.Mutex
	return parallel.Chunks(ctx, n, Chunk, workers, nil, func(_, lo, hi int) {
		buf, least := make([]float64, m), slices.Clone(unknown)
		for i := lo; i < hi; i++ {
			row := rows(i, buf)
			low := u(i, row)
			for j, c := range row[:len(least)] {
				if c -= low; c < least[j] {
					least[j] = c
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for j, c := range least {
			v[j] = min(v[j], c)
		}
	})
}

// Select returns the rows src of a cost with m columns, reduced to the columns
// dst, computed when they are asked for.
func Select(rows Func, m int, src, dst []int) Func {
	type buffer []float64
	pool := sync.Pool{New: func() any { b := make(buffer, m); return &b }}
	return func(i int, out []float64) []float64 {
		buf := pool.Get().(*buffer)
		row := rows(src[i], *buf)
		for k, j := range dst {
			out[k] = row[j]
		}
		pool.Put(buf)
		return out
	}
}

// Store computes an n x m cost once, row by row.
func Store(ctx context.Context, rows Func, n, m, workers int) (flat []float64, err error) {
	flat = make([]float64, n*m)
	err = parallel.Chunks(ctx, n, Chunk, workers, nil, func(_, lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			to := flat[i*m : (i+1)*m]
			copy(to, rows(i, to))
		}
	})
	return flat, err
}

// StoreSymmetric is Store for costs at(i, j) = at(j, i) of n points. Of the two one is computed.
func StoreSymmetric(ctx context.Context, at func(i, j int) float64, n, workers int) (flat []float64, err error) {
	const size = 8 // columns of a cache line
	flat = make([]float64, n*n)
	err = parallel.Chunks(ctx, n, size, workers, nil, func(_, lo, hi int) {
		for j := lo; j < n && ctx.Err() == nil; j++ {
			for i := lo; i < min(hi, j+1); i++ {
				d := at(i, j)
				flat[i*n+j], flat[j*n+i] = d, d
			}
		}
	})
	return flat, err
}

// Stored returns the rows of m costs that lie one after the other in flat.
func Stored(flat []float64, m int) Func {
	return func(i int, _ []float64) []float64 { return flat[i*m : (i+1)*m : (i+1)*m] }
}
