package ipm

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/lp/internal/ipm/byinput"
	"github.com/metricdp/metricdp/lp/internal/ipm/kkt"
)

// solver is the state of one solve. Arrays over columns are flat: column w of
// x is x[w*n:(w+1)*n], its rows are at [w*rowLen, (w+1)*rowLen).
type solver struct {
	ctx  context.Context // of one Solve
	p    *Problem
	o    Settings
	n, m int
	nz   int // loss rows with a dual of their own: none where a prior is given
	r    *pairs

	members [][]int // loss rows with a dual of their own, by input
	ends    [][]end // of r

	x       []float64
	y, z, t []float64 // z has a weight for every loss row, t only nz
	k       float64

	lambda, s, inv []float64 // over all rows of all columns; inv = 1/s
	// pull is the part of the next lambda that does not depend on dx:
	// dlambda = pull - lambda (1 + ds/s).
	pull   []float64
	chol   []float64 // per column, the Cholesky factor of its block
	parts  []part
	sparse *pattern // nil: the columns do not have one in common
	lazy   bool
	mu     float64 // the mean of lambda s/omega before the last step

	h     []float64 // per column, the right-hand side
	tasks []*task
	link  *kkt.Link
	// input, where not nil, is in place of link, chol and sparse; see input.go.
	input         *byinput.Factor
	dual, dualRHS []float64
	identity      []int32   // see assembleInput
	aff           direction // the predictor
	dir           direction
	kept          kept // the best of s.dir, see aimed

	cross []float64 // second order terms of z t

	sum, loss []float64 // of x: over columns, and per loss row
	weight    float64   // of all rows on the central path
	best      Result
}

// direction is one Newton direction.
type direction struct {
	x, y, z, t []float64
	k          float64
}

func (d *direction) copy(from *direction) {
	copy(d.x, from.x)
	copy(d.y, from.y)
	copy(d.z, from.z)
	copy(d.t, from.t)
	d.k = from.k
}

// kept is a direction with the pull that it is for.
type kept struct {
	direction
	pull []float64
}

func (k *kept) copy(d *direction, pull []float64) {
	k.direction.copy(d)
	k.pull = append(k.pull[:0], pull...)
}

type task struct {
	p, pd, dpd []float64 // sums of P, P D and D P D, see package kkt; nil: see linkSparse
	inverse    []float64
	work       []float64 // as large, for columns with orders of their own
	lossy      []float64 // a row of it, see addInverse
	sum, loss  []float64 // sum_w v_w and sum_w D_w v_w
	worst      []float64 // certificate: the least reduced costs at each input
	prices     []float64 // see prove
	plus, less []float64
	next       []int32 // see cholesky
	symbolic   symbolic
	stats      stats
	margins    []worst // see watch: from every input, then to it
}

// part is the structure of one column.
type part struct {
	*pairs          // its privacy rows
	f      *pattern // nil: its factor is the upper triangle of an n x n matrix
	index  []int32  // of its pairs in the list of all, ascending, where that is longer
	// rows and factor are where its part of arrays over rows and of the factors
	// begins.
	rows, factor int
	reach        float64 // how far s.dir can go in it
	wanted       []int32 // pairs to be imposed, see lazy.go
	ordered      int     // how many there were when their order was chosen
	shared       bool    // pairs, f and index are those of all columns
}

// entries is the size of its factor.
func (c *part) entries() int {
	if c.f == nil {
		return c.n * c.n
	}
	return len(c.f.row)
}

func (s *solver) factorOf(w int) []float64 {
	c := &s.parts[w]
	return s.chol[c.factor : c.factor+c.entries()]
}

func newSolver(ctx context.Context, l *Plan, o Settings) *solver {
	first := part{pairs: l.r, f: l.f}
	if l.first != nil {
		first = *l.first
		first.shared = true
	}
	s := &solver{ctx: ctx, p: l.p, o: o, r: l.r, sparse: l.f, lazy: l.Lazy(), parts: slices.Repeat([]part{first}, l.p.Outputs)}
	if l.input != nil {
		s.input = l.input.New()
	}
	s.allocate()
	return s
}

