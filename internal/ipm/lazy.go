package ipm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Lazy is a problem of which every column imposes some pairs only, its own.
// Solve solves the relaxation, whose Lower is a bound of the whole problem;
// Extend adds pairs that its solution breaks.
//
// A pair brings both of its rows, because the cold start shares the reduced
// costs out over rows in both directions. Columns have elimination orders and
// factors of their own: a common order would fill them three to four times as
// much.
type Lazy struct {
	p       *Problem
	all     *pairs
	columns []part
	way     []*kept // of the last Solve
}

// nearest is how many pairs of every input a Lazy begins with.
const nearest = 8

// Lazy begins with the pairs, the same for every column, that are among the
// nearest of either end, ties to the lowest number. The plan must have dense
// factors. The error is the context's.
func (l *Plan) Lazy(ctx context.Context) (*Lazy, error) {
	z := &Lazy{p: l.p, all: l.r, columns: make([]part, l.p.Outputs)}
	n := z.all.n
	of := make([][]int32, n) // pairs of every input
	z.all.each(func(i int32, u, v int) {
		of[u] = append(of[u], i)
		of[v] = append(of[v], i)
	})
	var index []int32
	for _, list := range of {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortFunc(list, func(i, j int32) int {
			return cmp.Or(cmp.Compare(z.all.b[i], z.all.b[j]), cmp.Compare(i, j))
		})
		index = append(index, list[:min(nearest, len(list))]...)
	}
	slices.Sort(index)
	var c part
	c.set(z.all, slices.Compact(index))
	for w := range z.columns {
		z.columns[w] = c
	}
	return z, nil
}

// set gives the column the pairs of all at index, which it keeps.
func (c *part) set(all *pairs, index []int32) {
	r := &pairs{n: all.n, start: make([]int32, all.n+1), v: make([]int32, len(index))}
	for _, t := range []*[]float64{&r.a, &r.b, &r.proof, &r.omega} {
		*t = make([]float64, len(index))
	}
	u := 0
	for k, i := range index {
		for i >= all.start[u+1] {
			u++
		}
		r.start[u+1]++
		r.v[k], r.a[k], r.b[k], r.proof[k], r.omega[k] = all.v[i], all.a[i], all.b[i], all.proof[i], all.omega[i]
		r.sumOmega += 2 * all.omega[i]
	}
	for u := range r.n {
		r.start[u+1] += r.start[u]
	}
	order, _ := eliminationOrder(r, math.MaxInt)
	c.index, c.pairs, c.f = index, r, newPattern(r, order)
}

// Bytes bounds the memory of the lists and of a Solve with them.
func (l *Lazy) Bytes() float64 {
	pairs, factors := 0.0, 0.0
	for _, c := range l.columns {
		pairs += float64(c.len())
		factors += float64(len(c.f.row))
	}
	return lazyBytes(l.p.Inputs, l.p.Outputs, l.p.rows(), pairs, factors)
}

// lazyBytes counts what bytes does, 44 bytes a pair for the lists of the
// columns, 16 an entry of a factor for the patterns, the list of all pairs, and
// mostKept iterates.
func lazyBytes(inputs, outputs, rows int, pairs, factors float64) float64 {
	n, m, r := float64(inputs), float64(outputs), float64(rows)
	return bytes(n, m, r, pairs, factors, 3*n*n+n*r+r*r) + (44+20*mostKept)*pairs + 16*factors + 50*n*n + mostKept*8*m*n
}

// Solve solves the relaxation from the last iterates; where that stalls, from
// scratch.
func (l *Lazy) Solve(ctx context.Context, o Settings) *Result {
	r, warm := l.solve(ctx, o)
	if !warm || r.Status != Stalled {
		return r
	}
	l.way = nil
	if told := o.Progress; told != nil {
		o.Progress = func(i int, upper, lower float64) { told(r.Iterations+i, upper, lower) }
	}
	again, _ := l.solve(ctx, o)
	again.Iterations += r.Iterations
	if again.Upper-again.Lower > r.Upper-r.Lower {
		again.Upper, again.Lower, again.X, again.Z = r.Upper, r.Lower, r.X, r.Z
	}
	return again
}

// solve solves once, and reports whether the start was warm.
func (l *Lazy) solve(ctx context.Context, o Settings) (r *Result, warm bool) {
	s, way := l.solver(ctx, o), l.way
	l.way = nil
	r, warm = s.run(way)
	l.way = s.way
	return r, warm
}

func (l *Lazy) solver(ctx context.Context, o Settings) *solver {
	s := &solver{ctx: ctx, p: l.p, o: o, r: l.all, parts: l.columns, due: firstKept}
	s.allocate()
	return s
}

// Extend adds to column w, for every u, the pair u, v that x breaks most, where
// x[u] exceeds exp(e) x[v] by more than the factor 1 + least and e^-e x[u] - x[v]
// by more than least/m; and for every v the pair u, v. x is laid out as
// in Result. It returns how many pairs were added to all columns, and the
// context's error. O(n^2 m).
func (l *Lazy) Extend(ctx context.Context, x []float64, least float64, workers int) (added int, err error) {
	n, m := l.all.n, l.p.Outputs
	decay := make([]float64, n*n) // exp(-e), 0 for pairs that are implied
	l.all.each(func(i int32, u, v int) {
		d := l.all.a[i] / l.all.b[i]
		decay[u*n+v], decay[v*n+u] = d, d
	})
	count := make([]int, m)
	err = parallel.Chunks(ctx, m, 1, workers, nil, func(w, _, _ int) {
		count[w] = l.columns[w].extend(l.all, decay, x[w*n:(w+1)*n], least, least/float64(m))
	})
	for _, c := range count {
		added += c
	}
	return added, err
}

func (c *part) extend(all *pairs, decay, x []float64, least, absolute float64) int {
	n := len(x)
	worstOf := make([]float64, n) // for every v, over u
	whose := make([]int, n)
	var index []int32
	for u, xu := range x {
		worst, at := 0.0, -1
		for v, d := range decay[u*n : (u+1)*n] {
			bound := d * xu
			if bound <= x[v]*(1+least)+absolute {
				continue
			}
			r := bound / x[v]
			if x[v] <= 0 {
				r = math.MaxFloat64
			}
			if r > worst {
				worst, at = r, v
			}
			if r > worstOf[v] {
				worstOf[v], whose[v] = r, u
			}
		}
		if at >= 0 {
			index = append(index, all.find(u, at))
		}
	}
	for v, r := range worstOf {
		if r > 0 {
			index = append(index, all.find(whose[v], v))
		}
	}
	if len(index) == 0 {
		return 0
	}
	before := len(c.index)
	index = append(index, c.index...)
	slices.Sort(index)
	index = slices.Compact(index)
	if len(index) > before {
		c.set(all, index)
	}
	return len(index) - before
}

// LazyBytes estimates a Lazy before it exists: lazyPairs pairs for every input
// in a column, and factors of lazyFill entries a pair.
func LazyBytes(inputs, outputs, rows int) float64 {
	n := float64(inputs)
	pairs := min(lazyPairs, (n-1)/2) * n * float64(outputs)
	return lazyBytes(inputs, outputs, rows, pairs, lazyFill*pairs)
}

const (
	lazyPairs = 8.0
	lazyFill  = 3.0
)
