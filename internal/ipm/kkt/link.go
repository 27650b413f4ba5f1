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
	Q        blas64.Symmetric // upper triangle, unknown i at row and column At[i]
	RHS, Sol []float64
	At       []int

	n, nz  int
	ends   dense.Ends
	chol   []float64
	scale  []float64
	border []float64 // Q^-1 (0, 1)
	sol    []float64 // Sol in the order of Q
	fix    []float64
}

// NewLink returns a system of n row sums and nz loss rows, in an order in which the triangle has
// the ends given; nil is the order in which they come.
func NewLink(n, nz int, at []int, ends dense.Ends) *Link {
	k := n + nz
	vec := func() []float64 { return make([]float64, k) }
	if at == nil {
		at = make([]int, k)
		for i := range at {
			at[i] = i
		}
	}
	return &Link{n: n, nz: nz, At: at, ends: ends,
		Q:     blas64.Symmetric{N: k, Stride: k, Uplo: blas.Upper, Data: make([]float64, k*k)},
		chol:  make([]float64, k*k),
		scale: vec(), border: vec(), RHS: vec(), Sol: vec(), sol: vec(), fix: vec(),
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
			for j := i; j < l.ends.After(i, k); j++ {
				dst[j] = src[j] * c * l.scale[j]
			}
			dst[i] = 1 + ridge
		}
		if ok, err := dense.Cholesky(ctx, k, l.chol, l.ends); err != nil {
			return err
		} else if !ok {
			continue
		}
		clear(l.border)
		for _, i := range l.At[l.n:] {
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
	dense.Forward(len(v), len(v), l.chol, l.ends, v)
	dense.Backward(len(v), len(v), l.chol, l.ends, v)
	for i, c := range l.scale {
		v[i] *= c
	}
}

// sweeps of refinement in Solve at most, until what is left of the largest right-hand side is
// below refined.
const (
	sweeps  = 2
	refined = 1e-13
)

// Solve returns the solution for l.RHS and r_k, in l.Sol and the number.
func (l *Link) Solve(rk float64) (dk float64) {
	clear(l.sol)
	most := max(floats.Norm(l.RHS, math.Inf(1)), math.Abs(rk))
	for i := range 1 + sweeps {
		// What sol and dk leave of the right-hand sides.
		for j, at := range l.At {
			l.fix[at] = l.RHS[j]
		}
		rest := rk
		if i > 0 {
			dense.AddSymmetric(-1, l.Q.N, l.Q.Data, l.ends, l.sol, l.fix)
		}
		for _, i := range l.At[l.n:] {
			l.fix[i] -= dk
			rest -= l.sol[i]
		}
		if i > 0 && max(floats.Norm(l.fix, math.Inf(1)), math.Abs(rest)) <= refined*most {
			break
		}
		// The correction without dk, then the dk that closes the last row.
		l.backsolve(l.fix)
		if l.nz > 0 {
			have, unit := 0.0, 0.0
			for _, i := range l.At[l.n:] {
				have += l.fix[i]
				unit += l.border[i]
			}
			c := (have - rest) / unit
			dk += c
			floats.AddScaled(l.fix, -c, l.border)
		}
		floats.Add(l.sol, l.fix)
	}
	for i, at := range l.At {
		l.Sol[i] = l.sol[at]
	}
	return dk
}
