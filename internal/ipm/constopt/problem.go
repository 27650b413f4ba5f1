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

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// Problem is one program of ConstOPT. Matrices are flat, and neither modified
// nor kept. Nothing is checked: package lp asks for what is well formed.
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

// solver is the state of one solve. Unknowns and rows of all blocks are in
// flat arrays.
type solver struct {
	ctx     context.Context // of one Solve
	p       *Problem
	o       ipm.Settings
	n, m    int
	losses  int       // loss rows
	kappa   []float64 // exp(-d), by output
	blocks  []block
	members [][]int32 // loss rows of every input

	rows []row

	x          []float64 // unknowns
	lambda, s  []float64 // rows
	pull       []float64 // the part of the next lambda that does not depend on dx
	y, q, z, t []float64
	k          float64

	f         []float64 // F', by output: n entries and rows entries
	chol      []float64 // Cholesky factors of the blocks, in units of x
	inverse   []float64
	link      *kkt.Link
	tasks     []task
	sum, loss []float64 // of x
	h         []float64 // right-hand sides, by unknown
	predictor direction
	dir       direction // the one to be taken
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

// newSolver sets up the blocks, as far as the context allows.
func newSolver(ctx context.Context, p *Problem, o ipm.Settings) *solver {
	s := &solver{ctx: ctx, p: p, o: o, n: p.Inputs, m: p.Outputs, losses: len(p.Class)}
	s.members = make([][]int32, s.n)
	for i, c := range p.Class {
		s.members[c] = append(s.members[c], int32(i))
	}
	s.kappa = make([]float64, s.m*s.n)
	s.blocks = make([]block, s.m)
	s.rows = make([]row, 0, int(p.most()))
	unknowns, inverse, chol := 0, 0, 0
	d := make([]float64, s.n)
	for w := 0; w < s.m && ctx.Err() == nil; w++ {
		for u := range d {
			d[u] = s.distance(p.Home[w], u)
			s.kappa[w*s.n+u] = math.Exp(-d[u])
		}
		b := s.newBlock(w, d)
		b.first, b.inverse, b.chol = unknowns, inverse, chol
		s.blocks[w] = b
		unknowns += b.size()
		inverse += len(b.in) * len(b.in)
		chol += b.size() * b.size()
	}
	vec := func(n int) []float64 { return make([]float64, n) }
	n, k := len(s.rows), s.n+s.losses
	s.x, s.h = vec(unknowns), vec(unknowns)
	s.lambda, s.s, s.pull = vec(n), vec(n), vec(n)
	s.y, s.q, s.sum = vec(s.n), vec(s.n), vec(s.n)
	s.z, s.t, s.loss = vec(s.losses), vec(s.losses), vec(s.losses)
	for _, d := range []*direction{&s.predictor, &s.dir} {
		*d = direction{x: vec(unknowns), y: vec(s.n), q: vec(s.n), z: vec(s.losses), t: vec(s.losses)}
	}
	s.inverse, s.chol, s.f, s.cross = vec(inverse), vec(chol), vec(s.m*k), vec(k)
	s.best = Result{Upper: math.Inf(1), X: vec(s.m * s.n)}
	s.link = kkt.NewLink(s.n, s.losses, nil, nil)
	s.tasks = make([]task, (s.m+s.taskSize()-1)/s.taskSize())
	for i := range s.tasks {
		s.tasks[i] = task{sum: vec(s.n), loss: vec(s.losses), column: vec(s.n), proof: newProof(s)}
	}
	return s
}
