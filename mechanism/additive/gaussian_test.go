package additive

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

// The roots sigma of the formula of Balle and Wang 2018, Theorem 8, with eps =
// alpha*D, found in 40 digits and printed with 6 to 9 of them.
func TestGaussianSigma_KnownAnswers(t *testing.T) {
	for _, c := range []struct {
		t    GaussianTarget
		want float64
	}{
		{GaussianTarget{.5, 1e-6, 1}, 8.0576185},
		{GaussianTarget{1, 1e-6, 1}, 4.2246789},
		{GaussianTarget{5, 1e-6, 1}, .980049},
		{GaussianTarget{25, 1e-6, 1}, .26023842},
		{GaussianTarget{.5, 1e-12, 1}, 12.844174},
		{GaussianTarget{1, 1e-12, 1}, 6.5578221},
		{GaussianTarget{5, 1e-12, 1}, 1.4098377},
		{GaussianTarget{25, 1e-12, 1}, .3343364},
		{GaussianTarget{1, 1e-6, 2}, 4.46095254},
		{GaussianTarget{5, 1e-6, .5}, 0.910208496},
	} {
		got := testkit.Must(GaussianSigma(c.t))
		digits := 5e-8 // the values are printed with 6 to 9 digits
		if c.want == .980049 {
			digits = 1e-6
		}
		if !near(got, c.want, 2*digits) {
			t.Errorf("%+v: %.9g, want %.9g", c.t, got, c.want)
		}
	}
}

// deltaByQuadrature integrates phi(u+x)(1 - e^-wx) over x > 0, which has no
// cancellation; about 1e-13 relative.
func deltaByQuadrature(sigma, alpha, d float64) float64 {
	u, w := alpha*sigma-d/(2*sigma), d/sigma
	scale := 1 / max(1, u)
	sum := 0.0
	from := max(0, -u-12)
	for i := range 60 { // to 30 decay lengths, or 12 deviations past the peak
		a := from + float64(i)*0.5*scale
		if u < 0 {
			a = from + float64(i)*(24/60.0)
		}
		b := a + 0.5*scale
		if u < 0 {
			b = a + 24/60.0
		}
		sum += quad.Fixed(func(x float64) float64 {
			return normalDensity(u+x) * -math.Expm1(-w*x)
		}, a, b, 20, quad.Legendre{}, 0)
	}
	return sum
}

// Never below the exact value, and above it by at most what the doc says.
func TestGaussianDelta_AgainstQuadrature(t *testing.T) {
	rng := random.Seeded(41)
	worst, worstSmall := 0.0, 0.0
	for range testkit.Sweep(2000, 4000) {
		d := math.Pow(10, 8*rng.Float64()-4)
		sigma := d * math.Pow(10, 9*rng.Float64()-1)
		u := 45*rng.Float64() - 8 // choose alpha for this u
		alpha := (u + d/(2*sigma)) / sigma
		if alpha < 0 {
			continue
		}
		want := deltaByQuadrature(sigma, alpha, d)
		if want < 1e-300 {
			continue
		}
		got := GaussianDelta(sigma, alpha, d)
		// The reference has the same u up to rounding: (|u|+2)v 2^-52 relative.
		slack := 1e-12 + (math.Abs(u)+2)*(alpha*sigma+d/(2*sigma))*0x1p-50
		if got < want*(1-slack) {
			t.Fatalf("sigma %v, alpha %v, D %v: %v is below %v by %v", sigma, alpha, d, got, want, 1-got/want)
		}
		excess := got/want - 1 - slack
		worst = max(worst, excess)
		if d > sigma/1000 {
			worstSmall = max(worstSmall, excess)
		}
	}
	t.Logf("largest excess %.3g, where D > sigma/1000 %.3g", worst, worstSmall)
	if worst > 1e-5 || worstSmall > 1e-7 {
		t.Errorf("excess %v, where D > sigma/1000 %v", worst, worstSmall)
	}
}

