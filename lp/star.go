package lp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/finite"
)

// cells assigns every input to its best output.
type cells struct {
	outputs       int
	loss          []float64 // as of a problem
	near          []int     // by input: the first of the best outputs
	least, second []float64 // its loss, and that of the best other one, +Inf if none
}

// cells are those of m outputs at the losses given.
func (p *problem) cells(m int, loss []float64) *cells {
	inf := slices.Repeat([]float64{math.Inf(1)}, 2*p.n)
	c := &cells{m, loss, make([]int, p.n), inf[:p.n], inf[p.n:]}
	for w := range m {
		for u, l := range loss[w*p.n : (w+1)*p.n] {
			switch {
			case l < c.least[u]:
				c.near[u], c.least[u], c.second[u] = w, l, c.least[u]
			case l < c.second[u]:
				c.second[u] = l
			}
		}
	}
	return c
}

// centers are, for every output, the input of its cell at which it costs least, -1
// where the cell is empty.
func (c *cells) centers() []int {
	at := slices.Repeat([]int{-1}, c.outputs)
	for u, w := range c.near {
		if v := at[w]; v < 0 || c.least[u] < c.least[v] {
			at[w] = u
		}
	}
	return at
}

// mostGroups is the largest number of groups that coarser forms.
const mostGroups = 64

// coarser are the cells of 2, 4, ... groups of outputs. The group costs what the best
// of its outputs does: every mechanism is one that releases groups and loses no more, and
// a bound for groups holds for outputs. It can be better, as cells are farther from
// one another.
func (p *problem) coarser(ctx context.Context, c *cells) (all []*cells) {
	// A group is around an output that is far from those before it.
	around, far := []int{}, slices.Repeat([]float64{math.Inf(1)}, p.n)
	for u := 0; len(around) < min(mostGroups, c.outputs/2) && far[u] > c.least[u]; {
		w := c.near[u]
		around = append(around, w)
		for v, l := range c.loss[w*p.n : (w+1)*p.n] {
			far[v] = min(far[v], l)
		}
		for v := range far {
			if far[v]-c.least[v] > far[u]-c.least[u] {
				u = v
			}
		}
	}
	at := c.centers()
	for k := 2; k <= len(around) && ctx.Err() == nil; k *= 2 {
		loss := slices.Repeat([]float64{math.Inf(1)}, k*p.n)
		for w, u := range at {
			from := c.loss[w*p.n : (w+1)*p.n]
			if u < 0 {
				for v, l := range from {
					if u < 0 || l < from[u] {
						u = v
					}
				}
			}
			group := 0
			for g, z := range around[:k] {
				if c.loss[z*p.n+u] < c.loss[around[group]*p.n+u] {
					group = g
				}
			}
			to := loss[group*p.n : (group+1)*p.n]
			for v, l := range from {
				to[v] = min(to[v], l)
			}
		}
		all = append(all, p.cells(k, loss))
	}
	return all
}

// An input u with its best output w, at the loss least, the others costing at least
// second, has a loss of at least
//
//	L_u >= second - (second - least) P_u{w},  that is  P_u{w} >= (second - L_u)/(second - least).
//
// Privacy makes w likely at other inputs x too, P_x{w} >= exp(-e(x,u)) P_u{w}, where it
// costs loss(x,w) instead of least(x):
//
//	L_x >= least(x) + sum_w (loss(x,w) - least(x)) P_x{w}.
//
// These are the arms of a star. No metric and no point among the outputs is needed.

// star proves the bound that such stars give: see worstStar and meanStars.
func (p *problem) star(ctx context.Context, c *cells, s *Solution) {
	levels := append([]*cells{c}, p.coarser(ctx, c)...)
	if p.o.Prior != nil {
		for _, c := range levels {
			s.prove(p.meanStars(ctx, c), boundByStar, nil)
		}
		return
	}
	x := 0
	for u, l := range c.least {
		if l > c.least[x] {
			x = u
		}
	}
	alone := make([]float64, p.n)
	alone[x] = 1
	s.prove(c.least[x], boundByNearest, alone)
	if value, prior := p.worstStar(ctx, levels, c.least[x]); prior != nil {
		s.prove(value, boundByStar, prior)
	}
}

// arm is an input u of a star, seen from its center x.
type arm struct {
	u    int
	rate float64 // (loss(x,w) - least(x)) exp(-e(x,u)) / (second - least)
	gain float64
}

