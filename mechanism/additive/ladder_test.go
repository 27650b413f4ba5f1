package additive

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// rungs are the deviations of a ladder and the logarithms of their probabilities, but for
// a constant, with as many more of the upper end.
func rungs(l *ladder, more int) (sigma, logs []float64) {
	last := len(l.sigma) - 1
	sigma, logs = slices.Clone(l.sigma), slices.Clone(l.logs)
	logs[last] -= math.Ln2
	for j := 1; j <= more; j++ {
		sigma = append(sigma, l.sigma[last]*math.Exp(float64(j)*rungStep))
		logs = append(logs, logs[last]-float64(j)*math.Ln2)
	}
	return sigma, logs
}

// The logarithm of the density falls at most as fast as the level says, at every norm,
// up to some where the halves of the upper end decide.
func TestLadder_Slope(t *testing.T) {
	for _, d := range []int{2, 3000, 9, 100}[:testkit.Sweep(2, 4)] {
		sigma, logs := rungs(newLadder(d), 600)
		steepest := 0.0
		s := sigma[len(sigma)-1]
		for r := .1; r < .7*s*s; r *= 1.05 {
			top := math.Inf(-1)
			for k, s := range sigma {
				top = max(top, logs[k]-float64(d)*math.Log(s)-r*r/(2*s*s))
			}
			sum, slope := 0.0, 0.0
			for k, s := range sigma {
				w := math.Exp(logs[k] - float64(d)*math.Log(s) - r*r/(2*s*s) - top)
				sum += w
				slope += w * r / (s * s)
			}
			steepest = max(steepest, slope/sum)
			if slope/sum > min(ladderRoom, 1+rungStep*(1+rungStep)) {
				t.Fatalf("R^%d: slope %v at the norm %v", d, slope/sum, r)
			}
		}
		if steepest < 1-1e-9 {
			t.Errorf("R^%d: slope at most %v: the noise is wider than it need be", d, steepest)
		}
	}
}

// The norm of the noise has the distribution Gamma(d), in closed form: a mixture of those
// of normal vectors. Where the rungs are closer than the deviations vary the two agree to
// rounding.
func TestLadder_NormIsGamma(t *testing.T) {
	for _, d := range []int{2, 9, 100, 3000} {
		l := newLadder(d)
		total := 0.0
		for _, v := range l.logs {
			total += math.Exp(v)
		}
		for _, q := range []float64{.01, .1, .5, .9, .999} {
			r, got := gammaQuantile(float64(d), q), 0.0
			for k, s := range l.sigma {
				got += math.Exp(l.logs[k]) / total * mathext.GammaIncReg(float64(d)/2, r*r/(2*s*s))
			}
			if math.Abs(got-q) > 1e-9 {
				t.Errorf("R^%d: within %v with probability %v, want %v", d, r, got, q)
			}
		}
	}
}

// The matrix of the ladder on the line, rounded to a lattice and cut off at two ends, is
// private at its level, and not at one 1 percent less.
func TestLadder_Audit(t *testing.T) {
	const n, far, step = 5, 30, .25
	sigma, logs := rungs(newLadder(1), 50)
	weights := make([]float64, 0, n*(2*far+1))
	for x := range n {
		for y := -far; y <= far; y++ {
			lo, hi := float64(y)-.5-float64(x-n/2), float64(y)+.5-float64(x-n/2)
			if lo < 0 { // the upper tail has the digits
				lo, hi = -hi, -lo
			}
			if y == far || y == -far {
				hi = math.Inf(1)
			}
			p := 0.0
			for k, s := range sigma {
				p += math.Exp(logs[k]) * (math.Erfc(lo*step/s/math.Sqrt2) - math.Erfc(hi*step/s/math.Sqrt2))
			}
			weights = append(weights, p)
		}
	}
	line := make([]float64, n)
	for i := range line {
		line[i] = float64(i) * step
	}
	c := testkit.Must(mechanism.FromWeights(t.Context(), n, 2*far+1, weights, nil))
	a := testkit.Must(c.Audit(t.Context(), testkit.Must(metric.NewPoints(line, metric.Numbers[float64]{})), nil))
	if a.Hi > ladderRoom || a.Hi < .99 {
		t.Errorf("audited level %v, want about 1 and at most %v", a.Hi, ladderRoom)
	}
}

// Exact noise above 8 dimensions has the norms that it says, in every direction alike. The
// norms are sorted into ten classes of equal probability, and so is the cosine with a
// coordinate, through its square: Beta(1/2, (d-1)/2). Chi-square at 1e-7.
func TestKNorm_LadderDraws(t *testing.T) {
	const d, alpha, draws = 12, 3, 20_000
	k := testkit.Must(NewKNorm(Norm{P: 2, Dim: d}, alpha, nil))
	rng := random.Seeded(91)
	norms, cosines, even := make([]int, 10), make([]int, 10), make([]float64, 10)
	for i := range even {
		even[i] = .1
	}
	x := make([]float64, d)
	for range draws {
		y := testkit.Must(k.Release(rng, x))
		sum := 0.0
		for _, v := range y {
			sum += v * v
		}
		norms[min(9, int(10*k.RadiusProb(math.Sqrt(sum))))]++
		cosines[min(9, int(10*mathext.RegIncBeta(.5, (d-1)/2., y[3]*y[3]/sum)))]++
	}
	testkit.ChiSquare(t, norms, even, 1e-7)
	testkit.ChiSquare(t, cosines, even, 1e-7)
}

func BenchmarkLadder(b *testing.B) {
	rng := random.Seeded(92)
	for _, d := range []int{100, 300} {
		k := testkit.Must(NewKNorm(Norm{P: 2, Dim: d}, 10, nil))
		x, y := make([]float64, d), make([]float64, d)
		testkit.Bench(b, fmt.Sprintf("d=%d", d), func() { _ = k.ReleaseTo(y, rng, x) })
	}
}
