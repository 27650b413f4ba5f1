// Package constopt is the interior-point kernel of ConstOPT, in package lp.
//
// ConstOPT (IKWAT22) replaces the column of an output w by few unknowns. With
// d = Budget[Home[w]], its distances to all inputs,
//
//	M[u,w] = Y_w exp(-d[u])      for u outside I(w)
//	M[u,w] = m_a exp(-d[u])      for the a-th u of I(w)
//
// and the privacy rows are those between the m_a, and between each of them and
// Y_w for the inputs outside, the strictest of which is all that counts:
//
//	minimize k
//	m_a <= exp(e(a,b)) m_b                     a, b in I(w) or Y_w   dual lambda
//	sum_w M[u,w] >= 1                          every input           dual y >= 0
//	sum_w (loss[i,w] + Lambda) M[u,w] <= k     every loss row i of u dual z >= 0
//
// A block has 1 + |I(w)| unknowns, Y_w the last. Eliminating it leaves, in the
// linking system of package kkt, the inverse of the block of I(w) and a matrix
// of rank one, one product F F' in all. A block of k inputs costs O(k^3), whose
// inversion does not look at the context: 2 s at k = 3,000.
package constopt

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/lp/internal/ipm"
	"github.com/metricdp/metricdp/lp/internal/ipm/kkt"
)

// Problem is one program of ConstOPT. Matrices are flat, and neither modified
// nor kept.
type Problem struct {
	Inputs, Outputs int
	// Budget[u*Inputs+v] is imposed on the inputs u and v. It is symmetric, > 0
	// off the diagonal and obeys the triangle inequality up to rounding. What
	// passes [ipm.MaxBudget] counts as that.
	Budget []float64
	Home   []int   // the input at which output w stands
	Inside [][]int // the inputs of I(w), ascending, for every output
	// Loss[w*len(Class)+i] >= 0 is the loss of output w in loss row i, and
	// Class[i] the input that row i is about. Every input has a row.
	Loss   []float64
	Class  []int
	Lambda float64 // >= 0
}

// Result is the best that was found on either side.
type Result struct {
	// X[w*Inputs+u] is the column of output w. The privacy rows hold up to
	// rounding; the least row sum is 1.
	X []float64
	// Upper is the objective of X, Lambda included, in plain float64; Lower is
	// a bound of the program's optimum that does not rest on convergence.
	Upper, Lower float64
	Iterations   int
	Status       ipm.Status
}

// pinned is the room below which an unknown counts as determined, because
// rounding of large budgets hides it and multipliers grow as 1/room. Its input
// is then treated as outside, which is a restriction: the channel stays
// private.
const pinned = 1e-7

// block is the program of one output: unknowns atom..atom+len(in) or one less
// where no input is outside, rows row..end.
type block struct {
	in       []int32 // inputs of the unknowns but Y
	outside  bool    // there is a Y, after those
	atom     int     // first unknown
	row, end int
	inverse  int // first entry of the inverse of the block of in
	chol     int // first entry of the factor
}

func (b *block) size() int {
	if b.outside {
		return len(b.in) + 1
	}
	return len(b.in)
}

// solver is the state of one solve. Unknowns and rows of all blocks are in
// flat arrays. A row (p, q) is s = beta m_q - alpha m_p >= 0.
type solver struct {
	ctx        context.Context // of one Solve
	p          *Problem
	o          ipm.Settings
	n, m, rows int
	kappa      []float64 // exp(-d), by output
	blocks     []block
	members    [][]int32 // loss rows of every input

	from, to    []int32 // unknowns of a row, within its block
	alpha, beta []float64
	budget      []float64 // beta = exp(budget/2)

	x          []float64 // unknowns
	lambda, s  []float64 // rows
	pull       []float64 // see [solver]
	y, q, z, t []float64
	k          float64

	f         []float64 // F', by output: n entries and rows entries
	chol      []float64 // Cholesky factors of the blocks, in units of x
	inverse   []float64
	link      *kkt.Link
	tasks     []task
	sum, loss []float64 // of x
	h         []float64 // right-hand sides, by unknown
	aff, dir  direction
	cross     []float64 // second-order terms of y q, then of z t
	best      Result
}