// worstStar returns the best bound of a star on the worst loss A, with the prior under
// which it holds, no prior where none is above the value given. An output has at
// most one arm, so that with L <= A
//
//	A >= least(x) + sum rate (second - A),  A >= (least(x) + sum rate second) / (1 + sum rate):
//
// an arm pays where its second is above the result. O(n^2) exponentials.
func (p *problem) worstStar(ctx context.Context, levels []*cells, value float64) (float64, []float64) {
	var best []arm
	var at *cells
	center, decay, row := -1, make([]float64, p.n), []float64{}
	arms, extra := make([]arm, p.m), make([]float64, p.m)
	for x := range p.n {
		if x > 0 && ctx.Err() != nil { // one is little, and proves more than 0
			break
		}
		row = finite.Row(p.budget, x, row)
		for u, e := range row {
			decay[u] = exact.Exp(-e)
		}
		for _, c := range levels {
			arms, extra = arms[:c.outputs], extra[:c.outputs]
			for w := range extra {
				extra[w] = c.loss[w*p.n+x] - c.least[x]
			}
			for {
				clear(arms)
				for u, w := range c.near {
					if t := c.second[u]; t > value && t <= math.MaxFloat64 {
						rate := extra[w] * decay[u] / (t - c.least[u])
						if gain := rate * (t - value); gain > arms[w].gain {
							arms[w] = arm{u, rate, gain}
						}
					}
				}
				above, below := c.least[x], 1.0
				for _, a := range arms {
					above += float64(a.rate * c.second[a.u])
					below += a.rate
				}
				v := above / below
				if !(v > value*(1+0x1p-20)) {
					break
				}
				value, center, at = v, x, c
				best = append(best[:0], arms...)
			}
		}
	}
	if center < 0 {
		return 0, nil
	}
	// The same with rates rounded down, which lose what they prove only.
	prior := make([]float64, p.n)
	prior[center] = 1
	above, below := at.least[center], 1.0
	for w, a := range best {
		if a.rate == 0 {
			continue
		}
		over := directed.SubDown(at.loss[w*p.n+center], at.least[center])
		rate := directed.MulDown(over, directed.ExpDown(-p.budget.Distance(center, a.u)))
		rate = directed.DivDown(rate, directed.SubUp(at.second[a.u], at.least[a.u]))
		above = directed.AddDown(above, directed.MulDown(rate, at.second[a.u]))
		below = directed.AddUp(below, rate)
		prior[a.u] += rate
	}
	return directed.DivDown(above, below), prior
}

// meanStars returns a bound on the mean loss A under the prior pi. Stars are at all
// inputs, and an output has arms at all inputs of its cell: with shares b_xu that sum
// to at most 1 over a cell, P_x{w} >= sum_u b_xu exp(-e(x,u)) P_u{w}. For theta in [0, 1],
// theta times A by the stars and 1 - theta times A by their arms are, with
// C_u = sum_x pi_x (loss(x,w) - least(x)) b_xu exp(-e(x,u)) and D_u = pi_u (second - least),
//
//	A >= sum_u pi_u least(u) + sum_u theta C_u P_u{w} + (1-theta) D_u (1 - P_u{w})
//	  >= sum_u pi_u least(u) + sum_u min(theta C_u, (1-theta) D_u).
//
// b_xu is in proportion to D_u exp(-e(x,u)). O(n^2) exponentials.
func (p *problem) meanStars(ctx context.Context, c *cells) float64 {
	// Products of factors above tiny do not underflow, and each rounds by a relative
	// 2^-52; so do sums of up to 2^20. The others are left out.
	const (
		tiny  = 0x1p-250
		slack = 1 - 0x1p-30
	)
	prior, base, mass := p.o.Prior, 0.0, 0.0
	cost, room := make([]float64, p.n), make([]float64, p.n) // C, D
	for u, q := range prior {
		base = directed.AddDown(base, directed.MulDown(q, c.least[u]))
		mass = directed.AddUp(mass, q)
		if c.second[u] <= math.MaxFloat64 {
			room[u] = directed.MulDown(q, directed.SubDown(c.second[u], c.least[u]))
		}
	}
	decay, cell, row := make([]float64, p.n), make([]float64, c.outputs), []float64{}
	for x, q := range prior {
		if x > 0 && ctx.Err() != nil {
			break // fewer stars prove less
		}
		clear(cell)
		row = finite.Row(p.budget, x, row)
		for u, e := range row {
			if decay[u] = exact.Exp(-e); room[u] > tiny && decay[u] > tiny {
				cell[c.near[u]] += float64(room[u] * decay[u])
			}
		}
		for u, w := range c.near {
			over := q * (c.loss[w*p.n+x] - c.least[x])
			if !(over > tiny && room[u] > tiny && decay[u] > tiny) {
				continue
			}
			if share := room[u] * decay[u] / cell[w]; share > tiny {
				cost[u] += float64(over * share * decay[u] * slack)
			}
		}
	}
	// The sum is concave in theta: it rises as long as sum C of the terms that are
	// theta C is above sum D of the others.
	order, slope := []int{}, 0.0
	for u := range cost {
		if cost[u] > 0 {
			order, slope = append(order, u), slope+cost[u]
		}
	}
	crossing := func(u int) float64 { return room[u] / (cost[u] + room[u]) }
	slices.SortFunc(order, func(u, v int) int { return cmp.Compare(crossing(u), crossing(v)) })
	theta := 0.0
	for _, u := range order {
		if theta = crossing(u); slope <= cost[u]+room[u] {
			break
		}
		slope -= cost[u] + room[u]
	}
	rest := directed.SubDown(1, theta)
	for _, u := range order {
		base = directed.AddDown(base, min(directed.MulDown(theta, cost[u]), directed.MulDown(rest, room[u])))
	}
	return directed.DivDown(base, mass)
}
