package ipm

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// bound prices all columns, or proves them, and returns what that proves.
func (s *solver) bound(f func(t *task, w int)) float64 {
	s.clearPrices()
	for w := range s.m {
		f(s.tasks[0], w)
	}
	return s.lower()
}

// The reduced costs that a lazy engine's prices and proofs are about are those of its rows, by the
// budgets between their inputs, where columns have all inputs or a part.
func TestPrices_OfTheirPairs(t *testing.T) {
	r := random.Seeded(61)
	for i := range 8 {
		p := few(square(12+r.IntN(12), 3), 9)
		if i%2 == 0 {
			p = twice(p)
		}
		if i >= 3 {
			for range p.Outputs {
				in := r.Perm(p.Inputs)[:2+r.IntN(p.Inputs-2)]
				slices.Sort(in)
				p.Support = append(p.Support, nil)
				for _, u := range in {
					p.Support[len(p.Support)-1] = append(p.Support[len(p.Support)-1], int32(u))
				}
			}
		}
		s := started(t, planFor(p, Lazy), 3)
		for k := range s.lambda {
			s.lambda[k] *= 1 + r.Float64()
		}
		want := slices.Repeat([]float64{math.Inf(1)}, p.Inputs)
		for w, at := range s.places {
			cost, rows := make([]float64, p.Inputs), s.rows(w)
			for i, u := range p.Class {
				cost[u] += s.z[i] * s.lossOf(w)[i]
			}
			rows.each(func(i int32, u, v int) {
				from, to := at.inputs[u], at.inputs[v]
				e := p.Budget.Distance(int(from), int(to))
				cost[to] -= math.Exp(e/2)*rows.lf[i] - math.Exp(-e/2)*rows.lk[i]
				cost[from] -= math.Exp(e/2)*rows.lk[i] - math.Exp(-e/2)*rows.lf[i]
			})
			for _, u := range at.inputs {
				want[u] = min(want[u], cost[u])
			}
		}
		for u := range s.y {
			s.y[u] = -1e300 // nothing to reach
		}
		for k, f := range []func(*task, int){s.price, s.prove} {
			s.bound(f)
			for u, c := range want {
				if got := s.least(u); !(math.Abs(got-c) <= 1e-7*(1+math.Abs(c))) && !(math.IsInf(c, 1) && math.IsInf(got, 1)) {
					t.Fatalf("problem %d, way %d, input %d: %v, by hand %v", i, k, u, got, c)
				}
			}
		}
	}
}

// Two points at distance 1, by hand: z = 1/2 each; in the column of output 0 the
// row b x[1] - a x[0] has lambda with a lambda = y and b lambda = 1/2 - y, so
// that y = a/(a+b)/2 and the bound is 2y = 1/(1+exp(e)). Scaling z and lambda together
// changes nothing.
func TestLower_TwoPointsByHand(t *testing.T) {
	for _, e := range []float64{.1, 1, 5, 20} {
		s := started(t, planFor(program(2, e, simplex), Dense), 0)
		for _, scale := range []float64{1, 8} {
			s.z = []float64{.5 * scale, .5 * scale}
			clear(s.lambda)
			l := .5 * scale / (math.Exp(e/2) + math.Exp(-e/2))
			s.rows(0).lf[0], s.rows(1).lk[0] = l, l
			want := 1 / (1 + math.Exp(e))
			if got := s.bound(s.price); got > want || got < want-1e-14 {
				t.Errorf("e=%v, scale %v: bound %v, want %v", e, scale, got, want)
			}
		}
	}
}

