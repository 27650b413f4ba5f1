package ipm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/bitset"
)

// pattern is the fill pattern of Cholesky factors whose rows are numbered in
// elimination order. Column j of a factor has its diagonal at start[j] and the rows
// row[start[j]+1 : start[j+1]] below it, in ascending order.
type pattern struct {
	n      int
	order  []int // the input of every row
	number []int // the row of every input
	start  []int
	row    []int32
	// left lists, for every row j, the columns before that have an entry in it:
	// left[leftStart[j]:leftStart[j+1]], ascending.
	leftStart []int
	left      []int32
	at        []int32 // position of every pair of inputs
	diag      []int32 // and of the diagonal of every input
}

// eliminationOrder is a minimum degree ordering of the graph of the pairs, ties
// to the lowest number, with the entries of the factor, diagonal included; it
// gives up where they pass most. Neighbors are bit sets: O(n^2 + fill n/64).
func eliminationOrder(r *pairs, most int) (order []int, fill int) {
	n := r.n
	of := bitset.Rows(n, n)
	r.each(func(_ int32, u, v int) {
		of[u].Add(v)
		of[v].Add(u)
	})
	degree := make([]int, n)
	for u, row := range of {
		degree[u] = row.Len()
	}
	order = make([]int, 0, n)
	for range n {
		best := -1
		for u, d := range degree {
			if d >= 0 && (best < 0 || d < degree[best]) {
				best = u
			}
		}
		if fill += 1 + degree[best]; fill > most {
			return nil, fill
		}
		order = append(order, best)
		for u := range of[best].All() {
			row := of[u]
			row.Union(of[best])
			row.Remove(best)
			row.Remove(u)
			degree[u] = row.Len()
		}
		degree[best] = -1 // gone
	}
	return order, fill
}

// newPattern is the symbolic factorization of the pairs in an elimination order, in
// time linear in the size of the pattern.
func newPattern(r *pairs, order []int) *pattern {
	f := new(pattern)
	f.set(r, order, new(symbolic))
	return f
}

// sized is v with n elements, whatever they are.
func sized[T any](v []T, n int) []T { return slices.Grow(v[:0], n)[:n] }

// symbolic is what a symbolic factorization takes and leaves to the next.
type symbolic struct {
	first, next          []int
	later, pair          []int32
	child, sibling, mark []int32
}

// set is newPattern in the memory of a pattern that is no longer needed.
func (f *pattern) set(r *pairs, order []int, o *symbolic) {
	n := r.n
	f.n, f.order = n, order
	f.number, f.diag, f.at = sized(f.number, n), sized(f.diag, n), sized(f.at, r.len())
	f.start, f.leftStart = sized(f.start, n+1), sized(f.leftStart, n+1)
	f.start[0] = 0
	clear(f.leftStart)
	for k, u := range order {
		f.number[u] = k
	}
	// The pairs by columns, with their rows.
	ends := func(u, v int) (j int, row int32) {
		j, k := f.number[u], f.number[v]
		return min(j, k), int32(max(j, k))
	}
	o.first, o.next = sized(o.first, n+1), sized(o.next, n+1)
	first, next := o.first, o.next
	clear(first)
	r.each(func(_ int32, u, v int) {
		j, _ := ends(u, v)
		first[j+1]++
	})
	for j := range n {
		first[j+1] += first[j]
	}
	o.later, o.pair = sized(o.later, r.len()), sized(o.pair, r.len())
	later, pair := o.later, o.pair
	copy(next, first)
	r.each(func(i int32, u, v int) {
		j, row := ends(u, v)
		later[next[j]], pair[next[j]] = row, i
		next[j]++
	})
	// A column has the rows of its pairs, and of its children in the elimination tree.
	o.child, o.sibling, o.mark = sized(o.child, n), sized(o.sibling, n), sized(o.mark, n)
	child, sibling, mark := o.child, o.sibling, o.mark
	clear(child)
	clear(mark)
	f.row = slices.Grow(f.row[:0], n+r.len())
	for j := range n {
		mark[j] = int32(j) + 1
		f.row = append(f.row, int32(j))
		parent := int32(n)
		add := func(rows []int32) {
			for _, v := range rows {
				if mark[v] != int32(j)+1 {
					mark[v] = int32(j) + 1
					f.row = append(f.row, v)
					f.leftStart[v+1]++
					parent = min(parent, v)
				}
			}
		}
		add(later[first[j]:first[j+1]])
		for c := child[j]; c > 0; c = sibling[c-1] { // 0: none, else its number plus 1
			add(f.row[f.start[c-1]+1 : f.start[c]])
		}
		f.start[j+1] = len(f.row)
		if int(parent) < n {
			sibling[j], child[parent] = child[parent], int32(j)+1
		}
	}
	for j := range n {
		f.leftStart[j+1] += f.leftStart[j]
	}
	// Transposed twice, rows ascend.
	f.left = sized(f.left, f.leftStart[n])
	copy(next, f.leftStart)
	for j := range n {
		for _, v := range f.row[f.start[j]+1 : f.start[j+1]] {
			f.left[next[v]] = int32(j)
			next[v]++
		}
	}
	for j := range n {
		next[j] = f.start[j] + 1
	}
	for v := range n {
		for k := f.leftStart[v]; k < f.leftStart[v+1]; k++ {
			j := f.left[k]
			f.row[next[j]] = int32(v)
			next[j]++
		}
	}
	position := next
	for j := range n {
		for i := f.start[j]; i < f.start[j+1]; i++ {
			position[f.row[i]] = i
		}
		for i := first[j]; i < first[j+1]; i++ {
			f.at[pair[i]] = int32(position[later[i]])
		}
	}
	for u, k := range f.number {
		f.diag[u] = int32(f.start[k])
	}
}