type direction struct {
	x, y, q, z, t []float64
	k             float64
}

// task is what one group of outputs adds up.
type task struct {
	sum, loss []float64
	column    []float64 // scratch
	proof     *proof
	excess    float64 // certificate: see [proof.excess]
	stats     stats
}

// Bytes bounds the memory that [Solve] takes: F and matrices, for every block
// of k unknowns at most k^2 rows of eight numbers, a factor and an inverse, and
// vectors.
func (p *Problem) Bytes() float64 {
	n, m, size := float64(p.Inputs), float64(p.Outputs), float64(p.Inputs+len(p.Class))
	return float64(8 * (m*(2*n+size) + 2*size*size + 9*p.most() + 100*size))
}

func (p *Problem) most() float64 {
	rows := 0.0
	for _, in := range p.Inside {
		k := float64(len(in) + 1)
		rows += k * k
	}
	return rows
}

func (p *Problem) check() error {
	const op = "constopt: Solve"
	n := p.Inputs
	if n < 1 || p.Outputs < 1 {
		return &fault.SizeError{Op: op, Arg: "Inputs", Got: n, Want: "at least 1, and an output"}
	}
	if len(p.Budget) != n*n || len(p.Home) != p.Outputs || len(p.Inside) != p.Outputs || len(p.Loss) != p.Outputs*len(p.Class) {
		return &fault.SizeError{Op: op, Arg: "Budget, Home, Inside or Loss", Got: len(p.Loss), Want: "the sizes of the problem"}
	}
	return nil
}

// Solve runs the interior point method on p, or until the context is done: X is
// 0 if that was before the start.
func Solve(ctx context.Context, p *Problem, o ipm.Settings) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := newSolver(ctx, p, o)
	s.best.Status = ipm.Interrupted
	if s.start() == nil {
		s.record()
		s.best.Status = s.iterate()
	}
	return &s.best, nil
}

// newSolver sets up the blocks, as far as the context allows.
func newSolver(ctx context.Context, p *Problem, o ipm.Settings) *solver {
	s := &solver{ctx: ctx, p: p, o: o, n: p.Inputs, m: p.Outputs, rows: len(p.Class)}
	s.members = make([][]int32, s.n)
	for i, c := range p.Class {
		s.members[c] = append(s.members[c], int32(i))
	}
	s.kappa = make([]float64, s.m*s.n)
	s.blocks = make([]block, s.m)
	most := int(p.most())
	s.from, s.to = make([]int32, 0, most), make([]int32, 0, most)
	s.alpha, s.beta, s.budget = make([]float64, 0, most), make([]float64, 0, most), make([]float64, 0, most)
	atoms, inverse, chol := 0, 0, 0
	d := make([]float64, s.n)
	for w := 0; w < s.m && ctx.Err() == nil; w++ {
		for u := range d {
			d[u] = s.distance(p.Home[w], u)
			s.kappa[w*s.n+u] = math.Exp(-d[u])
		}
		b := s.newBlock(w, d)
		b.atom, b.inverse, b.chol = atoms, inverse, chol
		s.blocks[w] = b
		atoms += b.size()
		inverse += len(b.in) * len(b.in)
		chol += b.size() * b.size()
	}
	for _, v := range []*[]float64{&s.x, &s.h, &s.aff.x, &s.dir.x} {
		*v = make([]float64, atoms)
	}
	for _, v := range []*[]float64{&s.lambda, &s.s, &s.pull} {
		*v = make([]float64, len(s.alpha))
	}
	for _, v := range []*[]float64{&s.y, &s.q, &s.sum, &s.aff.y, &s.aff.q, &s.dir.y, &s.dir.q} {
		*v = make([]float64, s.n)
	}
	for _, v := range []*[]float64{&s.z, &s.t, &s.loss, &s.aff.z, &s.aff.t, &s.dir.z, &s.dir.t} {
		*v = make([]float64, s.rows)
	}
	s.cross = make([]float64, s.n+s.rows)
	s.inverse, s.chol = make([]float64, inverse), make([]float64, chol)
	s.f = make([]float64, s.m*(s.n+s.rows))
	s.best = Result{Upper: math.Inf(1), X: make([]float64, s.m*s.n)}
	s.link = kkt.NewLink(s.n, s.rows)
	s.tasks = make([]task, (s.m+s.taskSize()-1)/s.taskSize())
	for i := range s.tasks {
		s.tasks[i] = task{sum: make([]float64, s.n), loss: make([]float64, s.rows), column: make([]float64, s.n), proof: newProof(s)}
	}
	return s
}

