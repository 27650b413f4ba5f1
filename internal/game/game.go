// Package game finds answers to noise that lose little at the worst input: a matrix game, in
// which the prior moves to the inputs that lose most and cells of noise answer it.
package game

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Gap is a share that answers may lose more than the best of all: [Game.Play] comes near it in
// some hundred rounds.
const Gap = 4e-3

// Games take mostRounds at most by default, or where these take more than mostWork fewer, but
// leastRounds.
const mostRounds, leastRounds, mostWork = 1000, 20, 2e11

// Game has the masses of N inputs in C cells, and their distances to K outputs, in any unit
// in which they are no more than 2.
type Game struct {
	N, C, K    int
	Mass, Dist []float32
	// Mean is a share of what is lost that is the mean over the inputs, and not the worst: where
	// the worst does not matter, answers are then those best for the mean.
	Mean    float64
	Rounds  int // at most so many; 0: 1,000
	Workers int
}

// Play returns weights of the outputs, K for every cell, of the same sum: answers against the
// worst input. The first answers are only kept where no input matters. It ends within a share of
// gap of the best, when its rounds are used up, or where more, if not nil, says so: it is told the
// rounds so far and the gap.
func (g *Game) Play(ctx context.Context, answer []int, gap float64, more func(round int, gap float64) bool) ([]float64, error) {
	counts, least, kept := make([]float64, g.C*g.K), math.Inf(1), make([]float64, g.C*g.K)
	won, prior, loss, average := make([]float64, g.N), make([]float64, g.N), make([]float64, g.N), make([]float64, g.N)
	excess, rate, total, bound := 0.0, math.Inf(1), 0.0, 0.0
	// As a float64: of few inputs it is beyond an int of 32 bits.
	rounds := int(min(float64(cmp.Or(g.Rounds, mostRounds)), max(leastRounds, mostWork/float64(g.N)/float64(g.C)/float64(g.K))))
	for round := 0; round < rounds && !(least <= bound*(1+gap)); round++ {
		top, sum := slices.Max(won), 0.0
		for x, v := range won {
			prior[x] = 1
			if v < top {
				prior[x] = math.Exp(rate * (v - top))
			}
			sum += prior[x]
		}
		for x := range prior {
			prior[x] = float64((1-g.Mean)*prior[x]/sum) + g.Mean/float64(g.N)
		}
		if err := g.Round(ctx, prior, answer, loss); err != nil {
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
		if excess += max(0, mix-mean); excess > 0 {
			rate = math.Log(float64(g.N)+1) / excess
		}
		weight := float64(round + 1)
		total += weight
		for x, v := range loss {
			won[x] += v
			average[x] += (v - average[x]) * weight / total
		}
		for y, j := range answer {
			counts[y*g.K+j] += weight
		}
		if lost := float64((1-g.Mean)*slices.Max(average)) + float64(g.Mean*floats.Sum(average))/float64(g.N); lost < least {
			least = lost
			copy(kept, counts)
		}
		if more != nil && !more(round+1, 1-bound/least) {
			break
		}
	}
	return kept, nil
}

// Round finds the best answer of every cell to a prior, and what the inputs lose then.
func (g *Game) Round(ctx context.Context, prior []float64, answer []int, loss []float64) error {
	blas, few, size := blas32.Implementation(), g.K <= 16, 16
	if few {
		size = 64
	}
	err := parallel.Chunks(ctx, g.C, size, g.Workers, nil, func(_, lo, hi int) {
		cells, cost := hi-lo, make([]float32, (hi-lo)*g.K)
		perCell, perOutput := g.K, 1
		if few {
			perCell, perOutput = 1, cells // the longer side is added at once
		}
		total := make([]float32, cells)
		for x, z := range prior {
			if few || z == 0 {
				continue
			}
			for i, p := range g.Mass[x*g.C+lo : x*g.C+hi] {
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
			mass, from := g.Mass[x*g.C+lo:x*g.C+hi], g.Dist[x*g.K:(x+1)*g.K]
			if few {
				for j, d := range from {
					blas.Saxpy(cells, float32(z)*d, mass, 1, cost[j*cells:], 1)
				}
				continue
			}
			for i, p := range mass {
				// What is next to nothing beside the most likely input hardly changes
				// the answer.
				if v := float32(z) * p; v > 1e-6*total[i] {
					blas.Saxpy(g.K, v, from, 1, cost[i*g.K:], 1)
				}
			}
		}
		for i := range cells {
			// Where a cell is too far from all that matters, all costs are 0.
			for j := range g.K {
				if cost[i*perCell+j*perOutput] < cost[i*perCell+answer[lo+i]*perOutput] {
					answer[lo+i] = j
				}
			}
		}
	})
	if err != nil {
		return err
	}
	return parallel.Chunks(ctx, g.N, 16, g.Workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			sum, from := 0.0, g.Dist[x*g.K:(x+1)*g.K]
			for y, p := range g.Mass[x*g.C : (x+1)*g.C] {
				sum += float64(float64(p) * float64(from[answer[y]]))
			}
			loss[x] = sum
		}
	})
}
