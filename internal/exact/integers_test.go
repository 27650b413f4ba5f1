package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

const (
	draws       = 1_000_000
	falseReject = 1e-6 // false-reject probability of each distribution below
)

func TestBernoulliExp_Distribution(t *testing.T) {
	rng := random.Seeded(11)
	for _, x := range []float64{0, 1e-6, 0.1, 1, 5, 12} {
		count := make([]int, 2)
		for range draws {
			if BernoulliExp(rng, x) {
				count[0]++
			} else {
				count[1]++
			}
		}
		testkit.ChiSquare(t, count, []float64{math.Exp(-x), -math.Expm1(-x)}, falseReject)
	}
	half := fixed{1 << 63} // and zeros: 1/2 is below e^-Ln2, by 2^-56
	if !BernoulliExp(rand.New(&half), math.Ln2) {
		t.Error("wrong where float64 does not decide")
	}
	for range 1000 {
		if BernoulliExp(rng, math.Inf(1)) || BernoulliExp(rng, 1e300) || !BernoulliExp(rng, 0) {
			t.Fatal("wrong at a certain outcome")
		}
	}
}

// drawCells counts draws of f into cells of the given width around the one
// that starts at low; draws outside fall into the first and the last.
func drawCells(n int, low, width int64, f func() int64) []int {
	count := make([]int, n)
	for range draws {
		k := f() - low
		c := k / width
		if k < 0 {
			c = 0
		}
		count[min(c, int64(n-1))]++
	}
	return count
}

func TestDiscreteLaplace_Distribution(t *testing.T) {
	rng := random.Seeded(13)
	for _, s := range []float64{1e-6, 0.01, 0.5, 3, 20} {
		width := int64(math.Ceil(0.1 / s))
		const n = 201
		low := -width * (n / 2)
		// P{K < k} = e^(s(k-1))/... for k <= 0, and by symmetry above.
		below := func(k int64) float64 {
			q := math.Exp(-s)
			if k <= 0 {
				return math.Exp(s*float64(k)) * q / (1 + q)
			}
			return 1 - math.Exp(-s*float64(k))/(1+q)
		}
		p := make([]float64, n)
		for c := range p {
			p[c] = below(low+int64(c+1)*width) - below(low+int64(c)*width)
		}
		p[0] = below(low + width)
		p[n-1] = 1 - below(low+(n-1)*width)
		count := drawCells(n, low, width, func() int64 { return DiscreteLaplace(rng, s) })
		testkit.ChiSquare(t, count, p, falseReject)
	}
}

func TestDiscreteGaussian_Distribution(t *testing.T) {
	rng := random.Seeded(14)
	for _, sigma := range []float64{0.2, 3.7, 3000, 1, 0.01, 0.5, 100}[:testkit.Sweep(3, 7)] {
		width := int64(math.Ceil(sigma / 10))
		const n = 121
		low := -width * (n / 2)
		p := make([]float64, n)
		total := 0.0
		reach := int64(12*sigma) + 2
		for k := -reach; k <= reach; k++ {
			m := math.Exp(-float64(k*k) / (2 * sigma * sigma))
			c := max(0, min(n-1, int64(math.Floor(float64(k-low)/float64(width)))))
			p[c] += m
			total += m
		}
		for c := range p {
			p[c] /= total
		}
		count := drawCells(n, low, width, func() int64 { return AddDiscreteGaussian(rng, 0, sigma) })
		testkit.ChiSquare(t, count, p, falseReject)
	}
}

