package additive

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// At alpha = 1: 2 for p = 1, which is independent Laplace noise, and on the line; d+1 for p = 2, as E
// ||Z||^2 = d(d+1); (d+1)(d+2)/3 for p = +Inf, a Gamma(d+1) variate times a uniform one; and for p = 3 the
// formula in the doc of SecondMoment.
var secondMoments = []struct {
	norm Norm
	want float64
}{
	{Norm{P: 1, Dim: 2}, 2}, {Norm{P: 2, Dim: 2}, 3}, {Norm{P: inf, Dim: 2}, 4}, {Norm{P: 3, Dim: 2}, 3.39628008},
	{Norm{P: 1, Dim: 5}, 2}, {Norm{P: 2, Dim: 5}, 6}, {Norm{P: 3, Dim: 5}, 8.49070021}, {Norm{P: inf, Dim: 5}, 14},
	{Norm{P: 1, Dim: 1}, 2}, {Norm{P: 2, Dim: 1}, 2}, {Norm{P: 7, Dim: 1}, 2}, {Norm{P: inf, Dim: 1}, 2},
}

func TestSecondMoment_KnownAnswers(t *testing.T) {
	for _, c := range secondMoments {
		if got := testkit.Must(NewKNorm(c.norm, 1, nil)).SecondMoment(); !near(got, c.want, 1e-8) {
			t.Errorf("%v: %.10g, want %.10g", c.norm, got, c.want)
		}
		if got := testkit.Must(NewKNorm(c.norm, 10, nil)).SecondMoment(); !near(got, c.want/100, 1e-8) {
			t.Errorf("%v at alpha = 10: %.10g, want %.10g", c.norm, got, c.want/100)
		}
	}
	if got := testkit.Must(NewKNorm(Norm{P: 1e300, Dim: 5}, 1, nil)).SecondMoment(); !near(got, 14, 1e-12) {
		t.Errorf("p = 1e300: %v", got)
	}
}

// The scale is 1/alpha rounded up: noise is never less than the level needs.
func TestScale_IsNotBelowTheStatedOne(t *testing.T) {
	testkit.Rounding(t)
	rng := random.Seeded(34)
	for range 1000 {
		alpha := math.Exp(10 * rng.NormFloat64())
		l, k := testkit.Must(NewLaplace(alpha, nil)), testkit.Must(NewKNorm(plane, alpha, nil))
		for _, b := range []float64{l.k.out.scale, k.out.scale} {
			if e := math.FMA(alpha, b, -1); e < 0 || e > 0x1p-51 {
				t.Fatalf("alpha %v: scale %v", alpha, b)
			}
		}
	}
}

func TestKNorm_QuantilesInvert(t *testing.T) {
	for _, d := range []int{1, 2, 3, 10, 100, 1000} {
		k := testkit.Must(NewKNorm(Norm{P: 2, Dim: d}, 0.3, nil))
		for _, q := range []float64{1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9} {
			if got := k.RadiusProb(k.RadiusQuantile(q)); math.Abs(got-q) > 1e-9*min(q, 1-q)+1e-15 {
				t.Errorf("d = %d: P{radius <= quantile(%v)} = %v", d, q, got)
			}
		}
		if k.RadiusQuantile(0) != 0 || k.RadiusQuantile(1) != inf || !math.IsNaN(k.RadiusQuantile(-0.1)) || !math.IsNaN(k.RadiusQuantile(nan)) {
			t.Errorf("d = %d: quantiles at the ends", d)
		}
		if k.RadiusProb(0) != 0 || k.RadiusProb(-1) != 0 || k.RadiusProb(inf) != 1 || !math.IsNaN(k.RadiusProb(nan)) {
			t.Errorf("d = %d: probabilities at the ends", d)
		}
	}
	l := testkit.Must(NewLaplace(2, nil))
	if got, want := l.RadiusQuantile(0.95), math.Log(20)/2; !near(got, want, 1e-12) {
		t.Errorf("Laplace: %v, want %v", got, want)
	}
}

