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

// Two points at distance 1, by hand: z = 1/2 each; in the column of output 0 the
// row b x[1] - a x[0] has lambda with a lambda = y and b lambda = 1/2 - y, so
// that y = a/(a+b)/2 and the bound is 2y = 1/(1+exp(e)).
func TestLower_TwoPointsByHand(t *testing.T) {
	for _, e := range []float64{.1, 1, 5, 20} {
		s := started(t, planFor(program(2, e, simplex), Dense), 0)
		s.z = []float64{.5, .5}
		clear(s.lambda)
		l := .5 / (math.Exp(e/2) + math.Exp(-e/2))
		s.rows(0).lf[0] = l
		s.rows(1).lk[0] = l
		s.clearPrices()
		for w := range 2 {
			s.price(s.tasks[0], w)
		}
		want := 1 / (1 + math.Exp(e))
		if got := s.lower(); got > want || got < want-1e-14 {
			t.Errorf("e=%v: bound %v, want %v", e, got, want)
		}
		// Scaling z and lambda together changes nothing.
		for i := range s.z {
			s.z[i] *= 8
		}
		for i := range s.lambda {
			s.lambda[i] *= 8
		}
		s.clearPrices()
		for w := range 2 {
			s.price(s.tasks[0], w)
		}
		if got := s.lower(); got > want || got < want-1e-14 {
			t.Errorf("e=%v, scaled: bound %v, want %v", e, got, want)
		}
	}
}

// Whatever lambda, z and y are, the bound is at most the optimum; a lambda or z
// outside its domain proves nothing.
func TestLower_NeverAboveTheOptimum(t *testing.T) {
	const n = 4
	p := program(n, 1, simplex)
	want := 3 / (3 + math.E)
	r := random.Seeded(2)
	for range 3000 {
		s := started(t, planFor(p, Dense), r.IntN(4))
		noise := math.Pow(10, -8*r.Float64())
		for i := range s.lambda {
			s.lambda[i] *= 1 + noise*(2*r.Float64()-1)
		}
		for i := range s.z {
			s.z[i] *= 1 + noise*(2*r.Float64()-1)
			s.y[i] *= 1 + noise*(2*r.Float64()-1)
		}
		prove := r.IntN(2) == 0
		s.clearPrices()
		for w := range n {
			if prove {
				s.prove(s.tasks[0], w)
			} else {
				s.price(s.tasks[0], w)
			}
		}
		if got := s.lower(); !(got <= want) {
			t.Fatalf("bound %v above the optimum %v", got, want)
		}
	}
	s := started(t, planFor(p, Dense), 1)
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []*float64{&s.lambda[3], &s.z[1]} {
			saved := *at
			*at = bad
			s.clearPrices()
			for w := range n {
				s.price(s.tasks[0], w)
			}
			if got := s.lower(); got != 0 {
				t.Errorf("bound %v from %v", got, bad)
			}
			*at = saved
		}
	}
}

// Nothing that a solver may come to is trusted: whatever it holds in place of
// multipliers, prior and channel, of any size and sign, neither way of pricing
// proves more than the optimum.
func TestLower_GarbageProvesNothing(t *testing.T) {
	p := program(4, 1, simplex)
	want := 3 / (3 + math.E)
	r := random.Seeded(5)
	s := started(t, planFor(p, Dense), 8)
	size := func() float64 { return math.Exp(20 * r.NormFloat64()) }
	sign := func() float64 { return 2*r.Float64() - 1 }
	for name, garbage := range map[string]func() float64{
		"any size": size, "any sign": sign, "both": func() float64 { return size() * sign() },
		"zero": func() float64 { return 0 }, "-1": func() float64 { return -1 },
		"NaN": math.NaN, "Inf": func() float64 { return math.Inf(1) },
	} {
		for range 200 {
			was := [][]float64{slices.Clone(s.x), slices.Clone(s.y), slices.Clone(s.z), slices.Clone(s.lambda)}
			for k, v := range [][]float64{s.x, s.y, s.z, s.lambda} {
				if all := r.IntN(3) == 0; r.IntN(4) > 0 || k == 3 {
					for i := range v {
						if all || r.IntN(8) == 0 {
							v[i] = garbage()
						}
					}
				}
			}
			for _, f := range []func(*task, int){s.price, s.prove} {
				s.clearPrices()
				for w := range s.m {
					f(s.tasks[0], w)
				}
				if got := s.lower(); !(got <= want) {
					t.Fatalf("%s: bound %v above the optimum %v", name, got, want)
				}
			}
			for k, v := range [][]float64{s.x, s.y, s.z, s.lambda} {
				copy(v, was[k])
			}
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
		want, _ := exact.ExpBounds(big.NewFloat(-p.Budget[u*8+v]), 260)
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
