package additive

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// E max(0, 1 - e^(s-l)) at the level returned is at most delta, and a level 20 %
// less is not enough: means of 30,000 simulated losses, each bounded by 1 and with
// a second moment below their mean, so that a mean errs by 6 standard deviations
// of sqrt(delta/N) with probability below 1e-8.
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
	// That of randomized response: delta = (e^2 - e^s)/(1 + e^2).
	want := math.Log(math.Exp(2) - .1*(1+math.Exp(2)))
	if level := testkit.Must(testkit.Must(NewKNorm(Norm{P: 1, Dim: 20}, 2, nil)).LevelAt(.1, 1)); level < want || level > want*1.001 {
		t.Errorf("p = 1: level %v, want %v", level, want)
	}
	// On the line delta = 1 - e^((level-alpha)*reach/2).
	line := testkit.Must(NewKNorm(Norm{P: 2, Dim: 1}, 2, nil))
	for reach, want := range map[float64]float64{.5: 2 + 4*math.Log(.9), 3: 2 + 2./3*math.Log(.9), .05: 0} {
		if level := testkit.Must(line.LevelAt(.1, reach)); level < want || level > want*1.001 {
			t.Errorf("on the line, reach %v: %v, want %v", reach, level, want)
		}
	}
}

// AlphaForLevel is the inverse of LevelAt, on its safe side, and on the line level +
// 2 ln(1/(1-delta))/reach.
func TestNorm_AlphaForLevel(t *testing.T) {
	for _, c := range []struct {
		norm                Norm
		level, delta, reach float64
	}{{Norm{P: 2, Dim: 100}, .5, 1e-3, 9}, {Norm{P: 2, Dim: 3}, 1, .05, 2}, {Norm{P: 1, Dim: 5}, 2, .1, 1}, {Norm{P: 2, Dim: 1}, 2, .1, 3}} {
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
