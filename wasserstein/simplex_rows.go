package wasserstein

import (
	"context"
	"math"
	"sync"

	"github.com/metricdp/metricdp/internal/parallel"
)

// simplexChunk is the number of rows a worker takes at a time: some hundred
// microseconds of work where a row has 1,000 costs.
const simplexChunk = 64

// simplexEach calls f with every row of an n x m cost, on every core. f may keep
// nothing of row.
func simplexEach(ctx context.Context, rows simplexRows, n, m, workers int, f func(i int, row []float64)) error {
	size := min(simplexChunk, 1+n/16)
	return parallel.Chunks(ctx, n, size, workers, nil, func(_, lo, hi int) {
		buf := make([]float64, m)
		for i := lo; i < hi; i++ {
			f(i, rows(i, buf))
		}
	})
}

// simplexColumns sets v to the potentials of the sinks that go with those of the
// sources: v_j = min over i of c_ij - u(i), u being asked once a row. Each
// worker takes the minimum over its own rows, so the result does not depend on
// their number.
func simplexColumns(ctx context.Context, rows simplexRows, n, m, workers int, v []float64, u func(i int, row []float64) float64) error {
	for j := range v {
		v[j] = math.Inf(1)
	}
	var mu sync.Mutex
	return parallel.Chunks(ctx, n, simplexChunk, workers, nil, func(_, lo, hi int) {
		buf, least := make([]float64, m), make([]float64, m)
		for j := range least {
			least[j] = math.Inf(1)
		}
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

// simplexGather returns the rows src of a cost with m columns, reduced to the
// columns dst: stored, or computed when asked for if lazy.
func simplexGather(ctx context.Context, rows simplexRows, m int, src, dst []int, lazy bool, workers int) (simplexRows, error) {
	type buffer []float64
	pool := sync.Pool{New: func() any { b := make(buffer, m); return &b }}
	gather := func(i int, out []float64) []float64 {
		buf := pool.Get().(*buffer)
		row := rows(src[i], *buf)
		for k, j := range dst {
			out[k] = row[j]
		}
		pool.Put(buf)
		return out
	}
	if lazy {
		return gather, nil
	}
	w := len(dst)
	flat := make([]float64, len(src)*w)
	err := parallel.Chunks(ctx, len(src), simplexChunk, workers, nil, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			gather(i, flat[i*w:(i+1)*w])
		}
	})
	return func(i int, _ []float64) []float64 { return flat[i*w : (i+1)*w : (i+1)*w] }, err
}
