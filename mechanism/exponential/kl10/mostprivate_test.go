package kl10

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// For the uniform measure on [0,1], gamma = .1 and delta = .05 KL10 ask for the rate
// 2/gamma ln(1/(delta*mass)) = 20 ln 400; ln(1/delta)/gamma = 10 ln 20 is enough.
func TestBeta_KnownAnswers(t *testing.T) {
	testkit.Slow(t)
	if paper := formulaBeta(Target{0.1, 0.05}, 0.05); math.Abs(paper-119.829291) > 1e-6 {
		t.Errorf("KL10's rate %v, want 119.829291", paper)
	}
	// On a grid of step h the first miss is at gamma+h, so gamma = .1-h. An
	// inner point misses with probability 2q^(.1/h)/(1+q), q = e^-(beta*h),
	// which tends to the continuum's e^(-.1*beta) linearly in h.
	grid := func(n int) (metric.Finite, []float64) {
		return space.Path(n, 1/float64(n-1)), slices.Repeat([]float64{1 / float64(n)}, n)
	}
	smallest := func(n int) float64 {
		f, mu := grid(n)
		h := 1 / float64(n-1)
		beta := rate(t, f, mu, Target{0.1 - h + 1e-12, 0.05})
		if miss := 2 * math.Exp(-0.1*beta) / (1 + math.Exp(-beta*h)); math.Abs(miss-0.05) > 1e-6 {
			t.Errorf("n = %d: an inner point misses with probability %v", n, miss)
		}
		return beta
	}
	if beta := 2*smallest(801) - smallest(401); math.Abs(beta-29.9573) > 2e-3 { // e^-beta and h^2 are left
		t.Errorf("smallest rate %v, want 29.9573", beta)
	}
	const n = 101
	f, mu := grid(n)
	beta := rate(t, f, mu, Target{0.095, 0.05})
	c := testkit.Must(channel(t.Context(), "", n, f, mu, beta, 0))
	if miss, _, err := Misses(t.Context(), c, f, 0.095); err != nil || miss > 0.05*(1+1e-11) { // the lower end of the search has 1e-9 more
		t.Errorf("at the smallest rate %v: misses with %v (%v)", beta, miss, err)
	}
	if beta := rate(t, f, mu, Target{2, 0.05}); beta != 0 {
		t.Errorf("everything is within 2: %v", beta)
	}
}

// rate is that of MostPrivate, without the audit.
func rate(t *testing.T, f metric.Finite, mu []float64, target Target) float64 {
	return testkit.Must(smallestBeta(t.Context(), "", f.Len(), testkit.Must(metric.Densify(t.Context(), f)), mu, target, 0))
}

// randomBimetric has n distinct points under rho1, and n or more under rho2, some of which
// that may not tell apart.
func randomBimetric(r *rand.Rand, n int) metric.Bimetric {
	return metric.Bimetric{Privacy: space.Cube(n, 2, 0, metric.Manhattan{}, r), Utility: space.Cube(n+r.IntN(2)*r.IntN(9), 2, 16*r.IntN(2), metric.Euclidean{}, r)}
}

func near(a, b, rel float64) bool { return math.Abs(a-b) <= rel*math.Abs(b) }

// e^-(beta*length) <= mass, in exact arithmetic, and no more than 1e-12 below: mass is a product.
func checkRate(t *testing.T, name string, beta, length float64, mass ...float64) {
	t.Helper()
	exponent, product := new(big.Float).SetPrec(300), big.NewFloat(1).SetPrec(3000)
	exponent.Neg(exponent.Mul(big.NewFloat(beta), big.NewFloat(length)))
	for _, m := range mass {
		product.Mul(product, big.NewFloat(m))
	}
	_, above := exact.ExpBounds(exponent, 200)
	if above.Cmp(product) > 0 {
		t.Errorf("%s: the rate %v is too small for %v", name, beta, mass)
	}
	lower, _ := exact.ExpBounds(exponent.Mul(exponent, big.NewFloat(1-1e-12)), 200)
	if lower.Cmp(product) <= 0 && exponent.Sign() != 0 {
		t.Errorf("%s: a rate smaller than %v suffices for %v", name, beta, mass)
	}
}

