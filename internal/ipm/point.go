package ipm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

// point is where a solve stands: the unknowns of both sides, and what follows from them.
// Arrays over columns are flat: column w of x is x[places[w].first:][:len(places[w].inputs)].
// Engines read it.
type point struct {
	ctx  context.Context // of one Solve
	prob *Problem
	o    Settings
	n, m int
	nz   int // loss rows with a dual of their own, the first ones
	all  *pairs
	ends [][]end // of all

	x       []float64
	y, z, t []float64 // z has a weight for every loss row, t only nz
	k       float64
	mu      float64 // the mean of lambda s/omega before the last step

	places         []place
	parts          []part
	lambda, s, inv []float64 // over the rows of all parts; inv = 1/s
	// pull is the part of the next lambda that does not depend on dx:
	// dlambda = pull - lambda (1 + ds/s). keptPull is that of the best direction so far.
	pull, keptPull []float64

	sum, loss []float64 // of x: over columns, and per loss row
	weight    float64   // of all rows on the central path
	bytes     float64   // as a lazy engine counts them
	tasks     []*task
}

// place is where a column has entries.
type place struct {
	first  int     // how many unknowns are before
	inputs []int32 // of its entries, ascending: all without a Support
	// rows are the loss rows about them, home the entries that those are about.
	rows, home []int32
}

// newPlaces are those of p.
func newPlaces(p *Problem) []place {
	places, at := make([]place, p.Outputs), make([]int32, p.Inputs)
	of := func(inputs []int32) place {
		c := place{inputs: inputs}
		c.find(at)
		for i, u := range p.Class {
			if at[u] >= 0 {
				c.rows, c.home = append(c.rows, int32(i)), append(c.home, at[u])
			}
		}
		return c
	}
	if p.Support == nil {
		all := make([]int32, p.Inputs)
		for u := range all {
			all[u] = int32(u)
		}
		c := of(all)
		for w := range places {
			places[w] = c
			places[w].first = w * p.Inputs
		}
		return places
	}
	first := 0
	for w, inputs := range p.Support {
		places[w] = of(inputs)
		places[w].first = first
		first += len(inputs)
	}
	return places
}

// firstRows are the loss rows below nz.
func (c *place) firstRows(nz int) []int32 {
	k, _ := slices.BinarySearch(c.rows, int32(nz))
	return c.rows[:k]
}

// find writes to at where the place has every input, -1 where it has not.
func (c *place) find(at []int32) {
	for u := range at {
		at[u] = -1
	}
	for i, u := range c.inputs {
		at[u] = int32(i)
	}
}

// newParts are what the columns at the places impose, all of r.
func newParts(p *Problem, r *pairs, places []place) []part {
	parts, at := make([]part, len(places)), make([]int32, r.n)
	for w, c := range places {
		if parts[w].pairs = r; p.Support != nil {
			c.find(at)
			parts[w].pairs = r.within(c.inputs, at)
		}
	}
	return parts
}

// part is what one column imposes.
type part struct {
	*pairs
	index []int32 // of its pairs in the list of all, ascending; nil: the pairs have proofs
	first int     // where its part of arrays over rows begins
	reach float64 // how far the direction can go in it
}

// task is what works on some columns.
type task struct {
	id         int
	lo, hi     int       // the columns
	sum, loss  []float64 // sum_w v_w and sum_w D_w v_w, see addSums
	worst      []float64 // certificate: the least reduced costs at each input
	prices     []float64 // see prove
	plus, less []float64 // see price; between prices, scratch of the engine
	stats      stats
	failed     bool // see factorBlocks
}

// newPoint returns a point of l, and the engine for it. Its numbers are for start to set.
func newPoint(ctx context.Context, l *Plan, o Settings) (*point, engine) {
	q := l.p
	n, m, nz, losses := q.Inputs, q.Outputs, q.duals(), q.losses()
	vec := func(n int) []float64 { return make([]float64, n) }
	places := newPlaces(q)
	last := places[m-1]
	p := &point{
		ctx: ctx, prob: q, o: o, n: n, m: m, nz: nz, all: l.r, ends: l.r.ends(),
		x: vec(last.first + len(last.inputs)), y: vec(n), z: vec(losses), t: vec(nz), sum: vec(n), loss: vec(losses),
		places: places,
		tasks:  make([]*task, tasks(n, m)),
	}
	begin := p.share()
	for i := range p.tasks {
		p.tasks[i] = &task{id: i, lo: begin[i], hi: begin[i+1], sum: vec(n), loss: vec(losses), worst: vec(n), plus: vec(n), less: vec(n)}
	}
	if l.Kind != Lazy {
		p.parts = newParts(q, l.r, places)
	}
	e := l.structure.open(p)
	for _, t := range p.tasks {
		if t.prices == nil {
			t.prices = vec(2 * l.r.len())
		}
	}
	rows := p.layout()
	p.lambda, p.s, p.inv, p.pull, p.keptPull = vec(rows), vec(rows), vec(rows), vec(rows), vec(rows)
	return p, e
}

