package kl10

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// A release fails as often as the stated delta says, and draws without end do not.
func TestBaseMeasure_Bounded(t *testing.T) {
	cfg := BaseMeasure[float64, float64]{
		Map:       same[float64],
		Lipschitz: 1,
		Sigma:     metric.Numbers[float64]{},
		Draw:      func(r *rand.Rand) (float64, error) { return float64(r.IntN(5)) / 4, nil },
		Beta:      3,
		Unit:      "m",
	}
	if g := testkit.Must(NewBaseMeasure(cfg)).Guarantee(); g.Alpha() != 6 || g.Delta() != 0 || g.Unit() != "m" {
		t.Error(g)
	}
	z := 0.0
	for y := range 5 {
		z += math.Exp(-3 * math.Abs(0.3-float64(y)/4))
	}
	cfg.MaxDraws, cfg.MinMass = 4, z/5
	bounded := testkit.Must(NewBaseMeasure(cfg))
	delta := math.Pow(1-z/5, 4)
	if g := bounded.Guarantee(); !near(g.Delta(), delta, 1e-12) || g.Delta() < delta*(1-1e-15) {
		t.Errorf("%v, want delta %v", g, delta)
	}
	r, failed := random.Seeded(3), 0
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

func same[X any](x X) (X, error) { return x, nil }

// halves is the measure of the nets {1/2}, {1/4, 3/4}, {1/8, 3/8, 5/8, 7/8} of
// [0, 1], with what it weighs and the points in eighths.
func halves(t *testing.T) (n *Nets[float64], weights []float64) {
	n = testkit.Must(NewNets(3, func(i int) (Net[float64], error) {
		step := math.Ldexp(1, -i)
		return Net[float64]{1 << i, func(k int) float64 { return (float64(k) + 0.5) * step }, step / 2}, nil
	}))
	return n, []float64{0, 1. / 16, 1. / 8, 1. / 16, 1. / 2, 1. / 16, 1. / 8, 1. / 16}
}

func TestNets_ReleaseHasTheExactDistribution(t *testing.T) {
	n, weights := halves(t)
	const beta, x = 5.0, 0.3
	m := testkit.Must(NewBaseMeasure(BaseMeasure[float64, float64]{Map: same[float64], Lipschitz: 1, Sigma: metric.Numbers[float64]{}, Draw: n.Draw, Beta: beta}))
	var p []float64
	z := 0.0
	for y, w := range weights {
		p = append(p, w*math.Exp(-beta*math.Abs(x-float64(y)/8)))
		z += p[y]
	}
	count := make([]int, len(p))
	r := random.Seeded(1)
	for range 100_000 {
		count[int(8*testkit.Must(m.Release(r, x)))]++
	}
	for y := range p {
		p[y] /= z
	}
	testkit.ChiSquare(t, count[1:], p[1:], 1e-6) // false-reject probability 1e-6
	if mass := testkit.Must(n.MinMass(beta)); !(mass > 0 && mass <= z) {
		t.Errorf("accepted with probability %v, MinMass says %v", z, mass)
	}
}

// The distributions of a truncation, to the last bit: the level is the stated
// one, and the normalizer's half of it is needed.
func TestNets_LevelIsThatOfTheExactDistributions(t *testing.T) {
	testkit.Rounding(t)
	n, weights := halves(t)
	const beta, inputs = 5.0, 65
	at := func(x int) float64 { return float64(x) / (inputs - 1) }
	c := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: inputs, Outputs: 7, Log: true, Fill: func(x int, dst []float64) {
		for y := range dst {
			dst[y] = math.Log(weights[y+1]) - beta*math.Abs(at(x)-float64(y+1)/8)
		}
	}}, nil))
	var pts []float64
	for x := range inputs {
		pts = append(pts, at(x))
	}
	a := testkit.Must(c.Audit(t.Context(), testkit.Must(metric.NewPoints(pts, metric.Numbers[float64]{})), nil))
	m := testkit.Must(NewBaseMeasure(BaseMeasure[float64, float64]{Map: same[float64], Lipschitz: 1, Sigma: metric.Numbers[float64]{}, Draw: n.Draw, Beta: beta}))
	if g := m.Guarantee().Alpha(); !(a.Hi <= g && a.Lo > 1.5*beta) {
		t.Errorf("exact level in [%v, %v], stated %v", a.Lo, a.Hi, g)
	}
}

