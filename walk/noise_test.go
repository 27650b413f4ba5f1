package walk

import (
	"math"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// reject is the probability with which a right sampler fails one statistical
// test; about 30 are made.
const reject = 1e-8

// bins counts draws between the cuts and compares with the differences of cdf.
func bins(t *testing.T, draws int, cuts []float64, cdf func(float64) float64, draw func() float64) {
	t.Helper()
	count := make([]int, len(cuts)+1)
	for range draws {
		count[sort.SearchFloat64s(cuts, draw())]++
	}
	p := make([]float64, len(cuts)+1)
	before := 0.0
	for i, x := range cuts {
		p[i] = cdf(x) - before
		before = cdf(x)
	}
	p[len(cuts)] = 1 - before
	testkit.ChiSquare(t, count, p, reject)
}

// symmetric makes a distribution function of a tail P{X > x}, x >= 0.
func symmetric(tail func(x float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return tail(-x)
		}
		return 1 - tail(x)
	}
}

var cuts = []float64{-6, -4, -3, -2, -1.5, -1, -.6, -.3, -.1, 0, .1, .3, .6, 1, 1.5, 2, 3, 4, 6}

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
		t.Run(c.name, func(t *testing.T) {
			n := testkit.Must(NewNoise(c.dist, b))
			dst := make([]float64, c.k)
			bins(t, 200_000, cuts, symmetric(c.tail), func() float64 {
				n.draw(rng, dst)
				return (dst[0] - dst[c.k-1]) / b
			})
		})
	}
}

// TestDraw_KNormRadius: the norm of a K-norm variate in k-1 dimensions has the
// distribution Gamma(k-1), whatever the body.
func TestDraw_KNormRadius(t *testing.T) {
	rng := random.Seeded(15)
	for _, k := range []int{2, 3, 4, 5, 9, 16} {
		gamma := distuv.Gamma{Alpha: float64(k - 1), Beta: 1}
		var at []float64
		for i := 1; i < 20; i++ {
			at = append(at, gamma.Quantile(float64(i)/20))
		}
		n := testkit.Must(NewNoise(KNorm, 3))
		w := testkit.Must(New(testkit.Must(Levels(k)), KNorm, Scales{Level: []float64{3}}))
		counts := make([]float64, k+1)
		bins(t, 60_000, at, gamma.CDF, func() float64 {
			n.draw(rng, counts[1:])
			return w.potential(counts)
		})
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

func TestNoise_RateIsNotAboveTheStatedOne(t *testing.T) {
	rng := random.Seeded(19)
	for range 10_000 {
		b := math.Exp(10 * rng.NormFloat64())
		if n := testkit.Must(NewNoise(DiscreteLaplace, b)); math.FMA(n.rate, b, -1) > 0 {
			t.Fatalf("scale %v: rate %v", b, n.rate)
		}
	}
}
