package ipm

import (
	"math"
	"slices"
)

// ownPattern is a pattern in an elimination order of its own.
type ownPattern struct {
	*pattern
	number []int32 // of every input in that order
}

// newOwnPattern orders the inputs by minimum degree and factors the pairs
// symbolically.
func newOwnPattern(r *pairs) *ownPattern {
	order, _ := eliminationOrder(r, math.MaxInt)
	number := make([]int32, r.n)
	for k, u := range order {
		number[u] = int32(k)
	}
	q := &pairs{n: r.n, start: make([]int32, r.n+1), v: make([]int32, r.len())}
	ends := func(u, v int) (p, q int32) {
		p, q = number[u], number[v]
		return min(p, q), max(p, q)
	}
	r.each(func(_ int32, u, v int) {
		p, _ := ends(u, v)
		q.start[p+1]++
	})
	for u := range r.n {
		q.start[u+1] += q.start[u]
	}
	next := slices.Clone(q.start)
	r.each(func(_ int32, u, v int) {
		p, k := ends(u, v)
		q.v[next[p]] = k
		next[p]++
	})
	f := &ownPattern{newPattern(q), number}
	f.diag = make([]int, r.n)
	for u, k := range number {
		f.diag[u] = f.start[k]
	}
	r.each(func(i int32, u, v int) {
		p, k := ends(u, v)
		at, _ := slices.BinarySearch(f.row[f.start[p]:f.start[p+1]], k)
		f.at[i] = f.start[p] + at
	})
	return f
}

// solve overwrites v, by inputs, with the solution for the factor l. work has
// room for n.
func (f *ownPattern) solve(l, v, work []float64) {
	for u, k := range f.number {
		work[k] = v[u]
	}
	f.pattern.solve(l, work)
	for u, k := range f.number {
		v[u] = work[k]
	}
}

// invert writes the inverse of what l factors to z, by inputs. work has room
// for as much as z.
func (f *ownPattern) invert(z, work, l []float64) {
	n := f.n
	f.pattern.invert(work, l)
	for u, k := range f.number {
		from, to := work[int(k)*n:(int(k)+1)*n], z[u*n:(u+1)*n]
		for v, k := range f.number {
			to[v] = from[k]
		}
	}
}
