package ipm

import (
	"context"

	"github.com/metricdp/metricdp/lp/internal/ipm/byinput"
)

// Elimination by input (package byinput) in place of that by column and the linking
// system. Its multipliers are dy with the sign changed, then dz.

// inputPlan plans it where that takes fewer multiplications than the other way: to
// factor the linking system, and to form it from the columns' factors. It returns
// nil where it does not. The error is the context's.
func (l *Plan) inputPlan(ctx context.Context) (*byinput.Plan, error) {
	n, m, nz := l.r.n, float64(l.p.Outputs), 0
	if l.p.Prior == nil {
		nz = l.p.rows()
	}
	if n < leastSparse {
		return nil, nil
	}
	link, factor := float64(n+nz), float64(n*n/2)
	if l.f != nil {
		factor = float64(len(l.f.row))
	}
	of := make([]int32, 0, n+nz)
	for u := range n {
		of = append(of, int32(u))
	}
	for _, u := range l.p.Class[:nz] {
		of = append(of, int32(u))
	}
	return byinput.NewPlan(ctx, n, l.p.Outputs, l.r.start, l.r.v, of, link*link*link/6+m*float64(n)*factor)
}

// assembleInput is assemble.
func (s *solver) assembleInput() (ok bool, err error) {
	f, n := s.input, s.n
	duals := n + s.nz
	diag, off := s.identity[:n], s.identity[n:]
	err = s.columns(func(_ *task, w int) {
		s.assembleSparse(f.H[w*len(s.identity):(w+1)*len(s.identity)], w, diag, off)
		c, x, loss := f.C[w*duals:(w+1)*duals], s.column(s.x, w), s.lossOf(w)
		copy(c, x)
		for i, u := range s.p.Class[:s.nz] {
			c[n+i] = loss[i] * x[u]
		}
	})
	if err != nil {
		return false, err
	}
	for i, t := range s.t {
		f.S[n+i], f.Border[n+i] = t/s.z[i], 1
	}
	return f.Factorize(s.ctx, s.o.Workers)
}

// newtonInput is newton, in one solution.
func (s *solver) newtonInput(d *direction, pulled bool, target float64, cross []float64) error {
	n := s.n
	err := s.columns(func(_ *task, w int) {
		h := s.column(s.h, w)
		s.pullOf(h, w, pulled)
		for u, x := range s.column(s.x, w) {
			h[u] *= x
		}
	})
	if err != nil {
		return err
	}
	for u, v := range s.sum {
		s.dualRHS[u] = 1 - v
	}
	rk := 1.0
	for i, z := range s.z[:s.nz] {
		d.t[i] = target / z // t + dt where dz is 0
		if cross != nil {
			d.t[i] -= cross[i] / z
		}
		s.dualRHS[n+i] = s.k - s.loss[i] - d.t[i]
		rk -= z
	}
	d.k, err = s.input.Solve(s.ctx, s.h, s.dualRHS, rk, d.x, s.dual, s.o.Workers)
	for i, x := range s.x {
		d.x[i] *= x
	}
	for u, v := range s.dual[:n] {
		d.y[u] = -v
	}
	for i, v := range s.dual[n:] {
		d.z[i] = v
		d.t[i] -= s.t[i] + s.t[i]/s.z[i]*v
	}
	return err
}
