package mechanism

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// expo is the exponential channel at beta on f.
func expo(t testing.TB, f metric.Finite, beta float64, lazy bool) *Channel {
	t.Helper()
	return testkit.Must(NewChannel(t.Context(), Rows{f.Len(), f.Len(), true, func(x int, dst []float64) {
		for y, d := range finite.Row(f, x, dst) {
			dst[y] = -beta * d
		}
	}}, &ChannelOptions{Lazy: lazy}))
}

// promise is the guarantee of these numbers; a reach of 0 is all distances.
func promise(alpha, delta, reach float64, unit metric.Unit) Guarantee {
	g := testkit.Must(NewGuarantee(alpha, delta, unit))
	if reach > 0 {
		g = testkit.Must(g.Within(reach))
	}
	return g
}

// certified is the channel certified under f.
func certified(t testing.TB, c *Channel, f metric.Finite, unit metric.Unit) *Channel {
	t.Helper()
	c, _, err := c.Certify(t.Context(), f, unit, nil)
	testkit.Check(t, err)
	return c
}

// reread is the channel as written and read again.
func reread(t testing.TB, c *Channel, f metric.Finite) (*Channel, error) {
	t.Helper()
	var b bytes.Buffer
	testkit.Check(t, c.WriteJSON(&b))
	return ReadChannel(t.Context(), &b, f, nil)
}

// arbitrary returns a random channel; a fraction zeros of the weights vanishes in
// the same columns of every row, so that the level stays finite.
func arbitrary(t testing.TB, r *rand.Rand, n, m int, log bool, zeros float64) *Channel {
	t.Helper()
	dead := make([]bool, m)
	for y := 1; y < m; y++ {
		dead[y] = r.Float64() < zeros
	}
	w := make([]float64, n*m)
	for i := range w {
		switch {
		case dead[i%m] && log:
			w[i] = math.Inf(-1)
		case dead[i%m]:
		case log:
			w[i] = -3 * r.Float64()
		default:
			w[i] = 0.1 + r.Float64()
		}
	}
	from := FromWeights
	if log {
		from = FromLogWeights
	}
	return testkit.Must(from(t.Context(), n, m, w, nil))
}

// bigProbs returns the channel's exact law to 300 bits.
func bigProbs(c *Channel) [][]*big.Float {
	out := make([][]*big.Float, c.n)
	nf := func() *big.Float { return new(big.Float).SetPrec(300) }
	for x := range out {
		var buf []float64
		r, _ := c.read("", x, &buf)
		sum := nf()
		for _, v := range r.W {
			w := nf()
			if c.log {
				if !math.IsInf(v, -1) {
					lo, _ := exact.ExpBounds(big.NewFloat(v), 260)
					w.Set(lo)
				}
			} else {
				w.SetFloat64(v)
			}
			sum.Add(sum, w)
			out[x] = append(out[x], w)
		}
		for _, w := range out[x] {
			w.Quo(w, sum)
		}
	}
	return out
}

// log300 is the natural logarithm to far more than float64 by Newton on ExpBounds.
func log300(v *big.Float) *big.Float {
	f, _ := v.Float64()
	l := new(big.Float).SetPrec(300).SetFloat64(math.Log(f))
	for range 4 {
		e, _ := exact.ExpBounds(l, 260)
		d := new(big.Float).SetPrec(300).Quo(v, e)
		l.Add(l, d.Sub(d, big.NewFloat(1)))
	}
	return l
}
