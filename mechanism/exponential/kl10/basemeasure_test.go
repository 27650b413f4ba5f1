package kl10

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// The rejection sampler on a finite space has the exact law, and its failure
// probability stays below the stated delta.
func TestBaseMeasure_Law(t *testing.T) {
	draw := func(r *rand.Rand) (float64, error) { return float64(r.IntN(5)) / 4, nil }
	cfg := BaseMeasure[float64, float64]{
		Map:       func(x float64) (float64, error) { return x, nil },
		Lipschitz: 1,
		Sigma:     metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
		Draw:      draw,
		Beta:      3,
		Unit:      "m",
	}
	m := testkit.Must(NewBaseMeasure(cfg))
	if g := m.Guarantee(); g.Alpha() != 6 || g.Delta() != 0 || g.Unit() != "m" {
		t.Error(g)
	}
	p := make([]float64, 5)
	z := 0.0
	for y := range p {
		p[y] = math.Exp(-3 * math.Abs(0.3-float64(y)/4))
		z += p[y]
	}
	for y := range p {
		p[y] /= z
	}
	r := random.Seeded(3)
	count := make([]int, 5)
	for range 200_000 {
		y := testkit.Must(m.Release(r, 0.3))
		count[int(4*y)]++
	}
	testkit.ChiSquare(t, count, p, 1e-6) // false-reject probability 1e-6

	cfg.MaxDraws, cfg.MinMass = 4, z/5
	bounded := testkit.Must(NewBaseMeasure(cfg))
	delta := math.Pow(1-z/5, 4)
	if g := bounded.Guarantee(); !near(g.Delta(), delta, 1e-12) || g.Delta() < delta*(1-1e-15) {
		t.Errorf("%v, want delta %v", g, delta)
	}
	failed := 0
	for range 100_000 {
		if _, err := bounded.Release(r, 0.3); errors.Is(err, ErrExhausted) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// Binomial: five standard deviations, false-reject probability below 1e-6.
	if f := float64(failed) / 1e5; math.Abs(f-delta) > 5*math.Sqrt(delta/1e5) {
		t.Errorf("failed with frequency %v, want %v", f, delta)
	}
}

// word is a source of one word.
type word uint64

func (w word) Uint64() uint64 { return uint64(w) }

// A draw is accepted with probability exp(-Beta*sigma), the product not rounded: so words just
// below 2^64 times that are, and those above are not.
func TestBaseMeasure_ProductsAreExact(t *testing.T) {
	rng, between := random.Seeded(4), 0
	for range testkit.Sweep(300, 10_000) {
		beta, sigma := rng.Float64(), float64(1+rng.IntN(20))
		m := testkit.Must(NewBaseMeasure(BaseMeasure[float64, float64]{
			Map: func(x float64) (float64, error) { return x, nil }, Lipschitz: 1,
			Sigma: metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
			Draw:  func(*rand.Rand) (float64, error) { return 0, nil }, Beta: beta,
			MaxDraws: 1, MinMass: 1e-9,
		}))
		edge := func(x *big.Float) uint64 {
			lo, _ := exact.ExpBounds(x.Neg(x), 200)
			n, _ := lo.SetMantExp(lo, 64).Uint64()
			return n
		}
		want := edge(new(big.Float).SetPrec(106).Mul(big.NewFloat(beta), big.NewFloat(sigma)))
		if want != edge(big.NewFloat(beta*sigma)) {
			between++
		}
		for _, u := range []uint64{want - 1, want + 1} {
			if _, err := m.Release(rand.New(word(u)), sigma); (err == nil) != (u < want) {
				t.Fatalf("Beta %v, sigma %v: word %d from %d is accepted: %v", beta, sigma, u, want, err == nil)
			}
		}
	}
	if between < 100 {
		t.Errorf("rounding moves the border in %d cases only", between)
	}
}
