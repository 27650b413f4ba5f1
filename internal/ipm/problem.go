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
// two inputs on. Where losses are weighed their z are these weights, fixed, and their t
// drop out; k too, where all are.
//
// # The method
//
// Primal-dual predictor-corrector steps (step.go) from a start that is strictly feasible
// on both sides (point.go). Rows that shorter pairs imply are left out (package direct).
// In units of x every number is a ratio, so budgets of some hundreds neither overflow
// nor underflow.
//
// An engine solves the Newton systems (engine.go). Three eliminate the columns block by
// block, which leaves a linear system in dy and dz only (bycolumn.go, package kkt): with
// dense factors (dense.go), with sparse ones where few rows remain (sparse.go), and with
// few rows at first where many do, imposed as they come near to binding (lazy.go). With
// few outputs the inputs are eliminated, one by one (byinput.go).
//
//	plan.go      what is known before numbers are: engine, order, memory
//	point.go     the iterate: start, row sums, losses; pairs.go, rows.go its privacy rows
//	solve.go     the iteration, step.go one step of it, over engine.go
//	pattern.go   sparse Cholesky factors, for sparse.go and lazy.go
//	byinverse.go the linking system from inverses of the columns, for dense.go and lazy.go
//	lift.go      a bound for all outputs from the prices of a program with some
//
// A new engine is a Kind and its structure in plan.go, a type that implements engine, a
// case of Prepare, and a row in package lp's table of engines.
//
// # What is promised
//
// Result.Lower is a lower bound of the optimum that does not rest on the
// convergence of anything (certificate.go). Result.X is near feasible: the
// caller repairs and audits it.
package ipm

import (
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// MaxBudget is the largest budget imposed on a pair: entries of a column then
// differ by at most exp(600) = 1e260, and their quotients and the duals stay
// well within the range of float64. A larger budget is imposed as 600, which is
// stricter and costs a loss of about exp(-600); the certificate uses the true
// one.
const MaxBudget = 600

// Problem is one program. Matrices are flat, and neither modified nor kept. Nothing is
// checked: package lp asks for what is well formed.
type Problem struct {
	Inputs, Outputs int // Inputs >= 2
	// Budget between the inputs u and v, > 0, is imposed on them. It is symmetric and
	// obeys the triangle inequality up to rounding.
	Budget finite.Metric
	// Pairs[u] are the v > u, ascending, whose rows are imposed: they imply those of
	// all others. See package direct.
	Pairs [][]int32
	// Ceiling is at least Budget and at least the budget of the problem that Lower
	// speaks of; nil is Budget. It is asked for Pairs.
	Ceiling func(u, v int) float64
	// Support, where not nil, lists for every output the inputs, ascending, at which it may
	// be released. Rows are imposed between them only: every one of them has a pair among
	// the others. The engine is ByInput or Lazy then.
	Support [][]int32
	// Loss[w*len(Class)+i] >= 0 is the loss of output w in loss row i, and
	// Class[i] the input that row i is about. Every input has a row.
	Loss  []float64
	Class []int
	// Prior weighs the last loss rows, or all of them, with numbers >= 0 of a sum > 0. What is
	// minimized is the largest loss of the others, and to it is added the sum of these, so weighed.
	Prior []float64
}

// Settings tune Solve.
type Settings struct {
	Tolerance float64 // relative gap at which to stop
	Lower     float64 // a bound that is known: the gap is to it where it is better
	Workers   int     // 0: all processors; results do not depend on it
	// Progress is called after every iteration with the bounds so far.
	Progress func(iteration int, upper, lower float64)
	// Fits, where not nil, tells whether a lazy solve may take so many bytes.
	Fits func(bytes float64) bool
}

// Status says why Solve stopped.
type Status int

// The reasons.
const (
	Converged   Status = iota // the gap reached the tolerance
	Stalled                   // rounding stopped the progress
	Interrupted               // the context was done
	Refused                   // more rows than Fits admits were near to binding
)

// StatusOf is the status for the reason to end a solve, nil where it converged.
func StatusOf(err error) Status {
	switch err {
	case nil:
		return Converged
	case kkt.ErrStalled:
		return Stalled
	case errRefused:
		return Refused
	}
	return Interrupted
}

// Result is the best that was found on either side.
type Result struct {
	// X[w*Inputs+u] is the column of output w, 0 outside of its support: rows sum to 1 and
	// the privacy rows hold, both up to rounding, or up to settled with a Support.
	X []float64
	// Upper is the largest loss of X, or where all are weighed their mean, in plain float64.
	// Lower is a proved bound, with a Support of what releases nothing outside; where only some
	// losses are weighed, of what is minimized over the sum of Z.
	Upper, Lower float64
	// Z is the prior that proves Lower, one weight per loss row.
	Z []float64
	// Y are the least reduced costs with Z, one per input: Lower is their sum over
	// that of Z.
	Y          []float64
	Iterations int
	Status     Status
	Bytes      float64 // that a lazy solve takes, or would where it was refused
}

// losses counts the loss rows, and duals those with a dual of their own.
func (p *Problem) losses() int { return len(p.Class) }
func (p *Problem) duals() int {
	return len(p.Class) - len(p.Prior)
}
