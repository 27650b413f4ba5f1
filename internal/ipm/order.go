package ipm

import (
	"slices"

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
	// left lists, for every row j, the positions of its entries in the columns
	// before: left[leftStart[j]:leftStart[j+1]], and leftColumn those columns.
	leftStart  []int
	left       []int
	leftColumn []int32
	at         []int // position of every pair of inputs
	diag       []int // and of the diagonal of every input
}

// Sparse factors pay below a tenth of n^2 entries, and from some size on.
const (
	leastSparse = 64
	sparseFill  = 0.1
)

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

// newPattern is the symbolic factorization of the pairs in an elimination
// order.
func newPattern(r *pairs, order []int) *pattern {
	n := r.n
	f := &pattern{n: n, order: order, number: make([]int, n), start: make([]int, n+1), leftStart: make([]int, n+1)}
	for k, u := range order {
		f.number[u] = k
	}
	ends := func(u, v int) (j int, row int32) {
		j, k := f.number[u], f.number[v]
		return min(j, k), int32(max(j, k))
	}
	later := make([][]int32, n) // the rows of the pairs of column j
	r.each(func(_ int32, u, v int) {
		j, row := ends(u, v)
		later[j] = append(later[j], row)
	})
	children := make([][]int, n)
	mark := make([]int, n)
	for j := range n {
		f.row = append(f.row, int32(j))
		mark[j] = j + 1
		add := func(rows []int32) {
			for _, v := range rows {
				if mark[v] != j+1 {
					mark[v] = j + 1
					f.row = append(f.row, v)
				}
			}
		}
		add(later[j])
		for _, c := range children[j] {
			add(f.row[f.start[c]+1 : f.start[c+1]])
		}
		f.start[j+1] = len(f.row)
		below := f.row[f.start[j]+1:]
		slices.Sort(below)
		if len(below) > 0 {
			children[below[0]] = append(children[below[0]], j)
		}
		for _, v := range below {
			f.leftStart[v+1]++
		}
	}
	for j := range n {
		f.leftStart[j+1] += f.leftStart[j]
	}
	f.left, f.leftColumn = make([]int, f.leftStart[n]), make([]int32, f.leftStart[n])
	next := slices.Clone(f.leftStart)
	for j := range n {
		for i := f.start[j] + 1; i < f.start[j+1]; i++ {
			v := f.row[i]
			f.left[next[v]], f.leftColumn[next[v]] = i, int32(j)
			next[v]++
		}
	}
	f.at, f.diag = make([]int, r.len()), make([]int, n)
	r.each(func(i int32, u, v int) {
		j, row := ends(u, v)
		k, _ := slices.BinarySearch(f.row[f.start[j]:f.start[j+1]], row)
		f.at[i] = f.start[j] + k
	})
	for u, k := range f.number {
		f.diag[u] = f.start[k]
	}
	return f
}