// The variance of the discrete Gaussian at a sigma no pmf table reaches: 6 standard
// errors, false-reject probability 2e-9.
func TestDiscreteGaussian_LargeSigma(t *testing.T) {
	rng := random.Seeded(15)
	for _, c := range []struct {
		sigma float64
		n     int
	}{{1e6, 200_000}, {1 << 36, 50_000}, {MaxGaussianSigma, 2000}} {
		m2 := 0.0
		for range c.n {
			z := float64(AddDiscreteGaussian(rng, 0, c.sigma)) / c.sigma
			m2 += z * z / float64(c.n)
		}
		if math.Abs(m2-1) > 6*math.Sqrt(2/float64(c.n)) {
			t.Errorf("sigma = %g: E(K/sigma)^2 = %v", c.sigma, m2)
		}
	}
}

// The outcome and the number of words read are functions of the random bits alone, whichever way decides.
func TestIntegers_FastEqualsExact(t *testing.T) {
	n := testkit.Sweep(300, 1000)
	signed := func(k uint64, neg bool) []uint64 {
		if neg {
			return []uint64{k, 1}
		}
		return []uint64{k, 0}
	}
	for _, s := range []float64{1e-12, 1e-6, 0.01, 1, 20, 700, 1e10, 1e308} {
		fastEqualsExact(t, fmt.Sprintf("geometric(%g)", s), 16, n, func(rng *rand.Rand, exact bool) []uint64 { return []uint64{geometric(rng, s, exact)} })
		fastEqualsExact(t, fmt.Sprintf("laplace(%g)", s), 16, n, func(rng *rand.Rand, exact bool) []uint64 { return signed(discreteLaplace(rng, s, exact)) })
	}
	for _, sigma := range []float64{1e-300, 1e-3, 0.3, 1, 17.5, 1e6, MaxGaussianSigma} {
		fastEqualsExact(t, fmt.Sprintf("gaussian(%g)", sigma), 16, n, func(rng *rand.Rand, exact bool) []uint64 { return signed(discreteGaussian(rng, sigma, exact)) })
	}
}

// The float64 trial and the exact one agree, over the whole range of x.
func TestBernoulliExp_FastEqualsExact(t *testing.T) {
	rng := random.Seeded(17)
	for range 3000 {
		x := math.Exp(12*rng.Float64() - 6)
		u := rng.Uint64() >> rng.IntN(64)
		below, ok := expTrial(u, x, 0)
		want := expTrialBig(u, rng, func(uint) (lo, hi *big.Float) { return big.NewFloat(x), big.NewFloat(x) })
		if ok && below != want {
			t.Fatalf("x = %v, u = %#x: fast %v, exact %v", x, u, below, want)
		}
	}
}

// Bits chosen at the boundaries e^-sk themselves, where only further bits
// decide: K must change exactly there.
func TestGeometric_DecidesAtTheBoundary(t *testing.T) {
	for _, s := range []float64{1e-9, 0.37, 2, 11} {
		for _, k := range []uint64{1, 2, 3} {
			x := new(big.Float).SetPrec(200).Mul(big.NewFloat(-s), new(big.Float).SetUint64(k))
			lo, hi := ExpBounds(x, 200)
			words := func(p *big.Float) *fixed { // 128 bits of p
				n, _ := new(big.Float).SetMantExp(p, 128).Int(nil)
				w := new(big.Int).Rsh(n, 64)
				return &fixed{w.Uint64(), n.Uint64()}
			}
			below := words(lo)
			above := words(hi)
			(*below)[1]-- // no borrow and no carry at these s
			(*above)[1]++
			if got := geometric(rand.New(below), s, false); got != k {
				t.Errorf("s = %v: just below e^-%vs: %d", s, k, got)
			}
			if got := geometric(rand.New(above), s, false); got != k-1 {
				t.Errorf("s = %v: just above e^-%vs: %d", s, k, got)
			}
		}
	}
}

