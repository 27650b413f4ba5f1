package kkt

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

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
