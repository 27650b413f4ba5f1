package ipm

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/ipm/kkt"
	"github.com/metricdp/metricdp/internal/parallel"
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

	members          [][]int   // loss rows with a dual of their own, by input
	fullProof, fullB []float64 // proof and b of the pairs, as n x n matrices

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
	// way are iterates to start the next round from, due the gap at which to keep
	// the next one, 0 for none; see keep.
	way []*kept
	due float64

	h     []float64 // per column, the right-hand side
	tasks []*task
	link  *kkt.Link
	aff   direction // the predictor
	dir   direction

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

type task struct {
	p, pd, dpd []float64 // sums of P, P D and D P D, see package kkt; nil: see linkSparse
	inverse    []float64
	work       []float64 // as large, for columns with orders of their own
	lossy      []float64 // a row of it, see addInverse
	sum, loss  []float64 // sum_w v_w and sum_w D_w v_w
	worst      []float64 // certificate: the least reduced costs at each input
	plus, less []float64
	stats      stats
}

// part is the structure of one column.
type part struct {
	*pairs          // its privacy rows
	f      *pattern // nil: its factor is the upper triangle of an n x n matrix
	index  []int32  // of its pairs in the list of all, ascending, where that is longer
	// rows and factor are where its part of arrays over rows and of the factors
	// begins.
	rows, factor int
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

// newSolver takes the pairs of p, and the pattern of their factors or nil.
func newSolver(ctx context.Context, p *Problem, o Settings, r *pairs, f *pattern) *solver {
	s := &solver{ctx: ctx, p: p, o: o, r: r, sparse: f, parts: slices.Repeat([]part{{pairs: r, f: f}}, p.Outputs)}
	s.allocate()
	return s
}

// allocate takes the memory for the parts.
func (s *solver) allocate() {
	p := s.p
	s.n, s.m = p.Inputs, p.Outputs
	rowsLen, factorLen := 0, 0
	for w := range s.parts {
		c := &s.parts[w]
		c.rows, c.factor = rowsLen, factorLen
		rowsLen += 2 * c.len()
		factorLen += c.entries()
		s.weight += c.sumOmega
	}
	if s.nz = p.rows(); p.Prior != nil {
		s.nz = 0
	}
	s.fullProof, s.fullB = s.r.matrix(s.r.proof), s.r.matrix(s.r.b)
	s.weight += float64(s.nz)
	s.cross = make([]float64, s.nz)
	s.members = make([][]int, s.n)
	for i, c := range p.Class[:s.nz] {
		s.members[c] = append(s.members[c], i)
	}
	n, m, nz, rows := s.n, s.m, s.nz, p.rows()
	for _, v := range []*[]float64{&s.lambda, &s.s, &s.inv, &s.pull} {
		*v = make([]float64, rowsLen)
	}
	s.chol = make([]float64, factorLen)
	for _, v := range []*[]float64{&s.x, &s.h} {
		*v = make([]float64, m*n)
	}
	s.y, s.z, s.t = make([]float64, n), make([]float64, rows), make([]float64, nz)
	s.sum, s.loss = make([]float64, n), make([]float64, rows)
	for _, d := range []*direction{&s.aff, &s.dir} {
		*d = direction{x: make([]float64, m*n), y: make([]float64, n), z: make([]float64, nz), t: make([]float64, nz)}
	}
	s.tasks = make([]*task, (m+taskColumns(m)-1)/taskColumns(m))
	for i := range s.tasks {
		s.tasks[i] = &task{
			inverse: make([]float64, n*n), lossy: make([]float64, nz),
			sum: make([]float64, n), loss: make([]float64, rows), worst: make([]float64, n), plus: make([]float64, n), less: make([]float64, n),
		}
	}
	for _, t := range s.tasks {
		if s.sparse != nil {
			break
		}
		t.p, t.pd, t.dpd = make([]float64, n*n), make([]float64, n*nz), make([]float64, nz*nz)
		if s.parts[0].f != nil {
			t.work = make([]float64, n*n)
		}
	}
	s.link = kkt.NewLink(n, nz)
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
