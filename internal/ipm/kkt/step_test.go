package kkt

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// A solve is given up after patience iterations without progress, and after
// maxIterations with it.
func TestPatience_Lost(t *testing.T) {
	for name, c := range map[string]struct {
		shrink float64 // of the gap in an iteration
		want   int
	}{
		"stands still": {1, patience + 2},
		"too slow":     {1 - 1e-4, patience + 2},
		"goes on":      {0.89, maxIterations + 1},
	} {
		var p Patience
		gap, n := 1.0, 1
		for ; !p.Lost(gap) && n < 10*maxIterations; n++ {
			gap *= c.shrink
		}
		if n != c.want {
			t.Errorf("%s: given up after %d iterations, want %d", name, n, c.want)
		}
	}
}

func TestLink_Refines(t *testing.T) {
	const n, nz = 3, 2
	l := NewLink(n, nz, nil, nil)
	full := mat.NewSymDense(n+nz+1, nil)
	for i := range n + nz {
		for j := i; j < n+nz; j++ {
			v := 1 / float64(i+j+1) // Hilbert: ill-conditioned
			l.Q.Data[i*(n+nz)+j] = v
			full.SetSym(i, j, v)
		}
		l.RHS[i] = float64(i) - 1
	}
	for i := range nz {
		full.SetSym(n+i, n+nz, 1)
	}
	testkit.Check(t, l.Factor(context.Background()))
	dk := l.Solve(.25)
	var want mat.VecDense
	if err := want.SolveVec(full, mat.NewVecDense(n+nz+1, append(append([]float64{}, l.RHS...), .25))); err != nil {
		t.Fatal(err)
	}
	for i, v := range append(append([]float64{}, l.Sol...), dk) {
		if w := want.AtVec(i); math.Abs(v-w) > 1e-8*(1+math.Abs(w)) {
			t.Errorf("entry %d = %v, want %v", i, v, w)
		}
	}
}

// A system in another order, whose rows end, has the solution of the one in the order in which its
// unknowns come.
func TestLink_InAnyOrder(t *testing.T) {
	r := random.Seeded(4)
	for range 20 {
		n, nz := 3+r.IntN(20), 1+r.IntN(4)
		k := n + nz
		at, ends := r.Perm(k), make(dense.Ends, k)
		for i, end := 0, 0; i < k; i++ {
			end = max(end, min(k, i+1+r.IntN(4)))
			ends[i] = end
		}
		plain, other := NewLink(n, nz, nil, nil), NewLink(n, nz, at, ends)
		for i := range k {
			for j := i; j < k; j++ {
				a, b := min(at[i], at[j]), max(at[i], at[j])
				v := 0.0
				if i == j {
					v = 10
				} else if b < ends[a] {
					v = r.Float64() - .5
				}
				plain.Q.Data[i*k+j], other.Q.Data[a*k+b] = v, v
			}
			plain.RHS[i] = r.Float64()
			other.RHS[i] = plain.RHS[i]
		}
		testkit.Check(t, plain.Factor(t.Context()))
		testkit.Check(t, other.Factor(t.Context()))
		if d, e := plain.Solve(.25), other.Solve(.25); !(math.Abs(d-e) < 1e-11) || !floats.EqualApprox(plain.Sol, other.Sol, 1e-12) {
			t.Errorf("n = %d: %v and %v, in another order %v and %v", n, plain.Sol, d, other.Sol, e)
		}
	}
}
