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
	Packing []int // the closed Gamma-balls around them have no point of the space in common
}

// LevelLowerBound returns a bound below eps*(gamma, delta), the level of the most private
// mechanism on the points of b that reaches the target ([MostPrivate]), without a linear
// program. For points y_i whose balls of radius Gamma in rho2 are disjoint,
//
//	1 >= (1-Delta) sum_i e^(-eps*rho1(x,y_i)):
//
// eps is at least the zero of this inequality, rounded down. For every x the y_i are taken
// greedily, the nearest in rho1 first, with x itself and without; the best x counts. It is
// eps* itself for points that are all at the same distance. Neither metric needs the
// triangle inequality.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for the target or a
// distance outside its domain; a [*metric.MemoryError]. O(n^3/64 + n^2 log n) time, n^2/8
// bytes.
func LevelLowerBound(ctx context.Context, b metric.Bimetric, t kl10.Target) (LevelBound, error) {
	const op = "lp: LevelLowerBound"
	if err := b.Check(); err != nil {
		return LevelBound{}, fault.Within(op, err)
	}
	if err := checkTarget(op, t); err != nil {
		return LevelBound{}, err
	}
	n := b.Len()
	if err := fault.Memory(op, float64(n)*float64(bitset.Words(n)), 8); err != nil {
		return LevelBound{}, err
	}
	balls, bad := bitset.Rows(n, n), make([]error, n)
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
	if err := cmp.Or(cmp.Or(bad...), err); err != nil {
		return LevelBound{}, err
	}
	best := make([]LevelBound, n)
	err = parallel.Chunks(ctx, n, 1, 0, nil, func(x, _, _ int) {
		g := greedy{balls: balls, used: make(bitset.Set, bitset.Words(n)), least: directed.SubDown(1, t.Delta)}
		if g.row, bad[x] = distances(op, "Privacy", b.Privacy, x, nil); bad[x] == nil {
			best[x] = g.best(x)
		}
	})
	if err := cmp.Or(cmp.Or(bad...), err); err != nil {
		return LevelBound{}, err
	}
	// The first of equals.
	return slices.MaxFunc(best, func(a, b LevelBound) int { return cmp.Compare(a.Level, b.Level) }), nil
}

// checkTarget refuses what is no target.
func checkTarget(op string, t kl10.Target) error {
	if err := cmp.Or(fault.NonNegative(op, "Gamma", t.Gamma), fault.Fraction(op, "Delta", t.Delta)); err != nil {
		return err
	}
	return nil
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