// allocate takes the memory for the parts.
func (s *solver) allocate() {
	p := s.p
	s.n, s.m = p.Inputs, p.Outputs
	if s.nz = p.rows(); p.Prior != nil {
		s.nz = 0
	}
	s.layout()
	s.ends = s.r.ends()
	s.cross = make([]float64, s.nz)
	s.members = make([][]int, s.n)
	for i, c := range p.Class[:s.nz] {
		s.members[c] = append(s.members[c], i)
	}
	n, m, nz, rows := s.n, s.m, s.nz, p.rows()
	for _, v := range []*[]float64{&s.x, &s.h} {
		*v = make([]float64, m*n)
	}
	s.y, s.z, s.t = make([]float64, n), make([]float64, rows), make([]float64, nz)
	s.sum, s.loss = make([]float64, n), make([]float64, rows)
	for _, d := range []*direction{&s.aff, &s.dir, &s.kept.direction} {
		*d = direction{x: make([]float64, m*n), y: make([]float64, n), z: make([]float64, nz), t: make([]float64, nz)}
	}
	s.tasks = make([]*task, (m+taskColumns(m)-1)/taskColumns(m))
	for i := range s.tasks {
		s.tasks[i] = &task{
			lossy: make([]float64, nz),
			sum:   make([]float64, n), loss: make([]float64, rows), worst: make([]float64, n), plus: make([]float64, n), less: make([]float64, n),
			next: make([]int32, n),
		}
	}
	for _, t := range s.tasks {
		if s.sparse != nil || s.input != nil {
			t.prices = make([]float64, 2*s.r.len())
			continue
		}
		t.inverse = make([]float64, n*n)
		t.prices = t.inverse[:2*s.r.len()] // one is done when the other begins
		t.p, t.pd, t.dpd = make([]float64, n*n), make([]float64, n*nz), make([]float64, nz*nz)
		if s.parts[0].f != nil {
			t.work = make([]float64, n*n)
		}
		if s.lazy {
			t.margins = make([]worst, 2*n)
		}
	}
	if s.input == nil {
		s.link = kkt.NewLink(n, nz)
		return
	}
	s.dual, s.dualRHS, s.identity = make([]float64, n+nz), make([]float64, n+nz), make([]int32, n+s.r.len())
	for i := range s.identity {
		s.identity[i] = int32(i)
	}
}

// layout takes the memory for the rows and factors of the parts. What there is of multipliers
// and slacks is kept, at its place.
func (s *solver) layout() {
	rows, factors := 0, 0
	s.weight = float64(s.nz)
	for w := range s.parts {
		c := &s.parts[w]
		c.rows, c.factor = rows, factors
		rows += 2 * c.len()
		if s.input == nil {
			factors += c.entries()
		}
		s.weight += c.sumOmega
	}
	if rows > cap(s.lambda) || factors > cap(s.chol) {
		s.reallocate(rows, factors)
	}
	s.lambda, s.s, s.inv, s.pull, s.chol = s.lambda[:rows], s.s[:rows], s.inv[:rows], s.pull[:rows], s.chol[:factors]
}

// slack is the part of the arrays of a lazy solve that is left for more pairs, as a
// divisor.
const slack = 8

// reallocate takes memory for so many rows and entries of factors, and keeps the
// multipliers and slacks. What the columns and it have replaced is collected at once:
// the runtime would let that become as large as what there is.
func (s *solver) reallocate(rows, factors int) {
	if s.lazy {
		rows += rows / slack
		factors += factors / slack
	}
	again := s.lambda != nil
	s.inv, s.pull, s.kept.pull, s.chol = nil, nil, nil, nil
	for _, v := range []*[]float64{&s.lambda, &s.s} {
		if again {
			runtime.GC()
		}
		*v = append(make([]float64, 0, rows), *v...)
	}
	if again {
		runtime.GC()
	}
	s.inv, s.pull, s.kept.pull, s.chol = make([]float64, rows), make([]float64, rows), make([]float64, 0, rows), make([]float64, factors)
}

// columns calls f for every column, tasks in parallel. It stops with the
// context's error, after whole columns: a task of a large problem takes seconds.
func (s *solver) columns(f func(t *task, w int)) error {
	ctx := s.ctx
	err := parallel.Chunks(ctx, s.m, taskColumns(s.m), s.o.Workers, nil, func(c, lo, hi int) {
		for w := lo; w < hi && ctx.Err() == nil; w++ {
			f(s.tasks[c], w)
		}
	})
	return cmp.Or(err, ctx.Err())
}

