package exponential

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	// A game ends when no answers lose a share gameGap less than those found, after
	// gameRounds, or where they take more than gameWork, but not before leastRounds.
	gameGap                           = 4e-3
	gameRounds, leastRounds, gameWork = 1000, 20, 2e11
)

// game has the masses of n inputs in c cells, and their distances to k outputs, in any unit
// in which they are no more than 2.
type game struct {
	n, c, k    int
	mass, dist []float32
	workers    int
}

// play returns weights of the outputs, k for every cell, of the same sum: answers against the
// worst input. The first answers are only kept where no input matters.
func (g *game) play(ctx context.Context, answer []int) ([]float64, error) {
	counts, least, kept := make([]float64, g.c*g.k), math.Inf(1), make([]float64, g.c*g.k)
	won, prior, loss, average := make([]float64, g.n), make([]float64, g.n), make([]float64, g.n), make([]float64, g.n)
	gap, rate, total, bound := 0.0, math.Inf(1), 0.0, 0.0
	// As a float64: of few inputs it is beyond an int of 32 bits.
	rounds := int(min(gameRounds, max(leastRounds, gameWork/float64(g.n)/float64(g.c)/float64(g.k))))
	for round := 0; round < rounds && !(least <= bound*(1+gameGap)); round++ {
		top, sum := slices.Max(won), 0.0
		for x, v := range won {
			prior[x] = 1
			if v < top {
				prior[x] = math.Exp(rate * (v - top))
			}
			sum += prior[x]
		}
		for x := range prior {
			prior[x] /= sum
		}
		if err := g.round(ctx, prior, answer, loss); err != nil {
			return nil, err
		}
		// The rate is that of AdaHedge: the logarithm of n over the sum of the gaps
		// between exponential means and means.
		most, mean := slices.Max(loss), 0.0
		for x, v := range loss {
			mean += float64(prior[x] * v)
		}
		bound = max(bound, mean) // no answers lose less for this prior
		mix := most
		if !math.IsInf(rate, 1) {
			part := 0.0
			for x, v := range loss {
				part += float64(prior[x] * math.Exp(rate*(v-most)))
			}
			mix = most + math.Log(part)/rate
		}
		if gap += max(0, mix-mean); gap > 0 {
			rate = math.Log(float64(g.n)+1) / gap
		}
		weight := float64(round + 1)
		total += weight
		for x, v := range loss {
			won[x] += v
			average[x] += (v - average[x]) * weight / total
		}
		for y, j := range answer {
			counts[y*g.k+j] += weight
		}
		if worst := slices.Max(average); worst < least {
			least = worst
			copy(kept, counts)
		}
	}
	return kept, nil
}

// round finds the best answer of every cell to a prior, and what the inputs lose then.
func (g *game) round(ctx context.Context, prior []float64, answer []int, loss []float64) error {
	const size = 16
	blas := blas32.Implementation()
	err := parallel.Chunks(ctx, g.c, size, g.workers, nil, func(_, lo, hi int) {
		cost, total := make([]float32, (hi-lo)*g.k), make([]float32, hi-lo)
		for x, z := range prior {
			for i, p := range g.mass[x*g.c+lo : x*g.c+hi] {
				total[i] = max(total[i], float32(z)*p)
			}
		}
		for x, z := range prior {
			if x%256 == 0 && ctx.Err() != nil {
				return
			}
			if z == 0 {
				continue
			}
			from := g.dist[x*g.k : (x+1)*g.k]
			for i, p := range g.mass[x*g.c+lo : x*g.c+hi] {
				// What is next to nothing beside the most likely input hardly changes
				// the answer.
				v := float32(z) * p
				if v <= 1e-6*total[i] {
					continue
				}
				blas.Saxpy(g.k, v, from, 1, cost[i*g.k:], 1)
			}
		}
		for i, likely := range total {
			if likely == 0 {
				continue // it is too far from all that matters
			}
			sums := cost[i*g.k : (i+1)*g.k]
			for j, v := range sums {
				if v < sums[answer[lo+i]] {
					answer[lo+i] = j
				}
			}
		}
	})
	if err != nil {
		return err
	}
	return parallel.Chunks(ctx, g.n, 16, g.workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			sum, from := 0.0, g.dist[x*g.k:(x+1)*g.k]
			for y, p := range g.mass[x*g.c : (x+1)*g.c] {
				sum += float64(float64(p) * float64(from[answer[y]]))
			}
			loss[x] = sum
		}
	})
}
