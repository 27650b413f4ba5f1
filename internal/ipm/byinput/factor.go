// Package byinput solves the Newton systems of package ipm by eliminating one
// input after another: all unknowns of an input, one for every output, and then
// its multipliers. It pays where outputs are few and the graph of the privacy
// rows is sparse.
//
// # The system
//
// In the unknowns x[w,u], one for every output and input, the multipliers y[j],
// each about one input of[j], and the number k:
//
//	H x + C'y         = rx    H_w sparse and symmetric, positive definite, for each w
//	C x - S y - g k   = ry    C[j] about the unknowns of input of[j], S >= 0 diagonal
//	     g'y          = rk
//
// The matrix without k is quasi-definite: it has factors U'DU, D = 1 for x and -1
// for y, in any order of elimination (Vanderbei 1995). Here the order of the inputs
// is one for sparse factors of their graph; every entry of such a factor becomes a
// dense block of outputs by outputs, and multipliers, which are tied to one input
// only, fill nothing. k is the border of the rest.
//
// # The factor
//
// Inputs with nearly the same later neighbors are one node, whose rows of U are a
// dense panel. A panel takes the products of the earlier nodes that reach it, from
// left to right, and is then factored in place: all the work is in products of
// dense matrices, no sum depends on the number of workers, and there is no
// memory besides the factor (Ng and Peyton 1993).
package byinput

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Matrix holds the entries, to be set before Factorize.
type Matrix struct {
	H      []float64 // [w*(n+pairs)+u] the diagonal of H_w, [w*(n+pairs)+n+i] beside it
	C      []float64 // [w*duals+j]
	S      []float64 // [j]
	Border []float64 // g
}

// Factor is the factor of a matrix, with room for solutions.
type Factor struct {
	Matrix
	p              *Plan
	panels         []float64
	scaleX, scaleY []float64
	vectors        []float64 // of every node, in a solution
	x, y           []float64 // a correction
	restX, restY   []float64 // a residual
	borderX        []float64 // solution for g
	borderY        []float64
	unit           float64 // g'borderY
}

// New returns a Factor with a matrix of zeros.
func (p *Plan) New() *Factor {
	nk, duals := p.n*p.k, len(p.of)
	f := &Factor{p: p, panels: make([]float64, p.entries), vectors: make([]float64, p.vectors)}
	f.H, f.C = make([]float64, nk+p.k*len(p.ends)), make([]float64, p.k*duals)
	for _, v := range []*[]float64{&f.scaleX, &f.x, &f.restX, &f.borderX} {
		*v = make([]float64, nk)
	}
	for _, v := range []*[]float64{&f.S, &f.Border, &f.scaleY, &f.y, &f.restY, &f.borderY} {
		*v = make([]float64, duals)
	}
	return f
}

// ridge is added to the scaled diagonal, away from 0, and grows a hundredfold
// until the factor exists.
const ridge = 0x1p-50

// Factorize factors the matrix. It reports failure where no ridge below 1 helps,
// as for numbers that are not finite. The error is the context's.
func (f *Factor) Factorize(ctx context.Context, workers int) (ok bool, err error) {
	f.setScale()
	for eps := ridge; eps < 1; eps *= 100 {
		if ok, err := f.attempt(ctx, eps, workers); err != nil {
			return false, err
		} else if ok {
			return true, f.solveBorder(ctx, workers)
		}
	}
	return false, nil
}

// setScale makes the diagonal of H one, and that of C H^-1 C' + S nearly so.
func (f *Factor) setScale() {
	p, duals := f.p, len(f.p.of)
	copy(f.scaleY, f.S)
	for w := range p.k {
		for u, v := range f.block(w)[:p.n] {
			f.scaleX[w*p.n+u] = 1 / math.Sqrt(v)
		}
		c, x := f.C[w*duals:], f.scaleX[w*p.n:]
		for j, u := range p.of {
			v := c[j] * x[u]
			f.scaleY[j] += v * v
		}
	}
	for j, v := range f.scaleY {
		f.scaleY[j] = 1 / math.Sqrt(v)
	}
}

// block is H_w: its diagonal, and what is beside it.
func (f *Factor) block(w int) []float64 {
	size := f.p.n + len(f.p.ends)
	return f.H[w*size : (w+1)*size]
}

