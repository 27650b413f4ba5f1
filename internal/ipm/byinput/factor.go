// Package byinput solves the Newton systems of package ipm by eliminating one
// input after another: all unknowns of an input, one for every output that it has, and then
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
	H      []float64 // by column the diagonal of H_w, then its pairs: see Factor.Block
	C      []float64 // by column those of its duals: see Factor.Ties
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
	all, duals := p.all(), len(p.Of)
	f := &Factor{p: p, panels: make([]float64, p.size), vectors: make([]float64, p.vectors)}
	f.H, f.C = make([]float64, all.h), make([]float64, all.c)
	for _, v := range []*[]float64{&f.scaleX, &f.x, &f.restX, &f.borderX} {
		*v = make([]float64, all.x)
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
	copy(f.scaleY, f.S)
	for w, c := range f.p.Columns {
		x := f.column(f.scaleX, w)
		for i, v := range f.Block(w)[:len(x)] {
			x[i] = 1 / math.Sqrt(v)
		}
		for i, v := range f.Ties(w) {
			v *= x[c.At[i]]
			f.scaleY[c.Duals[i]] += v * v
		}
	}
	for j, v := range f.scaleY {
		f.scaleY[j] = 1 / math.Sqrt(v)
	}
}

// Block is H_w: its diagonal, and its pairs.
func (f *Factor) Block(w int) []float64 { return f.H[f.p.columns[w].h:f.p.columns[w+1].h] }

// Ties is C_w: one number for every one of its duals.
func (f *Factor) Ties(w int) []float64 { return f.C[f.p.columns[w].c:f.p.columns[w+1].c] }

func (f *Factor) column(v []float64, w int) []float64 {
	return v[f.p.columns[w].x:f.p.columns[w+1].x]
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
			return p.offset[number] - p.offset[d.first]
		}
		e, _ := slices.BinarySearch(d.border, number)
		return d.p + d.borderAt[e]
	}
	// H: the diagonal is scaled to 1, a pair is a diagonal of the outputs that its ends share.
	for row := range d.x {
		to[row*(d.width+1)] = 1 + eps
	}
	for _, u := range d.inputs {
		row := column(p.number[u])
		last, c := int32(-1), 0
		for _, t := range p.later[u] {
			if t.number != last {
				last, c = t.number, column(t.number)
			}
			to[(row+int(t.row))*d.width+c+int(t.col)] = f.H[t.h] * f.scaleX[t.from] * f.scaleX[t.to]
		}
	}
	// C beside it, and -S below.
	for e, j := range d.duals {
		u, c := p.Of[j], d.x+e
		row := column(p.number[u])
		for i, q := range p.unknowns[u] {
			to[(row+i)*d.width+c] = f.C[p.entries[j][i]] * f.scaleX[q] * f.scaleY[j]
		}
		to[c*(d.width+1)] = -f.S[j]*f.scaleY[j]*f.scaleY[j] - eps
	}
}

// update takes the products of the earlier nodes from the rows of one input of
// d, by whole blocks: what is left of its own diagonal block is not used.
func (f *Factor) update(ctx context.Context, d *node, at int) {
	p, number := f.p, d.first+int32(at)
	k := p.wide(number)
	to := f.panel(d)[(p.offset[number]-p.offset[d.first])*d.width:]
	var list []run
	for _, up := range d.updates {
		c := &p.nodes[up.node]
		e, ok := slices.BinarySearch(c.border[up.lo:up.hi], number)
		if !ok {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		e += up.lo
		from := f.panel(c)
		list = p.runs(list, c, e, d)
		for _, r := range list {
			left, right, n := c.p+c.borderAt[e], c.p+r.from, r.count
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
