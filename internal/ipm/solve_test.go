package ipm

import (
	"context"
	"math"
	"slices"
	"testing"
)

func TestStart_StrictlyFeasible(t *testing.T) {
	for _, alpha := range []float64{1e-6, 1, 30, 1000} {
		p := square(7, alpha)
		s := started(t, planFor(p, Dense), 0)
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
			c := s.rows(w)
			c.transpose(c.lf, c.lk, r)
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
	s := started(t, planFor(square(5, 1), Dense), 3)
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
// at mutual distance 1, also where they are some exp(-300), and with every output twice.
// A uniform prior on two points costs as much as the worst case, one of weight 1 on one
// input nothing, a single output its largest loss.
func TestSolve_KnownOptima(t *testing.T) {
	type known struct {
		p         *Problem
		tolerance float64
		want      float64
	}
	two := 1 / (1 + math.E)
	double, one, even, sure := program(3, 1, simplex), program(3, 1, simplex), program(2, 1, simplex), program(2, 1, simplex)
	double.Outputs, double.Loss = 6, append(double.Loss, double.Loss...)
	one.Outputs, one.Loss = 1, []float64{0, 1, 3}
	even.Prior, sure.Prior = []float64{.5, .5}, []float64{1, 0}
	cases := []known{{double, 1e-8, 2 / (2 + math.E)}, {one, 1e-9, 3}, {even, 1e-9, two}}
	for _, n := range []int{2, 3, 6} {
		for _, alpha := range []float64{1e-6, .5, 1, 4, 30, 100, 300} {
			k := float64(n - 1)
			cases = append(cases, known{program(n, alpha, simplex), 1e-7, k / (k + math.Exp(alpha))})
		}
	}
	for i, c := range cases {
		r := planFor(c.p, Dense).Solve(t.Context(), Settings{Tolerance: c.tolerance})
		if r.Status != Converged || r.Lower > c.want*(1+1e-14) || r.Upper < c.want*(1-1e-14) || r.Upper-r.Lower > c.tolerance*c.want {
			t.Errorf("problem %d: [%v, %v] after %d iterations (%v), want %v", i, r.Lower, r.Upper, r.Iterations, r.Status, c.want)
		}
	}
	if r := planFor(sure, Dense).Solve(t.Context(), Settings{Tolerance: 1e-9}); r.Upper > 1e-6 {
		t.Errorf("%v, want 0", r.Upper)
	}
}

// Where the context is done already, the result is the start.
func TestSolve_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := planFor(square(9, 3), Dense).Solve(ctx, Settings{})
	if r.Status != Interrupted || len(r.X) != 81 || slices.Min(r.X) <= 0 {
		t.Errorf("%+v", r)
	}
}
