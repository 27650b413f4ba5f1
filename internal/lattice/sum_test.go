package lattice

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// law is the exact distribution of the sum, by convolution in big floats.
func law(parts []Part) map[int64]*big.Float {
	cur := map[int64]*big.Float{0: big.NewFloat(1).SetPrec(300)}
	for _, p := range parts {
		for range p.Count {
			next := map[int64]*big.Float{}
			for s, v := range cur {
				for i, a := range p.At {
					w := new(big.Float).SetPrec(300).Mul(v, new(big.Float).SetFloat64(p.Mass[i]))
					if next[s+a] == nil {
						next[s+a] = w
					} else {
						next[s+a].Add(next[s+a], w)
					}
				}
			}
			cur = next
		}
	}
	return cur
}

func logOf(x *big.Float) float64 {
	if x.Sign() <= 0 {
		return math.Inf(-1)
	}
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(e)*math.Ln2
}

func expect(l map[int64]*big.Float, v func(s int64) float64) float64 {
	sum := new(big.Float).SetPrec(300)
	for s, p := range l {
		if w := v(s); w > 0 {
			sum.Add(sum, new(big.Float).SetPrec(300).Mul(p, new(big.Float).SetFloat64(w)))
		}
	}
	return logOf(sum)
}

func TestSum_AgainstConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for range 60 {
		var parts []Part
		for range 1 + r.IntN(3) {
			p := Part{Count: int64(1 + r.IntN(25))}
			total := 0.0
			for range 2 + r.IntN(3) {
				p.At = append(p.At, int64(r.IntN(15)-7))
				p.Mass = append(p.Mass, r.ExpFloat64()+1e-6)
				total += p.Mass[len(p.Mass)-1]
			}
			for i := range p.Mass {
				p.Mass[i] /= total
			}
			parts = append(parts, p)
		}
		l := law(parts)
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for s := range l {
			lo, hi = min(lo, s), max(hi, s)
		}
		for range 10 {
			at := lo + r.Int64N(hi-lo+3)
			s, err := New(context.Background(), parts, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int64{at, at - 1, at + 2} {
				check := func(name string, b Bound, exact float64) {
					if exact < b.Lo-1e-12 || exact > b.Hi+1e-12 {
						t.Fatalf("%s at %d of [%d, %d]: %v not in %v", name, at, lo, hi, exact, b)
					}
					if !math.IsInf(exact, -1) {
						if math.IsInf(b.Hi-b.Lo, 1) {
							t.Logf("%s at %d of [%d, %d]: %v in %v tilt %v L %v waves %d outs %v rest %v", name, at, lo, hi, exact, b, s.tilt, s.length, len(s.waves), s.outside, s.rest)
						}
						worst = max(worst, b.Hi-b.Lo)
						if b.Hi-b.Lo > 1e-7 {
							t.Logf("%s at %d of [%d, %d]: %v in %v", name, at, lo, hi, exact, b)
						}
					}
				}
				check("tail", s.Tail(at), expect(l, func(s int64) float64 {
					if s >= at {
						return 1
					}
					return 0
				}))
				check("excess", s.Excess(at), expect(l, func(s int64) float64 { return float64(s - at) }))
				check("hockey", s.Hockey(at, .3), expect(l, func(s int64) float64 { return -math.Expm1(-.3 * float64(s-at)) }))
			}
		}
	}
	t.Log("widest", worst)
}
