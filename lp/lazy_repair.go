package lp

import (
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/parallel"
)

// lazyLevels are the fractions of the budgets at which companions are tried.
var lazyLevels = []float64{0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995}

const mendTime = 300 * time.Millisecond

// mend repairs columns x that break some constraints, and keeps the channel.
//
// The least private matrix above x is Y[v,w] = max_u exp(-e(u,v)) x[u,w], by the
// triangle inequality. Its rows sum to 1 + d_v, d_v >= 0. With a companion, a
// channel M0 that keeps a lower level,
//
//	M = (Y + (K - d_v) M0) / (1 + K)
//
// has rows of sum 1, and is private as soon as the rows (K - d_v) M0 are. K is
// the least constant for that:
//
//	K (exp(e) M0[v,w] - M0[u,w]) >= exp(e) d_v M0[v,w] - d_u M0[u,w],  K >= d_v.
//
// Companions are the matrices that are made like Y of smaller budgets, rows
// scaled to sum 1: close to x, so that even K = 1 would cost little. The one
// that loses least is kept. Once the context is done and mendTime is over
// the best so far will do, from the level on that was taken in the round before.
func (g *merged) mend(s *Solution, x []float64) error {
	k, m := g.prog.Inputs, g.m
	y := make([]float64, k*m)
	if err := g.envelope(y, x, 1); err != nil {
		return err
	}
	excess := rowSums(k, y)
	for v := range excess {
		excess[v] = max(0, excess[v]-1)
	}
	best, least := []float64(nil), math.Inf(1)
	companion, mixed := make([]float64, k*m), make([]float64, k*m)
	began, start := time.Now(), g.level
	for i := range lazyLevels {
		if best != nil && g.ctx.Err() != nil && time.Since(began) > mendTime {
			break
		}
		level := (start + i) % len(lazyLevels)
		if err := g.envelope(companion, x, lazyLevels[level]); err != nil {
			return err
		}
		sums := rowSums(k, companion)
		for i := range companion {
			companion[i] /= sums[i%k]
		}
		weight, err := g.companionWeight(companion, excess)
		if err != nil {
			return err
		}
		if !(weight < math.Inf(1)) {
			continue
		}
		for i, c := range companion {
			mixed[i] = (y[i] + float64((weight-excess[i%k])*c)) / (1 + weight)
		}
		loss, err := g.lossOf(mixed)
		if err != nil {
			return err
		}
		if loss < least {
			least, g.level = loss, level
			best = append(best[:0], mixed...)
		}
	}
	if best == nil {
		return nil
	}
	r, err := g.repair(best)
	s.keep(r)
	return err
}

// envelope writes the least matrix above x that is private at a fraction of the
// budgets. O(k^2 m).
func (g *merged) envelope(y, x []float64, level float64) error {
	k, decay := g.prog.Inputs, g.decay(level)
	return g.eachOutput(func(w int) {
		from, to := x[w*k:(w+1)*k], y[w*k:(w+1)*k]
		clear(to)
		for u, xu := range from {
			for v, d := range decay[u*k : (u+1)*k] {
				if c := d * xu; c > to[v] {
					to[v] = c
				}
			}
		}
	})
}

// decay is exp(-level e) for the budgets e.
func (g *merged) decay(level float64) []float64 {
	decay := make([]float64, len(g.prog.Budget))
	for i, e := range g.prog.Budget {
		decay[i] = math.Exp(-level * e)
	}
	return decay
}

// companionWeight is the least K, +Inf where there is none.
func (g *merged) companionWeight(companion, excess []float64) (float64, error) {
	k, decay := g.prog.Inputs, g.decay(1)
	of := make([]float64, g.m)
	err := g.eachOutput(func(w int) {
		c, most := companion[w*k:(w+1)*k], 0.0
		for u, cu := range c {
			for v, d := range decay[u*k : (u+1)*k] {
				have, need := c[v]-float64(d*cu), float64(excess[v]*c[v])-float64(excess[u]*d*cu)
				if need > most*have && u != v {
					if have <= 0 {
						most = math.Inf(1)
						break
					}
					most = need / have
				}
			}
		}
		of[w] = most
	})
	return max(slices.Max(of), slices.Max(excess)), err
}

func (g *merged) eachOutput(f func(w int)) error {
	return parallel.Chunks(g.late, g.m, 1, g.o.Workers, nil, func(w, _, _ int) { f(w) })
}

func rowSums(k int, x []float64) []float64 {
	sum := make([]float64, k)
	for i, v := range x {
		sum[i%k] += v
	}
	return sum
}

// lossOf is the loss of columns by classes, rounded, in the kernel's unit.
func (g *merged) lossOf(x []float64) (float64, error) {
	k := g.prog.Inputs
	loss := make([]float64, g.n)
	for w := range g.m {
		for i, c := range g.class {
			loss[i] += float64(x[w*k+c] * g.scaled[w*g.n+i])
		}
	}
	return g.total(func(i int) float64 { return loss[i] })
}
