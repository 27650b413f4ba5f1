// Package assignment matches the rows of a matrix of costs to columns of their own at the least sum
// of costs, and plans to move masses from rows to columns at nearly the least. It proves nothing:
// its caller bounds the optimum by what it returns and the potentials.
package assignment

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// Bytes bounds the memory for n rows and m columns: the lists, the survey's
// arrays and those of the search.
func Bytes(n, m int) float64 {
	return float64(float64(n)*(float64(24*listWidth)+100)) + float64(float64(m)*260)
}

// Solve returns the column of each of n rows, n <= m, and potentials of the m
// columns: v <= 0 where n < m. Costs are numbers of size at most [rows.Max]
// ([*rows.BadCost], the first in row order). n and m fit an int32.
func Solve(ctx context.Context, n, m int, costs rows.Func, workers int) (col []int32, v []float64, err error) {
	least, arg, err := survey(ctx, n, m, costs, workers)
	if err != nil {
		return nil, nil, err
	}
	s := newSolver(n, m, costs)
	if err := s.solve(ctx, least, arg, workers); err != nil {
		return nil, nil, err
	}
	return s.col, s.v, nil
}

// survey checks the costs and finds the least of every column and the first row that has it.
func survey(ctx context.Context, n, m int, costs rows.Func, workers int) ([]float64, []int32, error) {
	type part struct {
		least []float64
		arg   []int32
		bad   int
	}
	// Pieces of equal size for at most 16 of them: each has arrays of its own.
	size := max(rows.Chunk, (n+15)/16)
	parts := make([]part, (n+size-1)/size)
	err := parallel.Chunks(ctx, n, size, workers, nil, func(c, lo, hi int) {
		p := part{slices.Repeat([]float64{math.Inf(1)}, m), make([]int32, m), -1}
		buf := make([]float64, m)
		for i := lo; i < hi && p.bad < 0; i++ {
			row := costs(i, buf)
			worst := uint64(0) // NaN and Inf have the largest bit patterns
			least := p.least[:len(row)]
			for j, x := range row {
				worst = max(worst, math.Float64bits(x)&^(1<<63))
				if x < least[j] {
					least[j], p.arg[j] = x, int32(i)
				}
			}
			if worst > math.Float64bits(rows.Max) {
				p.bad = i
			}
		}
		parts[c] = p
	})
	if err != nil {
		return nil, nil, err
	}
	least, arg := parts[0].least, parts[0].arg
	for _, p := range parts {
		if p.bad >= 0 {
			for j, x := range costs(p.bad, make([]float64, m)) {
				if !(math.Abs(x) <= rows.Max) {
					return nil, nil, &rows.BadCost{I: p.bad, J: j, Value: x}
				}
			}
		}
		for j, x := range p.least {
			if x < least[j] {
				least[j], arg[j] = x, p.arg[j]
			}
		}
	}
	return least, arg, nil
}
