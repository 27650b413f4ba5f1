package assignment

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/heap"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// solver finds a matching of least cost by shortest augmenting paths (Jonker
// and Volgenant 1987), with an auction before them where they have much left to
// do (Bertsekas 1988), but looks at a short list of each row only.
//
// The potentials v of the columns never rise. Let a list hold the columns that were least under the
// v of the day it was made, and bound be a number that the reduced cost c-v of every column outside
// the list reached on that day: those columns still cost at least bound today. A step that needs no
// more than that is the step of the dense algorithm, and one that needs more makes the list anew,
// and longer. So the lists are no heuristic, and after the two passes that make them a row is read
// rarely.
type solver struct {
	n, m int
	rows rows.Func
	buf  []float64 // for rows

	v      []float64 // potential of a column
	col    []int32   // column of a row, or -1
	row    []int32   // row of a column, or -1
	paid   []float64 // cost of the pair (row, col[row])
	lists  []list
	remade int // lists made anew
	cand   []pair
	spare  []pair    // room for longer lists
	dist   []float64 // of column j at j, of the bound of row i at m+i; +Inf unreached
	pred   []int32   // the row that reached a column
	via    []float64 // and the cost of that pair
	offset []float64 // h of a scanned row: column j lies at c-v-h
	heap   heap.Heap
	done   []int32 // columns that left the heap
	seen   []int32 // nodes with a finite dist
}

const (
	// reduceRounds is the number of passes of augmenting row reduction, as in Jonker and Volgenant,
	// and maxSteps*n the largest number of steps of one: a price war between two rows may take as
	// many steps as their costs have digits, where a single augmentation ends it.
	reduceRounds = 2
	maxSteps     = 8
)

func newSolver(n, m int, rows rows.Func) *solver {
	s := &solver{
		n: n, m: m, rows: rows,
		buf:    make([]float64, m),
		v:      make([]float64, m),
		col:    slices.Repeat([]int32{-1}, n),
		row:    slices.Repeat([]int32{-1}, m),
		paid:   make([]float64, n),
		lists:  make([]list, n),
		dist:   slices.Repeat([]float64{math.Inf(1)}, m+n),
		pred:   make([]int32, m),
		via:    make([]float64, m),
		offset: make([]float64, n),
	}
	s.heap = heap.New(s.dist)
	return s
}

// solve matches every row. The costs are finite and at most rows.Max.
func (s *solver) solve(ctx context.Context, least []float64, argLeast []int32, workers int) error {
	if s.n == s.m {
		s.reduceColumns(least, argLeast)
	}
	if err := s.makeLists(ctx, workers); err != nil {
		return err
	}
	free := make([]int32, 0, s.n)
	for i, j := range s.col {
		if j < 0 {
			free = append(free, int32(i))
		} else {
			s.paid[i] = least[j]
		}
	}
	free = s.reduceRows(free)
	if s.n == s.m && len(free)*hardShare > s.n {
		var err error
		if free, err = s.auction(ctx, free); err != nil {
			return err
		}
	}
	for _, i := range free {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.augment(i)
	}
	return nil
}

// reduceColumns starts from the least cost of every column, and gives the column
// to a row that has it. It is not for n < m, where a column may stay unmatched
// and must then have potential 0, above all others.
func (s *solver) reduceColumns(least []float64, arg []int32) {
	copy(s.v, least)
	for j := s.m - 1; j >= 0; j-- {
		if i := arg[j]; s.col[i] < 0 {
			s.col[i], s.row[j] = int32(j), i
		}
	}
}

// reduceRows gives every free row its column of least cost and lowers the potential
// of that column until another would do as well (augmenting row reduction). The
// row that had the column is dealt with next. It returns the rows left free:
// those whose columns of least cost tie and are all taken.
func (s *solver) reduceRows(free []int32) []int32 {
	for range reduceRounds {
		next, steps := free[:0], maxSteps*s.n
		for _, i := range free {
			for ; i >= 0 && steps > 0; steps-- {
				j1, c1, r1, j2, c2, r2 := s.twoLeast(i)
				if lower := s.v[j1] - (r2 - r1); lower < s.v[j1] {
					s.v[j1] = lower
				} else if s.row[j1] >= 0 {
					if j2 < 0 || s.row[j2] >= 0 { // a tie, and no free column
						break
					}
					j1, c1 = j2, c2
				}
				i = s.match(i, j1, c1)
			}
			if i >= 0 {
				next = append(next, i)
			}
		}
		free = next
	}
	return free
}