// What the rate promises holds of the exact probabilities, and it is never above
// KL10's formula for the same nets.
func TestNets_BetaReachesTheTarget(t *testing.T) {
	n, weights := halves(t)
	for _, c := range []Target{{0.3, 0.1}, {0.2, 0.01}, {0.13, 0.5}, {0.6, 1e-6}, {1, 0.999}} {
		beta := testkit.Must(n.Beta(c))
		for x := 0.0; x <= 1; x += 1. / 512 {
			in, out := 0.0, 0.0
			for y, w := range weights {
				d := math.Abs(x - float64(y)/8)
				if p := w * math.Exp(-beta*d); d > c.Gamma {
					out += p
				} else {
					in += p
				}
			}
			if !(out <= c.Delta*(in+out)) {
				t.Errorf("%v at rate %v: misses with probability %v from %v", c, beta, out/(in+out), x)
			}
		}
		for i, mass := range []float64{1. / 2, 1. / 8, 1. / 16} { // of balls of the net's radius
			if math.Ldexp(1, -i-1) <= c.Gamma/2 && beta > formulaBeta(c, mass)*(1+1e-12) {
				t.Errorf("%v: rate %v, KL10 with level %d %v", c, beta, i, formulaBeta(c, mass))
			}
		}
	}
	if _, err := n.Beta(Target{0.125, 0.1}); err == nil {
		t.Error("a rate for a ball that may be empty")
	}
}

// The rate for one net is rounded up, for points and masses of any size.
func TestNets_BetaIsRoundedUp(t *testing.T) {
	r := random.Seeded(31)
	for i := range 1000 {
		size, delta, depth := 1, 1-math.Ldexp(r.Float64(), -2-r.IntN(30)), 1
		switch i % 4 {
		case 1:
			size = 1 + r.IntN(1<<r.IntN(strconv.IntSize-2))
		case 2:
			delta = r.Float64()
		case 3: // half of it may be no float64
			if depth = 2; i%8 == 3 {
				delta = math.SmallestNonzeroFloat64 * float64(1+r.IntN(4))
			}
		}
		n := testkit.Must(NewNets(depth, func(i int) (Net[int], error) {
			return Net[int]{Len: size, Radius: .25, At: func(k int) int { return k }}, nil
		}))
		gamma := 1.25
		beta := testkit.Must(n.Beta(Target{gamma, delta}))
		exponent := new(big.Float).Mul(big.NewFloat(-beta), big.NewFloat(gamma-.25))
		_, above := exact.ExpBounds(exponent, 200)
		want := new(big.Float).SetPrec(300).Quo(big.NewFloat(delta), new(big.Float).SetInt64(int64(size)))
		if depth == 2 {
			want.Quo(want, big.NewFloat(2))
		}
		if above.Cmp(want) > 0 || beta > (math.Log(float64(size)*float64(depth))-directed.Log(delta))*(1+1e-3)+1e-15 {
			t.Errorf("%d points, delta %v: rate %v", size, delta, beta)
		}
	}
}

// A level is drawn as often as its weight says, and the weights add up to 1.
func TestNets_WeightsAddUp(t *testing.T) {
	for _, depth := range []int{1, 2, 41, 64} {
		n := testkit.Must(NewNets(depth, func(int) (Net[int], error) { return Net[int]{1, func(int) int { return 0 }, 0}, nil }))
		sum := 0.0
		for i := range depth {
			_, w, err := n.net(i)
			testkit.Check(t, err)
			sum += w
		}
		// MinMass stops where a level cannot double the sum: here at the second.
		if mass := testkit.Must(n.MinMass(1)); sum != 1 || math.Abs(mass-math.Ldexp(1, -min(1, depth-1))) > 1e-9 {
			t.Errorf("depth %d: weights of sum %v, MinMass %v", depth, sum, mass)
		}
	}
}

// A net that cannot be made, or is none, is an error of every call that needs it.
func TestNets_Refuse(t *testing.T) {
	for want, made := range map[string]func(int) (Net[int], error){
		"level 0: lost": func(int) (Net[int], error) { return Net[int]{}, errors.New("lost") },
		"empty input":   func(int) (Net[int], error) { return Net[int]{-1, func(int) int { return 0 }, 1}, nil },
		"Radius":        func(int) (Net[int], error) { return Net[int]{1, func(int) int { return 0 }, math.NaN()}, nil },
	} {
		n := testkit.Must(NewNets(1, made))
		m := testkit.Must(NewBaseMeasure(BaseMeasure[int, int]{Map: same[int], Lipschitz: 1, Sigma: metric.Func[int](func(x, y int) float64 { return 0 }), Draw: n.Draw, Beta: 1}))
		testkit.Refused(t, [][3]any{{testkit.Err(n.Draw(random.Seeded(1))), want}, {testkit.Err(n.MinMass(1)), want}, {testkit.Err(n.Beta(Target{2, 0.5})), want}, {testkit.Err(m.Release(nil, 0)), want}})
	}
}
