package ipm

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/metricdp/metricdp/internal/bitset"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
	"github.com/metricdp/metricdp/internal/parallel"
)

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

// Lazily returns a plan whose columns impose pairs as they need them: at first those that are
// among the nearest of either end in the column, ties to the lowest number. The error is the
// context's.
func Lazily(ctx context.Context, p *Problem) (*Plan, error) {
	r, err := newPairs(ctx, p)
	if err != nil {
		return nil, err
	}
	ends := r.ends()
	for _, list := range ends {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortFunc(list, func(i, j end) int {
			return cmp.Or(cmp.Compare(r.b[i.pair()], r.b[j.pair()]), cmp.Compare(i.pair(), j.pair()))
		})
	}
	places := newPlaces(p)
	if p.Support == nil {
		places = places[:1]
	}
	l := make(nearPairs, len(places))
	err = parallel.Chunks(ctx, len(places), 1, 0, nil, func(w, _, _ int) { l[w] = newFirstPairs(r, ends, &places[w]) })
	return &Plan{Lazy, p, r, l}, err
}

// nearPairs is the structure of problems whose columns impose pairs as they need them:
// what they impose at first, one for all of them without a Support.
type nearPairs []firstPairs

type firstPairs struct {
	part
	f *pattern
}

// newFirstPairs are those of a column, of all pairs r, whose ends are sorted.
func newFirstPairs(r *pairs, ends [][]end, c *place) firstPairs {
	at := make([]int32, r.n)
	c.find(at)
	var index []int32
	for _, u := range c.inputs {
		left := nearest
		for _, e := range ends[u] {
			if at[e.v] >= 0 {
				index = append(index, e.pair())
				if left--; left == 0 {
					break
				}
			}
		}
	}
	slices.Sort(index)
	first := firstPairs{part: part{pairs: new(pairs), index: slices.Compact(index)}}
	first.subset(r, first.index, at, len(c.inputs))
	order, _ := eliminationOrder(first.pairs, math.MaxInt)
	first.f = newPattern(first.pairs, order)
	return first
}

func (l nearPairs) open(p *point) engine {
	e := &lazyEngine{size: p.prob.LazySize(), patterns: make([]ownPattern, p.m)}
	p.parts = make([]part, p.m)
	for w := range p.m {
		c := l[min(w, len(l)-1)]
		p.parts[w], e.patterns[w] = c.part, ownPattern{f: c.f, ordered: len(c.index), shared: true}
	}
	e.byInverse = newByInverse(p, e)
	most := e.size.Column
	for range p.tasks {
		e.scratch = append(e.scratch, lazyScratch{make([]float64, most*most), make([]int32, most), make([]worst, 2*most), bitset.Rows(most, most), make([]int32, p.n)})
	}
	e.chol = make([]float64, e.layoutFactors())
	return e
}

func (nearPairs) bytes(p *Problem, _ *pairs) float64 { return p.LazySize().Bytes() }

// lazyEngine imposes few pairs at first, the same for every column that has all inputs. Each iteration
// looks at the others: none may be broken by a step, and those that a full one would
// bring near to that are imposed on that column from then on (den Hertog, Roos,
// Terlaky 1994). Every iterate obeys all rows; a tenth of them is ever imposed.
//
// A pair brings both of its rows, because the start shares the reduced costs out over
// rows in both directions. Columns have elimination orders and factors of their own: a
// common order would fill them three to four times as much.
type lazyEngine struct {
	byInverse
	size     LazySize
	patterns []ownPattern // by column
	chol     []float64
	scratch  []lazyScratch // by task
}

// ownPattern is the pattern of the factor of one column.
type ownPattern struct {
	f       *pattern
	first   int     // where its factor begins
	wanted  []int32 // pairs to be imposed, ascending
	ordered int     // how many pairs there were when their order was chosen
	shared  bool    // f, and the part's pairs and index, are the plan's
}

type lazyScratch struct {
	work    []float64    // of an inverse, see invert
	next    []int32      // see cholesky
	margins []worst      // see watch: from every input, then to it
	below   []bitset.Set // see set
	at      []int32      // see find
}

func (e *lazyEngine) centering() float64 { return 5 }

func (e *lazyEngine) factorOf(w int) []float64 {
	o := &e.patterns[w]
	return e.chol[o.first : o.first+len(o.f.row)]
}

// factor imposes the pairs that columns want, and factors.
func (e *lazyEngine) factor() error {
	if err := e.grow(); err != nil {
		return err
	}
	return e.factorInverses(func(t *task, w int, ridge float64, inverse []float64) bool {
		f, l, c := e.patterns[w].f, e.factorOf(w), &e.scratch[t.id]
		if !f.factor(e.rows(w), e.column(e.x, w), l, ridge, t.plus[:f.n], c.next) {
			return false
		}
		f.invert(inverse[:f.n*f.n], c.work[:f.n*f.n], l)
		return true
	})
}

