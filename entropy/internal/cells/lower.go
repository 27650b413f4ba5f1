package cells

import (
	"cmp"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	// lowerCenters centers, evenly spaced in the order of the cells, are tried first; lowerPool
	// points of a ball are the pool of their sets, and lowerSize bounds the sets.
	lowerCenters = 48
	lowerPool    = 512
	lowerSize    = 256

	// lowerShare: they may take 1/lowerShare of the budget.
	lowerShare = 8
)

// lower tries some centers and sizes, and keeps the best set found.
func (s *Search) lower() error {
	s.reachOf(min(s.n, lowerSize)) // only read below
	step := max(1, s.n/lowerCenters)
	count := (s.n + step - 1) / step
	found := make([]separated, count)
	work := make([]int64, count)
	err := parallel.Chunks(s.ctx, count, 1, s.o.Workers, nil, func(c, _, _ int) {
		l := lowerSearch{s: s, best: s.best, limit: s.budget / lowerShare / int64(count)}
		l.center(int(s.xs.perm[c*step]))
		found[c], work[c] = l.best, l.work
	})
	if err != nil {
		return err
	}
	for c := range found {
		s.work += work[c]
		s.improve(found[c])
	}
	return nil
}

// lowerSearch looks for separated sets around one center.
type lowerSearch struct {
	s     *Search
	best  separated
	work  int64
	limit int64
	dist  []float64
}

// center takes sizes k of growing steps: farthest-first points of the ball, at
// least half as far apart as the best k points, and moves of them.
func (l *lowerSearch) center(x int) {
	s := l.s
	row := finite.Row(s.b.Privacy, x, nil)
	l.work += int64(s.n)
	order := make([]int32, s.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(row[i], row[j]) })
	in := 0
	for k := 2; k <= min(s.n, lowerSize) && l.work < l.limit; k += max(1, k/6) {
		r := s.reachOf(k)
		for in < s.n && row[order[in]] <= r {
			in++
		}
		if in < k {
			continue
		}
		stride := (in + lowerPool - 1) / lowerPool
		var pool []int32
		for i := 0; i < in; i += stride {
			pool = append(pool, order[in-1-i]) // the rim first
		}
		set := l.farthestFirst(pool, k)
		if set == nil {
			continue
		}
		if sep := spread(s.b.Utility, set, pool, &l.work, l.limit); sep > l.best.sep {
			if stride > 1 {
				sep = spread(s.b.Utility, set, order[:in], &l.work, l.limit)
			}
			l.best = separated{sep, int32(x), set}
		}
	}
}

// farthestFirst returns k points of the pool, or nil.
func (l *lowerSearch) farthestFirst(pool []int32, k int) []int32 {
	if len(pool) < k {
		return nil
	}
	f := l.s.b.Utility
	l.dist = slices.Grow(l.dist[:0], len(pool))[:len(pool)]
	set := []int32{pool[0]}
	for len(set) <= k {
		last := set[len(set)-1]
		far, radius := -1, 0.0
		for i, y := range pool {
			d := f.Distance(int(last), int(y))
			if len(set) > 1 {
				d = min(d, l.dist[i])
			}
			l.dist[i] = d
			if d > radius {
				far, radius = i, d
			}
		}
		l.work += int64(len(pool))
		if len(set) == k {
			break
		}
		if far < 0 || radius < l.best.sep/2 {
			return nil // the best k points are at most twice as far apart
		}
		set = append(set, pool[far])
	}
	return set
}
