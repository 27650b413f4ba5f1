package ipm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/metricdp/metricdp/internal/dense"
)

// denseBlocks is the structure of problems whose blocks are dense.
type denseBlocks struct{}

func (denseBlocks) open(p *point) engine {
	e := &denseEngine{chol: make([]float64, p.m*p.n*p.n)}
	for u := range p.n {
		e.diag = append(e.diag, int32(u*p.n+u))
	}
	p.all.each(func(_ int32, u, v int) { e.at = append(e.at, int32(u*p.n+v)) })
	e.byInverse = newByInverse(p, e)
	return e
}

func (denseBlocks) bytes(p *Problem, r *pairs) float64 {
	return denseBytes(p.Inputs, p.Outputs, p.losses(), r.len())
}

// Bytes bounds the memory that a problem takes in which no pair is implied: at
// most 8 n^3 float64s for n inputs, outputs and loss rows, from n = 60 on.
func Bytes(inputs, outputs, rows int) float64 {
	return denseBytes(inputs, outputs, rows, inputs*(inputs-1)/2)
}

func denseBytes(inputs, outputs, rows, pairs int) float64 {
	n, m, r := float64(inputs), float64(outputs), float64(rows)
	return bytes(n, m, r, m*float64(pairs), m*n*n, inverseSize(n, r)) + 128*n*n
}

// denseEngine eliminates columns with dense factors.
type denseEngine struct {
	byInverse
	allRows
	chol     []float64 // per column n x n, the upper triangle of the factor
	diag, at []int32   // where the diagonal and the pairs are in it
}

func (e *denseEngine) factorOf(w int) []float64 { return e.chol[w*e.n*e.n : (w+1)*e.n*e.n] }

func (e *denseEngine) factor() error {
	return e.factorInverses(func(t *task, w int, ridge float64, inverse []float64) bool {
		n, l := e.n, e.factorOf(w)
		clear(l)
		e.rows(w).block(e.column(e.x, w), l, e.diag, e.at)
		for u := range n {
			l[u*n+u] *= 1 + ridge
		}
		if _, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper, Data: l}); !ok {
			return false
		}
		copy(inverse, l)
		lapack64.Potri(blas64.Triangular{N: n, Stride: n, Uplo: blas.Upper, Diag: blas.NonUnit, Data: inverse})
		mirror(n, inverse)
		return true
	})
}

func (e *denseEngine) solveBlock(_ *task, w int, v []float64) {
	dense.Forward(e.n, e.n, e.factorOf(w), nil, v)
	dense.Backward(e.n, e.n, e.factorOf(w), nil, v)
}

// mirror copies the upper triangle to the lower one, by tiles that stay in the
// cache.
func mirror(n int, a []float64) {
	const tile = 16
	for lo := 0; lo < n; lo += tile {
		for to := lo; to < n; to += tile {
			for u := lo; u < min(n, lo+tile); u++ {
				for v := max(to, u+1); v < min(n, to+tile); v++ {
					a[v*n+u] = a[u*n+v]
				}
			}
		}
	}
}
