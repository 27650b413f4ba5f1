package entropy

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// separated is a set of points of a ball around x, pairwise at least sep apart
// in rho2. The zero value is no set.
type separated struct {
	sep float64
	x   int32
	set []int32
}

// spread improves a set by moving one of its two nearest points at a time to
// the point of pool that is farthest from the others, and returns the least
// distance of the set. It adds the distances it computes to work.
func spread(f metric.Finite, set, pool []int32, work *int64, limit int64) float64 {
	k := len(set)
	sep, a, b := nearest(f, set)
	for range spreadMoves * k {
		if *work > limit {
			break
		}
		*work += int64(2*k*len(pool) + k*k/2)
		moved := false
		for _, i := range [2]int{a, b} {
			old, to, most := set[i], int32(-1), sep
		next:
			for _, y := range pool {
				d := math.Inf(1)
				for j, z := range set {
					if j != i {
						if d = min(d, f.Distance(int(y), int(z))); d <= most {
							continue next
						}
					}
				}
				to, most = y, d
			}
			if to >= 0 && to != old {
				set[i], moved = to, true
				break
			}
		}
		if !moved {
			break
		}
		sep, a, b = nearest(f, set)
	}
	return sep
}

// nearest returns the least distance of two points of the set, and their places.
func nearest(f metric.Finite, set []int32) (d float64, a, b int) {
	d = math.Inf(1)
	for i, y := range set {
		for j, z := range set[:i] {
			if v := f.Distance(int(y), int(z)); v < d {
				d, a, b = v, i, j
			}
		}
	}
	return d, a, b
}

const (
	// spreadMoves bounds the moves of spread for each point of the set.
	spreadMoves = 8

	// lowerCentres centres, evenly spaced in the order of the cells, are tried
	// first; lowerPool points of a ball are the pool of their sets, and
	// lowerSize bounds the sets.
	lowerCentres = 48
	lowerPool    = 512
	lowerSize    = 256

	// lowerShare is the part of the budget, as 1/lowerShare, that they may take.
	lowerShare = 8

	// settleShare is the same for one step of settle.
	settleShare = 64
)

// lower tries some centres and sizes, and keeps the best set found.
func (s *entropicSearch) lower() error {
	s.reachOf(min(s.n, lowerSize)) // only read below
	step := max(1, s.n/lowerCentres)
	count := (s.n + step - 1) / step
	found := make([]separated, count)
	work := make([]int64, count)
	err := parallel.Chunks(s.ctx, count, 1, s.o.Workers, nil, func(c, _, _ int) {
		l := lowerSearch{s: s, best: s.best, limit: s.budget / lowerShare / int64(count)}
		l.centre(int(s.xs.perm[c*step]))
		found[c], work[c] = l.best, l.work
	})
	if err != nil {
		return err
	}
	for c := range found {
		s.work += work[c]
		s.improve(found[c])
	}
	s.settle()
	return nil
}

// settle improves the best set in turn by moves of its points in the whole ball
// and by moving the centre to where the set needs the smallest ball.
func (s *entropicSearch) settle() {
	for s.best.sep > 0 {
		b := separated{s.best.sep, s.best.x, slices.Clone(s.best.set)}
		far := math.Inf(1)
		for x := range s.n {
			d := 0.0
			for _, y := range b.set {
				if d = max(d, s.b.Privacy.Distance(x, int(y))); d >= far {
					break
				}
			}
			if d < far {
				b.x, far = int32(x), d
			}
		}
		r := s.reachOf(len(b.set))
		var pool []int32
		for y, d := range metric.Row(s.b.Privacy, int(b.x), nil) {
			if d <= r {
				pool = append(pool, int32(y))
			}
		}
		s.work += int64(3 * s.n)
		if b.sep = spread(s.b.Utility, b.set, pool, &s.work, s.work+s.budget/settleShare); b.sep <= s.best.sep {
			return
		}
		s.improve(b)
	}
}

// lowerSearch looks for separated sets around one centre.
type lowerSearch struct {
	s     *entropicSearch
	best  separated
	work  int64
	limit int64
	dist  []float64
}

// centre takes sizes k of growing steps: farthest-first points of the ball of
// the reach of k, which are at least half as far apart as the best k points,
// and moves of them.
func (l *lowerSearch) centre(x int) {
	s := l.s
	row := metric.Row(s.b.Privacy, x, nil)
	l.work += int64(s.n)
	order := make([]int32, s.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		switch {
		case row[i] < row[j]:
			return -1
		case row[i] > row[j]:
			return 1
		}
		return 0
	})
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

// farthestFirst returns k points of the pool, the first of it among them, or nil
// where fewer are far enough apart to lead anywhere.
func (l *lowerSearch) farthestFirst(pool []int32, k int) []int32 {
	if len(pool) < k {
		return nil
	}
	f := l.s.b.Utility
	l.dist = resized(l.dist, len(pool))
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