func (s *solver) distance(u, v int) float64 {
	return min(s.p.Budget[u*s.n+v], ipm.MaxBudget)
}

// newBlock lists the unknowns of output w at the distances d, and appends its
// rows. In units of exp(-d) the budget of a row (p, q) is
//
//	e(a,b) + d[a] - d[b]                        a, b inside
//	min over v outside of e(a,v) + d[a] - d[v]  from a to Y
//	min over v outside of e(a,v) - d[a] + d[v]  from Y to a
//
// all >= 0, since d itself, all unknowns 1, is private.
func (s *solver) newBlock(w int, d []float64) block {
	outside := make([]bool, s.n)
	for u := range outside {
		outside[u] = true
	}
	for _, u := range s.p.Inside[w] {
		outside[u] = false
	}
	up, down := make([]float64, s.n), make([]float64, s.n)
	lower := func(u, v int) { // v is outside
		e := s.distance(u, v)
		up[u], down[u] = min(up[u], e+d[u]-d[v]), min(down[u], e-d[u]+d[v])
	}
	in := make([]int32, 0, len(s.p.Inside[w]))
	for _, u := range s.p.Inside[w] {
		up[u], down[u] = math.Inf(1), math.Inf(1)
		for v := range s.n {
			if outside[v] {
				lower(u, v)
			}
		}
		in = append(in, int32(u))
	}
	for again := true; again; { // an input that is pinned may pin others
		again = false
		for k, u := range in {
			if up[u]+down[u] >= pinned {
				continue
			}
			in, outside[u] = slices.Delete(in, k, k+1), true
			for _, a := range in {
				lower(int(a), int(u))
			}
			again = true
			break
		}
	}
	b := block{in: in, outside: len(in) < s.n, row: len(s.alpha)}
	for i, u := range in {
		for j, v := range in[:i] {
			e := s.distance(int(u), int(v))
			s.addRow(j, i, e+d[v]-d[u])
			s.addRow(i, j, e+d[u]-d[v])
		}
	}
	if b.outside {
		for i, u := range in {
			s.addRow(i, len(in), up[u])
			s.addRow(len(in), i, down[u])
		}
	}
	if b.size() == 1 { // the only row is m >= 0
		s.from, s.to = append(s.from, 0), append(s.to, 0)
		s.alpha, s.beta, s.budget = append(s.alpha, 0), append(s.beta, 1), append(s.budget, 0)
	}
	b.end = len(s.alpha)
	return b
}

// addRow appends the row (p, q) of budget e. What rounding made negative is 0.
func (s *solver) addRow(p, q int, e float64) {
	e = max(0, e)
	s.from, s.to, s.budget = append(s.from, int32(p)), append(s.to, int32(q)), append(s.budget, e)
	s.alpha, s.beta = append(s.alpha, math.Exp(-e/2)), append(s.beta, math.Exp(e/2))
}