func TestAlphaFor_MeetsTheRadius(t *testing.T) {
	for _, n := range []Norm{{P: 2, Dim: 2}, {P: 1, Dim: 1}, {P: inf, Dim: 30}} {
		alpha := testkit.Must(n.AlphaFor(7, 0.95))
		if got := testkit.Must(NewKNorm(n, alpha, nil)).RadiusQuantile(0.95); !near(got, 7, 1e-12) {
			t.Errorf("%v: within %v, want 7", n, got)
		}
	}
	// 1 - (1+r)e^-r = 0.95 at r = 4.743864518...
	if alpha := testkit.Must(PlanarAlpha(1, 0.95)); !near(alpha, 4.7438645183905, 1e-10) {
		t.Errorf("PlanarAlpha(1, 0.95) = %v", alpha)
	}
	p := testkit.Must(NewPlanarLaplace(4.7438645183905, nil))
	if got := p.RadiusProb(1); !near(got, 0.95, 1e-10) {
		t.Errorf("RadiusProb(1) = %v", got)
	}
	if got := p.RadiusQuantile(0.95); !near(got, 1, 1e-10) {
		t.Errorf("RadiusQuantile(0.95) = %v", got)
	}
}

// dst may be x, and the same bits give the same output either way.
func TestReleaseTo_Aliasing(t *testing.T) {
	for _, n := range []Norm{{P: 1, Dim: 3}, {P: 2, Dim: 3}, {P: 3, Dim: 3}, {P: inf, Dim: 3}} {
		k := testkit.Must(NewKNorm(n, 1, nil))
		x := []float64{1, 2, 3}
		want := testkit.Must(k.Release(random.Seeded(35), x))
		if !slices.Equal(x, []float64{1, 2, 3}) {
			t.Fatalf("%v: Release changed x", n)
		}
		if err := k.ReleaseTo(x, random.Seeded(35), x); err != nil || !slices.Equal(x, want) {
			t.Errorf("%v: in place %v, apart %v, error %v", n, x, want, err)
		}
	}
}

func TestReleaseTo_DoesNotAllocate(t *testing.T) {
	if testkit.Race {
		t.Skip("sync.Pool drops items under the race detector")
	}
	rng := random.Seeded(36)
	x := make([]float64, 20)
	for _, n := range []Norm{{P: 1, Dim: 20}, {P: 2, Dim: 20}, {P: 3, Dim: 20}, {P: inf, Dim: 20}, {P: 2, Dim: 2}, {P: 2, Dim: 7}, {P: inf, Dim: 8}} {
		k, x := testkit.Must(NewKNorm(n, 1, nil)), x[:n.Dim]
		if n := testing.AllocsPerRun(100, func() { _ = k.ReleaseTo(x, rng, x) }); n >= 1 {
			t.Errorf("%v allocations: %v", k, n)
		}
	}
	g, l, p := testkit.Must(NewGaussian(20, GaussianTarget{1, 1e-6, 1}, nil)), testkit.Must(NewLaplace(1, nil)), testkit.Must(NewPlanarLaplace(1, nil))
	if n := testing.AllocsPerRun(100, func() { _, _ = l.Release(rng, 1); _, _ = p.Release(rng, [2]float64{}) }); n >= 1 {
		t.Errorf("Laplace and PlanarLaplace: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { _ = g.ReleaseTo(x, rng, x) }); n >= 1 {
		t.Errorf("Gaussian: %v allocations", n)
	}
}

func BenchmarkLaplace(b *testing.B) {
	rng := random.Seeded(38)
	l, p := testkit.Must(NewLaplace(1, nil)), testkit.Must(NewPlanarLaplace(1, nil))
	testkit.Bench(b, "line", func() { _, _ = l.Release(rng, 1) })
	testkit.Bench(b, "plane", func() { _, _ = p.Release(rng, [2]float64{}) })
}

// TestGammaQuantile_LowerTail inverts the distribution function where that is in closed form, a = 1, and
// where its power series has one term, and agrees with gonum where that is right.
func TestGammaQuantile_LowerTail(t *testing.T) {
	close := func(what string, a, q, got, want float64) {
		if !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s: quantile %v of Gamma(%v) is %v, want %v", what, q, a, got, want)
		}
	}
	for q := lowerTail / 2; q > 0; q /= 1e5 {
		close("closed form", 1, q, gammaQuantile(1, q), -math.Log1p(-q))
		for _, a := range []float64{0.5, 1.5, 2, 5} {
			lg, _ := math.Lgamma(1 + a)
			x := gammaQuantile(a, q)
			if lead := math.Exp((math.Log(q) + lg) / a); lead < 1e-14 && q > 0x1p-1022 {
				close("one term", a, q, x, lead)
			}
			if p := mathext.GammaIncReg(a, x); x > 1e-290 && q > 1e-290 && !(math.Abs(p-q) <= 1e-11*q) {
				t.Errorf("Gamma(%v) has mass %v below its quantile %v", a, p, q)
			}
		}
	}
	for _, a := range []float64{0.5, 1, 3, 10, 100, 1e4} {
		close("gonum", a, lowerTail, gammaLowerQuantile(a, lowerTail), mathext.GammaIncRegInv(a, lowerTail))
	}
}

