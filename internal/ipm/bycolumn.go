package ipm

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// byColumn solves Newton systems by eliminating one column after another, which
// leaves the linking system in dy and dz: see package kkt. An engine adds how the
// block H_w of a column is factored, and how the linking system is formed.
type byColumn struct {
	*point
	link    *kkt.Link
	blocks  blocks
	members [][]int   // loss rows with a dual of their own, by input
	h       []float64 // per column, the right-hand side
}

// blocks solves with the factors of the blocks.
type blocks interface {
	// solveBlock overwrites v with H_w^-1 v.
	solveBlock(t *task, w int, v []float64)
}

func newByColumn(p *point, b blocks) byColumn {
	e := byColumn{point: p, link: newLink(p), blocks: b, members: make([][]int, p.n), h: make([]float64, len(p.x))}
	for i, u := range p.prob.Class[:p.nz] {
		e.members[u] = append(e.members[u], i)
	}
	return e
}

// newLink returns the linking system of a point. With a Support inputs are only linked with those that
// they share columns with: in the order of their budgets from one at an end of the space the others
// are near.
func newLink(p *point) *kkt.Link {
	if p.prob.Support == nil {
		return kkt.NewLink(p.n, p.nz, nil, nil)
	}
	far, row := 0, finite.Row(p.prob.Budget, 0, nil)
	for u, e := range row {
		if e > row[far] {
			far = u
		}
	}
	row = finite.Row(p.prob.Budget, far, row)
	order, place := make([]int, p.n), make([]int, p.n)
	for u := range order {
		order[u] = u
	}
	slices.SortFunc(order, func(u, v int) int { return cmp.Or(cmp.Compare(row[u], row[v]), cmp.Compare(u, v)) })
	for i, u := range order {
		place[u] = i
	}
	// The last that an input, or one before it, shares a column with.
	last := make([]int, p.n)
	for _, c := range p.places {
		first, end := p.n, 0
		for _, u := range c.inputs {
			first, end = min(first, place[u]), max(end, place[u])
		}
		last[first] = max(last[first], end)
	}
	of := make([][]int, p.n) // the unknowns of an input
	for u := range of {
		of[u] = []int{u}
	}
	for i, u := range p.prob.Class[:p.nz] {
		of[u] = append(of[u], p.n+i)
	}
	at, begin, k := make([]int, p.n+p.nz), make([]int, p.n+1), 0
	for i, u := range order {
		for _, j := range of[u] {
			at[j] = k
			k++
		}
		begin[i+1] = k
	}
	ends, end := make(dense.Ends, 0, k), 0
	for i, u := range order {
		end = max(end, begin[max(i, last[i])+1])
		ends = append(ends, slices.Repeat([]int{end}, len(of[u]))...)
	}
	return kkt.NewLink(p.n, p.nz, at, ends)
}

// ridge is the first relative growth of the diagonal of an indefinite block.
const ridge = 0x1p-48

// factorBlocks calls try for every column with a ridge that grows from 0 until it
// succeeds. The error is kkt.ErrStalled where none will do, or the context's.
func (e *byColumn) factorBlocks(try func(t *task, w int, ridge float64) bool) error {
	for _, t := range e.tasks {
		t.failed = false
	}
	err := e.columns(func(t *task, w int) {
		for eps := 0.0; !t.failed && !try(t, w, eps); eps = max(100*eps, ridge) {
			t.failed = !(eps < 1)
		}
	})
	for _, t := range e.tasks {
		if err == nil && t.failed {
			err = kkt.ErrStalled
		}
	}
	return err
}

// factorLink adds the diagonal part t/z to the linking system and factors it.
func (e *byColumn) factorLink() error {
	k := e.n + e.nz
	for i, t := range e.t {
		e.link.Q.Data[e.link.At[e.n+i]*(k+1)] += t / e.z[i]
	}
	return e.link.Factor(e.ctx)
}

// product overwrites v with P_w v, P_w = diag(x) H_w^-1 diag(x).
func (e *byColumn) product(t *task, w int, v []float64) {
	floats.Mul(v, e.column(e.x, w))
	e.blocks.solveBlock(t, w, v)
	floats.Mul(v, e.column(e.x, w))
}

func (e *byColumn) newton(d *direction, pulled bool, target float64, cross []float64) error {
	// The columns as if dy and dz were 0, and what they add up to.
	e.clearSums()
	err := e.columns(func(t *task, w int) {
		h, dx := e.column(e.h, w), e.column(d.x, w)
		e.pullOf(h, w, pulled)
		copy(dx, h)
		e.product(t, w, dx)
		e.addSums(t, w, dx)
	})
	if err != nil {
		return err
	}
	for i, z := range e.z[:e.nz] {
		c := target
		if cross != nil {
			c -= cross[i]
		}
		d.t[i] = c / z // t + dt where dz is 0
	}
	clear(d.y)
	clear(d.z)
	d.k = 0
	// The multipliers that close the linking equations, and the columns with them.
	e.solveLink(d, false)
	err = e.columns(func(t *task, w int) {
		h, dx := e.column(e.h, w), e.column(d.x, w)
		for i, u := range e.places[w].inputs {
			h[i] += d.y[u]
		}
		e.weigh(h, w, d.z, -1)
		copy(dx, h)
		e.product(t, w, dx)
	})
	// What rounding left of the linking equations is solved for once more.
	if err == nil {
		e.clearSums()
		err = e.columns(func(t *task, w int) { e.addSums(t, w, e.column(d.x, w)) })
	}
	if err == nil && e.solveLink(d, true) {
		err = e.columns(func(t *task, w int) {
			h, dx := e.column(e.h, w), e.column(d.x, w)
			for i, u := range e.places[w].inputs {
				h[i] = e.link.Sol[u]
			}
			e.weigh(h, w, e.link.Sol[e.n:], -1)
			e.product(t, w, h)
			floats.Add(dx, h)
		})
	}
	for i, z := range e.z[:e.nz] {
		d.t[i] -= e.t[i] + e.t[i]/z*d.z[i]
	}
	return err
}

// solveLink adds to dy, dz and dk what the linking equations lack, given the
// sums of the columns: of P_w h_w at first, of dx_w once dy and dz are in them
// (columns true). It then does nothing and reports false where little is left.
func (e *byColumn) solveLink(d *direction, columns bool) bool {
	n, l := e.n, e.link
	e.total(l.RHS[:n], func(t *task) []float64 { return t.sum })
	worst, rk := 0.0, 0.0
	for u := range n {
		l.RHS[u] = 1 - e.sum[u] - l.RHS[u]
		worst = max(worst, math.Abs(l.RHS[u]))
	}
	if e.nz > 0 {
		e.total(l.RHS[n:], func(t *task) []float64 { return t.loss })
		rk = 1
		for i, z := range e.z[:e.nz] {
			l.RHS[n+i] += d.t[i] - e.k + e.loss[i] - d.k - e.t[i]/z*d.z[i]
			worst = max(worst, math.Abs(l.RHS[n+i])/e.k)
			rk -= z + d.z[i]
		}
	}
	if columns && worst < kkt.SmallResidual {
		return false
	}
	d.k += l.Solve(rk)
	floats.Add(d.y, l.Sol[:n])
	floats.Add(d.z, l.Sol[n:])
	return true
}
