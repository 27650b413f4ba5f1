// Package dense factors dense matrices and multiplies them in pieces of well below a
// tenth of a second, and looks at a context between them: gonum's own routines run to
// their end, which takes minutes for some 10,000 rows.
//
// Products keep 4 x 8 numbers of the result in registers where the processor has AVX, and are
// elsewhere made by gonum's Dgemv, row by row of the result on blocks that stay in the
// cache. Both round alike. No sum depends on the number of workers.
//
// Matrices are row by row, of stride n where they are n x n.
package dense

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	panel   = 64 // columns that are factored in one go
	few     = 8  // rows of them that gonum solves for: its Dtrsm takes one at a time
	columns = 256
	depth   = 32 // of a product: 32 x 256 numbers stay in the cache
)

// Gemm is blas64.Gemm without a transposed b, in parallel by pieces of c. The error
// is the context's.
func Gemm(ctx context.Context, trans blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) error {
	across := (c.Cols + columns - 1) / columns
	return parallel.Chunks(ctx, across*((c.Rows+panel-1)/panel), 1, 0, nil, func(at, _, _ int) {
		i, j := at/across*panel, at%across*columns
		rows, cols := min(panel, c.Rows-i), min(columns, c.Cols-j)
		to := blas64.General{Rows: rows, Cols: cols, Stride: c.Stride, Data: c.Data[i*c.Stride+j:]}
		for r := range rows {
			row := to.Data[r*to.Stride:][:cols]
			if beta == 0 {
				clear(row)
			} else if beta != 1 {
				floats.Scale(beta, row)
			}
		}
		from := a
		if trans == blas.NoTrans {
			from.Data = a.Data[i*a.Stride:]
		} else {
			from.Data = a.Data[i:]
		}
		AddProduct(trans, alpha, from, blas64.General{Rows: b.Rows, Cols: cols, Stride: b.Stride, Data: b.Data[j:]}, to)
	})
}

// Part is the block of a matrix of stride n that begins at (i, j).
func Part(n int, a []float64, i, j, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: n, Data: a[min(len(a), i*n+j):]}
}

// Ends are, for every row of an upper triangle, the column from which on it is 0, and so are all
// rows above: they never fall. nil: nothing is known to be 0. A factor has the ends of its matrix.
type Ends []int

// After is the end of a row of n columns.
func (e Ends) After(row, n int) int {
	if e == nil {
		return n
	}
	return e[row]
}

// first is the first row that may be more than 0 in the column.
func (e Ends) first(column int) int {
	at, _ := slices.BinarySearch(e, column+1)
	return at
}

// Cholesky overwrites the upper triangle of a symmetric matrix with its factor U, a = U'U. It
// reports a matrix that is not positive definite to working precision. The error is the context's.
func Cholesky(ctx context.Context, n int, a []float64, ends Ends) (ok bool, err error) {
	return signed(ctx, n, n, n, a, ends, 0)
}

// Signed overwrites the first p rows of the upper triangle of a symmetric matrix of
// n columns with those of U, a = U'DU, where D is 1 in rows below x and -1 in others.
// Some of what is below the diagonal changes, too. It reports a pivot of the wrong sign. The
// error is the context's.
func Signed(ctx context.Context, x, p, n int, a []float64, workers int) (ok bool, err error) {
	return signed(ctx, x, p, n, a, nil, workers)
}