func (e *lazyEngine) solveBlock(t *task, w int, v []float64) {
	e.patterns[w].f.solve(e.factorOf(w), v, t.plus)
}

// reach looks at all pairs that are not imposed.
func (e *lazyEngine) reach(d *direction, primal float64) (float64, error) {
	st, err := e.survey(func(t *task, w int) { e.watch(t, d, w) })
	return min(primal, kkt.Reach(st.least, nil, nil)), err
}

// worst is the pair of an input with the least margin, a share as near is.
type worst struct {
	margin float64
	pair   int32 // -1: none
}

func (m worst) least(than worst) worst {
	if m.margin < than.margin {
		return m
	}
	return than
}

// watch finds how far d can go until a pair breaks that is not imposed, and which
// are to be: for every input the worst of the rows from it, and of those to it.
// O(n) an input.
func (e *lazyEngine) watch(t *task, d *direction, w int) {
	c, o, all, x := &e.parts[w], &e.patterns[w], e.all, e.column(e.x, w)
	after, size := t.plus, t.less
	for u, dx := range e.column(d.x, w) {
		after[u] = x[u] + dx
		size[u] = max(after[u], floored*x[u])
	}
	margins := e.scratch[t.id].margins
	from, to := margins[:len(x)], margins[len(x):2*len(x)]
	at := e.scratch[t.id].at
	e.places[w].find(at)
	for i := range from {
		from[i], to[i] = worst{near, -1}, worst{near, -1}
	}
	least, next := t.stats.least, 0 // next: the first pair imposed that is still to come
	for u, in := range e.places[w].inputs {
		xu, yu := x[u], after[u]
		for i := all.start[in]; i < all.start[in+1]; i++ {
			v := at[all.v[i]]
			if v < 0 {
				continue
			}
			if next < len(c.index) && c.index[next] == i {
				next++
				continue
			}
			// Slacks f, k before a full step and p, q after it: those that fall to 0
			// end it, those that end near 0 are to be imposed.
			a, b := all.a[i], all.b[i]
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
	o.wanted = o.wanted[:0]
	for _, m := range margins[:2*len(x)] {
		if m.pair >= 0 {
			o.wanted = append(o.wanted, m.pair)
		}
	}
	slices.Sort(o.wanted)
	o.wanted = slices.Compact(o.wanted)
}

// grow imposes the pairs that columns want.
func (e *lazyEngine) grow() error {
	if !slices.ContainsFunc(e.patterns, func(o ownPattern) bool { return len(o.wanted) > 0 }) {
		return nil
	}
	was := make([]int, e.m) // where the rows of the parts were
	err := e.columns(func(t *task, w int) {
		was[w] = e.parts[w].first
		if len(e.patterns[w].wanted) > 0 {
			e.places[w].find(e.scratch[t.id].at)
			e.impose(w, e.scratch[t.id].below, e.scratch[t.id].at)
		}
	})
	if err != nil {
		return err
	}
	// Room for them, multipliers and slacks at their new places, and the inverses.
	rows, factors := e.layout(), e.layoutFactors()
	e.bytes = e.size.bytes(float64(rows/2), float64(factors))
	if e.o.Fits != nil && !e.o.Fits(e.bytes) {
		return errRefused
	}
	e.resize(rows, factors)
	for w := e.m - 1; w >= 0; w-- {
		e.spread(w, was[w])
	}
	return e.columns(func(_ *task, w int) {
		c := e.rows(w)
		for i := range c.sf {
			c.rf[i], c.rk[i] = 1/c.sf[i], 1/c.sk[i]
		}
	})
}

// impose gives column w the pairs that it wants too, in the memory that it has.
func (e *lazyEngine) impose(w int, below []bitset.Set, at []int32) {
	c, o := &e.parts[w], &e.patterns[w]
	// An order is kept until the pairs are many more.
	var order []int
	if k := len(c.index) + len(o.wanted); float64(k) < reorder*float64(o.ordered) {
		order = o.f.order
	} else {
		o.ordered = k
	}
	if o.shared {
		o.shared, o.f = false, new(pattern)
		c.pairs, c.index = new(pairs), slices.Clone(c.index)
	}
	c.index = merge(c.index, o.wanted)
	c.subset(e.all, c.index, at, len(e.places[w].inputs))
	if order == nil {
		order, _ = eliminationOrder(c.pairs, math.MaxInt)
	}
	o.f.set(c.pairs, order, below)
}

// merge adds to an ascending list what is not in it, ascending, in place.
func merge(list, more []int32) []int32 {
	i, k := len(list)-1, len(more)-1
	list = slices.Grow(list, len(more))[:len(list)+len(more)]
	for to := len(list) - 1; k >= 0; to-- {
		if i >= 0 && list[i] > more[k] {
			list[to] = list[i]
			i--
		} else {
			list[to] = more[k]
			k--
		}
	}
	return list
}

// layoutFactors gives the factors their places, and returns the size of all.
func (e *lazyEngine) layoutFactors() (size int) {
	for w := range e.patterns {
		e.patterns[w].first = size
		size += len(e.patterns[w].f.row)
	}
	return size
}

// slack is the part of the arrays that is left for more pairs, as a divisor.
const slack = 8

// resize makes room for so many rows and entries of factors, and keeps the
// multipliers and slacks. What the columns and it have replaced is collected at once:
// the runtime would let that become as large as what there is.
func (e *lazyEngine) resize(rows, factors int) {
	if rows > cap(e.lambda) || factors > cap(e.chol) {
		more, entries := rows+rows/slack, factors+factors/slack
		e.inv, e.pull, e.keptPull, e.chol = nil, nil, nil, nil
		for _, v := range []*[]float64{&e.lambda, &e.s} {
			runtime.GC()
			*v = append(make([]float64, 0, more), *v...)
		}
		runtime.GC()
		e.inv, e.pull, e.keptPull, e.chol = make([]float64, more), make([]float64, more), make([]float64, more), make([]float64, entries)
	}
	for _, v := range []*[]float64{&e.lambda, &e.s, &e.inv, &e.pull, &e.keptPull} {
		*v = (*v)[:rows]
	}
	e.chol = e.chol[:factors]
}

// spread moves the multipliers and slacks of a column, whose rows were at was, to
// where they are now, and sets those of the pairs wanted. In place, from the end of the
// last column to the first, as none moves forward.
func (e *lazyEngine) spread(w, was int) {
	c, all, x := &e.parts[w], e.patterns[w].wanted, e.column(e.x, w)
	for half := 1; half >= 0; half-- {
		wanted := all
		to, from := c.first+half*c.len(), was+(half+1)*(c.len()-len(wanted))
		for u := c.n - 1; u >= 0; u-- {
			for i := int(c.start[u+1]) - 1; i >= int(c.start[u]); i-- {
				k := len(wanted) - 1
				if k < 0 || wanted[k] != c.index[i] {
					from--
					e.lambda[to+i], e.s[to+i] = e.lambda[from], e.s[from]
					continue
				}
				wanted = wanted[:k]
				less, more := c.a[i]*x[u], c.b[i]*x[c.v[i]]
				if half == 1 {
					less, more = c.a[i]*x[c.v[i]], c.b[i]*x[u]
				}
				e.s[to+i] = max(more-less, rounded*more)
				e.lambda[to+i] = begun * e.mu * c.omega[i] / e.s[to+i]
			}
		}
	}
}

// LazySize is what a lazy solve takes memory for.
type LazySize struct {
	Inputs, Outputs, Rows int     // loss rows with a dual of their own
	Column                int     // entries of the largest
	Entries, Pairs        float64 // of all columns, and that may be imposed: more than an int of 32 bits counts
}

// WholeSize is that of a problem without a Support, all of whose pairs may be imposed.
func WholeSize(inputs, outputs, rows int) LazySize {
	n := float64(inputs)
	return LazySize{inputs, outputs, rows, inputs, n * float64(outputs), n * (n - 1) / 2}
}

// LazySize is that of a problem.
func (p *Problem) LazySize() LazySize {
	s := WholeSize(p.Inputs, p.Outputs, p.duals())
	if p.Support != nil {
		s.Entries, s.Column = 0, 0
		for _, list := range p.Support {
			s.Entries, s.Column = s.Entries+float64(len(list)), max(s.Column, len(list))
		}
	}
	s.Pairs = 0
	for _, list := range p.Pairs {
		s.Pairs += float64(len(list))
	}
	return s
}

// Bytes estimates the memory of a lazy solve: lazyPairs pairs an entry, or localPairs with a Support, and
// factors of lazyFill entries a pair.
func (s LazySize) Bytes() float64 {
	each := lazyPairs
	if s.Column < s.Inputs {
		each = localPairs
	}
	pairs := min(each, float64(s.Column-1)/2) * s.Entries
	return s.bytes(pairs, lazyFill*pairs)
}

const (
	lazyPairs, localPairs = 16.0, 10.0
	lazyFill              = 2.0
)

// bytes counts five arrays over rows, the factors, the tasks' sums, inverses and scratch, the linking
// system and its factor, the best columns, and x, steps and right-hand sides, 9 an entry; 50 bytes a
// pair for the lists of the columns and what is left for more pairs, 11 an entry of a factor for the
// patterns, and 356 for each of the pairs that may be imposed.
func (s LazySize) bytes(pairs, factors float64) float64 {
	n, m, r, most, all := float64(s.Inputs), float64(s.Outputs), float64(s.Rows), float64(s.Column), s.Pairs
	task := n*n + n*r + r*r + most*most + max(most*most, 2*all)
	numbers := 10*pairs + factors + float64(tasks(s.Inputs, s.Outputs))*task + 2*(n+r)*(n+r) + m*n + 9*s.Entries
	return float64(8*numbers) + float64(50*pairs) + float64(11*factors) + float64(356*all)
}
