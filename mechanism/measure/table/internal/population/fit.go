package population

import (
	"context"
	"math"
	"slices"
)

const (
	last = 5  // sweeps that fit
	firm = 3. // what a row too many takes from the logarithm of the weight of a column's bin
	soft = .3 // and from that of a table's cell
)

// fit is a sweep that draws one row after another, with weights that fall by a little with
// every row that a cell has more than its target. It is a sweep of the law of rows that have
// the same potentials and, in addition, counts near the targets: those of a column, and for
// the cells of tables what the population counted in the mean and their noisy counts say
// together. Without it, counts of cells err by the roots of their numbers of rows.
func (p *Population) fit(ctx context.Context) error {
	for _, j := range p.order() {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.fitColumn(j)
	}
	return nil
}

func (p *Population) fitColumn(j int) {
	c, w, z := p.conditional(j), p.weight(), p.z[j]
	own := pulled{c.base, slices.Clone(c.base), p.single(j), firm}
	for a := range own.over {
		own.over[a] -= p.margins[j][a] / w
		own.change(a, 0)
	}
	tables := make([]pulled, len(c.views))
	for i := range c.views {
		v := &c.views[i]
		t := pulled{v.weights, slices.Clone(v.weights), make([]float64, len(v.weights)), soft}
		n := p.count(v.f.Grid)
		for o := range t.over {
			size := v.f.Sizes[v.at]
			cell := v.f.cell(v.at, o%size, o/size)
			mean := v.f.mean[cell]
			t.over[o] = float64(n[cell]) - max(mean+v.f.lacks(cell, mean), 0)/w
			t.change(o, 0)
		}
		tables[i] = t
	}
	change := func(r int, by float64) {
		a := int(z[r])
		own.change(a, by)
		for i := range c.views {
			v := &c.views[i]
			tables[i].change(int(v.begin[v.other[r]])+int(v.groups[a]), by)
		}
	}
	q := make([]float64, p.bins[j])
	may := p.asker()
	for _, r := range p.rng.Perm(len(z)) {
		change(r, -1)
		c.weigh(q, r)
		if a := draw(p.rng, q, func(a int) bool { return may(j, r, a) }); a >= 0 {
			z[r] = uint8(a)
		}
		change(r, 1)
	}
}

// pulled is weights that are those of the model where cells have no row too many.
type pulled struct {
	weights, model, over []float64
	stiff                float64
}

func (p *pulled) change(o int, by float64) {
	p.over[o] += by
	p.weights[o] = p.model[o] * math.Exp(min(max(-p.stiff*p.over[o], -20), 20))
}
