package walk

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// reject is the probability with which a right sampler fails one statistical test.
const reject = 1e-8

// symmetric makes a distribution function of a tail P{X > x}, x >= 0.
func symmetric(tail func(x float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return tail(-x)
		}
		return 1 - tail(x)
	}
}

func TestDraw_Differences(t *testing.T) {
	rng := random.Seeded(14)
	const b = 2.5
	for _, c := range []struct {
		name string
		dist Distribution
		k    int
		tail func(x float64) float64 // of (x_1 - x_2)/b
	}{
		{"KNorm 2 is Laplace", KNorm, 2, func(x float64) float64 { return math.Exp(-x) / 2 }},
		// The density on three children is prop. to e^-(max-min); integrated
		// over the third it is (|t|+2) e^-|t| / 6.
		{"KNorm 3", KNorm, 3, func(x float64) float64 { return (x + 3) * math.Exp(-x) / 6 }},
		// Two independent variates: density (|t|+1) e^-|t| / 4.
		{"Laplace 2", Laplace, 2, func(x float64) float64 { return (x + 2) * math.Exp(-x) / 4 }},
		{"Laplace 5", Laplace, 5, func(x float64) float64 { return (x + 2) * math.Exp(-x) / 4 }},
	} {
		n, dst, u := testkit.Must(NewNoise(c.dist, b)), make([]float64, c.k), make([]float64, 200_000)
		for i := range u {
			n.draw(rng, dst)
			u[i] = symmetric(c.tail)((dst[0] - dst[c.k-1]) / b)
		}
		testkit.Uniform(t, c.name, u)
	}
}

// TestDraw_KNormRadius: the norm of a K-norm variate in k-1 dimensions has the
// distribution Gamma(k-1), whatever the body.
func TestDraw_KNormRadius(t *testing.T) {
	rng := random.Seeded(15)
	for _, k := range []int{2, 3, 4, 5, 9, 16} {
		gamma := distuv.Gamma{Alpha: float64(k - 1), Beta: 1}
		w := testkit.Must(New(testkit.Must(Levels(k)), KNorm, Scales{Level: []float64{3}}))
		counts, u := make([]float64, k+1), make([]float64, 60_000)
		for i := range u {
			w.level[0].draw(rng, counts[1:])
			u[i] = gamma.CDF(w.potential(counts))
		}
		testkit.Uniform(t, fmt.Sprint(k), u)
	}
}

// TestDraw_KNormOrder: all orders of four children are alike.
func TestDraw_KNormOrder(t *testing.T) {
	rng := random.Seeded(16)
	n := testkit.Must(NewNoise(KNorm, 1))
	x, order := make([]float64, 4), make([]int, 4)
	seen := map[[4]int]int{}
	for range 100_000 {
		n.Draw(rng, x)
		floats.Argsort(x, order)
		seen[[4]int(order)]++
	}
	if len(seen) != 24 {
		t.Fatalf("%d orders", len(seen))
	}
	testkit.ChiSquare(t, slices.Collect(maps.Values(seen)), slices.Repeat([]float64{1. / 24}, 24), reject)
}

// TestDraw_Moments: sum 0, and the covariance that Variance states. The bound is
// 6 standard errors, estimated: about 2e-9 for each of 20 numbers.
func TestDraw_Moments(t *testing.T) {
	rng := random.Seeded(17)
	for _, dist := range dists {
		for _, k := range []int{2, 3, 7} {
			if dist == DiscreteHaar && k > 2 {
				continue
			}
			n := testkit.Must(NewNoise(dist, 1.5))
			x := make([]float64, k)
			const draws = 40_000
			var own, cross moment
			for range draws {
				n.Draw(rng, x)
				if sum := floats.Sum(x); math.Abs(sum) > 1e-12 {
					t.Fatalf("%v: %v sums to %v", dist, x, sum)
				}
				own.add(x[0] * x[0])
				cross.add(x[0] * x[k-1])
			}
			s := n.Variance(k)
			own.check(t, dist.String()+": variance", s*(1-1/float64(k)))
			cross.check(t, dist.String()+": covariance", -s/float64(k))
		}
	}
}

// moment estimates a mean and its error.
type moment struct{ n, sum, squares float64 }

func (m *moment) add(x float64) { m.n++; m.sum += x; m.squares += x * x }

func (m *moment) check(t *testing.T, name string, want float64) {
	t.Helper()
	mean := m.sum / m.n
	sd := math.Sqrt((m.squares/m.n - mean*mean) / m.n)
	if math.Abs(mean-want) > 6*sd {
		t.Errorf("%s: %v, want %v within 6 * %v", name, mean, want, sd)
	}
}

// integers is the distribution of DiscreteLaplace of scale b on -20, ..., 20,
// with all beyond counted at the ends.
func integers(b float64) []float64 {
	q := math.Exp(-1 / b)
	p := make([]float64, 41)
	for i := range p {
		p[i] = (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(i-20)))
	}
	p[0], p[40] = p[0]/(1-q), p[40]/(1-q)
	return p
}

// tallyInteger counts k where the distribution of integers has it.
func tallyInteger(count []int, k int64) { count[max(0, min(40, k+20))]++ }

func TestNoise_RateIsNotAboveTheStatedOne(t *testing.T) {
	rng := random.Seeded(19)
	for range 10_000 {
		b := math.Exp(10 * rng.NormFloat64())
		if n := testkit.Must(NewNoise(DiscreteLaplace, b)); math.FMA(n.rate, b, -1) > 0 {
			t.Fatalf("scale %v: rate %v", b, n.rate)
		}
	}
}

func TestNoise_Integers(t *testing.T) {
	rng := random.Seeded(18)
	const b = 1.75
	n := testkit.Must(NewNoise(DiscreteLaplace, b))
	q := math.Exp(-1 / b)
	count := make([]int, 41)
	x := make([]int64, 10)
	for range 20_000 {
		for i := range x {
			x[i] = int64(1000 * i)
		}
		n.Add(rng, x)
		for i, v := range x {
			tallyInteger(count, v-int64(1000*i))
		}
	}
	testkit.ChiSquare(t, count, integers(b), reject)
	if got, want := n.Variance(5), 2*q/(1-q)/(1-q); math.Abs(got-want) > 1e-13*want {
		t.Errorf("variance %v, want %v", got, want)
	}
	x[0], x[1] = math.MaxInt64, math.MinInt64
	for range 50 {
		n.Add(rng, x[:2]) // saturates and never wraps around
		if x[0] < math.MaxInt64/2 || x[1] > math.MinInt64/2 {
			t.Fatal(x[:2])
		}
	}
}

func TestNoise_RefusesWhatItCannotDraw(t *testing.T) {
	for name, f := range map[string]func(){
		"DiscreteHaar on three": func() { testkit.Must(NewNoise(DiscreteHaar, 1)).Draw(nil, make([]float64, 3)) },
		"Add of reals":          func() { testkit.Must(NewNoise(KNorm, 1)).Add(nil, make([]int64, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	x := []float64{7}
	testkit.Must(NewNoise(Laplace, 1)).Draw(nil, x)
	if x[0] != 0 || testkit.Must(NewNoise(Laplace, 1)).Variance(1) != 0 {
		t.Errorf("an only child got %v", x)
	}
}