// Where alpha*sigma and D/(2 sigma) are large and nearly equal, their rounding moves the difference u more
// than anything else errs. u is found in math/big, and delta > Q(u) - phi(u)/v.
func TestGaussianDelta_CoversItsOwnRounding(t *testing.T) {
	testkit.Rounding(t)
	rng := random.Seeded(44)
	for range 2000 {
		sigma, size := math.Exp(4*rng.NormFloat64()), math.Pow(10, 3+5*rng.Float64())
		alpha, d := size/sigma*(1+3*rng.NormFloat64()/size), 2*sigma*size
		product := new(big.Float).SetPrec(200).Mul(big.NewFloat(alpha), big.NewFloat(sigma))
		quotient := new(big.Float).SetPrec(200).Quo(big.NewFloat(d/2), big.NewFloat(sigma))
		u, _ := product.Sub(product, quotient).Float64()
		least := (normalTail(u) - normalDensity(u)/(2*size-6)) * (1 - 1e-13)
		if got := GaussianDelta(sigma, alpha, d); got < least {
			t.Fatalf("sigma %v, alpha %v, D %v: %v, at least %v", sigma, alpha, d, got, least)
		}
	}
}

func TestGaussianDelta_Extremes(t *testing.T) {
	for _, c := range []struct{ sigma, alpha, d, lo, hi float64 }{
		{1, 1, 0, 0, 0},
		{0, 1, 1, 1, 1},
		{1e-300, 1, 1, 1, 1},
		{1e-300, 1, 1e300, 1, 1},
		{1, 0, 2, 0.6826894921, 0.6826894922}, // total variation
		{1e300, 1e300, 1, 0, 1e-323},
		{1, 1e300, 1e-300, 0, 1e-323},
		{1, 50, 1, 0, 1e-323},
		{1e150, 1e-150, 1, 0, 1e-149},
	} {
		if got := GaussianDelta(c.sigma, c.alpha, c.d); !(got >= c.lo && got <= c.hi) {
			t.Errorf("delta(%v, %v, %v) = %v", c.sigma, c.alpha, c.d, got)
		}
	}
	for _, x := range []float64{-1, nan, inf} {
		if !math.IsNaN(GaussianDelta(x, 1, 1)) || !math.IsNaN(GaussianDelta(1, x, 1)) || !math.IsNaN(GaussianDelta(1, 1, x)) {
			t.Errorf("delta at %v is a number", x)
		}
	}
	for _, a := range []float64{1e-100, 1, 1e100} {
		for _, d := range []float64{1e-100, 1, 1e100} {
			for _, delta := range []float64{1e-300, 0.5, 1 - 0x1p-53} {
				s, err := GaussianSigma(GaussianTarget{a, delta, d})
				if err != nil || !(s > 0) || math.IsInf(s, 1) || GaussianDelta(s, a, d) > delta {
					t.Errorf("alpha %v, delta %v, diam %v: sigma %v, %v", a, delta, d, s, err)
				}
			}
		}
	}
}

// What a mechanism draws with keeps the delta that it promises, as far as its
// promise reaches, and a hundredth less would not.
func TestGaussians_SigmaKeepsTheGuarantee(t *testing.T) {
	for _, target := range []GaussianTarget{{0.5, 1e-6, 1}, {1, 1e-6, 4}, {0.1, 1e-9, 20}} {
		m, z := testkit.Must(NewGaussian(2, target, nil)), testkit.Must(NewDiscreteGaussian(target, nil))
		g, h := m.Guarantee(), z.Guarantee()
		for name, c := range map[string]struct {
			sigma float64
			g     mechanism.Guarantee
			delta func(sigma float64) float64
		}{
			"real":     {m.Sigma(), g, func(s float64) float64 { return GaussianDelta(s, g.Alpha(), g.Reach()) }},
			"integers": {z.Sigma(), h, func(s float64) float64 { return DiscreteGaussianDelta(s, h.Alpha(), int64(h.Reach())) }},
		} {
			if d := c.delta(c.sigma); d > c.g.Delta() {
				t.Errorf("%s, %+v: delta %v, promised %v", name, target, d, c.g)
			}
			if d := c.delta(0.99 * c.sigma); d <= c.g.Delta() {
				t.Errorf("%s, %+v: delta %v at 0.99 sigma", name, target, d)
			}
		}
	}
}

// deltaBySum is the definition, over every set at once: the sum of the positive
// parts of P{Z = k} - e^(alpha D) P{Z + D = k}.
func deltaBySum(sigma, alpha float64, d int64) float64 {
	reach := int64(40*sigma) + d + 2
	mass := func(k int64) float64 { return math.Exp(-float64(k) * float64(k) / (2 * sigma * sigma)) }
	sum, total := 0.0, 0.0
	for k := -reach; k <= reach; k++ {
		total += mass(k)
		h := (float64(d)*alpha - float64(d)*float64(2*k+d)/(2*sigma*sigma))
		if h < 0 {
			sum += mass(k) * -math.Expm1(h)
		}
	}
	return sum / total
}

