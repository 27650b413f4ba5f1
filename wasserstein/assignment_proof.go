package wasserstein

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/parallel"
)

// assignProve makes a Matching of the columns col and any potentials v <= 0 of
// the columns (of any sign where every column is matched), with bounds that
// rest on the costs alone.
func assignProve(ctx context.Context, m int, rows assignRows, col []int32, v []float64, workers int) (*Matching, error) {
	n := len(col)
	r := &Matching{Column: make([]int, n), U: make([]float64, n), V: v}
	paid := make([]float64, n)
	err := parallel.Chunks(ctx, n, assignChunk, workers, nil, func(_, lo, hi int) {
		buf := make([]float64, m)
		for i := lo; i < hi; i++ {
			row := rows(i, buf)
			r.U[i] = assignSlack(row, v)
			r.Column[i], paid[i] = int(col[i]), row[col[i]]
		}
	})
	if err != nil {
		return nil, err
	}
	var upper, lower assignSum
	for i, u := range r.U {
		upper.add(paid[i])
		lower.add(u)
	}
	for _, x := range v {
		lower.add(x)
	}
	_, r.Cost, r.Upper = upper.bounds()
	r.Lower, _, _ = lower.bounds()
	return r, nil
}

// assignSlack returns the largest float64 that is at most c[j]-v[j] for every j
// as real numbers. Rounding to nearest is monotone, so the least difference is
// among those that round to the least float64, and that is too large by half an
// ulp at most.
func assignSlack(c, v []float64) float64 {
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

// assignSum adds float64 numbers in about 106 bits and bounds what that loses.
type assignSum struct{ hi, lo, err float64 }

func (s *assignSum) add(x float64) {
	var e, f float64
	s.hi, e = directed.TwoSum(s.hi, x)
	s.lo, f = directed.TwoSum(s.lo, e)
	s.err = directed.AddUp(s.err, math.Abs(f))
}

// bounds returns numbers below, next to and above the exact sum, equal where it
// is a float64 and nothing was lost.
func (s *assignSum) bounds() (lower, near, upper float64) {
	lower = directed.AddDown(s.hi, directed.SubDown(s.lo, s.err))
	upper = directed.AddUp(s.hi, directed.AddUp(s.lo, s.err))
	return lower, min(max(s.hi+s.lo, lower), upper), upper
}