func signed(ctx context.Context, x, p, n int, a []float64, ends Ends, workers int) (ok bool, err error) {
	bl := blasgonum.Implementation{}
	for lo, hi := 0, 0; lo < p; lo = hi {
		end, plus := x, lo // plus rows above have D = 1
		if lo >= x {
			end, plus = p, x
		}
		hi = min(lo+panel, end)
		k := hi - lo
		// reduce subtracts what the rows above have at columns [from, to) of rows row
		// to row+rows, and changes the sign where D is -1.
		reduce := func(row, rows, from, to int) {
			c, first := Part(n, a, row, from, rows, to-from), min(ends.first(from), plus)
			AddProduct(blas.Trans, -1, Part(n, a, first, row, plus-first, rows), Part(n, a, first, from, plus-first, to-from), c)
			AddProduct(blas.Trans, 1, Part(n, a, plus, row, lo-plus, rows), Part(n, a, plus, from, lo-plus, to-from), c)
			for r := 0; lo >= x && r < rows; r++ {
				floats.Scale(-1, c.Data[r*n:][:c.Cols])
			}
		}
		for r := lo; r < hi; r += 4 {
			reduce(r, min(4, hi-r), r, hi)
		}
		if _, ok := lapack64.Potrf(blas64.Symmetric{N: k, Stride: n, Uplo: blas.Upper, Data: a[lo*n+lo:]}); !ok {
			return false, ctx.Err()
		}
		err := parallel.Chunks(ctx, ends.After(hi-1, n)-hi, columns, workers, nil, func(_, from, to int) {
			from, to = hi+from, hi+to
			reduce(lo, k, from, to)
			for r := lo; r < hi; r += few {
				rows, cols := min(few, hi-r), to-from
				AddProduct(blas.Trans, -1, Part(n, a, lo, r, r-lo, rows), Part(n, a, lo, from, r-lo, cols), Part(n, a, r, from, rows, cols))
				bl.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, rows, cols, 1, a[r*n+r:], n, a[r*n+from:], n)
			}
		})
		if err != nil {
			return false, err
		}
	}
	return true, ctx.Err()
}

// Factor is a factored symmetric matrix.
type Factor struct {
	n     int
	a     []float64
	norm  float64 // of the matrix, the largest row sum of absolute values
	pivot []int   // rows swapped; nil: the factor of Cholesky
}

// Factorize overwrites the symmetric matrix that fill writes to a, all of it, with a
// factor: that of Cholesky, or where it is not positive definite that of Gauss. It
// returns nil for a singular matrix. The error is the context's, or of fill.
func Factorize(ctx context.Context, n int, a []float64, fill func(a []float64) error) (*Factor, error) {
	if err := fill(a); err != nil {
		return nil, err
	}
	f := &Factor{n: n, a: a}
	for i := range n {
		f.norm = max(f.norm, floats.Norm(a[i*n:(i+1)*n], 1))
	}
	if ok, err := Cholesky(ctx, n, a, nil); ok || err != nil {
		return f, err
	}
	if err := fill(a); err != nil {
		return nil, err
	}
	ok, err := f.gauss(ctx)
	if !ok {
		return nil, err
	}
	return f, err
}