// layout gives the parts their places in arrays over rows, whose number it returns.
func (p *point) layout() (rows int) {
	p.weight = float64(p.nz)
	for w := range p.parts {
		c := &p.parts[w]
		c.first = rows
		rows += 2 * c.len()
		p.weight += c.sumOmega
	}
	return rows
}

// Columns are worked on in at most mostTasks tasks, of leastColumns and more, in parallel. Each keeps
// sums of its own, up to four matrices, so that they can be added in a fixed order; above manyColumns,
// where only sparse factors fit the memory, there are half as many tasks, and above manyInputs a quarter.
const (
	leastColumns = 4
	mostTasks    = 16
	manyColumns  = 512
	manyInputs   = 2048
)

// tasks is the number of tasks.
func tasks(inputs, outputs int) int {
	most := mostTasks
	if inputs > manyInputs {
		most /= 4
	} else if outputs > manyColumns {
		most /= 2
	}
	return min(most, (outputs+leastColumns-1)/leastColumns)
}

// share returns where the tasks begin, such that the squares of the entries of their columns are about
// as many: inverses and what is added of them take so long.
func (p *point) share() []int {
	work := make([]float64, p.m+1) // of the columns before
	for w, c := range p.places {
		k := float64(len(c.inputs))
		work[w+1] = work[w] + float64(k*k)
	}
	begin := make([]int, len(p.tasks)+1)
	for i := range begin {
		begin[i], _ = slices.BinarySearch(work, work[p.m]*(float64(i)/float64(len(p.tasks))))
	}
	return begin
}

// columns calls f for every column, tasks in parallel. It stops with the
// context's error, after whole columns: a task of a large problem takes seconds.
func (p *point) columns(f func(t *task, w int)) error {
	ctx := p.ctx
	err := parallel.Chunks(ctx, len(p.tasks), 1, p.o.Workers, nil, func(c, _, _ int) {
		t := p.tasks[c]
		for w := t.lo; w < t.hi && ctx.Err() == nil; w++ {
			f(t, w)
		}
	})
	return cmp.Or(err, ctx.Err())
}

// total adds one vector of every task, in order.
func (p *point) total(dst []float64, of func(*task) []float64) {
	clear(dst)
	for _, t := range p.tasks {
		floats.Add(dst, of(t)[:len(dst)])
	}
}

func (p *point) column(v []float64, w int) []float64 {
	c := &p.places[w]
	return v[c.first:][:len(c.inputs)]
}
func (p *point) lossOf(w int) []float64 { r := p.prob.losses(); return p.prob.Loss[w*r : (w+1)*r] }

// weigh adds c D_w z to dst: at each entry the loss of its rows under z, that of the first ones
// or of all.
func (p *point) weigh(dst []float64, w int, z []float64, c float64) {
	loss, at := p.lossOf(w), &p.places[w]
	for k, i := range at.firstRows(len(z)) {
		dst[at.home[k]] += c * loss[i] * z[i]
	}
}

// addSums adds a column v to the sums over columns and, loss by loss, to those
// of the loss rows.
func (p *point) addSums(t *task, w int, v []float64) {
	loss, at := p.lossOf(w), &p.places[w]
	for i, u := range at.inputs {
		t.sum[u] += v[i]
	}
	for k, i := range at.rows {
		t.loss[i] += loss[i] * v[at.home[k]]
	}
}

// clearSums resets the sums of addSums in every task.
func (p *point) clearSums() {
	for _, t := range p.tasks {
		clear(t.sum)
		clear(t.loss)
	}
}

