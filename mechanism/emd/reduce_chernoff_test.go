package emd

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/rng"
)

// klOf is the divergence of Bernoulli laws, as its definition says.
func klOf(q, r float64) float64 {
	return q*math.Log(q/r) + (1-q)*math.Log((1-q)/(1-r))
}

// The Chernoff root, and how much looser the paper's is.
func TestChernoff_KnownAnswers(t *testing.T) {
	for _, tc := range []struct{ s, r, delta, want, paper float64 }{
		{100, .01, 1e-6, .097346139, .438607},
		{1000, .01, 1e-12, .041200682, .107035},
		{1000, .1, 1e-6, .15332311, .282868},
		{1e4, .1, 1e-12, .12301689, .249711},
	} {
		c := chernoff{tc.s, tc.r}
		got, capped := c.root(math.Inf(1), false, tc.delta)
		if capped || math.Abs(got-tc.want) > 5e-9 {
			t.Errorf("%+v: %v, %v", tc, got, capped)
		}
		if paper := (1+math.Sqrt2)*tc.r + 3/tc.s*math.Log(1/tc.delta); math.Abs(paper/tc.paper-1) > 1e-5 {
			t.Errorf("%+v: the paper's c = %v", tc, paper)
		}
		// The mechanism's level only helps, and the more the lower it is.
		last := got
		for _, a := range []float64{1e6, 100, 5, .1} {
			q, capped := c.root(a, false, tc.delta)
			if capped || q > last || q <= tc.r {
				t.Errorf("%+v, level %v: %v after %v", tc, a, q, last)
			}
			last = q
		}
	}
}

// The exponent is a lower bound, and close.
func TestChernoff_ExponentIsRoundedDown(t *testing.T) {
	r := rng.Seeded(1)
	for range 20_000 {
		mean := math.Pow(10, -6*r.Float64())
		q := mean + (1-mean)*math.Pow(10, -8*r.Float64())
		if !(q > mean && q < 1) {
			continue
		}
		s, a := math.Pow(10, 9*r.Float64()), math.Pow(10, 4*r.Float64()-2)
		c := chernoff{s, mean}
		slope := math.Log(q * (1 - mean) / (mean * (1 - q)))
		want := s*klOf(q, mean) + math.Log1p(s*slope/a)
		got := c.exponent(q, a, false)
		// klOf and slope cancel: their own errors are a few ulps of 1.
		tol := 1e-14*want + s*1e-15*(1+math.Abs(math.Log(mean))) + s/a*2e-15/(1+s*slope/a)
		if got > want+tol || got < want-tol {
			t.Fatalf("s=%v mean=%v q=%v a=%v: %v, want %v", s, mean, q, a, got, want)
		}
		if b := c.exponent(q, a*q, true); b > got*(1+1e-12)+1e-12 || b < got*(1-1e-12)-1e-12 {
			t.Fatalf("budget: %v, level: %v", b, got)
		}
	}
}

// To the last bit.
func TestChernoff_ExponentIsBelowTheExactOne(t *testing.T) {
	r := rng.Seeded(2)
	for range 300 {
		mean := math.Pow(10, -3*r.Float64())
		q := mean + (1-mean)*math.Pow(10, -4*r.Float64())
		if !(q > mean && q < 1) {
			continue
		}
		s, a := 1+1e4*r.Float64(), math.Pow(10, 4*r.Float64()-2)
		got, want := chernoff{s, mean}.exponent(q, a, false), bigExponent(s, mean, q, a)
		if gap, _ := new(big.Float).Sub(want, big.NewFloat(got)).Float64(); !(gap >= 0) {
			t.Fatalf("s=%v mean=%v q=%v a=%v: %v is above the exact exponent by %v", s, mean, q, a, got, -gap)
		}
	}
}

// bigExponent is s*kl(q||mean) + ln(1+s*kl'(q)/a) in 200 bits.
func bigExponent(s, mean, q, a float64) *big.Float {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	z := func() *big.Float { return new(big.Float).SetPrec(200) }
	one := f(1)
	rest, restMean := z().Sub(one, f(q)), z().Sub(one, f(mean))
	g, h := bigLog(z().Quo(f(q), f(mean))), bigLog(z().Quo(rest, restMean))
	kl := z().Add(z().Mul(f(q), g), z().Mul(rest, h))
	slope := z().Mul(f(s), z().Sub(g, h))
	return z().Add(z().Mul(f(s), kl), bigLog(z().Add(one, z().Quo(slope, f(a)))))
}

// bigLog is ln x by Newton's method on the exponential.
func bigLog(x *big.Float) *big.Float {
	v, _ := x.Float64()
	y := new(big.Float).SetPrec(200).SetFloat64(math.Log(v))
	for range 4 { // y += x e^-y - 1 doubles the digits
		lo, _ := exact.ExpBounds(new(big.Float).SetPrec(200).Neg(y), 200)
		step := new(big.Float).SetPrec(200).Mul(x, lo)
		y.Add(y, step.Sub(step, big.NewFloat(1)))
	}
	return y
}

// The core of the proof by brute force: the mean over the sampling of what the
// level leaves over is within delta_s, with little to spare for large samples.
func TestReduced_SamplingPart(t *testing.T) {
	for _, s := range []int{1, 10, 300, 2000} {
		for _, r := range []float64{.01, .1, .5} {
			law := binomialLaw(s, r) // the extreme law of D*s
			for _, alpha := range []float64{.1, 5, 100, 1e9} {
				for _, delta := range []float64{.1, 1e-6, 1e-12} {
					c, capped := chernoff{float64(s), r}.root(alpha, false, delta)
					got := 0.0
					for k, v := range law {
						if d := float64(k) / float64(s); d > c {
							got += v * -math.Expm1(-alpha*(d-c))
						}
					}
					if got > delta*(1+1e-9) || capped && got > 0 {
						t.Errorf("s=%d r=%v alpha=%v: %v passes %v at c=%v", s, r, alpha, got, delta, c)
					}
				}
			}
		}
	}
}
