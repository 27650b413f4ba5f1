package accountant

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// bigPsi is the definition: the double sum over C and B in 300 bits.
func bigPsi(c cloneCount, tau *big.Float) *big.Float {
	f := wide
	mul := func(x, y *big.Float) *big.Float { return f(0).Mul(x, y) }
	pow := func(x *big.Float, k int64) *big.Float {
		z := f(1)
		for range k {
			z.Mul(z, x)
		}
		return z
	}
	choose := func(n, k int64) *big.Float { return f(0).SetInt(new(big.Int).Binomial(n, k)) }
	p, q := f(c.p), f(0).Sub(f(1), f(c.p))
	total := f(0)
	for k := int64(0); k <= c.others; k++ {
		n, inner := k+1, f(0)
		for b := int64(0); b <= n; b++ {
			z := f(0).Quo(f(float64(2*b-n)), f(float64(n)))
			if z.Sub(z, tau); z.Sign() > 0 {
				inner.Add(inner, mul(choose(n, b), z))
			}
		}
		inner.Quo(inner, pow(f(2), n))
		total.Add(total, mul(inner, mul(choose(c.others, k), mul(pow(p, k), pow(q, c.others-k)))))
	}
	return total
}

// The result is never below the exact value and above it by a relative 1e-8 at
// most.
func TestPsi_BoundsTheExactSum(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(1)
	for _, n := range []int64{0, 1, 2, 5, 13, 40} {
		for i := range 12 {
			p := []float64{0x1p-40, 0.03, 0.5, 0.97, maxClone, r.Float64()}[i%6]
			tau := []float64{0, 1e-12, 0.5, 1.0 / 3, r.Float64(), r.Float64(), 1 - 0x1p-20, r.Float64()}[i%8]
			exact := bigPsi(cloneCount{n, p}, big.NewFloat(tau))
			if exact.Sign() == 0 {
				continue
			}
			got := wide(math.Exp(cloneCount{n, p}.logPsi(tau)))
			ratio, _ := got.Quo(got, exact).Float64()
			if !(ratio >= 1 && ratio < 1+1e-8) {
				t.Errorf("n=%d p=%g tau=%g: %.17g of the exact value", n, p, tau, ratio)
			}
		}
	}
}

// What lies outside the window is in the bound with what is proved of it, 2
// e^(X-T), however much less it is: here 2e-9 of Psi, a thousand times the
// slack for roundings. At tau = 0, s and X are 0, T = 21 + ln(1+mean)/2, and
// psi_n = E|2B/n-1|/2 is (1/2) C(2k,k)/4^k for n = 2k and n = 2k+1.
func TestPsi_CountsWhatTheWindowLeavesOut(t *testing.T) {
	for _, c := range []cloneCount{{1999, 0.5}, {4000, 0.25}, {19_999, 0.02}} {
		want, excess := 0.0, 0.5
		for n := int64(1); n <= min(c.others+1, 2400); n++ {
			if n%2 == 0 {
				excess *= float64(n-1) / float64(n)
			}
			want += math.Exp(logBinomial(c.others, n-1, c.p)) * excess
		}
		outside := 2 * math.Exp(-21-math.Log1p(float64(c.others)*c.p)/2)
		got := math.Exp(c.logPsi(0))
		if over := (got - want) / outside; !(over > 0.9 && over < 1.1) {
			t.Errorf("%+v: the bound exceeds Psi by %g of what is left out", c, over)
		}
	}
}

// At a billion records, between two sums that use the monotony of psi_n alone:
// over blocks of n, psi at their ends times their mass.
func TestPsi_BetweenBlockSumsAtABillion(t *testing.T) {
	c := cloneCount{1e9 - 1, math.Exp(-8)}
	mean := float64(c.others) * c.p
	for _, tau := range []float64{0.001, 0.01, 0.02} {
		const block = 16
		low, high := 0.0, 0.0
		q := uint64(1)<<63 + uint64(tau*0x1p63)
		for n := int64(mean - 12*math.Sqrt(mean)); n < int64(mean+12*math.Sqrt(mean)); n += block {
			mass := 0.0
			for k := n; k < n+block; k++ {
				mass += math.Exp(logBinomial(c.others, k-1, c.p))
			}
			high += mass * math.Exp(logExcess(n, q))
			low += mass * math.Exp(logExcess(n+block-1, q))
		}
		got := math.Exp(c.logPsi(tau))
		if !(got > low && got < high && high < low*(1+2e-2)) {
			t.Errorf("tau=%g: %g not in [%g, %g]", tau, got, low, high)
		}
	}
}

func TestLogBinomial_MatchesExactCoefficients(t *testing.T) {
	r := random.Seeded(2)
	for range 300 {
		n := 1 + r.Int64N(400)
		x, p := r.Int64N(n+1), r.Float64()
		if r.IntN(4) == 0 {
			p = math.Ldexp(p, -20)
		}
		v := wide(0).SetInt(new(big.Int).Binomial(n, x))
		for range x {
			v.Mul(v, wide(p))
		}
		for range n - x {
			v.Mul(v, wide(0).Sub(wide(1), wide(p)))
		}
		mant := new(big.Float)
		exp := v.MantExp(mant)
		m, _ := mant.Float64()
		want := math.Log(m) + float64(exp)*math.Ln2
		if got := logBinomial(n, x, p); math.Abs(got-want) > pmfErr(want)+0x1p-51*math.Abs(want) {
			t.Errorf("ln P(Bin(%d, %g) = %d) = %.17g, want %.17g", n, p, x, got, want)
		}
	}
}
