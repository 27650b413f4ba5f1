package assignment

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

const (
	// listWidth is the length of the first lists and bidWidth that of lists
	// remade in the first phases.
	listWidth = 24
	bidWidth  = 64
	// listGrow is the factor by which a list grows that the search has used up, and 1/listDense the
	// part of a row from which on a list saves nothing. fill needs listDense >= 3.
	listGrow  = 3
	listDense = 4
	// scanBlock is the number of entries that the search looks at before it puts
	// off the rest of a list to the distance of the next one.
	scanBlock = 24
)

// list is the short list of one row, the least first. A row of width > m has none
// and is read whole.
type list struct {
	pairs []pair
	bound float64 // lower bound of the reduced costs outside
	width int     // entries wanted
	next  int     // entries that the search has looked at
}

// pair is a column in the list of a row. Its reduced cost is at least r, what it
// was when the list was made.
type pair struct {
	r, c float64
	j    int32
}

// whole tells whether row i has no list.
func (l *list) whole(m int) bool { return l.width > m }

func (s *solver) makeLists(ctx context.Context, workers int) error {
	w := s.clampWidth(listWidth)
	if w > s.m {
		for i := range s.lists {
			s.lists[i].width = w
		}
		return nil
	}
	pairs := make([]pair, s.n*w)
	return parallel.Chunks(ctx, s.n, rows.Chunk, workers, nil, func(_, lo, hi int) {
		buf := make([]float64, s.m)
		var cand []pair
		for i := lo; i < hi; i++ {
			l := &s.lists[i]
			l.pairs, l.width = pairs[i*w:(i+1)*w:(i+1)*w], w
			cand = s.fill(l, i, s.rows(i, buf), cand)
		}
	})
}

// clampWidth returns w, or a width above m where the list would be long.
func (s *solver) clampWidth(w int) int {
	if w*listDense > s.m {
		return s.m + 1
	}
	return w
}

// remake makes the list of row i anew under today's potentials.
func (s *solver) remake(i int32, width int) {
	s.remade++
	l := &s.lists[i]
	width = s.clampWidth(width)
	if width > s.m {
		*l = list{width: width}
		return
	}
	if width > l.width {
		if len(s.spare) < width {
			s.spare = make([]pair, max(width, rows.Chunk*bidWidth))
		}
		l.pairs, l.width = s.spare[:width:width], width
		s.spare = s.spare[width:]
	}
	s.cand = s.fill(l, int(i), s.rows(int(i), s.buf), s.cand)
}

// fill puts the l.width columns of least cost into l, and one more into its bound. cand is scratch
// space. Of three groups of columns for every one wanted, as many as are wanted have a minimum up
// to that rank among the minima: that value limits the candidates from above. Where ties let many
// pass the larger ones are thrown out again, and since the search starts at a column that depends
// on the row, rows of equal costs list different columns.
func (s *solver) fill(l *list, i int, c []float64, cand []pair) []pair {
	keep := l.width + 1
	full := 3 * keep
	if cap(cand) < full {
		cand = make([]pair, full)
	}
	v := s.v[:len(c)]
	cand = cand[:full]
	for g := range cand {
		cand[g].r = math.Inf(1)
	}
	for lo := 0; lo < len(c); lo += full {
		hi := min(lo+full, len(c))
		group, w := cand[:hi-lo], v[lo:hi]
		for g, x := range c[lo:hi] {
			group[g].r = min(group[g].r, x-w[g])
		}
	}
	selectRank(cand, keep-1)
	limit := directed.Next(cand[keep-1].r)
	cand = cand[:0]
	start := i * l.width % s.m
	for _, part := range [2][2]int{{start, s.m}, {0, start}} {
		for j := part[0]; j < part[1]; j++ {
			if r := c[j] - v[j]; r < limit {
				cand = append(cand, pair{r, c[j], int32(j)})
				if len(cand) == full {
					selectRank(cand, keep-1)
					cand = cand[:keep]
					limit = cand[keep-1].r
				}
			}
		}
	}
	sortFirst(cand, keep)
	l.bound = cand[keep-1].r
	copy(l.pairs, cand)
	return cand
}

// selectRank moves the candidate of rank k, counted from 0, to place k and none larger before it.
func selectRank(a []pair, k int) {
	for len(a) > 1 {
		i, j := split(a)
		if k <= j {
			a = a[:j+1]
		} else if k >= i {
			a, k = a[i:], k-i
		} else {
			return
		}
	}
}

// sortFirst moves the k least candidates to the front in order.
func sortFirst(a []pair, k int) {
	for len(a) > 12 {
		i, j := split(a)
		if k > i {
			sortFirst(a[i:], k-i)
		}
		a = a[:j+1]
	}
	for i := 1; i < len(a); i++ {
		x, j := a[i], i
		for ; j > 0 && a[j-1].r > x.r; j-- {
			a[j] = a[j-1]
		}
		a[j] = x
	}
}

// split arranges a around one of its values: a[:j+1] is at most that,
// a[i:] at least, and what lies between, at most one entry, equal (Hoare).
func split(a []pair) (i, j int) {
	i, j = 0, len(a)-1
	p := a[j/2].r
	for i <= j {
		for a[i].r < p {
			i++
		}
		for a[j].r > p {
			j--
		}
		if i <= j {
			a[i], a[j] = a[j], a[i]
			i++
			j--
		}
	}
	return i, j
}

// twoLeast returns the two columns of least reduced cost of row i with their costs and
// reduced costs. Where the list cannot tell the second, j2 is -1 and r2 a lower
// bound of it; with a single column, r2 is r1.
func (s *solver) twoLeast(i int32) (j1 int, c1, r1 float64, j2 int, c2, r2 float64) {
	for {
		l := &s.lists[i]
		j1, j2 = -1, -1
		r1, r2 = math.Inf(1), math.Inf(1)
		if l.whole(s.m) {
			for j, c := range s.rows(int(i), s.buf) {
				if r := c - s.v[j]; r < r2 {
					if r < r1 {
						j1, c1, r1, j2, c2, r2 = j, c, r, j1, c1, r1
					} else {
						j2, c2, r2 = j, c, r
					}
				}
			}
			if j2 < 0 {
				r2 = r1
			}
			return
		}
		for _, p := range l.pairs {
			if p.r >= r2 {
				break
			}
			if r := p.c - s.v[p.j]; r < r2 {
				if r < r1 {
					j1, c1, r1, j2, c2, r2 = int(p.j), p.c, r, j1, c1, r1
				} else {
					j2, c2, r2 = int(p.j), p.c, r
				}
			}
		}
		if r1 > l.bound {
			s.remake(i, max(l.width, bidWidth))
			continue
		}
		if r2 > l.bound {
			j2, r2 = -1, l.bound
		}
		return
	}
}
