package wasserstein

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/wasserstein/internal/prices"
	"github.com/metricdp/metricdp/wasserstein/internal/simplex"
)

// cell is a set of points that stand together for a source or a sink, at its
// center. Points are numbered as in the space of the solver.
type cell struct {
	center   int32
	src, dst []int32 // in the order of places
	excess   exact.DD
	inbox    []shipment
}

// shipment is mass that source i sends to a cell.
type shipment struct {
	i    int32
	mass float64
}

// solveCells is solve with the points gathered in count cells: mass stays in a cell
// as far as it can, the rest moves between the centers at least cost.
func (t *transport) solveCells(ctx context.Context, count int) (*Result, error) {
	space := t.places.among(&t.src, &t.dst)
	n := int32(len(t.src.at))
	mass := make([]float64, space.Len())
	for i, w := range t.src.mass {
		mass[i] = w.Hi
	}
	for j, w := range t.dst.mass {
		mass[int(n)+j] = w.Hi
	}
	var cells []cell
	var from, to []int32 // cells with mass to send, and with room
	for k, c := range space.Cells(count, mass) {
		x := newCell(c, n, mass)
		if x.excess.Hi > 0 {
			from = append(from, int32(k))
		} else if x.excess.Hi < 0 {
			to = append(to, int32(k))
		}
		cells = append(cells, x)
	}
	var u []float64
	v := make([]float64, len(t.nu))
	b := &simplex.Basis{}
	if len(from) > 0 && len(to) > 0 {
		p := &simplex.Problem{Workers: t.opt.Workers}
		var ids []int32
		for _, k := range from {
			ids, p.Src = append(ids, cells[k].center), append(p.Src, cells[k].excess)
		}
		for _, k := range to {
			ids, p.Dst = append(ids, cells[k].center), append(p.Dst, cells[k].excess.Neg())
		}
		p.Space = space.Subset(ids)
		var err error
		if b, err = simplex.Solve(ctx, p); err != nil {
			return nil, err
		}
		if u, err = t.spread(ctx, p.Space, b, v); err != nil {
			return nil, err
		}
	}
	plan := slices.Clone(t.plan)
	carryOut(cells, mass, func(send func(k int, to int32, mass float64)) {
		b.Flows(func(i, j int, mass float64) { send(int(from[i]), to[j], mass) })
	}, func(i, j int32, mass float64) {
		plan = append(plan, Flow{I: t.src.at[i], J: t.dst.at[j-n], Mass: mass})
	})
	r, err := t.prove(ctx, plan, u, v, t.places.space.Diameter())
	if err == nil {
		r.Pivots, r.Passes = b.Pivots, b.Passes
	}
	return r, err
}

// spread sets v to the potentials of all sinks that go with those of the centers that send, F(y) =
// min over r of d(r,y) - u_r, and returns -F for the sources: F(y) - F(x) <= d(r,y) - d(r,x) <=
// d(x,y) for the center r that F(x) is about. F is rounded down for the sinks and up for the
// sources, where it is less by what rounding may take off the inequality. nil stands for the best.
func (t *transport) spread(ctx context.Context, centers *prices.Space, b *simplex.Basis, v []float64) (u []float64, err error) {
	w := prices.None(centers.Len())
	for k := range b.Sources() {
		w[k] = b.U(k)
	}
	p, all := centers.NewPrices(w), t.places.space
	if err := p.Slacks(ctx, all, t.places.first, v, t.opt.Workers); err != nil {
		return nil, err
	}
	margin := all.Margin()
	if math.IsInf(margin, 1) {
		return nil, nil
	}
	u = make([]float64, len(t.mu))
	err = p.Slacks(ctx, all, 0, u, t.opt.Workers)
	for i, f := range u {
		u[i] = -directed.AddUp(directed.Next(f), margin)
	}
	return u, err
}

func newCell(c prices.Cell, n int32, mass []float64) cell {
	x := cell{center: c.Center}
	for _, id := range c.IDs {
		if id < n {
			x.src, x.excess = append(x.src, id), x.excess.AddFloat(mass[id])
		} else {
			x.dst, x.excess = append(x.dst, id), x.excess.AddFloat(-mass[id])
		}
	}
	return x
}

// carryOut calls move with what the points move when the cells send what flows
// tells: each cell keeps what it has use for, and points give and take in the
// order of their places. It uses up mass.
func carryOut(cells []cell, mass []float64, flows func(send func(k int, to int32, mass float64)), move func(i, j int32, mass float64)) {
	send := func(k int, to int32, w float64) {
		c := &cells[k]
		for w > 0 && len(c.src) > 0 {
			i := c.src[0]
			part := min(w, mass[i])
			cells[to].inbox = append(cells[to].inbox, shipment{i, part})
			w -= part
			if mass[i] -= part; mass[i] <= 0 {
				c.src = c.src[1:]
			}
		}
	}
	flows(send)
	for k := range cells {
		for _, i := range cells[k].src {
			cells[k].inbox = append(cells[k].inbox, shipment{i, mass[i]})
		}
	}
	for k := range cells {
		c := &cells[k]
		for _, s := range c.inbox {
			for s.mass > 0 && len(c.dst) > 0 {
				j := c.dst[0]
				part := min(s.mass, mass[j])
				move(s.i, j, part)
				s.mass -= part
				if mass[j] -= part; mass[j] <= 0 {
					c.dst = c.dst[1:]
				}
			}
		}
	}
}
