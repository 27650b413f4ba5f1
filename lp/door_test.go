package lp

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// lower has relaxations and extensions begin at so many inputs.
func lower(t testing.TB, relaxed, extended int) {
	r, e, w, q := leastRelaxed, leastExtended, longWork, quickWork
	leastRelaxed, leastExtended, longWork, quickWork = relaxed, extended, 0, math.Inf(1)
	t.Cleanup(func() { leastRelaxed, leastExtended, longWork, quickWork = r, e, w, q })
}

// ending is canceled after so many looks at it.
type ending struct {
	context.Context
	left atomic.Int64
}

func endAfter(ctx context.Context, looks int64) *ending {
	e := &ending{Context: ctx}
	e.left.Store(looks)
	return e
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Optimal's relaxations, extensions, and both before its program hold the optimum of the
// simplex method, also where they are canceled at any look at the context.
func TestOptimal_DoorsAgainstSimplex(t *testing.T) {
	testkit.Slow(t)
	r, by := random.Seeded(40), map[string]int{}
	for i := range testkit.Sweep(60, 600) {
		n := 3 + r.IntN(6)
		private := randomMetric(t, r, n)
		loss := make(lossTable, n)
		for x := range loss {
			loss[x] = make([]float64, n+2)
			for y := range loss[x] {
				loss[x][y] = max(0, 2*r.Float64()-.5)
			}
		}
		b, o := metric.Same(private), Options{Outputs: r.Perm(n)[:1+r.IntN(n)], Tolerance: []float64{1e-6, 1e-3, .05}[i%3]}
		if i%4 == 3 {
			b, o.Loss, o.Outputs = metric.Bimetric{Privacy: private, Utility: loss}, loss.Distance, r.Perm(n + 2)[:1+r.IntN(n+2)]
		}
		if i%5 == 4 {
			o.Prior = testkit.Distribution(r, n, func(u int) bool { return u > 0 && r.IntN(4) == 0 })
		}
		d, _, _, _ := metric.Diameter(t.Context(), private)
		alpha := math.Exp(-1+5*r.Float64()) / d
		const never = 256
		begin := [][2]int{{2, never}, {never, 3}, {2, 3}}[r.IntN(3)]
		lower(t, begin[0], begin[1])
		lo, hi := simplexOptimum(t, b, alpha, o.Outputs, o.Prior)
		check := func(s *Solution, at float64) {
			t.Helper()
			certified(t, b, alpha, o.Prior, s)
			if s.DualBound > hi || s.Objective < lo || (s.Status == StatusOptimal) != (s.Gap <= o.Tolerance) {
				t.Errorf("space %d, %.2f of it, n=%d, alpha=%v, outputs %v, prior %v: %v, simplex method [%v, %v]", i, at, n, alpha, o.Outputs, o.Prior, s, lo, hi)
			}
			if o.Prior == nil && s.BoundBy == boundByPatch {
				if _, mean := simplexOptimum(t, b, alpha, o.Outputs, s.Prior); s.DualBound > mean*(1+1e-12) {
					t.Errorf("space %d: %v, and a mean loss of %v under its prior", i, s, mean)
				}
			}
			by[s.BoundBy]++
			by[string(s.Method)]++
		}
		whole := endAfter(t.Context(), math.MaxInt64)
		check(testkit.Must(Optimal(whole, b, alpha, &o)), 1)
		for range 3 {
			share := r.Float64()
			s, err := Optimal(endAfter(t.Context(), int64(share*float64(math.MaxInt64-whole.left.Load()))), b, alpha, &o)
			switch {
			case s != nil && (err == nil) == (s.Status != StatusCanceled):
				check(s, share)
			case !errors.Is(err, context.Canceled):
				t.Errorf("space %d: %v, %v", i, s, err)
			}
		}
	}
	if by[boundByPatch] == 0 || by[string(MethodKernel)] == 0 || by[boundByProgram] == 0 {
		t.Errorf("not all were used: %v", by)
	}
}

// Budgets above all float64 numbers are as good as none.
func TestOptimal_InfiniteBudgets(t *testing.T) {
	lower(t, 2, 3)
	f := scattered(20)
	for _, outputs := range [][]int{upTo(f.Len()), {0, 1, 2, 3}} {
		s := testkit.Must(Optimal(t.Context(), metric.Same(f), math.MaxFloat64, &Options{Outputs: outputs}))
		least := 0.0
		for x := range f.Len() {
			d := math.Inf(1)
			for _, y := range outputs {
				d = min(d, f.Distance(x, y))
			}
			least = max(least, d)
		}
		if s.Objective < least || s.DualBound > least || s.Gap > 1 {
			t.Errorf("%v, no privacy %v", s, least)
		}
	}
}