// gauss overwrites a with its factors L, whose diagonal is 1, and U.
func (f *Factor) gauss(ctx context.Context) (ok bool, err error) {
	n, a := f.n, f.a
	f.pivot = make([]int, n)
	for j := 0; j < n; j += panel {
		k := min(panel, n-j)
		if ok := lapack64.Getrf(Part(n, a, j, j, n-j, k), f.pivot[j:j+k]); !ok {
			return false, ctx.Err()
		}
		for i := j; i < j+k; i++ {
			f.pivot[i] += j
			if p := f.pivot[i]; p != i {
				for _, side := range [2][2]int{{0, j}, {j + k, n}} {
					blas64.Swap(vector(a[i*n+side[0]:i*n+side[1]]), vector(a[p*n+side[0]:p*n+side[1]]))
				}
			}
		}
		if rest := n - j - k; rest > 0 {
			right := Part(n, a, j, j+k, k, rest)
			blas64.Trsm(blas.Left, blas.NoTrans, 1, blas64.Triangular{N: k, Stride: n, Uplo: blas.Lower, Diag: blas.Unit, Data: a[j*n+j:]}, right)
			if err := Gemm(ctx, blas.NoTrans, -1, Part(n, a, j+k, j, rest, k), right, 1, Part(n, a, j+k, j+k, rest, rest)); err != nil {
				return false, err
			}
		}
	}
	return true, ctx.Err()
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// Solve overwrites v with the solution. The error is the context's.
func (f *Factor) Solve(ctx context.Context, v []float64) error {
	n := f.n
	for i, p := range f.pivot {
		v[i], v[p] = v[p], v[i]
	}
	for i := range n {
		if i%panel == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := f.a[i*n : (i+1)*n]
		if f.pivot != nil {
			v[i] -= floats.Dot(row[:i], v[:i])
		} else {
			v[i] /= row[i]
			floats.AddScaled(v[i+1:], -v[i], row[i+1:])
		}
	}
	for i := n - 1; i >= 0; i-- {
		if i%panel == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := f.a[i*n : (i+1)*n]
		v[i] = (v[i] - floats.Dot(row[i+1:], v[i+1:])) / row[i]
	}
	return ctx.Err()
}

// Cond estimates the condition number from below, mostly to within a factor of 3 (Higham, ACM
// TOMS 14, 1988), from some five solutions. The error is the context's.
func (f *Factor) Cond(ctx context.Context) (float64, error) {
	x, v, sign := make([]float64, f.n), make([]float64, f.n), make([]int, f.n)
	var save [3]int
	inverse, what := 0.0, 0
	for {
		inverse, what = lapack.Implementation{}.Dlacn2(f.n, v, x, sign, inverse, what, &save)
		if what == 0 {
			return f.norm * inverse, nil
		}
		if err := f.Solve(ctx, x); err != nil { // the matrix is its own transpose
			return 0, err
		}
	}
}

// What is below reads a matrix once, by some rows at a time: they are bound by the
// memory, and four times as fast as gonum's Dtrsv and Dsymv.
const rows = 32

// Forward overwrites v[:p] with the solution z of U'z = v for the first p columns of an upper
// trapezoid U of p rows and n columns, and subtracts from v[p:n] what the others of U'z are.
func Forward(p, n int, a []float64, ends Ends, v []float64) {
	bl := blasgonum.Implementation{}
	for lo := 0; lo < p; lo += rows {
		hi := min(lo+rows, p)
		for q := lo; q < hi; q++ {
			row := a[q*n:]
			v[q] /= row[q]
			bl.Daxpy(hi-q-1, -v[q], row[q+1:], 1, v[q+1:], 1)
		}
		if end := ends.After(hi-1, n); hi < end {
			bl.Dgemv(blas.Trans, hi-lo, end-hi, -1, a[lo*n+hi:], n, v[lo:], 1, 1, v[hi:], 1)
		}
	}
}

// Backward overwrites v[:p] with the solution x of U (x, v[p:n]) = v[:p].
func Backward(p, n int, a []float64, ends Ends, v []float64) {
	bl := blasgonum.Implementation{}
	for hi := p; hi > 0; {
		lo := (hi - 1) / rows * rows
		if end := ends.After(hi-1, n); hi < end {
			bl.Dgemv(blas.NoTrans, hi-lo, end-hi, -1, a[lo*n+hi:], n, v[hi:], 1, 1, v[lo:], 1)
		}
		for q := hi - 1; q >= lo; q-- {
			row := a[q*n:]
			v[q] = (v[q] - bl.Ddot(hi-q-1, row[q+1:], 1, v[q+1:], 1)) / row[q]
		}
		hi = lo
	}
}

// AddSymmetric adds alpha A x to y, A being given by its upper triangle.
func AddSymmetric(alpha float64, n int, a []float64, ends Ends, x, y []float64) {
	bl := blasgonum.Implementation{}
	for lo := 0; lo < n; lo += rows {
		hi := min(lo+rows, n)
		for q := lo; q < hi; q++ {
			row := a[q*n:]
			y[q] += float64(alpha * bl.Ddot(hi-q, row[q:], 1, x[q:], 1))
			bl.Daxpy(hi-q-1, alpha*x[q], row[q+1:], 1, y[q+1:], 1)
		}
		// Once there and once back, while a piece is in the cache.
		end := ends.After(hi-1, n)
		for j := hi; j < end; j += columns {
			k := min(columns, end-j)
			bl.Dgemv(blas.NoTrans, hi-lo, k, alpha, a[lo*n+j:], n, x[j:], 1, 1, y[lo:], 1)
			bl.Dgemv(blas.Trans, hi-lo, k, alpha, a[lo*n+j:], n, x[lo:], 1, 1, y[j:], 1)
		}
	}
}
