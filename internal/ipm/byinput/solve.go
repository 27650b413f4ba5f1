package byinput

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Solve writes the solution for the right-hand sides to x and y, which may not
// be those, and returns k. It refines once. The error is the context's.
func (f *Factor) Solve(ctx context.Context, rx, ry []float64, rk float64, x, y []float64, workers int) (k float64, err error) {
	clear(x)
	clear(y)
	for range 2 {
		// A correction without k, then the k that closes the last equation.
		if err := f.residual(ctx, rx, ry, x, y, k, workers); err != nil {
			return 0, err
		}
		if err := f.apply(ctx, f.restX, f.restY, workers); err != nil {
			return 0, err
		}
		floats.Add(x, f.x)
		floats.Add(y, f.y)
		if f.unit != 0 {
			c := (rk - floats.Dot(f.Border, y)) / f.unit
			k += c
			floats.AddScaled(x, c, f.borderX)
			floats.AddScaled(y, c, f.borderY)
		}
	}
	return k, nil
}

// solveBorder solves for (0, g), which k stands at.
func (f *Factor) solveBorder(ctx context.Context, workers int) error {
	clear(f.restX)
	err := f.apply(ctx, f.restX, f.Border, workers)
	copy(f.borderX, f.x)
	copy(f.borderY, f.y)
	f.unit = floats.Dot(f.Border, f.borderY)
	return err
}

// dualSpan is how many inputs, and multipliers, are one piece of work.
const dualSpan = 1024

// residual sets restX and restY to what x, y and k leave of the right-hand sides.
func (f *Factor) residual(ctx context.Context, rx, ry, x, y []float64, k float64, workers int) error {
	p, duals := f.p, len(f.p.of)
	// rx - H x - C'y, an output at a time,
	err := parallel.Chunks(ctx, p.k, 1, workers, nil, func(w, _, _ int) {
		r, v := f.restX[w*p.n:(w+1)*p.n], x[w*p.n:(w+1)*p.n]
		diag, off := f.block(w)[:p.n], f.block(w)[p.n:]
		copy(r, rx[w*p.n:])
		for u := range r {
			sum, vu := diag[u]*v[u], v[u]
			for i := p.start[u]; i < p.start[u+1]; i++ {
				e := p.ends[i]
				sum += off[i] * v[e]
				r[e] -= off[i] * vu
			}
			r[u] -= sum
		}
		for j, c := range f.C[w*duals : (w+1)*duals] {
			r[p.of[j]] -= c * y[j]
		}
	})
	// and ry - C x + S y + g k.
	return cmp.Or(err, parallel.Chunks(ctx, duals, dualSpan, workers, nil, func(_, lo, hi int) {
		r := f.restY[lo:hi]
		for j := range r {
			r[j] = ry[lo+j] + f.S[lo+j]*y[lo+j] + f.Border[lo+j]*k
		}
		for w := range p.k {
			v := x[w*p.n:]
			for j, c := range f.C[w*duals+lo : w*duals+hi] {
				r[j] -= c * v[p.of[lo+j]]
			}
		}
	}))
}

// apply solves with the factors alone, without k, into f.x and f.y.
func (f *Factor) apply(ctx context.Context, rx, ry []float64, workers int) error {
	p := f.p
	// From the leaves to the roots, then back.
	err := parallel.Chunks(ctx, len(p.tasks), 1, workers, nil, func(c, _, _ int) {
		for i := p.tasks[c][0]; i < p.tasks[c][1] && ctx.Err() == nil; i++ {
			f.forward(&p.nodes[i], rx, ry)
		}
	})
	for _, i := range p.top {
		if ctx.Err() == nil {
			f.forward(&p.nodes[i], rx, ry)
		}
	}
	for at := len(p.top) - 1; at >= 0 && ctx.Err() == nil; at-- {
		f.backward(&p.nodes[p.top[at]])
	}
	return cmp.Or(err, ctx.Err(), parallel.Chunks(ctx, len(p.tasks), 1, workers, nil, func(c, _, _ int) {
		for i := p.tasks[c][1] - 1; i >= p.tasks[c][0] && ctx.Err() == nil; i-- {
			f.backward(&p.nodes[i])
		}
	}), ctx.Err())
}

func (f *Factor) vector(d *node) []float64 { return f.vectors[d.vector : d.vector+d.width] }

// forward solves U'v = r in the rows of d; what that leaves at its border stays in
// its vector, for the parent.
func (f *Factor) forward(d *node, rx, ry []float64) {
	p, v := f.p, f.vector(d)
	clear(v)
	for at, u := range d.inputs {
		for w := range p.k {
			i := w*p.n + int(u)
			v[p.k*at+w] = rx[i] * f.scaleX[i]
		}
	}
	for e, j := range d.duals {
		v[d.x+e] = ry[j] * f.scaleY[j]
	}
	// What the children left at their borders.
	var list []run
	for _, i := range d.children {
		c := &p.nodes[i]
		from := f.vector(c)[c.p:]
		list = p.runs(list, c.border, 0, d)
		for _, r := range list {
			floats.Add(v[r.column:r.column+p.k*r.count], from[p.k*r.from:][:p.k*r.count])
		}
	}
	dense.Forward(d.p, d.width, f.panel(d), v)
}

// backward solves U x = D v in the rows of d, the parent being done.
func (f *Factor) backward(d *node) {
	p, v := f.p, f.vector(d)
	if d.parent >= 0 {
		to := &p.nodes[d.parent]
		from := f.vector(to)
		for _, r := range p.runs(nil, d.border, 0, to) {
			copy(v[d.p+p.k*r.from:], from[r.column:r.column+p.k*r.count])
		}
	}
	floats.Scale(-1, v[d.x:d.p])
	dense.Backward(d.p, d.width, f.panel(d), v)
	for at, u := range d.inputs {
		for w := range p.k {
			i := w*p.n + int(u)
			f.x[i] = v[p.k*at+w] * f.scaleX[i]
		}
	}
	for e, j := range d.duals {
		f.y[j] = v[d.x+e] * f.scaleY[j]
	}
}