func (f *Factor) attempt(ctx context.Context, eps float64, workers int) (ok bool, err error) {
	// Subtrees in parallel, one node after another in each; then what is above them, in
	// parallel within a node.
	p := f.p
	var failed atomic.Bool
	err = parallel.Chunks(ctx, len(p.tasks), 1, workers, nil, func(c, _, _ int) {
		for i := p.tasks[c][0]; i < p.tasks[c][1] && !failed.Load(); i++ {
			if !f.factor(ctx, i, eps, 1) {
				failed.Store(true)
			}
		}
	})
	for _, i := range p.top {
		if err != nil || failed.Load() || ctx.Err() != nil || !f.factor(ctx, i, eps, workers) {
			return false, cmp.Or(err, ctx.Err())
		}
	}
	return !failed.Load(), cmp.Or(err, ctx.Err())
}

func (f *Factor) panel(d *node) []float64 { return f.panels[d.at : d.at+d.p*d.width] }

// factor computes the panel of node i. It reports failure for a pivot of the
// wrong sign, or when the context is done.
func (f *Factor) factor(ctx context.Context, i int, eps float64, workers int) bool {
	d := &f.p.nodes[i]
	f.assemble(d, eps)
	err := parallel.Chunks(ctx, len(d.inputs), 1, workers, nil, func(_, at, _ int) { f.update(ctx, d, at) })
	if err != nil {
		return false
	}
	ok, err := dense.Signed(ctx, d.x, d.p, d.width, f.panel(d), workers)
	return ok && err == nil
}

// assemble writes the entries of the scaled matrix to the panel of d.
func (f *Factor) assemble(d *node, eps float64) {
	p, to := f.p, f.panel(d)
	clear(to)
	column := func(number int32) int {
		if number < d.last {
			return p.k * int(number-d.first)
		}
		e, _ := slices.BinarySearch(d.border, number)
		return d.p + p.k*e
	}
	// H: the diagonal is scaled to 1, a pair is a diagonal block of all outputs.
	for at, u := range d.inputs {
		row := p.k * at
		for w := range p.k {
			to[(row+w)*(d.width+1)] = 1 + eps
		}
		for _, t := range p.later[u] {
			c, v := column(t.number), int(p.inputs[t.number])
			for w := range p.k {
				to[(row+w)*d.width+c+w] = f.block(w)[p.n+int(t.pair)] * f.scaleX[w*p.n+int(u)] * f.scaleX[w*p.n+v]
			}
		}
	}
	// C beside it, and -S below.
	for e, j := range d.duals {
		u, c := int(p.of[j]), d.x+e
		row := p.k * int(p.number[u]-d.first)
		for w := range p.k {
			to[(row+w)*d.width+c] = f.C[w*len(p.of)+int(j)] * f.scaleX[w*p.n+u] * f.scaleY[j]
		}
		to[c*(d.width+1)] = -f.S[j]*f.scaleY[j]*f.scaleY[j] - eps
	}
}

// update takes the products of the earlier nodes from the rows of one input of
// d, by whole blocks: what is left of its own diagonal block is not used.
func (f *Factor) update(ctx context.Context, d *node, at int) {
	p, k := f.p, f.p.k
	to := f.panel(d)[k*at*d.width:]
	var list []run
	for _, up := range d.updates {
		c := &p.nodes[up.node]
		e, ok := slices.BinarySearch(c.border[up.lo:up.hi], d.first+int32(at))
		if !ok {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		e += up.lo
		from := f.panel(c)
		list = p.runs(list, c.border, e, d)
		for _, r := range list {
			left, right, n := c.p+k*e, c.p+k*r.from, k*r.count
			into := blas64.General{Rows: k, Cols: n, Stride: d.width, Data: to[r.column:]}
			// Less U'U for the rows of unknowns, plus it for those of multipliers.
			for y, rows := range [2][2]int{{0, c.x}, {c.x, c.p}} {
				a := dense.Part(c.width, from, rows[0], left, rows[1]-rows[0], k)
				b := dense.Part(c.width, from, rows[0], right, rows[1]-rows[0], n)
				dense.AddProduct(blas.Trans, float64(2*y-1), a, b, into)
			}
		}
	}
}
