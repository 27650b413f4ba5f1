package directed_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// number draws a float64 over the whole range, with a bent for edge values.
func number(rng *rand.Rand) float64 {
	edge := []float64{0, 1, -1, math.MaxFloat64, -math.MaxFloat64, 5e-324, 0x1p-1022, 3, 1e-300, 0.1}
	switch rng.IntN(4) {
	case 0:
		return edge[rng.IntN(len(edge))]
	case 1:
		return rng.Float64() - 0.5
	}
	for {
		if v := math.Float64frombits(rng.Uint64()); v-v == 0 {
			return v
		}
	}
}

func TestArithmetic_BoundsExactResult(t *testing.T) {
	rng := random.Seeded(1)
	op := func(name string, f func(z, x, y *big.Float), up, down func(a, b float64) float64) {
		tight := 0
		for range 30000 {
			a, b := number(rng), number(rng)
			if b == 0 && name == "/" {
				continue
			}
			z := new(big.Float).SetPrec(4400)
			f(z, big.NewFloat(a), big.NewFloat(b))
			hi, lo := up(a, b), down(a, b)
			if !math.IsInf(hi, 1) && big.NewFloat(hi).Cmp(z) < 0 || !math.IsInf(lo, -1) && big.NewFloat(lo).Cmp(z) > 0 || math.IsNaN(hi-lo) && !math.IsInf(hi, 0) {
				t.Fatalf("%v %s %v: [%v, %v] misses %v", a, name, b, lo, hi, z.Text('g', 20))
			}
			if lo == hi {
				tight++
			} else if n, _ := z.Float64(); !math.IsInf(n, 0) && (directed.Next(lo) != hi && directed.Next(directed.Next(lo)) != hi) && n != 0 {
				t.Fatalf("%v %s %v: [%v, %v] is wide", a, name, b, lo, hi)
			}
		}
		if tight < 1000 {
			t.Errorf("%s: only %d exact results recognized", name, tight)
		}
	}
	op("+", func(z, x, y *big.Float) { z.Add(x, y) }, directed.AddUp, directed.AddDown)
	op("-", func(z, x, y *big.Float) { z.Sub(x, y) }, directed.SubUp, directed.SubDown)
	op("*", func(z, x, y *big.Float) { z.Mul(x, y) }, directed.MulUp, directed.MulDown)
	op("/", func(z, x, y *big.Float) { z.Quo(x, y) }, directed.DivUp, directed.DivDown)
}

// The transcendental bounds, through the proved exponential.
func TestTranscendental_BoundsExactResult(t *testing.T) {
	rng := random.Seeded(2)
	exp := func(x float64) (lo, hi *big.Float) { return exact.ExpBounds(big.NewFloat(x), 120) }
	one := big.NewFloat(1)
	for i := range testkit.Sweep(8000, 20000) {
		x := math.Ldexp(1+rng.Float64(), rng.IntN(2096)-1074)
		switch i % 4 {
		case 1:
			x = 1 + (rng.Float64()-0.5)*math.Ldexp(1, -rng.IntN(50))
		case 2:
			x = math.Ldexp(rng.Float64(), -1000-rng.IntN(74)) // subnormal
		}
		if x == 0 {
			continue
		}
		if l, _ := exp(directed.LogDown(x)); l.Cmp(big.NewFloat(x)) > 0 {
			t.Fatalf("LogDown(%v) is above", x)
		}
		if _, h := exp(directed.LogUp(x)); h.Cmp(big.NewFloat(x)) < 0 {
			t.Fatalf("LogUp(%v) is below", x)
		}
		y := (rng.Float64() - 0.4) * math.Ldexp(1, rng.IntN(60)-50)
		y = max(y, -0.999)
		sum := new(big.Float).SetPrec(2200).Add(one, big.NewFloat(y))
		if l, _ := exp(directed.Log1pDown(y)); l.Cmp(sum) > 0 {
			t.Fatalf("Log1pDown(%v) is above", y)
		}
		if _, h := exp(directed.Log1pUp(y)); h.Cmp(sum) < 0 {
			t.Fatalf("Log1pUp(%v) is below", y)
		}
		z := (rng.Float64() - 0.5) * []float64{1e-9, 1, 60, 1400}[i%4]
		lo, hi := exp(z)
		if !math.IsInf(directed.ExpUp(z), 1) && big.NewFloat(directed.ExpUp(z)).Cmp(hi) < 0 || big.NewFloat(directed.ExpDown(z)).Cmp(lo) > 0 {
			t.Fatalf("e^%v", z)
		}
		sub := func(v *big.Float) *big.Float { return new(big.Float).SetPrec(2200).Sub(v, one) }
		if !math.IsInf(directed.Expm1Up(z), 1) && big.NewFloat(directed.Expm1Up(z)).Cmp(sub(hi)) < 0 || big.NewFloat(directed.Expm1Down(z)).Cmp(sub(lo)) > 0 {
			t.Fatalf("e^%v-1", z)
		}
	}
	if directed.LogUp(0) != math.Inf(-1) || directed.LogDown(0) != math.Inf(-1) || directed.LogUp(1) != 0 || directed.LogDown(1) != 0 {
		t.Error("ln 0 and ln 1 are exact")
	}
}
