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
		// best goes; its neighbors become neighbors of each other.
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

// newPattern is the symbolic factorization of the pairs in an elimination order.
func newPattern(r *pairs, order []int) *pattern {
	f := new(pattern)
	f.set(r, order, bitset.Rows(r.n, r.n))
	return f
}

// sized is v with n elements, whatever they are.
func sized[T any](v []T, n int) []T { return slices.Grow(v[:0], n)[:n] }

// set is newPattern in the memory of a pattern that is no longer needed. below is
// scratch. O(n^2/64 + fill).
func (f *pattern) set(r *pairs, order []int, below []bitset.Set) {
	n := r.n
	f.n, f.order = n, order
	f.number, f.diag, f.at = sized(f.number, n), sized(f.diag, n), sized(f.at, r.len())
	f.start, f.leftStart = sized(f.start, n+1), sized(f.leftStart, n+1)
	for k, u := range order {
		f.number[u] = k
		clear(below[k])
	}
	// A column has the rows of its pairs,
	r.each(func(_ int32, u, v int) {
		j, k := f.number[u], f.number[v]
		below[min(j, k)].Add(max(j, k))
	})
	// and those of its children in the elimination tree: a column is the child of its
	// first row below the diagonal.
	clear(f.leftStart)
	f.row = slices.Grow(f.row[:0], n+r.len())
	for j := range n {
		f.start[j], f.diag[order[j]] = len(f.row), int32(len(f.row))
		f.row = append(f.row, int32(j))
		for k := range below[j].All() {
			f.row = append(f.row, int32(k))
			f.leftStart[k+1]++
		}
		if at := f.start[j] + 1; at < len(f.row) {
			parent := f.row[at]
			below[parent].Union(below[j])
			below[parent].Remove(int(parent))
		}
	}
	f.start[n] = len(f.row)
	// The transpose, columns ascending as they come.
	for j := range n {
		f.leftStart[j+1] += f.leftStart[j]
	}
	f.left = sized(f.left, f.leftStart[n])
	next := slices.Clone(f.leftStart)
	for j := range n {
		for _, k := range f.row[f.start[j]+1 : f.start[j+1]] {
			f.left[next[k]] = int32(j)
			next[k]++
		}
	}
	r.each(func(i int32, u, v int) {
		j, k := f.number[u], f.number[v]
		lo := f.start[min(j, k)]
		at, _ := slices.BinarySearch(f.row[lo:f.start[min(j, k)+1]], int32(max(j, k)))
		f.at[i] = int32(lo + at)
	})
}

// factor overwrites l with the factor of a column's block, whose diagonal is grown by the
// ridge. work and next have room for n. It reports whether there is one.
func (f *pattern) factor(c rows, x, l []float64, ridge float64, work []float64, next []int32) bool {
	clear(l)
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
		// Less the columns before that reach row j: each is at its entry there.
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
		// Divided by the root of the pivot, and back to l.
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
	for j := range f.n { // L v = b
		lo, hi := f.start[j], f.start[j+1]
		v[j] /= l[lo]
		c, rows := v[j], f.row[lo+1:hi]
		for i, x := range l[lo+1 : hi] {
			v[rows[i]] -= c * x
		}
	}
	for j := f.n - 1; j >= 0; j-- { // L'x = v
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
	// Back to the numbers of the inputs.
	for u, k := range f.number {
		from, row := z[k*n:(k+1)*n], to[u*n:(u+1)*n]
		for v, k := range f.number {
			row[v] = from[k]
		}
	}
}
