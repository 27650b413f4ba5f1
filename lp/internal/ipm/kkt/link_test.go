package kkt

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/testkit"
)

func TestLink_Refines(t *testing.T) {
	const n, nz = 3, 2
	l := NewLink(n, nz)
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
