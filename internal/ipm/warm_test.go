package ipm

import (
	"context"
	"math"
	"slices"
	"testing"
)

// A warm start is strictly feasible for old rows and new ones, keeps the
// multipliers of old rows and gives new ones some; it reaches what the cold one
// reaches, in fewer iterations, and what it proves holds.
func TestLazy_WarmStart(t *testing.T) {
	const tolerance = 1e-6
	_, l := lazily(t, square(40, 6))
	for range 20 { // until few pairs are broken
		r := l.Solve(t.Context(), Settings{Tolerance: 1e-4})
		if added, _ := l.Extend(context.Background(), r.X, 1e-3, 0); added == 0 {
			break
		}
	}
	r := l.Solve(t.Context(), Settings{Tolerance: 1e-5})
	way := l.way
	if len(way) == 0 || len(way) > mostKept || !slices.IsSortedFunc(way, func(a, b *kept) int { return int(math.Copysign(1, b.gap-a.gap)) }) {
		t.Fatalf("%d iterates kept", len(way))
	}
	if added, _ := l.Extend(context.Background(), r.X, 1e-6, 0); added == 0 {
		t.Fatal("nothing to add")
	}

	s := l.solver(context.Background(), Settings{})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.warm(way); !ok || err != nil {
		t.Fatal("no warm start", err)
	}
	for w := range s.parts {
		c, x := s.view(w), s.column(s.x, w)
		c.each(func(i int32, u, v int) {
			f, k := c.b[i]*x[v]-c.a[i]*x[u], c.b[i]*x[u]-c.a[i]*x[v]
			if !(c.sf[i] > 0 && c.sk[i] > 0 && c.lf[i] > 0 && c.lk[i] > 0) ||
				math.Abs(c.sf[i]-f) > 1e-12*c.b[i]*x[v] || math.Abs(c.sk[i]-k) > 1e-12*c.b[i]*x[u] {
				t.Fatalf("column %d, pair %d, %d: slacks %v, %v of %v, %v, multipliers %v, %v", w, u, v, c.sf[i], c.sk[i], f, k, c.lf[i], c.lk[i])
			}
		})
	}
	for i, v := range s.t {
		if !(v > 0 && s.z[i] > 0) {
			t.Fatalf("loss %d: %v, %v", i, v, s.z[i])
		}
	}

	warm := l.Solve(t.Context(), Settings{Tolerance: tolerance})
	l.way = nil
	cold := l.Solve(t.Context(), Settings{Tolerance: tolerance})
	if warm.Status != Converged || cold.Status != Converged || warm.Lower > cold.Upper || cold.Lower > warm.Upper {
		t.Errorf("warm [%v, %v], cold [%v, %v]", warm.Lower, warm.Upper, cold.Lower, cold.Upper)
	}
	if warm.Iterations >= cold.Iterations {
		t.Errorf("%d iterations, %d from a cold start", warm.Iterations, cold.Iterations)
	}
	t.Logf("%d iterations, %d from a cold start", warm.Iterations, cold.Iterations)
}

// Gaps that rounding takes to 0 and below, or that are not known yet, keep
// nothing.
func TestKeep_NoGap(t *testing.T) {
	for _, upper := range []float64{1, .5, math.Inf(1)} {
		s := &solver{due: firstKept, best: Result{Upper: upper, Lower: 1}}
		if s.keep(); len(s.way) > 0 || s.due != firstKept {
			t.Errorf("upper %v: %d kept, due %v", upper, len(s.way), s.due)
		}
	}
}
