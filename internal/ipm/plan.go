package ipm

import (
	"context"
	"math"
)

// Kind names an engine by what it factors.
type Kind int

// The engines.
const (
	Dense   Kind = iota // each column, as a dense matrix (dense.go)
	Sparse              // each column, by the sparse pattern that all share (sparse.go)
	ByInput             // all columns at once, one input after another (byinput.go)
	Lazy                // each column, by the pattern of the rows it imposes (lazy.go)
)

// Plan is a problem whose structure is known, and the engine for it.
type Plan struct {
	Kind      Kind
	p         *Problem
	r         *pairs
	structure structure
}

// structure is the symbolic part of an engine: fill pattern, order, memory.
type structure interface {
	// open returns an engine for a point of which the vectors over inputs and outputs are
	// there, those over rows not yet: it may change which rows the columns impose
	// (point.parts), and lend memory of its own to the tasks' prices.
	open(*point) engine
	// bytes is the memory of the structure and of a solve.
	bytes(p *Problem, r *pairs) float64
}

// Sparse factors pay below a tenth of n^2 entries, and from some size on.
const (
	leastSparse = 64
	sparseFill  = 0.1
)

// Prepare chooses the engine, in O(n) a pair and O(n^2); see also [Lazily]. The
// error is the context's.
func Prepare(ctx context.Context, p *Problem) (*Plan, error) {
	r, err := newPairs(ctx, p)
	if err != nil {
		return nil, err
	}
	l := &Plan{p: p, r: r, structure: denseBlocks{}}
	if p.Support != nil {
		input, err := inputPlan(ctx, p, r, math.Inf(1))
		l.Kind, l.structure = ByInput, byInputs{input}
		return l, err
	}
	if r.n < leastSparse {
		return l, nil
	}
	// What a column takes to invert, in multiplications.
	column := float64(r.n * r.n / 2)
	if order, _ := eliminationOrder(r, int(sparseFill*float64(r.n*r.n))); order != nil {
		f := newPattern(r, order)
		l.Kind, l.structure, column = Sparse, sharedPattern{f}, float64(len(f.row))
	}
	// By input where that takes fewer multiplications than to form the linking
	// system from the columns and to factor it.
	link := float64(r.n + p.duals())
	input, err := inputPlan(ctx, p, r, link*link*link/6+float64(p.Outputs)*float64(r.n)*column)
	if input != nil {
		l.Kind, l.structure = ByInput, byInputs{input}
	}
	return l, err
}

// Bytes is the memory that Prepare took and Solve will take, half more at most.
func (l *Plan) Bytes() float64 { return l.structure.bytes(l.p, l.r) }

// Work is the number of multiplications of a factorization by inputs, 0 with other engines.
func (l *Plan) Work() float64 {
	if by, is := l.structure.(byInputs); is {
		return by.plan.Work()
	}
	return 0
}

// sparseInput is some bytes for every input: its pairs, the pattern, and the groups
// that two workers have at hand, see group.
const sparseInput = 8000

// bytes counts, for so many pairs and entries of factors in all columns, five
// arrays over rows, the factors, the tasks, the linking system and its factor, and
// x, steps and right-hand sides, 9 m n. The list of pairs is left to the caller:
// 128 n^2 are enough where none is implied.
func bytes(n, m, r, pairs, factors, task float64) float64 {
	k := float64(tasks(int(n), int(m)))
	return float64(8 * (10*pairs + factors + k*task + 2*(n+r)*(n+r) + 9*m*n))
}
