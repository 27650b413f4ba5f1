package ipm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

func lazily(t testing.TB, p *Problem) (plan, lazy *Plan) {
	t.Helper()
	l := testkit.Must(Prepare(context.Background(), p))
	return l, testkit.Must(l.Lazily(context.Background()))
}

// Both ways bracket one optimum, a lazy one with part of the pairs, in columns that
// obey all rows, whatever the workers.
func TestLazy_ReachesTheOptimum(t *testing.T) {
	testkit.Slow(t)
	const n, tolerance = 40, 1e-6
	for alpha, share := range map[float64]float64{.4: .8, 4: .7, 40: .3} {
		if testkit.Sweep(0, 1) == 0 && alpha != 4 {
			continue
		}
		for _, p := range []*Problem{square(n, alpha), skewed(square(n, alpha)), few(square(n, alpha), 7)}[testkit.Sweep(1, 0):] {
			plan, lazy := lazily(t, p)
			if !lazy.Lazy() || plan.Lazy() {
				t.Fatal("not lazy")
			}
			want := plan.Solve(t.Context(), Settings{Tolerance: tolerance})
			s := newSolver(t.Context(), lazy, Settings{Tolerance: tolerance, Workers: 1})
			got := s.run()
			if got.Status != Converged || got.Lower > want.Upper || want.Lower > got.Upper {
				t.Errorf("alpha=%v: [%v, %v] %v, want [%v, %v]", alpha, got.Lower, got.Upper, got.Status, want.Lower, want.Upper)
			}
			if pairs := float64(len(s.lambda)) / 2; pairs > share*float64(p.Outputs*lazy.r.len()) {
				t.Errorf("alpha=%v: %v of the pairs", alpha, pairs/float64(p.Outputs*lazy.r.len()))
			}
			breach := 0.0
			lazy.r.each(func(i int32, u, v int) {
				d := lazy.r.a[i] / lazy.r.b[i]
				for w := range p.Outputs {
					x := got.X[w*n : (w+1)*n]
					breach = max(breach, d*x[u]/x[v]-1, d*x[v]/x[u]-1)
				}
			})
			if breach > residual {
				t.Errorf("alpha=%v: a row broken by %v", alpha, breach)
			}
			if alpha != 4 {
				continue // the workers' part does not depend on it
			}
			two := lazy.Solve(t.Context(), Settings{Tolerance: tolerance, Workers: 3})
			if two.Lower != got.Lower || !slices.Equal(two.X, got.X) {
				t.Errorf("alpha=%v: 1 worker %v, 3 workers %v", alpha, got.Lower, two.Lower)
			}
		}
	}
}

// A step ends where the first pair would break, imposed or not, and those that it
// leads to are imposed on the column that needs them, with positive slacks.
func TestWatch_FindsTheFirstToBreak(t *testing.T) {
	const n = 40
	_, lazy := lazily(t, program(n, 1, simplex))
	s := newSolver(t.Context(), lazy, Settings{})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	i := lazy.r.find(30, 31)
	if begin := lazy.first.len(); begin > nearest*n || slices.Contains(lazy.first.index, i) {
		t.Fatalf("%v pairs at the start", begin)
	}
	x, dx := s.column(s.x, 2), s.column(s.dir.x, 2)
	if step, err := s.reach(.75); step != .75 || err != nil {
		t.Fatal(step, err)
	}
	dx[31], s.mu = -x[31], 1
	step, err := s.reach(1)
	if want := 1 - math.Exp(-1); math.Abs(step-want) > 1e-12 || err != nil {
		t.Errorf("step %v, want %v: %v", step, want, err)
	}
	before := s.parts[2].len()
	if ok, err := s.grow(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c := s.parts[2]
	if c.len() <= before || s.parts[3].len() != before || !slices.Contains(c.index, i) {
		t.Errorf("%d pairs, then %d", before, c.len())
	}
	for w := range s.parts {
		v, x := s.view(w), s.column(s.x, w)
		v.each(func(i int32, p, q int) {
			if f, k := v.b[i]*x[q]-v.a[i]*x[p], v.b[i]*x[p]-v.a[i]*x[q]; v.sf[i] != f || v.sk[i] != k || v.rf[i] != 1/f || !(v.lf[i] > 0 && v.lk[i] > 0) {
				t.Fatalf("column %d, pair %d, %d: slacks %v, %v, want %v, %v", w, p, q, v.sf[i], v.sk[i], f, k)
			}
		})
	}
}

// A solve ends where its rows pass the memory there is, with a valid bracket.
func TestLazy_Refused(t *testing.T) {
	p := square(40, 4)
	plan, lazy := lazily(t, p)
	want := plan.Solve(t.Context(), Settings{Tolerance: 1e-6})
	limit := 0.0
	got := lazy.Solve(t.Context(), Settings{Tolerance: 1e-6, Fits: func(bytes float64) bool {
		if limit == 0 {
			limit = bytes * 1.1
		}
		return bytes <= limit
	}})
	if got.Status != Refused || got.Bytes <= limit || got.Lower > want.Upper || got.Upper < want.Lower {
		t.Errorf("%v, %v bytes of %v, [%v, %v]", got.Status, got.Bytes, limit, got.Lower, got.Upper)
	}
}
