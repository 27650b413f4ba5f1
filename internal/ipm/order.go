package ipm

import (
	"slices"

	"github.com/metricdp/metricdp/internal/bitset"
)

// pattern is the fill pattern of the Cholesky factors, one for all columns: the
// inputs are numbered in elimination order. Column j of a factor has its
// diagonal at start[j] and the rows row[start[j]+1 : start[j+1]] below it, in
// ascending order.
type pattern struct {
	n     int
	start []int
	row   []int32
	// left lists, for every row j, the positions of its entries in the columns
	// before: left[leftStart[j]:leftStart[j+1]], and leftColumn those columns.
	leftStart  []int
	left       []int
	leftColumn []int32
	at         []int // position of every pair of the relabeled list
	diag       []int // and of the diagonal of every input
}

// Sparse factors pay where they have less than a tenth of n^2 entries, a fifth
// of the dense ones, and from some size on.
const (
	leastSparse = 64
	sparseFill  = 0.1
)

// sparseOrder is the elimination order with which sparse factors pay, or nil.
func sparseOrder(r *pairs) []int {
	if r.n < leastSparse {
		return nil
	}
	order, _ := eliminationOrder(r, int(sparseFill*float64(r.n*r.n)))
	return order
}

// relabeled is the problem with input order[k] as number k, and its pairs r.
func (p *Problem) relabeled(order []int, r *pairs) (*Problem, *pairs) {
	n := p.Inputs
	number := make([]int, n)
	for k, u := range order {
		number[u] = k
	}
	q := *p
	q.Budget = make([]float64, n*n)
	for k, u := range order {
		for l, v := range order {
			q.Budget[k*n+l] = p.Budget[u*n+v]
		}
	}
	q.Class = make([]int, len(p.Class))
	for i, c := range p.Class {
		q.Class[i] = number[c]
	}
	return &q, r.relabeled(number)
}

// eliminationOrder is a minimum degree ordering of the graph of the pairs, ties
// to the lowest number. It returns the order, order[k] being the input that is
// eliminated as the k-th, and the entries of the factor, diagonal included; it
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

// relabeled is the list of the same pairs under new numbers.
func (r *pairs) relabeled(number []int) *pairs {
	type pair struct{ u, v, i int32 }
	list := make([]pair, 0, r.len())
	for u := range r.n {
		for i := r.start[u]; i < r.start[u+1]; i++ {
			p, q := int32(number[u]), int32(number[r.v[i]])
			list = append(list, pair{min(p, q), max(p, q), i})
		}
	}
	slices.SortFunc(list, func(a, b pair) int {
		if a.u != b.u {
			return int(a.u - b.u)
		}
		return int(a.v - b.v)
	})
	out := &pairs{n: r.n, start: make([]int32, r.n+1), sumOmega: r.sumOmega}
	for _, p := range list {
		out.start[p.u+1]++
		out.v = append(out.v, p.v)
		out.a = append(out.a, r.a[p.i])
		out.b = append(out.b, r.b[p.i])
		out.proof = append(out.proof, r.proof[p.i])
		out.omega = append(out.omega, r.omega[p.i])
	}
	for u := range r.n {
		out.start[u+1] += out.start[u]
	}
	return out
}

// newPattern is the symbolic factorization of pairs that are numbered in
// elimination order: the rows of column j are those of its pairs and of the
// columns whose first row it is.
func newPattern(r *pairs) *pattern {
	n := r.n
	f := &pattern{n: n, start: make([]int, n+1), leftStart: make([]int, n+1)}
	children := make([][]int, n)
	mark := make([]int, n)
	for j := range n {
		f.row = append(f.row, int32(j))
		mark[j] = j + 1
		add := func(v int32) {
			if mark[v] != j+1 {
				mark[v] = j + 1
				f.row = append(f.row, v)
			}
		}
		for _, v := range r.v[r.start[j]:r.start[j+1]] {
			add(v)
		}
		for _, c := range children[j] {
			for _, v := range f.row[f.start[c]+1 : f.start[c+1]] {
				add(v)
			}
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
	f.diag = f.start[:n]
	next := slices.Clone(f.leftStart)
	for j := range n {
		for i := f.start[j] + 1; i < f.start[j+1]; i++ {
			v := f.row[i]
			f.left[next[v]], f.leftColumn[next[v]] = i, int32(j)
			next[v]++
		}
		for i := r.start[j]; i < r.start[j+1]; i++ {
			k, _ := slices.BinarySearch(f.row[f.start[j]:f.start[j+1]], r.v[i])
			f.at = append(f.at, f.start[j]+k)
		}
	}
	return f
}
