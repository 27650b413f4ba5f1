package ipm

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

// grid is the l1 grid of k x k points.
func grid(k int, alpha float64) *Problem { return program(k*k, alpha, space.Grid(k).Distance) }

// randomTree has n nodes and edges of random lengths.
func randomTree(n int, alpha float64) *Problem {
	return program(n, alpha, space.Tree(n, .1, random.Seeded(5)).Distance)
}

func TestPairs_OnlyEdgesOfGraphsRemain(t *testing.T) {
	if r := pairsOf(grid(6, .3)); r.len() != 2*6*5 {
		t.Errorf("grid of 6 x 6: %d pairs", r.len())
	}
	if r := pairsOf(randomTree(40, 1)); r.len() != 39 {
		t.Errorf("tree of 40: %d pairs", r.len())
	}
	if r := pairsOf(square(10, 1)); r.len() != 45 {
		t.Errorf("10 points of the square: %d pairs", r.len())
	}
}

// The order is a permutation; trees and paths have no fill under it.
func TestEliminationOrder_Fill(t *testing.T) {
	for name, c := range map[string]struct {
		p    *Problem
		fill int
	}{"tree": {randomTree(70, 1), 70 + 69}, "grid": {grid(8, 1), 400}} {
		r := pairsOf(c.p)
		order, fill := eliminationOrder(r, math.MaxInt)
		sorted := slices.Sorted(slices.Values(order))
		for k, u := range sorted {
			if k != u {
				t.Fatalf("%s: no permutation: %v", name, order)
			}
		}
		if f := newPattern(r, order); len(f.row) != fill || fill > c.fill {
			t.Errorf("%s: %d entries, ordering counted %d, want at most %d", name, len(f.row), fill, c.fill)
		}
		if none, _ := eliminationOrder(r, fill-1); none != nil {
			t.Errorf("%s: the limit on the fill did nothing", name)
		}
	}
}

// Factor, solution and inverse against gonum's, on a block of a running solve.
func TestSparse_AgainstDense(t *testing.T) {
	for _, p := range []*Problem{grid(8, .7), randomTree(64, 2)} {
		l := testkit.Must(Prepare(context.Background(), p))
		if !l.Sparse() {
			t.Fatal("dense")
		}
		s := newSolver(context.Background(), l, Settings{Workers: 1})
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.assemble(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := s.step(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		const w = 3
		n, f := s.n, l.f
		low := make([]float64, len(f.row))
		s.assembleSparse(low, w, f.diag, f.at)
		want := mat.NewSymDense(n, nil)
		for j := range n {
			for i := f.start[j]; i < f.start[j+1]; i++ {
				want.SetSym(f.order[f.row[i]], f.order[j], low[i])
			}
		}
		// The same matrix by the dense routine.
		full := newSolver(context.Background(), &Plan{p: l.p, r: l.r}, Settings{})
		full.x, full.lambda, full.s, full.inv = s.x, s.lambda, s.s, s.inv
		full.block(full.tasks[0], w)
		for u := range n {
			for v := u; v < n; v++ {
				if a, b := full.factorOf(w)[u*n+v], want.At(u, v); math.Abs(a-b) > 1e-12*math.Abs(want.At(u, u)) {
					t.Fatalf("block (%d, %d): sparse %v, dense %v", u, v, b, a)
				}
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(want) || !f.cholesky(low, make([]float64, n), make([]int32, n)) {
			t.Fatal("no factor")
		}
		var inverse mat.SymDense
		if err := chol.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		z := make([]float64, n*n)
		f.invert(z, make([]float64, n*n), low)
		size := mat.Max(&inverse)
		for u := range n {
			for v := range n {
				if a, b := z[u*n+v], inverse.At(u, v); math.Abs(a-b) > 1e-9*size {
					t.Fatalf("inverse (%d, %d) = %v, want %v", u, v, a, b)
				}
			}
		}
		r := random.Seeded(4)
		x, rhs := make([]float64, n), mat.NewVecDense(n, nil)
		for i := range x {
			x[i] = r.NormFloat64()
			rhs.SetVec(i, x[i])
		}
		f.solve(low, x, make([]float64, n))
		var back mat.VecDense
		back.MulVec(want, mat.NewVecDense(n, x))
		for i := range n {
			if a, b := back.AtVec(i), rhs.AtVec(i); math.Abs(a-b) > 1e-9*(1+math.Abs(b)) {
				t.Fatalf("solution: entry %d of H x is %v, want %v", i, a, b)
			}
		}
	}
	f := newPattern(pairsOf(grid(2, 1)), []int{0, 1, 2, 3})
	if low := make([]float64, len(f.row)); f.cholesky(low, make([]float64, 4), make([]int32, 4)) {
		t.Error("the zero matrix has a factor")
	}
}

// Both kinds of factors bracket one optimum, whatever the workers, with a prior
// and without.
func TestSolve_SparseAndDenseAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, p := range []*Problem{grid(8, .5), randomTree(64, 1)} {
		for _, prior := range []bool{true, false}[:testkit.Sweep(1, 2)] {
			p.Prior = nil
			if prior {
				p.Prior = make([]float64, p.Inputs)
				for i := range p.Prior {
					p.Prior[i] = float64(i%5) / 126
				}
			}
			o := Settings{Tolerance: 1e-7, Workers: 1}
			sparse, err := Prepare(context.Background(), p)
			if err != nil || !sparse.Sparse() {
				t.Fatal(err)
			}
			a := sparse.Solve(t.Context(), o)
			b := (&Plan{p: p, r: pairsOf(p)}).Solve(t.Context(), o)
			o.Workers = 3
			c := sparse.Solve(t.Context(), o)
			if a.Status != Converged || b.Status != Converged || a.Lower > b.Upper || b.Lower > a.Upper {
				t.Errorf("prior %v: sparse [%v, %v], dense [%v, %v]", prior, a.Lower, a.Upper, b.Lower, b.Upper)
			}
			if a.Lower != c.Lower || !slices.Equal(a.X, c.X) {
				t.Errorf("prior %v: 1 worker %v, 3 workers %v", prior, a.Lower, c.Lower)
			}
			// Columns come back under the caller's numbers: output w is likeliest
			// near w, and every column meets its constraints.
			n := p.Inputs
			for w := range p.Outputs {
				for u := range n {
					for v := range n {
						if x, y := a.X[w*n+u], a.X[w*n+v]; x > math.Exp(p.Budget[u*n+v])*y*(1+1e-6) {
							t.Fatalf("x_%d[%d] = %v, x_%d[%d] = %v", w, u, x, w, v, y)
						}
					}
				}
			}
		}
	}
}
