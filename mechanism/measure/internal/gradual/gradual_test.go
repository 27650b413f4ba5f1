package gradual

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// geometricLaw is P{K = k}.
func geometricLaw(rate float64, k int) float64 {
	if k < 0 {
		return 0
	}
	return -math.Expm1(-rate) * math.Exp(-rate*float64(k))
}

// survival is P{K >= k}.
func survival(rate float64, k int) float64 { return math.Exp(-rate * float64(max(k, 0))) }

// laplace is the law of discrete Laplace noise.
func laplace(rate float64, k int) float64 {
	return math.Tanh(rate/2) * math.Exp(-rate*math.Abs(float64(k)))
}

// step is the law of the smaller g of k, of rate a, and a fresh variate, of rate by.
func step(by float64, k, g int) float64 {
	switch {
	case g < k:
		return geometricLaw(by, g)
	case g == k:
		return survival(by, k)
	}
	return 0
}

const box = 60 // variates beyond it are left out: e^-(0.4*60) is 4e-11

// chain is the law of a count's values at rates a and a+by, by a sum over all that is drawn.
func chain(a, by float64, first, last int) (p float64) {
	for up := range box {
		for down := range box {
			if up-down != first {
				continue
			}
			for u := 0; u <= up; u++ {
				if d := u - last; d >= 0 && d <= down {
					p += geometricLaw(a, up) * geometricLaw(a, down) * step(by, up, u) * step(by, down, d)
				}
			}
		}
	}
	return p
}

// The values of a count have the law of the last rate, and before it noise that has nothing of the
// count: one more changes what is released by e^(last rate) at most.
func TestCount_LawOfRefinement(t *testing.T) {
	for _, rates := range [][2]float64{{.4, .1}, {.5, .5}, {.7, 2}} {
		a, by := rates[0], rates[1]
		b := a + by
		u, v := math.Exp(-a), math.Exp(-b)
		atom := math.Exp(-by) * (1 - u) * (1 - u) / (1 - v) / (1 - v)
		between := func(k int) float64 {
			p := (1 - atom) * laplace(a, k)
			if k == 0 {
				p += atom
			}
			return p
		}
		worst := 0.0
		for first := -4; first <= 4; first++ {
			for last := -4; last <= 4; last++ {
				p := chain(a, by, first, last)
				if want := laplace(b, last) * between(first-last); math.Abs(p-want) > 1e-9 {
					t.Errorf("rates %v and %v: values %d and %d with probability %v, want %v", a, b, first, last, p, want)
				}
				worst = max(worst, math.Log(p/chain(a, by, first-1, last-1)))
			}
		}
		if math.Abs(worst-b) > 1e-6 {
			t.Errorf("rates %v and %v: one more changes values by e^%v", a, b, worst)
		}
	}
}

// near tells whether a frequency of n draws is within 6 standard deviations of p, and 8/n for
// skewness: false with probability at most 1e-7 (Bernstein's inequality).
func near(count, n int, p float64) bool {
	return math.Abs(float64(count)-float64(n)*p) <= 6*math.Sqrt(float64(n)*p*(1-p))+14
}

// TestCount_DrawsItsLaw: two hundred thousand counts that are refined have the law above; of
// 81 cells a false one has probability at most 1e-6.
func TestCount_DrawsItsLaw(t *testing.T) {
	const n, draws = 1000, 200_000
	for _, by := range []int64{Quanta / 8, Quanta / 2} { // rates
		l := NewLedger(4)
		noise := NewNoise(random.Seeded(1), l)
		seen := map[[2]int64]int{}
		for range draws {
			c := noise.Count(n, Quanta/8)
			first := c.Value()
			c.Refine(by)
			seen[[2]int64{first - n, c.Value() - n}]++
		}
		for first := -4; first <= 4; first++ {
			for last := -4; last <= 4; last++ {
				p := chain(.5, l.Rate(by), first, last)
				if got := seen[[2]int64{int64(first), int64(last)}]; !near(got, draws, p) {
					t.Errorf("values %d and %d: %d times of %d, want %.0f", first, last, got, draws, p*draws)
				}
			}
		}
	}
}