// E max(0, 1 - e^(s-l)) at the level returned is at most delta, and a level 20 % less is not enough: means of
// 30,000 simulated losses, which err by 6 sqrt(delta/N) with probability below 1e-8.
func TestKNorm_LevelAt(t *testing.T) {
	const draws = 30_000
	for _, c := range []struct {
		dim          int
		alpha, reach float64
		delta        float64
	}{{2, 1, 1, .05}, {9, 1, 5, .05}, {50, .7e-50, 8e50, .02}, {3, 2, 4, .1}, {50, .5, 8, .02}, {100, .7, 8, .1}, {100, .7e-50, 8e50, .1}}[:testkit.Sweep(3, 7)] {
		k := testkit.Must(NewKNorm(Norm{P: 2, Dim: c.dim}, c.alpha, nil))
		level := testkit.Must(k.LevelAt(c.delta, c.reach))
		r := random.Seeded(5)
		x, y := make([]float64, c.dim), make([]float64, c.dim)
		losses := make([]float64, draws)
		for i := range losses {
			testkit.Check(t, k.ReleaseTo(y, r, x))
			here, there := 0.0, 0.0
			for j, v := range y {
				w := v
				if j == 0 {
					w += c.reach
				}
				here, there = math.Hypot(here, v), math.Hypot(there, w)
			}
			losses[i] = c.alpha * (there - here)
		}
		mean := func(level float64) float64 {
			sum := 0.0
			for _, l := range losses {
				if s := level * c.reach; l > s {
					sum -= math.Expm1(s - l)
				}
			}
			return sum / draws
		}
		err := 6 * math.Sqrt(c.delta/draws)
		if got := mean(level); got > c.delta+err || level > c.alpha {
			t.Errorf("%+v: level %v misses with %v", c, level, got)
		}
		if got := mean(.8 * level); got < c.delta-err {
			t.Errorf("%+v: level %v, and 20 %% less misses with %v", c, level, got)
		}
	}
}

func TestKNorm_LevelAtEnds(t *testing.T) {
	k := testkit.Must(NewKNorm(Norm{P: 2, Dim: 20}, 2, nil))
	before := 0.0
	for _, reach := range []float64{0, 1e-300, 1e-9, .01, .1, 1, 10, 100, 1e5, 1e300} {
		level := testkit.Must(k.LevelAt(1e-3, reach))
		if level < before || level > 2 || reach < 1e-4 && level != 0 || reach > 1e4 && level < 1.99 {
			t.Errorf("reach %v: level %v, nearer %v", reach, level, before)
		}
		before = level
	}
	// On the line, and for other norms, delta = 1 - e^((level-alpha)*reach/2).
	for _, norm := range []Norm{{P: 2, Dim: 1}, {P: 1, Dim: 20}, {P: 1.5, Dim: 7}, {P: math.Inf(1), Dim: 3}} {
		line := testkit.Must(NewKNorm(norm, 2, nil))
		for reach, want := range map[float64]float64{.5: 2 + 4*math.Log(.9), 3: 2 + 2./3*math.Log(.9), .05: 0} {
			if level := testkit.Must(line.LevelAt(.1, reach)); level < want || level > want*1.001 {
				t.Errorf("%+v, reach %v: %v, want %v", norm, reach, level, want)
			}
		}
	}
}

// AlphaForLevel is the inverse of LevelAt, on its safe side, and on the line level +
// 2 ln(1/(1-delta))/reach.
func TestNorm_AlphaForLevel(t *testing.T) {
	testkit.Slow(t)
	for _, c := range []struct {
		norm                Norm
		level, delta, reach float64
	}{{Norm{P: 2, Dim: 100}, .5, 1e-3, 9}, {Norm{P: 1, Dim: 5}, 2, .1, 1}, {Norm{P: 2, Dim: 1}, 2, .1, 3}} {
		alpha := testkit.Must(c.norm.AlphaForLevel(c.level, c.delta, c.reach))
		at := func(alpha float64) float64 {
			return testkit.Must(testkit.Must(NewKNorm(c.norm, alpha, nil)).LevelAt(c.delta, c.reach))
		}
		if got := at(alpha); got > c.level || at(alpha*1.001) <= c.level {
			t.Errorf("%+v: alpha %v has the level %v", c, alpha, got)
		}
		if want := c.level - 2*math.Log1p(-c.delta)/c.reach; c.norm.Dim == 1 && math.Abs(alpha-want) > 1e-3 {
			t.Errorf("on the line: %v, want %v", alpha, want)
		}
	}
}
