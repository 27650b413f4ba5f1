package ipm

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Sparse Cholesky factors: one pattern for all columns, or one each in a Lazy.

// assembleSparse writes one triangle of H_w, as block does, to l: the diagonal where
// diag has it, and the others at the positions of their pairs.
func (s *solver) assembleSparse(l []float64, w int, diag, at []int32) {
	c, x := s.view(w), s.column(s.x, w)
	clear(l)
	for u := range c.n {
		xu, du := x[u], 0.0
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, xv := c.a[i], c.b[i], x[c.v[i]]
			p, q, m := b*xv*c.rf[i], a*xu*c.rf[i], c.lf[i]*c.sf[i]
			p2, q2, m2 := b*xu*c.rk[i], a*xv*c.rk[i], c.lk[i]*c.sk[i]
			l[diag[c.v[i]]] += m*p*p + m2*q2*q2
			du += m*q*q + m2*p2*p2
			l[at[i]] = -m*p*q - m2*p2*q2
		}
		l[diag[u]] += du
	}
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
