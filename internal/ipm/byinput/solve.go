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
	p, duals := f.p, len(f.p.Of)
	// rx - H x - C'y, an output at a time,
	err := parallel.Chunks(ctx, len(p.Columns), 1, workers, nil, func(w, _, _ int) {
		c, r, v := &p.Columns[w], f.column(f.restX, w), f.column(x, w)
		diag, off := f.Block(w)[:len(v)], f.Block(w)[len(v):]
		copy(r, f.column(rx, w))
		for i, d := range diag {
			r[i] -= d * v[i]
		}
		for i, pair := range c.Pairs {
			a, b, h := pair[0], pair[1], off[i]
			r[a] -= h * v[b]
			r[b] -= h * v[a]
		}
		for i, t := range f.Ties(w) {
			r[c.At[i]] -= t * y[c.Duals[i]]
		}
	})
	// and ry - C x + S y + g k.
	return cmp.Or(err, parallel.Chunks(ctx, duals, dualSpan, workers, nil, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			r := ry[j] + f.S[j]*y[j] + f.Border[j]*k
			for i, q := range p.unknowns[p.Of[j]] {
				r -= f.C[p.entries[j][i]] * x[q]
			}
			f.restY[j] = r
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
	at := 0
	for _, u := range d.inputs {
		for _, q := range p.unknowns[u] {
			v[at] = rx[q] * f.scaleX[q]
			at++
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
		list = p.runs(list, c, 0, d)
		for _, r := range list {
			floats.Add(v[r.column:r.column+r.count], from[r.from:][:r.count])
		}
	}
	dense.Forward(d.p, d.width, f.panel(d), nil, v)
}

// backward solves U x = D v in the rows of d, the parent being done.
func (f *Factor) backward(d *node) {
	p, v := f.p, f.vector(d)
	if d.parent >= 0 {
		to := &p.nodes[d.parent]
		from := f.vector(to)
		for _, r := range p.runs(nil, d, 0, to) {
			copy(v[d.p+r.from:], from[r.column:r.column+r.count])
		}
	}
	floats.Scale(-1, v[d.x:d.p])
	dense.Backward(d.p, d.width, f.panel(d), nil, v)
	at := 0
	for _, u := range d.inputs {
		for _, q := range p.unknowns[u] {
			f.x[q] = v[at] * f.scaleX[q]
			at++
		}
	}
	for e, j := range d.duals {
		f.y[j] = v[d.x+e] * f.scaleY[j]
	}
}
