package ipm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// few keeps k outputs of p.
func few(p *Problem, k int) *Problem {
	q := *p
	q.Outputs, q.Loss = k, nil
	for i := range k {
		w := i * p.Outputs / k
		q.Loss = append(q.Loss, p.Loss[w*p.rows():(w+1)*p.rows()]...)
	}
	return &q
}

// skewed sets a prior.
func skewed(p *Problem) *Problem {
	q := *p
	q.Prior = make([]float64, p.rows())
	for i := range q.Prior {
		q.Prior[i] = float64(1+i%5) / float64(3*p.rows())
	}
	return &q
}

func fewOutputs() map[string]*Problem {
	return map[string]*Problem{
		"grid": few(grid(9, .5), 5), "grid, more losses": twice(few(grid(9, .5), 5), 3), "grid, prior": skewed(few(grid(9, .5), 5)),
		"tree": few(randomTree(150, 1), 7), "one output": few(randomTree(70, 1), 1),
	}
}

// byColumn is the same plan without elimination by input.
func byColumn(l *Plan) *Plan {
	order, _ := eliminationOrder(l.r, math.MaxInt)
	return &Plan{p: l.p, r: l.r, f: newPattern(l.r, order)}
}

// Both eliminations solve one Newton system.
func TestNewtonInput_AgainstColumns(t *testing.T) {
	for name, p := range fewOutputs() {
		l := testkit.Must(Prepare(t.Context(), p))
		if !l.ByInput() {
			t.Fatal(name, "by column")
		}
		a := newSolver(t.Context(), byColumn(l), Settings{})
		b := newSolver(t.Context(), l, Settings{})
		for _, s := range []*solver{a, b} {
			if err := s.start(); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			if ok, err := a.assemble(); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if ok, err := a.step(); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		b.x, b.y, b.z, b.t, b.k, b.lambda, b.s, b.inv, b.sum, b.loss = a.x, a.y, a.z, a.t, a.k, a.lambda, a.s, a.inv, a.sum, a.loss
		copy(b.pull, a.lambda)
		copy(a.pull, a.lambda)
		cross := make([]float64, a.nz)
		for i := range cross {
			cross[i] = float64(i%3) * 1e-3
		}
		for _, s := range []*solver{a, b} {
			if ok, err := s.assemble(); !ok || err != nil {
				t.Fatal(name, ok, err)
			}
			if err := s.newton(&s.dir, true, 1e-3, cross); err != nil {
				t.Fatal(name, err)
			}
		}
		near := func(what string, got, want []float64) {
			size := max(slices.Max(want), -slices.Min(want))
			for i, v := range want {
				if !(math.Abs(got[i]-v) <= 1e-8*size+1e-12) {
					t.Fatalf("%s: %s[%d] = %v by input, %v by column", name, what, i, got[i], v)
				}
			}
		}
		near("dx", b.dir.x, a.dir.x)
		near("dy", b.dir.y, a.dir.y)
		if a.nz > 0 {
			near("dz", b.dir.z, a.dir.z)
			near("dt", b.dir.t, a.dir.t)
			near("dk", []float64{b.dir.k}, []float64{a.dir.k})
		}
	}
}

// Both bracket one optimum, by input whatever the workers.
func TestSolve_ByInputAgrees(t *testing.T) {
	for name, p := range fewOutputs() {
		l := testkit.Must(Prepare(t.Context(), p))
		o := Settings{Tolerance: 1e-7, Workers: 1}
		a, b := l.Solve(t.Context(), o), byColumn(l).Solve(t.Context(), o)
		o.Workers = 2
		c := l.Solve(t.Context(), o)
		if a.Status != Converged || b.Status != Converged || a.Lower > b.Upper || b.Lower > a.Upper {
			t.Errorf("%s: by input %v, [%v, %v], by column %v, [%v, %v]", name, a.Status, a.Lower, a.Upper, b.Status, b.Lower, b.Upper)
		}
		if a.Lower != c.Lower || !slices.Equal(a.X, c.X) {
			t.Errorf("%s: 1 worker %v, 2 workers %v", name, a.Lower, c.Lower)
		}
		ctx, stop := context.WithCancel(t.Context())
		o.Progress = func(i int, _, _ float64) {
			if i == 2 {
				stop()
			}
		}
		if d := l.Solve(ctx, o); d.Status != Interrupted || d.Iterations != 2 || !(d.Upper >= a.Lower) {
			t.Errorf("%s: stopped: %+v", name, d)
		}
	}
}

// Elimination is by input where outputs are few.
func TestPrepare_ChoosesByOutputs(t *testing.T) {
	p := grid(16, .5)
	for _, k := range []int{1, 4, 12, 256} {
		if l := testkit.Must(Prepare(t.Context(), few(p, k))); !l.Sparse() || l.ByInput() != (k < 100) {
			t.Errorf("%d outputs: by input %v", k, l.ByInput())
		}
	}
}