// start sets a point that is strictly feasible on both sides. Column w decays
// as exp(-e/4) from the input that output w serves best, rows normalized: entries of
// neighbors then differ by at most exp(e/2). With a Support it is exp(-.4 e), and the rows
// are normalized with what is outside. On the dual side z is the prior,
// or uniform, and y is negative.
func (p *point) start() error {
	n := p.n
	rate := .25
	if p.prob.Support != nil {
		rate = .4 // rows then lack less of their sums
	}
	norm, value, row := make([]float64, n), make([]float64, n), make([]float64, n)
	for w := range p.m {
		home, least := 0, math.Inf(1)
		for i, l := range p.lossOf(w) {
			if l < least {
				home, least = p.prob.Class[i], l
			}
		}
		row = finite.Row(p.prob.Budget, home, row)
		for u, e := range row {
			value[u] = math.Exp(-rate * min(e, MaxBudget))
			norm[u] += value[u]
		}
		x := p.column(p.x, w)
		for i, u := range p.places[w].inputs {
			x[i] = value[u]
		}
	}
	for w, c := range p.places {
		for i, v := range p.column(p.x, w) {
			p.x[c.first+i] = v / norm[c.inputs[i]]
		}
	}
	for i := range p.nz {
		p.z[i] = 1 / float64(p.nz)
	}
	copy(p.z[p.nz:], p.prob.Prior)
	if err := p.measure(); err != nil {
		return err
	}
	mean, most := 0.0, 0.0
	for i, l := range p.loss {
		mean += p.z[i] * l
		most = max(most, l)
	}
	for u := range p.y {
		p.y[u] = -mean / float64(n)
	}
	p.k = 1.1*most + .1*mean // above all losses
	for i := range p.t {
		p.t[i] = p.k - p.loss[i]
	}
	p.clearPrices()
	return p.columns(func(t *task, w int) {
		p.startRows(w)
		p.price(t, w)
	})
}

// startRows sets the slacks and multipliers of column w. lambda shares g = D_w z - y > 0
// out over the rows of each input by omega, such that G'lambda = g.
func (p *point) startRows(w int) {
	c, x, inputs := p.rows(w), p.column(p.x, w), p.places[w].inputs
	share := make([]float64, c.n) // sum of omega at each entry
	c.each(func(i int32, u, v int) {
		share[u] += c.omega[i]
		share[v] += c.omega[i]
	})
	g := make([]float64, c.n)
	for i, u := range inputs {
		g[i] = -p.y[u]
	}
	p.weigh(g, w, p.z, 1)
	for u := range g {
		g[u] /= share[u]
	}
	c.each(func(i int32, u, v int) {
		// omega (b g[v] + a g[u]) / (b^2 - a^2), with b^2 - a^2 =
		// b^2 (1 - exp(-2e)) that neither cancels nor overflows.
		a, b, e := c.a[i], c.b[i], min(p.prob.Budget.Distance(int(inputs[u]), int(inputs[v])), MaxBudget)
		share := c.omega[i] / -math.Expm1(-2*e) / b
		c.lf[i] = share * (g[v] + a/b*g[u])
		c.lk[i] = share * (g[u] + a/b*g[v])
		c.sf[i], c.sk[i] = b*x[v]-a*x[u], b*x[u]-a*x[v]
		c.rf[i], c.rk[i] = 1/c.sf[i], 1/c.sk[i]
	})
}

// measure computes the row sums and the losses of x.
func (p *point) measure() error {
	p.clearSums()
	err := p.columns(func(t *task, w int) { p.addSums(t, w, p.column(p.x, w)) })
	p.total(p.sum, func(t *task) []float64 { return t.sum })
	p.total(p.loss, func(t *task) []float64 { return t.loss })
	return err
}

// pullOf writes h_w = y - D_w z + G'pull_w, see engine.
func (p *point) pullOf(h []float64, w int, pulled bool) {
	for i, u := range p.places[w].inputs {
		h[i] = p.y[u]
	}
	p.weigh(h, w, p.z, -1)
	if c := p.rows(w); pulled {
		c.transpose(c.pf, c.pk, h)
	}
}

// survey runs f on every column and folds what it added to the stats of its task.
func (p *point) survey(f func(t *task, w int)) (stats, error) {
	for _, t := range p.tasks {
		t.stats = stats{}
	}
	err := p.columns(f)
	all := p.tasks[0].stats
	for _, t := range p.tasks[1:] {
		st := t.stats
		all.least, all.most, all.dual = min(all.least, st.least), max(all.most, st.most), min(all.dual, st.dual)
		all.k0 += st.k0
		all.k1 += st.k1
		all.k2 += st.k2
	}
	return all, err
}