// factor overwrites l with the factor of a column's block, whose diagonal is grown by the
// ridge. work and next have room for n. It reports whether there is one.
func (f *pattern) factor(c rows, x, l []float64, ridge float64, work []float64, next []int32) bool {
	c.block(x, l, f.diag, f.at)
	for u := range f.n {
		l[f.start[u]] *= 1 + ridge
	}
	clear(work)
	return f.cholesky(l, work, next)
}

// cholesky overwrites the lower triangle in l with its factor. work has n zeros
// and is left so; next has room for n. It reports a pivot that is not positive.
func (f *pattern) cholesky(l, work []float64, next []int32) bool {
	for j := range f.n {
		lo, hi := f.start[j], f.start[j+1]
		for i := lo; i < hi; i++ {
			work[f.row[i]] = l[i]
		}
		// Every column before is at its entry in row j.
		next[j] = int32(lo) + 1
		for _, k := range f.left[f.leftStart[j]:f.leftStart[j+1]] {
			at, end := next[k], f.start[k+1]
			next[k]++
			c := l[at]
			rows := f.row[at:end]
			for i, v := range l[at:end] {
				work[rows[i]] -= c * v
			}
		}
		pivot := math.Sqrt(work[j])
		ok := pivot > 0 && !math.IsInf(pivot, 1)
		scale := 1 / pivot
		for i := lo; i < hi; i++ {
			l[i] = work[f.row[i]] * scale
			work[f.row[i]] = 0
		}
		if !ok {
			return false
		}
		l[lo] = pivot
	}
	return true
}

// solve overwrites b, by inputs, with the solution for the factor l. v has room for n.
func (f *pattern) solve(l, b, v []float64) {
	for k, u := range f.order {
		v[k] = b[u]
	}
	for j := range f.n {
		lo, hi := f.start[j], f.start[j+1]
		v[j] /= l[lo]
		c, rows := v[j], f.row[lo+1:hi]
		for i, x := range l[lo+1 : hi] {
			v[rows[i]] -= c * x
		}
	}
	for j := f.n - 1; j >= 0; j-- {
		lo, hi := f.start[j], f.start[j+1]
		sum, rows := v[j], f.row[lo+1:hi]
		for i, x := range l[lo+1 : hi] {
			sum -= x * v[rows[i]]
		}
		v[j] = sum / l[lo]
		b[f.order[j]] = v[j]
	}
}

// invert writes the inverse of what l factors to to, n x n and by inputs, with
// z as scratch: L'Z = L^-1 gives row j right of the diagonal as a combination
// of the rows below (Takahashi et al. 1973). About n*len(l) multiplications.
func (f *pattern) invert(to, z, l []float64) {
	n := f.n
	bl := blas64.Implementation()
	for j := n - 1; j >= 0; j-- {
		lo, hi := f.start[j], f.start[j+1]
		scale := 1 / l[lo]
		row := z[j*n : (j+1)*n]
		clear(row[j:])
		if right := row[j+1:]; len(right) > 0 {
			// Rows that follow each other are taken together.
			for i := lo + 1; i < hi; {
				k, first := int(f.row[i]), i
				for i++; i < hi && int(f.row[i]) == k+i-first; i++ {
				}
				bl.Dgemv(blas.Trans, i-first, len(right), -scale, z[k*n+j+1:], n, l[first:i], 1, 1, right, 1)
			}
		}
		diag := scale
		for i := lo + 1; i < hi; i++ {
			diag -= l[i] * row[f.row[i]]
		}
		row[j] = diag * scale
		for i := j + 1; i < n; i++ {
			z[i*n+j] = row[i]
		}
	}
	for u, k := range f.number {
		from, row := z[k*n:(k+1)*n], to[u*n:(u+1)*n]
		for v, k := range f.number {
			row[v] = from[k]
		}
	}
}
