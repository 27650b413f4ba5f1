package walk

import (
	"fmt"
	"math"
	"testing"

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