// Nothing that a solver may come to is trusted: whatever it holds in place of
// multipliers, prior and channel, near to the optimum and of any size and sign, neither
// way of pricing proves more than the optimum; a lambda or z outside its domain proves
// nothing.
func TestLower_NeverAboveTheOptimum(t *testing.T) {
	p := planFor(program(4, 1, simplex), Dense)
	want := 3 / (3 + math.E)
	r := random.Seeded(5)
	size := func() float64 { return math.Exp(20 * r.NormFloat64()) }
	sign := func() float64 { return 2*r.Float64() - 1 }
	at := []*solver{started(t, p, 0), started(t, p, 1), started(t, p, 2), started(t, p, 3), started(t, p, 8)}
	// The same of columns without an input each; what their optimum is, is solved for.
	part := program(4, 1, simplex)
	part.Support = [][]int32{{0, 1, 2}, {1, 2, 3}, {0, 2, 3}, {0, 1, 3}}
	parts := testkit.Must(Prepare(t.Context(), part))
	wants := [2]float64{want, parts.Solve(t.Context(), Settings{Tolerance: 1e-9}).Upper * (1 + 1e-9)}
	lazy := planFor(part, Lazy)
	at = append(at, started(t, parts, 1), started(t, parts, 3), started(t, parts, 8), started(t, lazy, 1), started(t, lazy, 5))
	for name, garbage := range map[string]func(v float64) float64{
		"any size": func(float64) float64 { return size() }, "any sign": func(float64) float64 { return sign() },
		"both": func(float64) float64 { return size() * sign() },
		"near": func(v float64) float64 { return v * (1 + 1e-3*sign()) }, "nearer": func(v float64) float64 { return v * (1 + 1e-8*sign()) },
		"zero": func(float64) float64 { return 0 }, "-1": func(float64) float64 { return -1 },
		"NaN": func(float64) float64 { return math.NaN() }, "Inf": func(float64) float64 { return math.Inf(1) },
	} {
		for i := range 1000 {
			s := at[i%len(at)]
			want := wants[min(1, len(s.prob.Support))]
			held := [][]float64{s.x, s.y, s.z, s.lambda}
			var was [][]float64
			for k, v := range held {
				was = append(was, slices.Clone(v))
				if all := r.IntN(3) == 0; r.IntN(4) > 0 || k == 3 {
					for i := range v {
						if all || r.IntN(8) == 0 {
							v[i] = garbage(v[i])
						}
					}
				}
			}
			for _, f := range []func(*task, int){s.price, s.prove} {
				if got := s.bound(f); !(got <= want) {
					t.Fatalf("%s: bound %v above the optimum %v", name, got, want)
				}
			}
			for k, v := range held {
				copy(v, was[k])
			}
		}
	}
	s := at[1]
	for _, bad := range []float64{-1, -1e-9, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []*float64{&s.lambda[3], &s.lambda[9], &s.z[1]} {
			saved := *at
			*at = bad
			if got := s.bound(s.price); got != 0 {
				t.Errorf("bound %v from %v", got, bad)
			}
			*at = saved
		}
	}
}

// What the certificate grants a row is no more than every channel keeps: proof is
// at most b exp(-Ceiling), in 260 bits, and close to it.
func TestPairs_ProofIsBelow(t *testing.T) {
	testkit.Rounding(t)
	p := square(8, 20)
	r := testkit.Must(newPairs(t.Context(), p))
	r.each(func(i int32, u, v int) {
		want, _ := exact.ExpBounds(big.NewFloat(-p.Budget.Distance(u, v)), 260)
		want.Mul(want, big.NewFloat(r.b[i]))
		if low, _ := want.Float64(); big.NewFloat(r.proof[i]).Cmp(want) > 0 || r.proof[i] < low*(1-1e-14) {
			t.Errorf("(%d, %d): proof %v, exactly %v", u, v, r.proof[i], want)
		}
	})
}

// The bound against the same sums in 300 bits. It gives away some 16 ulps of
// b lambda, which is some 1000 for the smallest alpha.
func TestLower_RoundsDown(t *testing.T) {
	testkit.Rounding(t)
	for _, alpha := range []float64{1e-3, 3, 50} {
		p := square(6, alpha)
		s := started(t, planFor(p, Dense), 8)
		f := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
		mul := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(300).Mul(x, y) }
		sum, mass := f(0), f(0)
		for u := range s.n {
			var least *big.Float
			for w := range s.m {
				q := mul(f(s.lossOf(w)[u]), f(s.z[u]))
				for v := range s.n {
					if v == u {
						continue
					}
					c := s.rows(w)
					lo, hi := min(u, v), max(u, v)
					i := int(c.start[lo]) + hi - lo - 1
					in, out := c.lf[i], c.lk[i] // b x[hi] - a x[lo], b x[lo] - a x[hi]
					if u == lo {
						in, out = out, in
					}
					q.Sub(q, mul(f(c.b[i]), f(in)))
					q.Add(q, mul(f(c.proof[i]), f(out)))
				}
				if least == nil || q.Cmp(least) < 0 {
					least = q
				}
			}
			sum.Add(sum, least)
			mass.Add(mass, f(s.z[u]))
		}
		exact := new(big.Float).SetPrec(300).Quo(sum, mass)
		got, _ := exact.Float64()
		if low := s.lower(); f(low).Cmp(exact) > 0 || low < got-1e-11 {
			t.Errorf("alpha=%v: bound %v, exactly %v", alpha, low, got)
		}
	}
}
