// Package kkt is what the interior-point methods of packages ipm and constopt
// share: their linking system, and the control of their steps.
//
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
package kkt

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/dense"
)

// Link is the linking system.
type Link struct {
	Q        blas64.Symmetric // upper triangle
	RHS, Sol []float64

	n, nz  int
	chol   []float64
	scale  []float64
	border []float64 // Q^-1 (0, 1)
	fix    []float64
}

// NewLink returns a system of n row sums and nz loss rows.
func NewLink(n, nz int) *Link {
	k := n + nz
	vec := func() []float64 { return make([]float64, k) }
	return &Link{n: n, nz: nz,
		Q:     blas64.Symmetric{N: k, Stride: k, Uplo: blas.Upper, Data: make([]float64, k*k)},
		chol:  make([]float64, k*k),
		scale: vec(), border: vec(), RHS: vec(), Sol: vec(), fix: vec(),
	}
}

// FirstRidge is what is added to the unit diagonal of the scaled system where
// rounding made it indefinite; it grows a hundredfold until the factor exists.
const FirstRidge = 0x1p-50

// ErrStalled says that rounding ends a solve: a matrix has no factor, or the gap does
// not shrink.
var ErrStalled = errors.New("ipm: stalled")

// Factor scales and factors Q. The error is ErrStalled where no ridge below 1 helps,
// as for numbers that are not finite, or the context's.
func (l *Link) Factor(ctx context.Context) error {
	k := l.Q.N
	for i := range k {
		l.scale[i] = 1 / math.Sqrt(l.Q.Data[i*k+i])
	}
	for ridge := 0.0; ridge < 1; ridge = max(100*ridge, FirstRidge) {
		for i := range k {
			src, dst := l.Q.Data[i*k:(i+1)*k], l.chol[i*k:(i+1)*k]
			c := l.scale[i]
			for j := i; j < k; j++ {
				dst[j] = src[j] * c * l.scale[j]
			}
			dst[i] = 1 + ridge
		}
		if ok, err := dense.Cholesky(ctx, k, l.chol); err != nil {
			return err
		} else if !ok {
			continue
		}
		clear(l.border)
		for i := l.n; i < k; i++ {
			l.border[i] = 1
		}
		l.backsolve(l.border)
		return nil
	}
	return ErrStalled
}

// backsolve overwrites v with Q^-1 v.
func (l *Link) backsolve(v []float64) {
	for i, c := range l.scale {
		v[i] *= c
	}
	dense.Forward(len(v), len(v), l.chol, v)
	dense.Backward(len(v), len(v), l.chol, v)
	for i, c := range l.scale {
		v[i] *= c
	}
}

// sweeps of refinement in Solve.
const sweeps = 2

// Solve returns the solution for l.RHS and r_k, in l.Sol and the number.
func (l *Link) Solve(rk float64) (dk float64) {
	clear(l.Sol)
	for range 1 + sweeps {
		// What Sol and dk leave of the right-hand sides.
		copy(l.fix, l.RHS)
		rest := rk
		dense.AddSymmetric(-1, l.Q.N, l.Q.Data, l.Sol, l.fix)
		for i := l.n; i < len(l.Sol); i++ {
			l.fix[i] -= dk
			rest -= l.Sol[i]
		}
		// The correction without dk, then the dk that closes the last row.
		l.backsolve(l.fix)
		if l.nz > 0 {
			have, unit := 0.0, 0.0
			for i := l.n; i < len(l.fix); i++ {
				have += l.fix[i]
				unit += l.border[i]
			}
			c := (have - rest) / unit
			dk += c
			floats.AddScaled(l.fix, -c, l.border)
		}
		floats.Add(l.Sol, l.fix)
	}
	return dk
}
