package lp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/bitset"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// LevelBound says that no mechanism below Level reaches a target, and why: at X it
// would have to release points near each of Packing too often.
type LevelBound struct {
	Level   float64 // 0 where nothing is proved, +Inf where no level is enough
	X       int
	Packing []int // inputs: the closed Gamma-balls around f of them have no output in common
}

// LevelLowerBound returns a bound below the level of the most private mechanism that reaches
// the target, for b as in [MostPrivate], without a linear program. For inputs x_i such that the
// balls of radius Gamma around f(x_i) are disjoint,
//
//	1 >= (1-Delta) sum_i e^(-eps*rho1(x,x_i)):
//
// eps is at least the zero of this inequality. For every x the x_i are taken greedily, nearest
// first; the best x counts. Exact for points at the same distance.
//
// Errors: as of MostPrivate. O(n^2 m/64 + n^2 log n) time and n*m/8 bytes.
func LevelLowerBound(ctx context.Context, b metric.Bimetric, t kl10.Target) (LevelBound, error) {
	const op = "lp: LevelLowerBound"
	balls, err := nearOutputs(ctx, op, b, t)
	if err != nil {
		return LevelBound{}, err
	}
	return packed(ctx, op, balls, b.Privacy, t.Delta)
}

// packed is [LevelLowerBound] for what nearOutputs found.
func packed(ctx context.Context, op string, balls []bitset.Set, privacy metric.Finite, delta float64) (LevelBound, error) {
	n := len(balls)
	best, bad := make([]LevelBound, n), make([]error, n)
	err := parallel.Chunks(ctx, n, 1, 0, nil, func(x, _, _ int) {
		g := greedy{balls: balls, used: make(bitset.Set, len(balls[0])), least: directed.SubDown(1, delta)}
		if g.row, bad[x] = distances(op, "Privacy", privacy, x, nil); bad[x] == nil {
			best[x] = g.best(x)
		}
	})
	if err := cmp.Or(cmp.Or(bad...), err); err != nil {
		return LevelBound{}, err
	}
	// The first of equals.
	return slices.MaxFunc(best, func(a, b LevelBound) int { return cmp.Compare(a.Level, b.Level) }), nil
}

// nearOutputs checks b and the target and returns, for every input x, the outputs that are within
// Gamma of f(x).
func nearOutputs(ctx context.Context, op string, b metric.Bimetric, t kl10.Target) ([]bitset.Set, error) {
	n, m := fault.Len(b.Privacy), fault.Len(b.Utility)
	if err := cmp.Or(fault.Empty(op, "Privacy", n), fault.Empty(op, "Utility", m), fault.AtLeast(op, "Utility", m, n),
		fault.NonNegative(op, "Gamma", t.Gamma), fault.Fraction(op, "Delta", t.Delta)); err != nil {
		return nil, err
	}
	if err := fault.Memory(op, float64(n)*float64(bitset.Words(m)), 8); err != nil {
		return nil, err
	}
	balls, bad := bitset.Rows(n, m), make([]error, n)
	err := parallel.Chunks(ctx, n, 16, 0, nil, func(_, lo, hi int) {
		var row []float64
		for x := lo; x < hi; x++ {
			row, bad[x] = distances(op, "Utility", b.Utility, x, row)
			for y, d := range row {
				if d <= t.Gamma {
					balls[x].Add(y)
				}
			}
		}
	})
	return balls, cmp.Or(cmp.Or(bad...), err)
}

// greedy packs balls, seen from one point.
type greedy struct {
	balls     []bitset.Set
	used      bitset.Set
	least     float64   // 1-Delta, rounded down
	row       []float64 // rho1 from the point
	at        []int     // the packing
	ascending []float64 // its distances
}

// best is what the packings seen from x prove.
func (g *greedy) best(x int) (best LevelBound) {
	order := []int{x} // before others at distance 0
	for y := range g.row {
		if y != x {
			order = append(order, y)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.row[a], g.row[b]) })
	for _, order := range [][]int{order, order[1:]} {
		clear(g.used)
		g.at, g.ascending = g.at[:0], g.ascending[:0]
		for _, y := range order {
			if disjoint(g.used, g.balls[y]) {
				g.used.Union(g.balls[y])
				g.at, g.ascending = append(g.at, y), append(g.ascending, g.row[y])
			}
		}
		if level := g.level(best.Level); level > best.Level {
			best = LevelBound{level, x, slices.Clone(g.at)}
		}
	}
	return best
}

// level is the largest level at which the sum was seen to be too large, or from.
func (g *greedy) level(from float64) float64 {
	tooMuch := func(eps float64) bool {
		sum := 0.0
		for _, r := range g.ascending {
			if r > 0 {
				r = directed.MulUp(eps, r)
			}
			sum = directed.AddDown(sum, directed.ExpDown(-r))
		}
		return directed.MulDown(sum, g.least) > 1
	}
	switch {
	case !tooMuch(from):
		return from
	case tooMuch(math.Inf(1)): // points that no level tells apart
		return math.Inf(1)
	}
	far := g.ascending[len(g.ascending)-1] // > 0: else the sum would not depend on the level
	lo, hi := from, max(2*from, min(1/far, math.MaxFloat64/2))
	for tooMuch(hi) {
		lo, hi = hi, 2*hi
	}
	lo, _ = search.Change(lo, hi, 1e-12, func(eps float64) bool { return !tooMuch(eps) })
	return lo
}

func disjoint(a, b bitset.Set) bool {
	for i, w := range b {
		if a[i]&w != 0 {
			return false
		}
	}
	return true
}

// within tells whether all of a is in b.
func within(a, b bitset.Set) bool {
	for i, w := range a {
		if w&^b[i] != 0 {
			return false
		}
	}
	return true
}