// Rates are rounded up: where the logarithm is that of a number next to 1 a step the other way is seen.
func TestFormulaBeta_IsRoundedUp(t *testing.T) {
	r := random.Seeded(31)
	for i := range 2000 {
		near := math.Ldexp(1, -r.IntN(50)) // what is missing of 1
		delta, mass, gamma := 1-near*r.Float64(), 1-near*r.Float64()/8, r.ExpFloat64()
		switch i % 4 {
		case 0:
			gamma = 2 // so that beta is the logarithm
		case 1: // their product is no float64
			delta, mass = math.Ldexp(delta, -r.IntN(1074)), math.Ldexp(mass, -r.IntN(1074))
		}
		if delta*mass < 1-0x1p-50 {
			checkRate(t, "formulaBeta", formulaBeta(Target{gamma, delta}, mass), gamma/2, delta, mass)
		}
	}
}

// Every base-measure mechanism keeps its target, its audit and the level of KL10's Theorem
// 2.7, needs less than the formula, and a rate 1 % lower misses the target.
func TestMostPrivate_IsTheSmallestRate(t *testing.T) {
	r := random.Seeded(11)
	for range 40 {
		b := randomBimetric(r, 2+r.IntN(20))
		gamma := 0.05 + 0.3*r.Float64()
		target := Target{Gamma: gamma, Delta: math.Pow(10, -3*r.Float64()-0.1)}
		m := testkit.Must(MostPrivate(t.Context(), b, nil, target, &Options{Unit: "km"}))
		miss, x, err := Misses(t.Context(), m.Channel, b.Utility, gamma)
		if err != nil || miss != m.Miss || miss > target.Delta {
			t.Errorf("misses %v (stated %v), target %v (%v)", miss, m.Miss, target, err)
		}
		sum := 0.0
		for y := range m.Outputs() {
			if b.Utility.Distance(x, m.Output(y)) > gamma {
				sum += m.Prob(x, y)
			}
		}
		if math.Abs(sum-miss) > 1e-11 {
			t.Errorf("misses %v at %d, stated %v", sum, x, miss)
		}
		a, err := m.Audit(t.Context(), b.Privacy, nil)
		if err != nil || a.Hi != m.Guarantee().Alpha() || m.Guarantee().Unit() != "km" {
			t.Errorf("%v, guarantee %v (%v)", a, m.Guarantee(), err)
		}
		images := make([]int, b.Privacy.Len())
		for x := range images {
			images[x] = x
		}
		c, _, _, err := metric.Bimetric{Privacy: b.Privacy, Utility: testkit.Must(metric.Subset(b.Utility, images))}.Lipschitz(t.Context())
		if err != nil || a.Lo > 2*c*m.Beta*(1+1e-12) || math.Abs(m.FormulaLevel-2*c*m.FormulaBeta) > 1e-12*m.FormulaLevel {
			t.Errorf("level %v at rate %v, constant %v; formula %v, %v (%v)", a, m.Beta, c, m.FormulaBeta, m.FormulaLevel, err)
		}
		if m.Beta > m.FormulaBeta || a.Lo > m.FormulaLevel {
			t.Errorf("rate %v, level %v; formula %v, %v", m.Beta, a.Lo, m.FormulaBeta, m.FormulaLevel)
		}
		if m.Beta == 0 {
			continue
		}
		less := testkit.Must(channel(t.Context(), "", b.Len(), b.Utility, m.Mu, 0.99*m.Beta, 0))
		if miss, _, _ := Misses(t.Context(), less, b.Utility, gamma); miss <= target.Delta {
			t.Errorf("rate %v: a hundredth less misses with %v <= %v", m.Beta, miss, target.Delta)
		}
	}
}

