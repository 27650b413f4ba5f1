package ipm

import (
	"context"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

func lazily(t testing.TB, p *Problem) (*Plan, *Lazy) {
	t.Helper()
	l := testkit.Must(Prepare(context.Background(), p))
	z := testkit.Must(l.Lazy(context.Background()))
	return l, z
}

// The bound of a relaxation is valid, and rounds of Extend raise it to the
// optimum with part of the pairs.
func TestLazy_RoundsReachTheOptimum(t *testing.T) {
	p := square(25, 4)
	const tolerance = 1e-6
	l, few := lazily(t, p)
	want := l.Solve(t.Context(), Settings{Tolerance: tolerance})
	last := 0.0
	for round := range 20 {
		r := few.Solve(t.Context(), Settings{Tolerance: tolerance})
		if r.Status != Converged || r.Lower > want.Upper || r.Upper < last*(1-tolerance) {
			t.Errorf("round %d: [%v, %v] %v after %v, optimum %v", round, r.Lower, r.Upper, r.Status, last, want.Upper)
		}
		last = r.Lower
		added := testkit.Must(few.Extend(context.Background(), r.X, tolerance, 0))
		if added == 0 {
			pairs := 0.0
			for _, c := range few.columns {
				pairs += float64(c.len())
			}
			if share := pairs / float64(25*l.r.len()); r.Upper < want.Lower || share > .6 {
				t.Errorf("[%v, %v] with %v of the pairs, want %v", r.Lower, r.Upper, share, want.Lower)
			}
			return
		}
	}
	t.Error("pairs are still added after 20 rounds")
}

func TestLazy_WorkersAgree(t *testing.T) {
	_, a := lazily(t, square(20, 6))
	_, b := lazily(t, square(20, 6))
	for range 2 {
		r := a.Solve(t.Context(), Settings{Tolerance: 1e-5, Workers: 1})
		q := b.Solve(t.Context(), Settings{Tolerance: 1e-5, Workers: 3})
		if r.Lower != q.Lower || !slices.Equal(r.X, q.X) {
			t.Fatalf("1 worker %v, 3 workers %v", r.Lower, q.Lower)
		}
		n, _ := a.Extend(context.Background(), r.X, 1e-5, 1)
		m, _ := b.Extend(context.Background(), q.X, 1e-5, 3)
		if n != m || n == 0 {
			t.Fatalf("added %d and %d", n, m)
		}
	}
}

// Extend adds, to the column that breaks it alone, the pair that is broken most,
// and does nothing for a feasible one.
func TestLazy_ExtendAddsTheWorst(t *testing.T) {
	const n = 40
	_, l := lazily(t, program(n, 1, simplex))
	begin := l.columns[2].len()
	if begin > nearest*n || slices.Contains(l.columns[2].index, l.all.find(30, 31)) {
		t.Fatalf("%v pairs at the start", begin)
	}
	x := make([]float64, n*n)
	for i := range x {
		x[i] = 1.0 / n
	}
	if added, _ := l.Extend(context.Background(), x, 1e-9, 0); added != 0 {
		t.Errorf("feasible columns: %d added", added)
	}
	x[2*n+30], x[2*n+31] = 1, .001
	added, _ := l.Extend(context.Background(), x, 1e-9, 0)
	c := l.columns[2]
	if c.len() != begin+added || l.columns[3].len() != begin || !slices.Contains(c.index, l.all.find(30, 31)) {
		t.Errorf("%d added, column has %d", added, c.len())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Extend(ctx, x, 1e-9, 0); err == nil {
		t.Error("canceled: no error")
	}
}