// The probability (e^a - 1)/(2(e^b - 1)) is exact: bits just below it answer true, just above false,
// by float64s and where only further bits decide. Nothing overflows where exponents are large.
func TestBernoulliGrowth_DecidesAtTheBoundary(t *testing.T) {
	grown := func(x float64) *big.Float {
		e, _ := ExpBounds(big.NewFloat(x), 500)
		return e.Sub(e, big.NewFloat(1))
	}
	for _, c := range [][2]float64{{0.3, 0.7}, {1e-9, 1}, {2, 3.5}, {5, 5}, {699.5, 700}, {700.25, 701}, {1e-150, 3e-150}, {0x1p-1020, 0x1p-1010}} {
		p := new(big.Float).SetPrec(500).Quo(grown(c[0]), grown(c[1]))
		if c[1] < 1e-100 { // e^x - 1 is x(1 + x/2 + ...)
			p.Quo(big.NewFloat(c[0]), big.NewFloat(c[1]))
			p.Mul(p, new(big.Float).SetPrec(500).Add(big.NewFloat(1), big.NewFloat((c[0]-c[1])/2)))
		}
		n, _ := p.SetMantExp(p, 127).Int(nil) // 128 bits of p/2
		for _, off := range []int64{-1 << 62, -2, 2, 1 << 62} {
			for _, scale := range []uint{0, 10, 50} {
				u := new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(off), scale))
				if u.Sign() < 0 || u.BitLen() > 128 || c[1] < 1e-100 && scale == 0 {
					continue
				}
				words := fixed{new(big.Int).Rsh(u, 64).Uint64(), u.Uint64()}
				if got := BernoulliGrowth(rand.New(&words), big.NewFloat(c[0]), big.NewFloat(c[1])); got != (off < 0) {
					t.Errorf("a, b = %v: at %d*2^%d*2^-128 from the probability: %v", c, off, scale, got)
				}
			}
		}
	}
	rng := random.Seeded(19)
	for _, b := range []float64{1e4, 1e8, 5e9, 1e300} {
		if BernoulliGrowth(rng, big.NewFloat(0.8*b), big.NewFloat(b)) || BernoulliGrowth(rng, big.NewFloat(0), big.NewFloat(b)) {
			t.Errorf("b = %v: true where the probability is next to 0", b)
		}
		count := make([]int, 2)
		for range 300 {
			if BernoulliGrowth(rng, big.NewFloat(b), big.NewFloat(b)) {
				count[0]++
			} else {
				count[1]++
			}
		}
		testkit.ChiSquare(t, count, []float64{0.5, 0.5}, falseReject)
	}
}

func TestGeometric_Saturates(t *testing.T) {
	rng := random.Seeded(18)
	for range 20 {
		if k := geometric(rng, 1e-300, false); k != math.MaxUint64 {
			t.Fatalf("s = 1e-300: %d", k)
		}
		if k := geometric(rng, 5e-324, false); k != math.MaxUint64 {
			t.Fatalf("s = 5e-324: %d", k)
		}
	}
	// 64 zero bits: K >= 44/s, found by bisection of all integers.
	zero := fixed{0, 1 << 63}
	if k, want := geometric(rand.New(&zero), 1, false), uint64(45); k != want { // -ln 2^-65 = 45.05
		t.Errorf("U = 2^-65: K = %d, want %d", k, want)
	}
}

func TestAddSaturated_Ends(t *testing.T) {
	const lo, hi = math.MinInt64, math.MaxInt64
	for _, x := range []int64{lo, lo + 1, -1, 0, 1, hi - 1, hi} {
		for _, n := range []uint64{0, 1, 2, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64} {
			for _, neg := range []bool{false, true} {
				want := new(big.Int).SetUint64(n)
				if neg {
					want.Neg(want)
				}
				want.Add(want, big.NewInt(x))
				if want.Cmp(big.NewInt(lo)) < 0 {
					want.SetInt64(lo)
				} else if want.Cmp(big.NewInt(hi)) > 0 {
					want.SetInt64(hi)
				}
				if got := addSaturated(x, n, neg); got != want.Int64() {
					t.Errorf("%d, %d, %v: %d, want %v", x, n, neg, got, want)
				}
			}
		}
	}
}
