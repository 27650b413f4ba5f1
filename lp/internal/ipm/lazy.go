package ipm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/lp/internal/ipm/kkt"
)

// A lazy solve imposes few pairs at first, the same for every column. Each iteration
// looks at the others: none may be broken by a step, and those that a full one would
// bring near to that are imposed on that column from then on (den Hertog, Roos,
// Terlaky 1994). Every iterate obeys all rows; a tenth of them is ever imposed.
//
// A pair brings both of its rows, because the start shares the reduced costs out over
// rows in both directions. Columns have elimination orders and factors of their own: a
// common order would fill them three to four times as much.

// The parameters, by experiment on 100 to 200 points of the plane (all insensitive
// within a factor of 2).
const (
	// nearest is how many pairs of every input are imposed at first.
	nearest = 4
	// near is how much of the slack that its row has where entries are equal a pair
	// may keep without being imposed.
	near = 0.05
	// floored is how much of an entry is counted at least after a full step.
	floored = 0.05
	// begun is the product of a slack and a new multiplier, in units of its target.
	// More would take from the dual bound, which needs reduced costs that agree: a
	// part of 1e-3 hides gaps below 1e-4 for some ten iterations.
	begun = 1e-7
	// rounded is the relative slack below which that of a new row is rounding.
	rounded = 0x1p-40
	// reorder is how many times the pairs have grown when a new order is sought.
	reorder = 1.2
)

// Lazily is the same plan with pairs imposed as they are needed, in the columns that
// need them: at first those that are among the nearest of either end, ties to the
// lowest number. The error is the context's.
func (l *Plan) Lazily(ctx context.Context) (*Plan, error) {
	var index []int32
	for _, list := range l.r.ends() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortFunc(list, func(i, j end) int {
			return cmp.Or(cmp.Compare(l.r.b[i.pair()], l.r.b[j.pair()]), cmp.Compare(i.pair(), j.pair()))
		})
		for _, e := range list[:min(nearest, len(list))] {
			index = append(index, e.pair())
		}
	}
	slices.Sort(index)
	lazy := &Plan{p: l.p, r: l.r, first: &part{index: slices.Compact(index)}}
	lazy.first.impose(l.r, new(symbolic))
	return lazy, nil
}

// impose gives the column the pairs of all at its index, in the memory that it has.
func (c *part) impose(all *pairs, o *symbolic) {
	index := c.index
	// An order is kept until the pairs are many more.
	var order []int
	if c.f != nil && float64(len(index)) < reorder*float64(c.ordered) {
		order = c.f.order
	}
	if c.pairs == nil || c.shared {
		c.pairs, c.f, c.shared = new(pairs), new(pattern), false
	}
	r := c.pairs
	r.n, r.sumOmega, r.start, r.v = all.n, 0, sized(r.start, all.n+1), sized(r.v, len(index))
	for _, t := range []*[]float64{&r.a, &r.b, &r.omega} {
		*t = sized(*t, len(index))
	}
	clear(r.start)
	u := 0
	for k, i := range index {
		for i >= all.start[u+1] {
			u++
		}
		r.start[u+1]++
		r.v[k], r.a[k], r.b[k], r.omega[k] = all.v[i], all.a[i], all.b[i], all.omega[i]
		r.sumOmega += 2 * all.omega[i]
	}
	for u := range r.n {
		r.start[u+1] += r.start[u]
	}
	if order == nil {
		order, _ = eliminationOrder(r, math.MaxInt)
		c.ordered = len(index)
	}
	c.f.set(r, order, o)
}

// add merges the pairs wanted into the index. They are sorted, each once, after.
func (c *part) add() {
	slices.Sort(c.wanted)
	c.wanted = slices.Compact(c.wanted)
	i, k := len(c.index)-1, len(c.wanted)-1
	if c.shared {
		c.index = slices.Clone(c.index)
	}
	c.index = slices.Grow(c.index, len(c.wanted))[:len(c.index)+len(c.wanted)]
	for to := len(c.index) - 1; k >= 0; to-- {
		if i >= 0 && c.index[i] > c.wanted[k] {
			c.index[to] = c.index[i]
			i--
		} else {
			c.index[to] = c.wanted[k]
			k--
		}
	}
}

// worst is the pair of an input with the least margin, a share as near is.
type worst struct {
	margin float64
	pair   int32 // -1: none
}

