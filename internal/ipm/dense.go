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
	chol []float64 // per column n x n, the upper triangle of the factor
}

func (e *denseEngine) factorOf(w int) []float64 { return e.chol[w*e.n*e.n : (w+1)*e.n*e.n] }

func (e *denseEngine) factor() error {
	return e.factorInverses(func(t *task, w int, ridge float64, inverse []float64) bool {
		n, l := e.n, e.factorOf(w)
		e.block(t.plus, w)
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

// block writes the upper triangle of H_w, the block of column w in units of x.
// With f = b x[v]/s and g = a x[u]/s a forward row moves by ds/s = f xi[v] - g
// xi[u], xi = dx/x, and adds lambda s (f, -g)(f, -g)' to H_w: ratios only.
// diag has room for n.
func (e *denseEngine) block(diag []float64, w int) {
	n, c, x, h := e.n, e.rows(w), e.column(e.x, w), e.factorOf(w)
	clear(diag)
	for u := range n {
		row := h[u*n : (u+1)*n]
		clear(row[u:])
		xu, du := x[u], diag[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			v := c.v[i]
			a, b, xv := c.a[i], c.b[i], x[v]
			f, g, m := b*xv*c.rf[i], a*xu*c.rf[i], c.lf[i]*c.sf[i]
			f2, g2, m2 := b*xu*c.rk[i], a*xv*c.rk[i], c.lk[i]*c.sk[i]
			mf, mg := m*f, m2*g2
			diag[v] += mf*f + mg*g2
			du += m*g*g + m2*f2*f2
			row[v] = -mf*g - mg*f2
		}
		row[u] = du
	}
}

func (e *denseEngine) solveBlock(_ *task, w int, v []float64) {
	dense.Forward(e.n, e.n, e.factorOf(w), v)
	dense.Backward(e.n, e.n, e.factorOf(w), v)
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