// match gives column j at cost c to row i, and returns the row that had it or -1.
func (s *solver) match(i int32, j int, c float64) (old int32) {
	old = s.row[j]
	s.row[j], s.col[i], s.paid[i] = i, int32(j), c
	if old >= 0 {
		s.col[old] = -1
	}
	return old
}

// augment matches the free row f along a shortest path in reduced costs to a
// free column (Dijkstra), and lowers the potentials of the columns on the way.
//
// Node j < m of the heap is column j. Node m+i stands for the columns outside the list of the
// scanned row i, at the least distance they can have: when it comes out more of the list is looked
// at, or the list made longer. Columns no nearer than the nearest free one never enter.
func (s *solver) augment(f int32) {
	end := int32(-1)
	best := math.Inf(1)
	s.lists[f].next = 0
	s.scan(f, 0, &best, &end)
	for s.heap.Len() > 0 {
		k := s.heap.Top()
		if s.dist[k] >= best {
			break
		}
		s.heap.Pop()
		if int(k) >= s.m {
			i := k - int32(s.m)
			if l := &s.lists[i]; l.next == len(l.pairs) {
				s.remake(i, listGrow*l.width)
				l.next = 0
			}
			s.scan(i, s.offset[i], &best, &end)
			continue
		}
		s.done = append(s.done, k)
		i := s.row[k]
		s.lists[i].next = 0
		s.scan(i, s.paid[i]-s.v[k]-s.dist[k], &best, &end)
	}
	for _, k := range s.done {
		s.v[k] += min(0, s.dist[k]-best)
	}
	s.done = s.done[:0]
	for _, k := range s.seen {
		s.dist[k] = math.Inf(1)
	}
	s.heap.Reset(s.seen)
	s.seen = s.seen[:0]
	for j := end; ; {
		i := s.pred[j]
		s.row[j], s.paid[i] = i, s.via[j]
		j, s.col[i] = s.col[i], j
		if i == f {
			return
		}
	}
}

// scan offers row i's columns the way over i: column j lies at c-v-h.
func (s *solver) scan(i int32, h float64, best *float64, end *int32) {
	l := &s.lists[i]
	if l.whole(s.m) {
		for j, c := range s.rows(int(i), s.buf) {
			if d := c - s.v[j] - h; d < *best && d < s.dist[j] {
				s.reach(int32(j), i, c, d, best, end)
			}
		}
		return
	}
	t := l.next
	stop := min(t+scanBlock, len(l.pairs))
	for ; t < stop; t++ {
		p := &l.pairs[t]
		if d := p.c - s.v[p.j] - h; d < *best && d < s.dist[p.j] {
			s.reach(p.j, i, p.c, d, best, end)
		}
	}
	rest := l.bound
	if t < len(l.pairs) {
		rest = l.pairs[t].r
	}
	if d := rest - h; d < *best {
		l.next, s.offset[i] = t, h
		s.push(int32(s.m)+i, d)
	}
}

// reach records that row i reaches column j at cost c and distance d.
func (s *solver) reach(j, i int32, c, d float64, best *float64, end *int32) {
	if s.row[j] < 0 {
		*best, *end = d, j
	} else if !s.push(j, d) {
		return
	}
	s.pred[j], s.via[j] = i, c
}

// push sets the distance of node k, unless it has left the heap: rounding can make a later path an
// ulp shorter. A bound is pushed once more after its list was remade.
func (s *solver) push(k int32, d float64) bool {
	if math.IsInf(s.dist[k], 1) {
		s.seen = append(s.seen, k)
	} else if s.heap.Left(k) && int(k) < s.m {
		return false
	}
	s.dist[k] = d
	s.heap.Push(k)
	return true
}