// total adds one vector of every task, in order.
func (s *solver) total(dst []float64, of func(*task) []float64) {
	clear(dst)
	for _, t := range s.tasks {
		floats.Add(dst, of(t))
	}
}

func (s *solver) column(v []float64, w int) []float64 { return v[w*s.n : (w+1)*s.n] }
func (s *solver) lossOf(w int) []float64              { r := s.p.rows(); return s.p.Loss[w*r : (w+1)*r] }

// weigh adds c D_w z to dst: at each input the loss of its rows under z.
func (s *solver) weigh(dst []float64, w int, z []float64, c float64) {
	loss := s.lossOf(w)
	for i, v := range z {
		dst[s.p.Class[i]] += c * loss[i] * v
	}
}

// addSums adds a column v to the sums over columns and, loss by loss, to those
// of the loss rows.
func (s *solver) addSums(t *task, w int, v []float64) {
	for u, x := range v {
		t.sum[u] += x
	}
	for i, l := range s.lossOf(w) {
		t.loss[i] += l * v[s.p.Class[i]]
	}
}

// clearSums resets the sums of addSums in every task.
func (s *solver) clearSums() {
	for _, t := range s.tasks {
		clear(t.sum)
		clear(t.loss)
	}
}

// start sets a point that is strictly feasible on both sides. Column w decays
// as exp(-e/4) from the input that output w serves best, rows normalized:
// entries of neighbors then differ by at most exp(e/2). On the dual side y is
// negative and lambda shares g_w = D_w z - y > 0 out over the rows such that
// G'lambda_w = g_w.
func (s *solver) start() error {
	n, rows := s.n, s.p.rows()
	norm := make([]float64, n)
	for w := range s.m {
		home, least := 0, math.Inf(1)
		for i, l := range s.lossOf(w) {
			if l < least {
				home, least = s.p.Class[i], l
			}
		}
		x := s.column(s.x, w)
		for u := range x {
			x[u] = math.Exp(-min(s.p.Budget[home*n+u], MaxBudget) / 4)
			norm[u] += x[u]
		}
	}
	for i := range s.x {
		s.x[i] /= norm[i%n]
	}
	for i := range s.z {
		s.z[i] = 1 / float64(rows)
	}
	if s.nz == 0 {
		copy(s.z, s.p.Prior)
	}
	if err := s.measure(); err != nil {
		return err
	}
	mean, most := 0.0, 0.0
	for i, l := range s.loss {
		mean += s.z[i] * l
		most = max(most, l)
	}
	for u := range s.y {
		s.y[u] = -mean / float64(n)
	}
	s.k = 1.1*most + .1*mean
	for i := range s.t {
		s.t[i] = s.k - s.loss[i]
	}

	s.clearPrices()
	return s.columns(func(t *task, w int) {
		c, x := s.view(w), s.column(s.x, w)
		share := make([]float64, n) // sum of omega at each input
		c.each(func(i int32, u, v int) {
			share[u] += c.omega[i]
			share[v] += c.omega[i]
		})
		g := slices.Clone(s.y)
		for u := range g {
			g[u] = -g[u]
		}
		s.weigh(g, w, s.z, 1)
		for u := range g {
			g[u] /= share[u]
		}
		c.each(func(i int32, u, v int) {
			// omega (b g[v] + a g[u]) / (b^2 - a^2), with b^2 - a^2 =
			// b^2 (1 - exp(-2e)) that neither cancels nor overflows.
			a, b, e := c.a[i], c.b[i], min(s.p.Budget[u*n+v], MaxBudget)
			share := c.omega[i] / -math.Expm1(-2*e) / b
			c.lf[i] = share * (g[v] + a/b*g[u])
			c.lk[i] = share * (g[u] + a/b*g[v])
			c.sf[i], c.sk[i] = b*x[v]-a*x[u], b*x[u]-a*x[v]
			c.rf[i], c.rk[i] = 1/c.sf[i], 1/c.sk[i]
		})
		s.price(t, w)
	})
}

// measure computes the row sums and the losses of x.
func (s *solver) measure() error {
	s.clearSums()
	err := s.columns(func(t *task, w int) { s.addSums(t, w, s.column(s.x, w)) })
	s.total(s.sum, func(t *task) []float64 { return t.sum })
	s.total(s.loss, func(t *task) []float64 { return t.loss })
	return err
}