// greatest is the law of the place of the greatest of scores with noise, but for the far tail.
func greatest(rate float64, scores []int) []float64 {
	out := make([]float64, len(scores))
	for i, x := range scores {
		for k := range 4 * box {
			p := geometricLaw(rate, k)
			for j, y := range scores {
				switch less := x + k - y; { // of the noise of j
				case j < i: // which wins ties
					p *= 1 - survival(rate, less)
				case j > i:
					p *= 1 - survival(rate, less+1)
				}
			}
			out[i] += p
		}
	}
	return out
}

// TestGreatest_Level: for all scores in a range that change by up to d, the law of the place of
// the greatest changes by at most e^(2 d rate), and nearly so for some.
func TestGreatest_Level(t *testing.T) {
	const rate = .3
	var all [][]int
	for a := range 6 {
		for b := range 6 {
			all = append(all, []int{2, a, b})
		}
	}
	for d := 1; d <= 2; d++ {
		worst := 0.0
		for _, x := range all {
			p := greatest(rate, x)
			for _, y := range all {
				if max(x[1]-y[1], y[1]-x[1], x[2]-y[2], y[2]-x[2]) > d {
					continue
				}
				for i, q := range greatest(rate, y) {
					worst = max(worst, math.Log(p[i]/q))
				}
			}
		}
		if most := float64(2*d) * rate; worst > most+1e-9 || worst < .5*most {
			t.Errorf("scores that change by %d: the law changes by e^%v, want nearly e^%v", d, worst, most)
		}
	}
}

// TestGreatest_DrawsItsLaw: false with probability at most 1e-6.
func TestGreatest_DrawsItsLaw(t *testing.T) {
	const draws = 100_000
	l := NewLedger(4)
	noise := NewNoise(random.Seeded(1), l)
	for _, scores := range [][]int64{{0, 0, 0}, {3, 0, -2}, {-1, 0, 1}} {
		seen := make([]int, 3)
		for range draws {
			seen[noise.Greatest(scores, Quanta/8)]++
		}
		for i, p := range greatest(.5, []int{int(scores[0]), int(scores[1]), int(scores[2])}) {
			if !near(seen[i], draws, p) {
				t.Errorf("scores %v: place %d %d times of %d, want %.0f", scores, i, seen[i], draws, p*draws)
			}
		}
	}
}

// TestLedger_SumsAreExact: rates of quanta that add up add up, and no more can be spent than
// there is.
func TestLedger_SumsAreExact(t *testing.T) {
	for _, eps := range []float64{1e-9, .1, 1, 7.3, 1e9} {
		l := NewLedger(eps)
		if loss := l.Loss(); loss > eps || loss < eps*(1-1e-6) {
			t.Errorf("eps = %v: the loss is %v", eps, loss)
		}
		for q := int64(1); q < Quanta; q = 3*q + 1 {
			if l.Rate(q)+l.Rate(Quanta-q) != l.Loss() {
				t.Errorf("eps = %v: %d quanta and the others are not all", eps, q)
			}
			if got := l.Quanta(l.Rate(q)); got != q {
				t.Errorf("eps = %v: the level of %d quanta has %d", eps, q, got)
			}
		}
		l.Spend(Quanta - 1)
		l.Spend(1)
		for _, q := range []int64{1, -1} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%d quanta were spent of none", q)
					}
				}()
				l.Spend(q)
			}()
		}
	}
}

// TestNoise_Tiny: the noise of a quantum of the least budget ends.
func TestNoise_Tiny(t *testing.T) {
	noise := NewNoise(random.Seeded(1), NewLedger(1e-9))
	c := noise.Count(7, 1)
	c.Refine(1)
	if v := c.Value(); v > -1<<40 && v < 1<<40 {
		t.Errorf("a count with noise of about 2^60: %d", v)
	}
	if i := noise.Greatest([]int64{-1 << 61, 1 << 61}, Quanta); i != 1 {
		t.Errorf("place %d is the greatest", i)
	}
}