func TestDiscreteGaussianDelta_AgainstSum(t *testing.T) {
	testkit.Slow(t)
	for _, sigma := range []float64{0.05, 0.3, 0.9, 1.7, 2, 5, 60, 1000} {
		for _, alpha := range []float64{0, 0.01, 0.3, 1, 4} {
			for _, d := range []int64{1, 2, 3, 10} {
				want := deltaBySum(sigma, alpha, d)
				if want < 1e-290 {
					continue
				}
				got := DiscreteGaussianDelta(sigma, alpha, d)
				if got < want*(1-1e-11) || got > want*(1+1e-9) {
					t.Errorf("sigma %v, alpha %v, D %v: %v, want %v", sigma, alpha, d, got, want)
				}
			}
		}
	}
	// In blocks.
	for _, sigma := range []float64{4500, 1e5}[:testkit.Sweep(1, 2)] {
		for _, u := range []float64{-2, 0, 1, 4, 7} { // t = u sigma
			const d = 50
			alpha := (u*sigma + d/2) / (sigma * sigma)
			if alpha < 0 {
				continue
			}
			want := deltaBySum(sigma, alpha, d)
			got := DiscreteGaussianDelta(sigma, alpha, d)
			t.Logf("sigma %v, u %v: excess %.3g", sigma, u, got/want-1)
			if got < want*(1-1e-11) || got > want*1.01 {
				t.Errorf("sigma %v, u %v: %v, want %v", sigma, u, got, want)
			}
		}
	}
}

// No integer is without mass, so that delta is never 0, and 0 is no upper bound however little float64
// leaves of it; nor is a number below 1 where delta is nearly 1.
func TestDiscreteGaussianDelta_IsAboveZeroAndBelowNothing(t *testing.T) {
	for _, sigma := range []float64{0.05, 0.3, 1, 2, 30, 1000, 4096, 1e6} {
		for u := 38.0; u < 39.5; u += 0.015625 { // t = u sigma
			if got := DiscreteGaussianDelta(sigma, (u*sigma+0.5)/(sigma*sigma), 1); !(got > 0) {
				t.Fatalf("sigma %v, t = %v sigma: %v", sigma, u, got)
			}
		}
		if got := DiscreteGaussianDelta(sigma, 1e300, 1); !(got > 0) {
			t.Errorf("sigma %v, alpha 1e300: %v", sigma, got)
		}
		for _, far := range []float64{20, 20.5, 25, 1000} { // t = -far/2 sigma
			if got := DiscreteGaussianDelta(sigma, 0, int64(math.Ceil(far*sigma))); got != 1 {
				t.Errorf("sigma %v, D = %v sigma: %v, want 1", sigma, far, got)
			}
		}
	}
}

func TestDiscreteGaussianDelta_Extremes(t *testing.T) {
	for _, c := range []struct {
		sigma, alpha float64
		d            int64
		lo, hi       float64
	}{
		{1, 1, 0, 0, 0},
		{1e-300, 1, 1, 1, 1},
		{1, 1e308, 1, 0, 1e-320},
		{1, 1, 1 << 53, 1 - 1e-15, 1},
		{1, 100, 1, 0, 1e-320},
		{maxDiscreteSigma, 1, 1, 0, 1e-320},
		{maxDiscreteSigma, 0, 1, 1e-14, 1e-10},
	} {
		if got := DiscreteGaussianDelta(c.sigma, c.alpha, c.d); !(got >= c.lo && got <= c.hi) {
			t.Errorf("delta(%v, %v, %v) = %v", c.sigma, c.alpha, c.d, got)
		}
	}
	for _, x := range []float64{-1, 0, nan, inf} {
		if !math.IsNaN(DiscreteGaussianDelta(x, 1, 1)) {
			t.Errorf("delta at sigma = %v is a number", x)
		}
	}
	if !math.IsNaN(DiscreteGaussianDelta(1, -1, 1)) || !math.IsNaN(DiscreteGaussianDelta(1, nan, 1)) || !math.IsNaN(DiscreteGaussianDelta(1, 1, -1)) {
		t.Error("delta is a number outside the domain")
	}
	const root2PiDown = 2.5066282746310002
	if got := massTotal(2) / 2; got > root2PiDown || got < root2PiDown*(1-1e-15) {
		t.Errorf("massTotal(2) = %v", 2*got)
	}
	for _, s := range []float64{0.1, 0.7, 1.99} {
		want := 0.0
		for k := -60.0; k <= 60; k++ {
			want += math.Exp(-k * k / (2 * s * s))
		}
		if got := massTotal(s); got > want*(1+1e-15) || got < want*(1-1e-13) {
			t.Errorf("massTotal(%v) = %v, want %v", s, got, want)
		}
	}
}

