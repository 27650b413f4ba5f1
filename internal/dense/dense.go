// Package dense factors dense matrices and multiplies them in pieces of about a
// tenth of a second, and looks at a context between them: gonum's own routines run
// to their end, which takes minutes for some 10,000 rows. The kernels are gonum's.
//
// Matrices are row by row, of stride n where they are n x n.
package dense

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
)

const (
	panel = 64      // columns that are factored in one go
	piece = 1 << 27 // multiplications between two looks at the context
)

// Gemm is blas64.Gemm without a transposed b, in pieces of columns of c. The error
// is the context's.
func Gemm(ctx context.Context, trans blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) error {
	width := max(panel, piece/max(1, a.Rows*a.Cols))
	for lo := 0; lo < c.Cols; lo += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(width, c.Cols-lo)
		blas64.Gemm(trans, blas.NoTrans, alpha, a,
			blas64.General{Rows: b.Rows, Cols: k, Stride: b.Stride, Data: b.Data[lo:]}, beta,
			blas64.General{Rows: c.Rows, Cols: k, Stride: c.Stride, Data: c.Data[lo:]})
	}
	return nil
}

// part is the block of the n x n matrix a that begins at (i, j).
func part(n int, a []float64, i, j, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: n, Data: a[min(len(a), i*n+j):]}
}

// Cholesky overwrites the upper triangle of a symmetric matrix with its factor U,
// a = U'U. It reports a matrix that is not positive definite to working
// precision. The error is the context's.
func Cholesky(ctx context.Context, n int, a []float64) (ok bool, err error) {
	for j := 0; j < n; j += panel {
		k := min(panel, n-j)
		rest := n - j - k
		above := part(n, a, 0, j, j, k)
		diag := blas64.Symmetric{N: k, Stride: n, Uplo: blas.Upper, Data: a[j*n+j:]}
		if j > 0 {
			blas64.Syrk(blas.Trans, -1, above, 1, diag)
		}
		if _, ok := lapack64.Potrf(diag); !ok {
			return false, ctx.Err()
		}
		if rest == 0 {
			break
		}
		right := part(n, a, j, j+k, k, rest)
		if j > 0 {
			if err := Gemm(ctx, blas.Trans, -1, above, part(n, a, 0, j+k, j, rest), 1, right); err != nil {
				return false, err
			}
		}
		blas64.Trsm(blas.Left, blas.Trans, 1, blas64.Triangular{N: k, Stride: n, Uplo: blas.Upper, Diag: blas.NonUnit, Data: a[j*n+j:]}, right)
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
	if ok, err := Cholesky(ctx, n, a); ok || err != nil {
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
		if ok := lapack64.Getrf(part(n, a, j, j, n-j, k), f.pivot[j:j+k]); !ok {
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
			right := part(n, a, j, j+k, k, rest)
			blas64.Trsm(blas.Left, blas.NoTrans, 1, blas64.Triangular{N: k, Stride: n, Uplo: blas.Lower, Diag: blas.Unit, Data: a[j*n+j:]}, right)
			if err := Gemm(ctx, blas.NoTrans, -1, part(n, a, j+k, j, rest, k), right, 1, part(n, a, j+k, j+k, rest, rest)); err != nil {
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

// Cond estimates the condition number from below, mostly to within a factor of 3
// (Higham, ACM TOMS 14, 1988), from some five solutions. The error is the
// context's.
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
