package ipm

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/ipm/byinput"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// byInputs is the structure of problems whose inputs are eliminated, one after another,
// in place of the columns. It pays where outputs are few.
type byInputs struct{ plan *byinput.Plan }

// inputPlan returns nil where a factorization takes more than most multiplications.
func inputPlan(ctx context.Context, p *Problem, r *pairs, most float64) (*byinput.Plan, error) {
	s := byinput.System{Inputs: r.n, Start: r.start, Ends: r.v, Columns: make([]byinput.Column, p.Outputs)}
	for u := range r.n {
		s.Of = append(s.Of, int32(u))
	}
	for _, u := range p.Class[:p.duals()] {
		s.Of = append(s.Of, int32(u))
	}
	places := newPlaces(p)
	parts := newParts(p, r, places)
	for w, at := range places {
		c := &s.Columns[w]
		if w > 0 && p.Support == nil { // all are the same
			*c = s.Columns[0]
			continue
		}
		c.Inputs = at.inputs
		parts[w].each(func(_ int32, u, v int) { c.Pairs = append(c.Pairs, [2]int32{int32(u), int32(v)}) })
		for i, u := range at.inputs {
			c.Duals, c.At = append(c.Duals, u), append(c.At, int32(i))
		}
		for k, i := range at.firstRows(p.duals()) {
			c.Duals, c.At = append(c.Duals, int32(r.n)+i), append(c.At, at.home[k])
		}
	}
	return byinput.NewPlan(ctx, s, most)
}

func (l byInputs) open(p *point) engine {
	k := p.n + p.nz
	e := &inputEngine{point: p, f: l.plan.New(), h: make([]float64, len(p.x)), dual: make([]float64, k), dualRHS: make([]float64, k)}
	e.identity = make([]int32, p.n+p.all.len()) // enough for any column
	for i := range e.identity {
		e.identity[i] = int32(i)
	}
	return e
}

// columnBytes are for an entry or a pair of a column: arrays over rows, and over entries.
const columnBytes = 80

func (l byInputs) bytes(p *Problem, r *pairs) float64 {
	size := float64(p.Outputs) * float64(r.len()+p.Inputs)
	if p.Support != nil {
		size = 0
		for _, c := range l.plan.Columns { // which have lists of their own
			size += 2 * float64(len(c.Inputs)+len(c.Pairs))
		}
	}
	return l.plan.Bytes() + float64(columnBytes*size) + float64(sparseInput*p.Inputs)
}

// inputEngine factors all columns at once: see package byinput, whose multipliers are
// dy with the sign changed, then dz.
type inputEngine struct {
	*point
	allRows
	f             *byinput.Factor
	h             []float64 // per column, the right-hand side
	dual, dualRHS []float64
	identity      []int32 // the positions of diagonals and pairs in a block of f
}

func (e *inputEngine) factor() error {
	f, n := e.f, e.n
	err := e.columns(func(_ *task, w int) {
		c, x, loss, at := e.rows(w), e.column(e.x, w), e.lossOf(w), &e.places[w]
		c.block(x, f.Block(w), e.identity[:c.n], e.identity[c.n:][:c.len()])
		ties := f.Ties(w)
		copy(ties, x)
		for k := range ties[c.n:] { // the loss rows with a dual
			ties[c.n+k] = loss[at.rows[k]] * x[at.home[k]]
		}
	})
	if err != nil {
		return err
	}
	for i, t := range e.t {
		f.S[n+i], f.Border[n+i] = t/e.z[i], 1
	}
	ok, err := f.Factorize(e.ctx, e.o.Workers)
	if err == nil && !ok {
		err = kkt.ErrStalled
	}
	return err
}

// newton takes one solution.
func (e *inputEngine) newton(d *direction, pulled bool, target float64, cross []float64) error {
	n := e.n
	err := e.columns(func(_ *task, w int) {
		h := e.column(e.h, w)
		e.pullOf(h, w, pulled)
		floats.Mul(h, e.column(e.x, w))
	})
	if err != nil {
		return err
	}
	for u, v := range e.sum {
		e.dualRHS[u] = 1 - v
	}
	rk := 1.0
	for i, z := range e.z[:e.nz] {
		d.t[i] = target / z // t + dt where dz is 0
		if cross != nil {
			d.t[i] -= cross[i] / z
		}
		e.dualRHS[n+i] = e.k - e.loss[i] - d.t[i]
		rk -= z
	}
	d.k, err = e.f.Solve(e.ctx, e.h, e.dualRHS, rk, d.x, e.dual, e.o.Workers)
	floats.Mul(d.x, e.x) // f is in units of x
	floats.ScaleTo(d.y, -1, e.dual[:n])
	for i, v := range e.dual[n:] {
		d.z[i] = v
		d.t[i] -= e.t[i] + e.t[i]/e.z[i]*v
	}
	return err
}