// Calibrated at the diameter, every smaller distance is covered, and a sigma 1
// percent smaller is not private at the diameter.
func TestDiscreteGaussian_CoversAllDistances(t *testing.T) {
	for _, c := range []GaussianTarget{
		{1, 1e-6, 1}, {0.1, 1e-6, 40}, {0.5, 1e-12, 7.9}, {3, 0.01, 3}, {0.01, 0.3, 100}, {25, 1e-6, 2}, {1000, 1e-9, 1},
	} {
		sigma := testkit.Must(NewDiscreteGaussian(c, nil)).Sigma()
		last := 0.0
		for d := int64(1); d <= int64(c.Diameter); d++ {
			got := deltaBySum(sigma, c.Alpha, d)
			if got > c.Delta || got < last*(1-1e-12) {
				t.Errorf("%+v: sigma %v has delta %v at distance %d", c, sigma, got, d)
			}
			last = got
		}
		if got := deltaBySum(0.99*sigma, c.Alpha, int64(c.Diameter)); got <= c.Delta {
			t.Errorf("%+v: 0.99 sigma has delta %v", c, got)
		}
		if cont := testkit.Must(GaussianSigma(GaussianTarget{c.Alpha, c.Delta, math.Floor(c.Diameter)})); sigma > 3 && !near(sigma, cont, 0.05) {
			t.Errorf("%+v: sigma %v, continuous %v", c, sigma, cont)
		}
	}
}

// TestGaussianDelta_IsAboveTheLimit: at a tiny distance D delta is D/sigma times the mean
// excess of a normal variate above alpha sigma, to many digits, and never a float64 below it.
func TestGaussianDelta_IsAboveTheLimit(t *testing.T) {
	const prec, d = 500, 0x1p-90
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	op := func() *big.Float { return num(0) }
	root, _, _ := big.ParseFloat("2.50662827463100050241576528481104525300698674060993831662992357", 10, prec, big.ToNearestEven)
	rng := random.Seeded(126)
	for range 300 {
		alpha := 8 * rng.Float64()
		// Q(u) = 1/2 - phi(u) (u + u^3/3 + u^5/(3 5) + ...).
		u, sum, term := num(alpha), op(), num(alpha)
		square := op().Mul(u, u)
		_, phi := exact.ExpBounds(op().Quo(square, num(-2)), prec)
		phi = op().Quo(phi, root)
		for k := 3.0; term.MantExp(nil) > -prec; k += 2 {
			sum.Add(sum, term)
			term = op().Quo(op().Mul(term, square), num(k))
		}
		tail := op().Sub(num(0.5), op().Mul(phi, sum))
		want := op().Mul(op().Sub(phi, op().Mul(u, tail)), num(d*(1-0x1p-50)))
		if got := GaussianDelta(1, alpha, d); num(got).Cmp(want) < 0 {
			t.Fatalf("alpha %v: %v, exactly %v", alpha, got, want)
		}
	}
}

// TestDiscreteGaussianDelta_IsAboveTheSum, whose terms are known to 60 digits.
func TestDiscreteGaussianDelta_IsAboveTheSum(t *testing.T) {
	const prec, d = 200, 1
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	rng := random.Seeded(127)
	for range 100 {
		sigma := 0.3 + rng.Float64()
		alpha := (1 + 30*rng.Float64()) / sigma
		square := num(0).Mul(num(sigma), num(sigma))
		exp := func(x *big.Float) *big.Float { low, _ := exact.ExpBounds(x, prec); return low }
		mass := func(k float64) *big.Float { return exp(num(0).Quo(num(-k*k/2), square)) }
		at := num(0).Sub(num(0).Mul(num(alpha), square), num(d/2.))
		sum, total := num(0), num(0)
		first, _ := at.Float64()
		for k := math.Floor(first) + 1; k < first+50; k++ {
			less := exp(num(0).Quo(num(0).Sub(at, num(k)), square))
			sum.Add(sum, num(0).Mul(mass(k), num(0).Sub(num(1), less)))
		}
		for k := -40.; k <= 40; k++ {
			total.Add(total, mass(k))
		}
		if got := DiscreteGaussianDelta(sigma, alpha, d); num(got).Cmp(sum.Quo(sum, total)) < 0 {
			t.Fatalf("sigma %v, alpha %v: %v, exactly %v", sigma, alpha, got, sum)
		}
	}
}
