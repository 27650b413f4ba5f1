// Package ipm is the interior-point kernel behind the optimal mechanisms of
// package lp.
//
// # The program
//
// Inputs u, outputs w, and for every output the column x_w = M[., w] of the
// channel. With e(u,v) the privacy budget alpha*rho1(u,v):
//
//	minimize k
//	s = b x_w[v] - a x_w[u] >= 0     every w and ordered pair u, v       dual lambda
//	sum_w x_w = 1                                                        dual y
//	t = k - sum_w loss_w x_w >= 0    every loss row                      dual z
//
// with b = exp(e/2) and a = exp(-e/2), so that a row reads x_w[u] <= exp(e)
// x_w[v] in a scaling that treats both sides alike. The rows imply x >= 0 from
// two inputs on. Where a prior is given z is that prior, fixed, and k and t
// drop out.
//
// # The method
//
// Primal-dual predictor-corrector steps from a start that is strictly feasible
// on both sides. Eliminating the columns block by block leaves a linear system
// in dy and dz only (package kkt). Rows that shorter pairs imply are left out
// (pairs.go), and where few remain the blocks have sparse factors (sparse.go).
// Large problems with many rows add them as they are broken (lazy.go), each
// solve starting from the last (warm.go). In units of x every number is a
// ratio, so budgets of some hundreds neither overflow nor underflow.
//
// # What is promised
//
// Result.Lower is a lower bound of the optimum that does not rest on the
// convergence of anything (certificate.go). Result.X is near feasible: the
// caller repairs and audits it.
package ipm

import (
	"math"

	"github.com/metricdp/metricdp/internal/fault"
)

// MaxBudget is the largest budget imposed on a pair: entries of a column then
// differ by at most exp(600) = 1e260, and their quotients and the duals stay
// well within the range of float64. A larger budget is imposed as 600, which is
// stricter and costs a loss of about exp(-600); the certificate uses the true
// one.
const MaxBudget = 600

// Problem is one program. Matrices are flat, and neither modified nor kept.
type Problem struct {
	Inputs, Outputs int // Inputs >= 2
	// Budget[u*Inputs+v] > 0 is imposed on the pair u, v, and Ceiling is at
	// least the budget of the problem that Lower speaks of: Budget <= Ceiling.
	// Both are symmetric and obey the triangle inequality.
	Budget, Ceiling []float64
	// Loss[w*len(Class)+i] >= 0 is the loss of output w in loss row i, and
	// Class[i] the input that row i is about. Every input has a row.
	Loss  []float64
	Class []int
	// Prior, where not nil, weighs the loss rows: their mean is minimized in
	// place of the largest.
	Prior []float64
}

// Settings tune Solve.
type Settings struct {
	Tolerance float64 // relative gap at which to stop
	Workers   int     // 0: all processors; results do not depend on it
	// Progress is called after every iteration with the bounds so far.
	Progress func(iteration int, upper, lower float64)
}

// Status says why Solve stopped.
type Status int

// The reasons.
const (
	Converged   Status = iota // the gap reached the tolerance
	Stalled                   // rounding stopped the progress
	Interrupted               // the context was done
)

// Result is the best that was found on either side.
type Result struct {
	// X[w*Inputs+u] is the column of output w: rows sum to 1 and the privacy
	// rows hold, both up to rounding.
	X []float64
	// Upper is the loss of X, in plain float64; Lower is a proved bound.
	Upper, Lower float64
	// Z is the prior that proves Lower, one weight per loss row.
	Z          []float64
	Iterations int
	Status     Status
}

// Columns are worked on in tasks of at least leastColumns, at most mostTasks of
// them, in parallel. Each keeps sums of its own, four matrices, so that they can
// be added in a fixed order; above manyColumns, where only sparse factors fit
// the memory, there are half as many tasks.
const (
	leastColumns = 4
	mostTasks    = 16
	manyColumns  = 512
)

// taskColumns is the number of columns in a task.
func taskColumns(outputs int) int {
	tasks := mostTasks
	if outputs > manyColumns {
		tasks /= 2
	}
	return max(leastColumns, (outputs+tasks-1)/tasks)
}

// Bytes bounds the memory that a problem takes in which no pair is implied: at
// most 7 n^3 float64s for n inputs, outputs and loss rows, from n = 60 on.
func Bytes(inputs, outputs, rows int) float64 {
	return denseBytes(inputs, outputs, rows, inputs*(inputs-1)/2)
}

func denseBytes(inputs, outputs, rows, pairs int) float64 {
	n, m, r := float64(inputs), float64(outputs), float64(rows)
	return bytes(n, m, r, m*float64(pairs), m*n*n, 2*n*n+n*r+r*r)
}

// bytes counts, for so many pairs and entries of factors in all columns, four
// arrays over rows, the factors, the tasks, the linking system and its factor,
// x, steps and right-hand sides, 8 m n, and 16 n^2 for matrices over pairs and
// vectors.
func bytes(n, m, r, pairs, factors, task float64) float64 {
	size := float64(taskColumns(int(m)))
	return 8 * (8*pairs + factors + math.Ceil(m/size)*task + 2*(n+r)*(n+r) + 8*m*n + 16*n*n)
}

func (p *Problem) rows() int { return len(p.Class) }

// check refuses what would make the kernel index out of range or divide by 0.
func (p *Problem) check() error {
	const op = "ipm: Solve"
	n := p.Inputs
	if n < 2 || p.Outputs < 1 {
		return &fault.SizeError{Op: op, Arg: "Inputs", Got: n, Want: "at least 2, and an output"}
	}
	if len(p.Budget) != n*n || len(p.Ceiling) != n*n || len(p.Loss) != p.Outputs*p.rows() || p.Prior != nil && len(p.Prior) != p.rows() {
		return &fault.SizeError{Op: op, Arg: "Budget, Ceiling, Loss or Prior", Got: len(p.Loss), Want: "the sizes of the problem"}
	}
	for u := range n {
		for v := range n {
			if e := p.Budget[u*n+v]; u != v && !(e > 0) {
				return &fault.ValueError{Op: op, Arg: "Budget", Index: u*n + v, Value: e, Want: "a number > 0"}
			}
		}
	}
	return nil
}