// watch finds how far s.dir can go until a pair breaks that is not imposed, and which
// are to be: for every input the worst of the rows from it, and of those to it.
// O(n^2).
func (s *solver) watch(t *task, w int) {
	c, all, x := &s.parts[w], s.r, s.column(s.x, w)
	after, size := t.plus, t.less
	for u, dx := range s.column(s.dir.x, w) {
		after[u] = x[u] + dx
		size[u] = max(after[u], floored*x[u])
	}
	from, to := t.margins[:s.n], t.margins[s.n:]
	for i := range t.margins {
		t.margins[i] = worst{near, -1}
	}
	least, next := t.stats.least, 0
	for u := range all.n {
		xu, yu := x[u], after[u]
		for i := all.start[u]; i < all.start[u+1]; i++ {
			if next < len(c.index) && c.index[next] == i {
				next++
				continue
			}
			v, a, b := all.v[i], all.a[i], all.b[i]
			xv, yv := x[v], after[v]
			f, k := b*xv-a*xu, b*xu-a*xv
			p, q := b*yv-a*yu, b*yu-a*yv
			if p-f < least*f {
				least = (p - f) / f
			}
			if q-k < least*k {
				least = (q - k) / k
			}
			far := near * (b - a)
			if p < far*size[v] {
				m := worst{p / ((b - a) * size[v]), i}
				from[u], to[v] = m.least(from[u]), m.least(to[v])
			}
			if q < far*size[u] {
				m := worst{q / ((b - a) * size[u]), i}
				from[v], to[u] = m.least(from[v]), m.least(to[u])
			}
		}
	}
	t.stats.least = least
	c.wanted = c.wanted[:0]
	for _, m := range t.margins {
		if m.pair >= 0 {
			c.wanted = append(c.wanted, m.pair)
		}
	}
}

func (m worst) least(than worst) worst {
	if m.margin < than.margin {
		return m
	}
	return than
}

// grow imposes the pairs that columns want. It reports whether the memory is there.
func (s *solver) grow() (ok bool, err error) {
	more := false
	for w := range s.parts {
		more = more || len(s.parts[w].wanted) > 0
	}
	if !more {
		return true, nil
	}
	rows := make([]int, s.m) // as they were
	err = s.columns(func(t *task, w int) {
		c := &s.parts[w]
		rows[w] = c.rows
		if len(c.wanted) > 0 {
			c.add()
			c.impose(s.r, &t.symbolic)
		}
	})
	if err != nil {
		return false, err
	}
	pairs, factors := 0.0, 0.0
	for _, c := range s.parts {
		pairs += float64(c.len())
		factors += float64(c.entries())
	}
	s.best.Bytes = lazyBytes(s.n, s.m, s.p.rows(), pairs, factors)
	if s.o.Fits != nil && !s.o.Fits(s.best.Bytes) {
		return false, nil
	}
	s.layout()
	for w := s.m - 1; w >= 0; w-- {
		s.spread(w, rows[w])
	}
	return true, s.columns(func(_ *task, w int) {
		inverse := s.rows(s.inv, w)
		for i, v := range s.rows(s.s, w) {
			inverse[i] = 1 / v
		}
	})
}

// spread moves the multipliers and slacks of a column, whose rows were at rows, to
// where they are now, and sets those of the pairs wanted. In place, from the end of the last column to the first, as none
// moves forward.
func (s *solver) spread(w, rows int) {
	c, x := &s.parts[w], s.column(s.x, w)
	for half := 1; half >= 0; half-- {
		was, wanted := c.len()-len(c.wanted), c.wanted
		to, from := c.rows+half*c.len(), rows+(half+1)*was
		for u := s.n - 1; u >= 0; u-- {
			for i := int(c.start[u+1]) - 1; i >= int(c.start[u]); i-- {
				k := len(wanted) - 1
				if k < 0 || wanted[k] != c.index[i] {
					from--
					s.lambda[to+i], s.s[to+i] = s.lambda[from], s.s[from]
					continue
				}
				wanted = wanted[:k]
				less, more := c.a[i]*x[u], c.b[i]*x[c.v[i]]
				if half == 1 {
					less, more = c.a[i]*x[c.v[i]], c.b[i]*x[u]
				}
				s.s[to+i] = max(more-less, rounded*more)
				s.lambda[to+i] = begun * s.mu * c.omega[i] / s.s[to+i]
			}
		}
	}
}

// reach is how far s.dir can go, at most primal, without breaking a pair.
func (s *solver) reach(primal float64) (float64, error) {
	st, err := s.survey((*solver).watch)
	return min(primal, kkt.Reach(st.least, nil, nil)), err
}

// LazyBytes estimates the memory of a lazy solve: lazyPairs pairs for every input
// in a column, and factors of lazyFill entries a pair.
func LazyBytes(inputs, outputs, rows int) float64 {
	n := float64(inputs)
	pairs := min(lazyPairs, (n-1)/2) * n * float64(outputs)
	return lazyBytes(inputs, outputs, rows, pairs, lazyFill*pairs)
}

const (
	lazyPairs = 16.0
	lazyFill  = 2.0
)

// lazyBytes counts what bytes does, 50 bytes a pair for the lists of the columns and
// what is left for more pairs, 11 an entry of a factor for the patterns, and the list of
// all pairs.
func lazyBytes(inputs, outputs, rows int, pairs, factors float64) float64 {
	n, m, r := float64(inputs), float64(outputs), float64(rows)
	return bytes(n, m, r, pairs, factors, 3*n*n+n*r+r*r) + float64(50*pairs) + float64(11*factors) + float64(178*n*n)
}
