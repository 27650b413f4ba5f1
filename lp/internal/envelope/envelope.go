// Package envelope turns channels that are nearly private into private ones.
package envelope

import (
	"context"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	// Margin is the share of a budget that envelopes leave to the division of rows.
	Margin = 1e-4
	// Longest is the largest budget that is told from others: entries of a column differ
	// by exp(600) at most.
	Longest = 600
	// most steps, half of them from above. Some ten are enough.
	most = 40
)

// Channel has the probabilities X[u*Outputs+w], by inputs u.
type Channel struct {
	Inputs, Outputs int
	X               []float64
	Budget          finite.Metric // obeys the triangle inequality
	Workers         int
	// Log, where not nil, are the logarithms of numbers one for each row: X times them
	// obeys the budgets less the Margin.
	Log []float64

	// Row u has entries in the columns some[start[u]:start[u+1]]. start is nil where most rows have
	// most of them.
	start []int
	some  []int32
}

// Repair makes X private up to rounding and reports whether that came about; no proof is known
// that it must. Before rows are divided by their sums all obey the budgets less the margin, so
// that the sums alone tell whether they do after it. O(n^2 m) a step, for the pairs whose row sums
// are in the one order of the two. Far pairs count to the last step: what one of them lacks is
// passed on, and then near pairs break their budgets.
func (c *Channel) Repair(ctx context.Context) (private bool, err error) {
	if c.Log == nil {
		c.index()
	}
	// By turns x[u] becomes max_v f(u,v) x[v] and min_v x[v]/f(u,v), f being exp(-e) for the
	// budget e less the margin, and rows are divided by their sums.
	var next []float64
	for step := range most {
		if c.Log != nil {
			if private, err = c.close(ctx); private || err != nil {
				return private, err
			}
		}
		if next == nil {
			next = make([]float64, len(c.X))
		}
		sums := make([]float64, c.Inputs)
		err := parallel.Chunks(ctx, c.Inputs, 8, c.Workers, nil, func(_, lo, hi int) {
			var from []float64
			for u := lo; u < hi && ctx.Err() == nil; u++ {
				from = finite.Row(c.Budget, u, from)
				to := next[u*c.Outputs : (u+1)*c.Outputs]
				if copy(to, c.row(u)); c.Log == nil && c.start != nil {
					c.extend(to, u, from)
				} else {
					c.step(to, u, step, from)
				}
				sum := floats.Sum(to)
				floats.Scale(1/sum, to)
				sums[u] = math.Log(sum)
			}
		})
		if err != nil {
			return false, err
		}
		c.X, next, c.Log = next, c.X, sums
	}
	return false, nil
}

func (c *Channel) row(u int) []float64 { return c.X[u*c.Outputs : (u+1)*c.Outputs] }

// index lists the entries that are not 0, where they are few.
func (c *Channel) index() {
	start := make([]int, c.Inputs+1)
	for u := range c.Inputs {
		for w, q := range c.row(u) {
			if q != 0 {
				c.some = append(c.some, int32(w))
			}
		}
		if start[u+1] = len(c.some); 2*len(c.some) > len(c.X) {
			return
		}
	}
	c.start = start
}

// extend raises the row of u, whose budgets are from, to the first envelope. Many entries may
// be 0.
func (c *Channel) extend(to []float64, u int, from []float64) {
	for v, b := range from {
		f := math.Exp(-(1 - Margin) * min(b, Longest))
		x := c.X[v*c.Outputs:]
		for _, w := range c.some[c.start[v]:c.start[v+1]] {
			if t := f * x[w]; t > to[w] {
				to[w] = t
			}
		}
	}
}

// step moves the row of u, whose budgets are from, to the envelopes of a step. A row that was
// divided by less than that of u bounds it from below, one that was divided by more from above.
func (c *Channel) step(to []float64, u, step int, from []float64) {
	lower := step%2 == 1
	for v, b := range from {
		if c.Log != nil && (b < Longest || step > 0) {
			if d := c.Log[u] - c.Log[v]; !lower && d <= 0 || lower && d >= 0 {
				continue
			}
		}
		b = (1 - Margin) * min(b, Longest)
		x := c.row(v)[:len(to)]
		if lower {
			f := math.Exp(b)
			for w, q := range to {
				if t := f * x[w]; t < q {
					to[w] = t
				}
			}
			continue
		}
		f := math.Exp(-b)
		for w, q := range to {
			if t := f * x[w]; t > q {
				to[w] = t
			}
		}
	}
}

// close tells whether the logarithms are within the margin of each other.
func (c *Channel) close(ctx context.Context) (bool, error) {
	var far atomic.Bool
	err := parallel.Chunks(ctx, c.Inputs, 8, c.Workers, nil, func(_, lo, hi int) {
		var from []float64
		for u := lo; u < hi && !far.Load(); u++ {
			from = finite.Row(c.Budget, u, from)
			for v, b := range from {
				if !(math.Abs(c.Log[u]-c.Log[v]) <= Margin*(1-1e-6)*min(b, Longest)) {
					far.Store(true)
				}
			}
		}
	})
	return !far.Load(), err
}