// A measure is any: the whole of it in the middle is the constant mechanism, at level 0, where
// the middle is near enough to all images, and none elsewhere. Images may coincide, and the
// formula's m is that of the balls around the images alone.
func TestMostPrivate_OtherOutputs(t *testing.T) {
	ends := space.Path(2, 1)
	b := metric.Bimetric{Privacy: ends, Utility: testkit.Must(metric.NewPoints([]float64{0, 1, .5}, metric.Numbers[float64]{}))}
	m := testkit.Must(MostPrivate(t.Context(), b, []float64{0, 0, 1}, Target{Gamma: .5, Delta: .05}, nil))
	if m.Beta != 0 || m.Audited.Hi != 0 || m.Miss != 0 || m.Output(0) != 2 || m.Outputs() != 1 {
		t.Errorf("rate %v, level %v, misses %v", m.Beta, m.Audited, m.Miss)
	}
	if _, err := MostPrivate(t.Context(), b, []float64{0, 0, 1}, Target{Gamma: .4, Delta: .05}, nil); err == nil {
		t.Error("the middle is too far")
	}
	m = testkit.Must(MostPrivate(t.Context(), b, []float64{.5, .5, 0}, Target{Gamma: .5, Delta: .05}, nil))
	if want := math.Log(19); !near(m.Beta, want, 1e-8) || !near(m.FormulaBeta, formulaBeta(Target{.5, .05}, .5), 1e-12) {
		t.Errorf("rate %v, want %v; formula %v", m.Beta, want, m.FormulaBeta)
	}
	b.Utility = testkit.Must(metric.Subset(ends, []int{0, 0, 1}))
	if m = testkit.Must(MostPrivate(t.Context(), b, []float64{.5, 0, .5}, Target{Gamma: 0, Delta: .05}, nil)); m.Audited.Hi != 0 || !near(m.Beta, math.Log(19), 1e-8) || m.FormulaLevel != math.Inf(1) {
		t.Errorf("rate %v, level %v, formula %v", m.Beta, m.Audited, m.FormulaLevel)
	}
}

// No probability is understated: not by the rounding of a row, nor where float64 has none.
func TestMisses_IsAboveTheExactProbability(t *testing.T) {
	r, f := random.Seeded(51), space.Path(2, 1)
	for range 200 {
		a, b := r.Float64(), r.Float64()
		p, _, err := Misses(t.Context(), testkit.Must(mechanism.FromWeights(t.Context(), 2, 2, []float64{a, b, 0, 1}, nil)), f, 0)
		exact := new(big.Rat).Add(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
		if exact.Quo(new(big.Rat).SetFloat64(b), exact); err != nil || new(big.Rat).SetFloat64(p).Cmp(exact) < 0 || p > b/(a+b)*(1+1e-11) {
			t.Fatalf("weights %v and %v: %v, %v", a, b, p, err)
		}
	}
	if p, _, err := Misses(t.Context(), testkit.Must(mechanism.FromLogWeights(t.Context(), 1, 2, []float64{0, -800}, nil)), f, 0); err != nil || !(p > 0) {
		t.Errorf("e^-800: %v, %v", p, err)
	}
}

func TestMisses_CountsWhatIsFarther(t *testing.T) {
	f := space.Path(3, 1)
	m := testkit.Must(exponential.Standard(t.Context(), f, 2, nil))
	q := math.Exp(-1)
	for _, c := range []struct {
		gamma, p float64
		x        int
	}{{0, (q + q*q) / (1 + q + q*q), 0}, {1, q * q / (1 + q + q*q), 0}, {2, 0, 0}} {
		if c.gamma == 0 {
			c.p, c.x = 2*q/(1+2*q), 1 // the middle misses most
		}
		p, x, err := Misses(t.Context(), m.Channel, f, c.gamma)
		if err != nil || p < c.p || p > c.p*(1+1e-11) || x != c.x {
			t.Errorf("gamma %v: %v at %d (%v), want %v at %d", c.gamma, p, x, err, c.p, c.x)
		}
	}
}

// At Gamma 0 the rate 0 may reach the target but for rounding, and where it is the
// distances that say how far to go on from there.
func TestMostPrivate_GammaZero(t *testing.T) {
	for _, unit := range []float64{1e-290, 1, 1e290} {
		f := space.Path(2, unit)
		m := testkit.Must(MostPrivate(t.Context(), metric.Same(f), []float64{.5, .5}, Target{Gamma: 0, Delta: .5}, nil))
		if p := m.Prob(0, 1); !near(p, .5, 1e-9) || !(p < .5) || m.Miss > .5 || !(m.Beta*unit < 1e-6) {
			t.Errorf("distance %v: P(1|0) = %v, missing %v, rate %v", unit, p, m.Miss, m.Beta)
		}
		if b, want := rate(t, f, []float64{.5, .5}, Target{Gamma: 0, Delta: .25}), math.Log(3)/unit; !near(b, want, 1e-8) {
			t.Errorf("distance %v: rate %v, want %v", unit, b, want)
		}
	}
}
