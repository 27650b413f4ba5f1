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
// leastRounds. Of many outputs the first rounds, one in allEvery and the last try all in every cell
// and prove a bound. The others only try those that were answers there, as fast as fewWork outputs.
const (
	mostRounds, leastRounds, mostWork = 1000, 20, 2e11
	allEvery, firstAll, fewWork       = 12, 4, 64
)

// Game has the masses of N inputs in C cells, and their distances to K outputs, in any unit
// in which they are no more than 2.
type Game struct {
	N, C, K    int
	Mass, Dist []float32
	// Lists, where not nil, are the outputs that each cell may answer, as many for each. The gap is
	// to the best of these answers.
	Lists [][]int
	// Mean is a share of what is lost that is the mean over the inputs, and not the worst: where
	// the worst does not matter, answers are then those best for the mean.
	Mean    float64
	Rounds  int // at most so many; 0: 1,000
	Workers int
}

// Play returns weights of the outputs, K for every cell, or as many as its list has, of the same
// sum: answers against the worst input. The first answers are only kept where no input matters. It
// ends within a share of gap of the best, when its rounds are used up, or where more, if not nil, says
// so: it is told the rounds so far and the gap.
func (g *Game) Play(ctx context.Context, answer []int, gap float64, more func(round int, gap float64) bool) ([]float64, error) {
	width := g.K
	if g.Lists != nil {
		width = len(g.Lists[0])
	}
	counts, least, kept := make([]float64, g.C*width), math.Inf(1), make([]float64, g.C*width)
	won, prior, loss, average := make([]float64, g.N), make([]float64, g.N), make([]float64, g.N), make([]float64, g.N)
	excess, rate, total, bound := 0.0, math.Inf(1), 0.0, 0.0
	// As a float64: of few inputs it is beyond an int of 32 bits.
	work := float64(width+(allEvery-1)*min(width, fewWork)) / allEvery
	rounds := int(min(float64(cmp.Or(g.Rounds, mostRounds)), max(leastRounds, mostWork/float64(g.N)/float64(g.C)/work)))
	lists := make([][]int, g.C) // what every cell has answered
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
		all, tried := width <= fewWork || round < firstAll || round%allEvery == 0 || round == rounds-1, lists
		if all {
			tried = g.Lists
		}
		if err := g.round(ctx, prior, answer, loss, tried); err != nil {
			return nil, err
		}
		for y, j := range answer {
			if !slices.Contains(lists[y], j) {
				lists[y] = append(lists[y], j)
			}
		}
		// The rate is that of AdaHedge: the logarithm of n over the sum of the gaps
		// between exponential means and means.
		most, mean := slices.Max(loss), 0.0
		for x, v := range loss {
			mean += float64(prior[x] * v)
		}
		if all {
			bound = max(bound, mean) // no answers lose less for this prior
		}
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
			if g.Lists != nil {
				j = slices.Index(g.Lists[y], j)
			}
			counts[y*width+j] += weight
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
	return g.round(ctx, prior, answer, loss, nil)
}

// fewOutputs are so few that a cell's costs are added up output by output, over many cells.
const fewOutputs = 16

// round is Round for answers among the outputs that lists has for the cell; nil: all.
func (g *Game) round(ctx context.Context, prior []float64, answer []int, loss []float64, lists [][]int) error {
	size, best := 16, g.likely
	if lists != nil { // rows of distances are read for many cells at once
		size = 128
	} else if g.K <= fewOutputs {
		size, best = 64, g.plain
	}
	err := parallel.Chunks(ctx, g.C, size, g.Workers, nil, func(_, lo, hi int) {
		var of [][]int
		if lists != nil {
			of = lists[lo:hi]
		}
		best(ctx, prior, lo, answer[lo:hi], of)
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

// plain finds the best answers of the cells from lo on, from all costs.
func (g *Game) plain(ctx context.Context, prior []float64, lo int, answer []int, _ [][]int) {
	blas, cells := blas32.Implementation(), len(answer)
	cost := make([]float32, cells*g.K)
	for x, z := range prior {
		if x%256 == 0 && ctx.Err() != nil {
			return
		}
		if z == 0 {
			continue
		}
		mass := g.Mass[x*g.C+lo:][:cells]
		for j, d := range g.Dist[x*g.K : (x+1)*g.K] {
			blas.Saxpy(cells, float32(z)*d, mass, 1, cost[j*cells:], 1)
		}
	}
	for i, at := range answer {
		// Where a cell is too far from all that matters, all costs are 0.
		for j := range g.K {
			if cost[j*cells+i] < cost[at*cells+i] {
				at = j
			}
		}
		answer[i] = at
	}
}

// likely is plain without what is next to nothing beside the most likely input: it hardly
// changes the answer. lists has the outputs of each cell that are looked at; nil: all.
func (g *Game) likely(ctx context.Context, prior []float64, lo int, answer []int, lists [][]int) {
	blas, cells, width := blas32.Implementation(), len(answer), g.K
	if lists != nil {
		width = len(slices.MaxFunc(lists, func(a, b []int) int { return cmp.Compare(len(a), len(b)) }))
	}
	cost, total := make([]float32, cells*width), make([]float32, cells)
	for x, z := range prior {
		if z == 0 {
			continue
		}
		for i, p := range g.Mass[x*g.C+lo:][:cells] {
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
		from := g.Dist[x*g.K : (x+1)*g.K]
		for i, p := range g.Mass[x*g.C+lo:][:cells] {
			v := float32(z) * p
			if v <= 1e-6*total[i] {
				continue
			}
			if lists == nil {
				blas.Saxpy(g.K, v, from, 1, cost[i*g.K:], 1)
				continue
			}
			to := cost[i*width : (i+1)*width]
			for e, j := range lists[i] {
				to[e] += float32(v * from[j])
			}
		}
	}
	for i, likely := range total {
		if likely == 0 {
			continue // it is too far from all that matters
		}
		best, sums := 0, cost[i*width:(i+1)*width]
		if lists != nil {
			sums = sums[:len(lists[i])]
		}
		for j, v := range sums {
			if v < sums[best] {
				best = j
			}
		}
		if answer[i] = best; lists != nil {
			answer[i] = lists[i][best]
		}
	}
}
