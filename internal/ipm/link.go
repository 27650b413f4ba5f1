package ipm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/dense"
)

// The Newton system, block by block. With theta = lambda/s the step of column w
// is
//
//	dx_w = P_w (dy - D_w dz + h_w),  P_w = (G' Theta_w G)^-1 = diag(x) H_w^-1 diag(x),
//
// H_w the block in units of x. Putting that into sum_w dx_w = r_1 and the loss
// rows leaves the linking system
//
//	[ sum P     -sum P D            ] [dy]   [0]      [r_1 - sum P h]
//	[ -sum D P   sum D P D + diag(t/z) ] [dz] + [1] dk = [r_2 + sum D P h]
//
// and 1'dz = r_k, where D P D stands for the loss rows of each input. It is
// positive definite; with a prior the second half is absent.

// link is the linking system.
type link struct {
	n, nz  int
	q      blas64.Symmetric // upper triangle
	chol   blas64.Triangular
	scale  []float64
	border []float64 // q^-1 (0, 1)
	rhs    []float64
	sol    []float64
	fix    []float64
}

func newLink(n, nz int) *link {
	k := n + nz
	vec := func() []float64 { return make([]float64, k) }
	return &link{n: n, nz: nz,
		q:     blas64.Symmetric{N: k, Stride: k, Uplo: blas.Upper, Data: make([]float64, k*k)},
		chol:  blas64.Triangular{N: k, Stride: k, Uplo: blas.Upper, Diag: blas.NonUnit, Data: make([]float64, k*k)},
		scale: vec(), border: vec(), rhs: vec(), sol: vec(), fix: vec(),
	}
}

// firstRidge is what is added to the unit diagonal of the scaled system where
// rounding made it indefinite; it grows a hundredfold until the factor exists.
const firstRidge = 0x1p-50

// factor scales and factors q. It reports failure where no ridge below 1 helps,
// which only numbers that are not finite can bring about. The error is the
// context's.
func (l *link) factor(ctx context.Context) (ok bool, err error) {
	k := l.q.N
	for i := range k {
		l.scale[i] = 1 / math.Sqrt(l.q.Data[i*k+i])
	}
	for ridge := 0.0; ridge < 1; ridge = max(100*ridge, firstRidge) {
		for i := range k {
			src, dst := l.q.Data[i*k:(i+1)*k], l.chol.Data[i*k:(i+1)*k]
			c := l.scale[i]
			for j := i; j < k; j++ {
				dst[j] = src[j] * c * l.scale[j]
			}
			dst[i] = 1 + ridge
		}
		if ok, err := dense.Cholesky(ctx, k, l.chol.Data); err != nil {
			return false, err
		} else if ok {
			clear(l.border)
			for i := l.n; i < k; i++ {
				l.border[i] = 1
			}
			l.backsolve(l.border)
			return true, nil
		}
	}
	return false, nil
}

// backsolve overwrites v with q^-1 v.
func (l *link) backsolve(v []float64) {
	for i, c := range l.scale {
		v[i] *= c
	}
	x := blas64.Vector{N: len(v), Inc: 1, Data: v}
	blas64.Trsv(blas.Trans, l.chol, x)
	blas64.Trsv(blas.NoTrans, l.chol, x)
	for i, c := range l.scale {
		v[i] *= c
	}
}

// sweeps of refinement in solve.
const sweeps = 2

// solve returns the solution for l.rhs and r_k, in l.sol and the number.
func (l *link) solve(rk float64) (dk float64) {
	clear(l.sol)
	for range 1 + sweeps {
		copy(l.fix, l.rhs)
		rest := rk
		vec := func(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }
		blas64.Symv(-1, l.q, vec(l.sol), 1, vec(l.fix))
		for i := l.n; i < len(l.sol); i++ {
			l.fix[i] -= dk
			rest -= l.sol[i]
		}
		l.backsolve(l.fix)
		if l.nz > 0 {
			have, unit := 0.0, 0.0
			for i := l.n; i < len(l.fix); i++ {
				have += l.fix[i]
				unit += l.border[i]
			}
			c := (have - rest) / unit
			dk += c
			blas64.Axpy(-c, vec(l.border), vec(l.fix))
		}
		blas64.Axpy(1, vec(l.fix), vec(l.sol))
	}
	return dk
}
