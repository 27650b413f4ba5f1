package ipm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// All engines bracket one optimum, in columns that obey all rows, to the same bits
// whatever the workers. A lazy one imposes a part of the pairs. Stopped, each returns what it has.
func TestEngines_Agree(t *testing.T) {
	testkit.Slow(t)
	all := []Kind{Dense, Sparse, ByInput, Lazy}
	for i, c := range []struct {
		p     *Problem
		kinds []Kind
		share float64 // of the pairs, that a lazy engine imposes at most
	}{
		{square(40, 4), []Kind{Dense, Lazy}, .7},
		{few(square(40, 4), 7), all, .7},
		{skewed(grid(8, .5)), []Kind{Dense, Sparse, Lazy}, 1},
		{twice(few(grid(9, .5), 5)), all, 1},
		{few(randomTree(70, 1), 1), all, 1},
		{square(40, .4), []Kind{Dense, Lazy}, .8},
		{skewed(square(40, 40)), []Kind{Dense, Lazy}, .3},
		{grid(8, .5), all, 1},
		{few(randomTree(150, 1), 7), []Kind{Sparse, ByInput}, 1},
		{randomTree(64, 1), []Kind{Dense, Sparse}, 1},
	}[:testkit.Sweep(5, 10)] {
		p := c.p
		lower, upper := 0.0, math.Inf(1)
		for _, kind := range c.kinds {
			name := fmt.Sprintf("problem %d, engine %d", i, kind)
			l := planFor(p, kind)
			o := Settings{Tolerance: 1e-6, Workers: 1}
			got := l.Solve(t.Context(), o)
			if got.Status != Converged || got.Upper-got.Lower > 1e-6*got.Upper {
				t.Errorf("%s: [%v, %v], %v", name, got.Lower, got.Upper, got.Status)
			}
			if lower, upper = max(lower, got.Lower), min(upper, got.Upper); lower > upper {
				t.Fatalf("%s: [%v, %v], others found [%v, %v]", name, got.Lower, got.Upper, lower, upper)
			}
			breach := 0.0
			l.r.each(func(i int32, u, v int) {
				d := l.r.a[i] / l.r.b[i]
				for w := range p.Outputs {
					x := got.X[w*p.Inputs : (w+1)*p.Inputs]
					breach = max(breach, d*x[u]/x[v]-1, d*x[v]/x[u]-1)
				}
			})
			if breach > residual {
				t.Errorf("%s: a row broken by %v", name, breach)
			}
			o.Workers = 3
			ctx, stop := context.WithCancel(t.Context())
			o.Progress = func(i int, _, _ float64) {
				if i == 2 {
					stop()
				}
			}
			if d := l.Solve(ctx, o); d.Status != Interrupted || d.Iterations != 2 || !(d.Upper >= lower && d.Lower <= upper) {
				t.Errorf("%s: stopped: %v after %d, [%v, %v]", name, d.Status, d.Iterations, d.Lower, d.Upper)
			}
			o.Progress = nil
			s := newSolver(t.Context(), l, o)
			if same := s.solve(); same.Lower != got.Lower || !slices.Equal(same.X, got.X) {
				t.Errorf("%s: 1 worker %v, 3 workers %v", name, got.Lower, same.Lower)
			}
			if share := float64(len(s.lambda)) / 2 / float64(p.Outputs*l.r.len()); kind == Lazy && share > c.share || kind != Lazy && share != 1 {
				t.Errorf("%s: %v of the pairs", name, share)
			}
		}
	}
}

// The order is a permutation; trees have no fill under it. A zero matrix has no factor.
func TestPattern_OrderAndFill(t *testing.T) {
	for name, c := range map[string]struct {
		p    *Problem
		fill int
	}{"tree": {randomTree(70, 1), 70 + 69}, "grid": {grid(8, 1), 400}} {
		r := testkit.Must(newPairs(t.Context(), c.p))
		order, fill := eliminationOrder(r, math.MaxInt)
		for k, u := range slices.Sorted(slices.Values(order)) {
			if k != u {
				t.Fatalf("%s: no permutation: %v", name, order)
			}
		}
		f := newPattern(r, order)
		if len(f.row) != fill || fill > c.fill {
			t.Errorf("%s: %d entries, ordering counted %d, want at most %d", name, len(f.row), fill, c.fill)
		}
		if none, _ := eliminationOrder(r, fill-1); none != nil {
			t.Errorf("%s: the limit on the fill did nothing", name)
		}
		if f.cholesky(make([]float64, fill), make([]float64, f.n), make([]int32, f.n)) {
			t.Errorf("%s: the zero matrix has a factor", name)
		}
	}
}
