package ipm

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
)

// started is a solver at its start, moved by some steps.
func started(t testing.TB, p *Problem, steps int) *solver {
	t.Helper()
	s := newSolver(context.Background(), &Plan{p: p, r: pairsOf(p)}, Settings{Workers: 1})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	for range steps {
		if ok, err := s.assemble(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := s.step(); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	return s
}

func TestStart_StrictlyFeasible(t *testing.T) {
	for _, alpha := range []float64{1e-6, 1, 30, 1000} {
		p := square(7, alpha)
		s := started(t, p, 0)
		for _, v := range s.sum {
			if math.Abs(v-1) > 1e-14 {
				t.Errorf("row sum %v", v)
			}
		}
		for i, v := range s.s {
			if !(v > 0 && s.lambda[i] > 0 && !math.IsInf(s.inv[i], 0)) {
				t.Fatalf("alpha=%v: s = %v, lambda = %v", alpha, v, s.lambda[i])
			}
		}
		if slices.Min(s.t) <= 0 || slices.Min(s.z) <= 0 {
			t.Errorf("t = %v, z = %v", s.t, s.z)
		}
		for w := range s.m {
			// y + G'lambda = D z, up to the rounding of lambda.
			r := slices.Clone(s.y)
			s.parts[w].transpose(s.rows(s.lambda, w), r)
			s.weigh(r, w, s.z, -1)
			for u, v := range r {
				if math.Abs(v) > 1e-14*(1+1/alpha) {
					t.Errorf("alpha=%v: dual residual %v at (%d, %d)", alpha, v, w, u)
				}
			}
		}
	}
}

// A matrix with a number below 0 is no channel and kept as none, whatever it costs.
func TestRecord_KeepsNoNegativeProbability(t *testing.T) {
	s := started(t, square(5, 1), 3)
	s.best.Upper, s.best.X = math.Inf(1), slices.Clone(s.x)
	s.x[7] = -1e-300
	if s.record(); !math.IsInf(s.best.Upper, 1) || slices.Min(s.best.X) < 0 {
		t.Errorf("kept at %v: %v", s.best.Upper, s.best.X)
	}
	if s.x[7] = 0; s.record() > 1 || math.IsInf(s.best.Upper, 1) {
		t.Error("a channel is not kept")
	}
}

// Closed forms: d/(1+exp(alpha d)) for two points, (n-1)/(n-1+exp(alpha)) for n
// at mutual distance 1, also where they are some exp(-300).
func TestSolve_ClosedForms(t *testing.T) {
	for _, n := range []int{2, 3, 6} {
		for _, alpha := range []float64{1e-6, .5, 1, 4, 30, 100, 300} {
			r := testkit.Must(solve(t.Context(), program(n, alpha, simplex), Settings{Tolerance: 1e-7}))
			k := float64(n - 1)
			want := k / (k + math.Exp(alpha))
			if r.Status != Converged || r.Lower > want*(1+1e-14) || r.Upper < want*(1-1e-14) || r.Upper-r.Lower > 1e-7*want {
				t.Errorf("n=%d, alpha=%v: [%v, %v] after %d iterations (%v), want %v", n, alpha, r.Lower, r.Upper, r.Iterations, r.Status, want)
			}
		}
	}
}

// A prior of weight 1 on one input costs nothing; the uniform one on two points
// as much as the worst case.
func TestSolve_Prior(t *testing.T) {
	p := program(2, 1, simplex)
	p.Prior = []float64{.5, .5}
	r, err := solve(t.Context(), p, Settings{Tolerance: 1e-9})
	if want := 1 / (1 + math.E); err != nil || math.Abs(r.Lower-want) > 1e-9 || math.Abs(r.Upper-want) > 1e-9 {
		t.Errorf("%+v, %v, want %v", r, err, want)
	}
	p.Prior = []float64{1, 0}
	r, err = solve(t.Context(), p, Settings{Tolerance: 1e-9})
	if err != nil || r.Upper > 1e-6 {
		t.Errorf("%+v, %v, want 0", r, err)
	}
}

// A single output, and more outputs than inputs.
func TestSolve_Rectangular(t *testing.T) {
	p := program(3, 1, simplex)
	p.Outputs, p.Loss = 1, []float64{0, 1, 3}
	r, err := solve(t.Context(), p, Settings{Tolerance: 1e-9})
	if err != nil || math.Abs(r.Lower-3) > 1e-8 || math.Abs(r.Upper-3) > 1e-8 {
		t.Errorf("one output: %+v, %v", r, err)
	}
	p = program(3, 1, simplex)
	p.Outputs, p.Loss = 6, append(p.Loss, p.Loss...)
	r, err = solve(t.Context(), p, Settings{Tolerance: 1e-8})
	if want := 2 / (2 + math.E); err != nil || r.Status != Converged || math.Abs(r.Upper-want) > 1e-8 {
		t.Errorf("every output twice: %+v, %v, want %v", r, err, want)
	}
}

func TestSolve_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := square(9, 3)
	r, err := solve(ctx, p, Settings{Progress: func(i int, _, _ float64) {
		if i == 2 {
			cancel()
		}
	}})
	if err != nil || r.Status != Interrupted || r.Iterations != 2 || !(r.Lower > 0 && r.Lower < r.Upper) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = solve(ctx, p, Settings{})
	if err != nil || r.Status != Interrupted || len(r.X) != 81 || slices.Min(r.X) <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSolve_BadSizes(t *testing.T) {
	var size *fault.SizeError
	if _, err := solve(t.Context(), program(1, 1, simplex), Settings{}); !errors.As(err, &size) {
		t.Errorf("one input: %v", err)
	}
	p := program(3, 1, simplex)
	p.Loss = p.Loss[1:]
	if _, err := solve(t.Context(), p, Settings{}); !errors.As(err, &size) {
		t.Errorf("short losses: %v", err)
	}
	var value *fault.ValueError
	if _, err := solve(t.Context(), program(3, 0, simplex), Settings{}); !errors.As(err, &value) {
		t.Errorf("budget 0: %v", err)
	}
}
