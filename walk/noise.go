package walk

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
)

// Distribution is that of the noise that one node adds to the counts of its children. All four have
// the same privacy loss at the same scale; see [Tree.Loss]. The zero value is refused.
//
// The error of Laplace noise with k children a node is prop. to sqrt(k/(log k)^3), least at k = 20
// and flat from 8 to 40. Root mean squares of the partial sums' noise at level 1 per unit of total
// variation ([Walk.RMS]; KNorm with k = 10 has 1,000 leaves):
//
//	                          n = 1,024     n = 65,536
//	BSV22, scale 2(L+2)           37.53          66.81
//	binary, ReplaceOne            26.67          53.33
//	Laplace, k = 32 | 16          18.33          36.06
//	KNorm, k = 10 | 16            17.78          35.45
//
// A draw takes some 15 ns a child for real numbers, 35 ns for integers, 65 ns with
// [Walk.AddShares].
type Distribution int

const (
	// Laplace adds independent Laplace noise of scale b to each child, and then
	// the same number to all so that the children sum to their parent.
	Laplace Distribution = iota + 1

	// KNorm has density prop. to exp(-sum_i |x_i - med(x)|/b) on the vectors x of
	// sum 0: the K-norm mechanism (HT10) for the body that the differences of two
	// inputs fill, and the distribution of least variance here. On a binary tree it is
	// Laplace noise of scale b on the Haar coefficients.
	KNorm

	// DiscreteLaplace adds to each child independent integers with P{k} prop.
	// to exp(-|k|/b), exactly; then as Laplace. For counts.
	DiscreteLaplace

	// DiscreteHaar adds such an integer to the difference of two children. For
	// counts on binary trees, where it has half the variance of DiscreteLaplace.
	DiscreteHaar
)

// String returns the name of the constant.
func (d Distribution) String() string {
	if d.check("") != nil {
		return fmt.Sprintf("Distribution(%d)", int(d))
	}
	return [...]string{"Laplace", "KNorm", "DiscreteLaplace", "DiscreteHaar"}[d-Laplace]
}

// Discrete tells whether the noise consists of integers.
func (d Distribution) Discrete() bool { return d == DiscreteLaplace || d == DiscreteHaar }

func (d Distribution) check(op string) error {
	if d < Laplace || d > DiscreteHaar {
		return fault.Value(op, "dist", float64(d), "Laplace, KNorm, DiscreteLaplace or DiscreteHaar")
	}
	return nil
}

// Scales lie within these bounds, so that no square, sum or reciprocal of them
// overflows or loses bits.
const (
	minScale = 1e-100
	maxScale = 1e100
)

func checkScale(op, arg string, index int, b float64) error {
	if b >= minScale && b <= maxScale {
		return nil
	}
	return &ValueError{Op: op, Arg: arg, Index: index, Value: b, Want: "a number in [1e-100, 1e100]"}
}

// Noise is that of single nodes, for trees too large for a [Tree]; immutable and safe for
// concurrent use. A zero Noise panics.
type Noise struct {
	dist  Distribution
	scale float64
	rate  float64 // 1/scale rounded down: a discrete distribution may be wider, not narrower
}

// NewNoise returns noise of the given distribution and scale b, a number in [1e-100, 1e100]. Below
// a discrete distribution's scale of 1/700 or so all draws are 0 in practice.
func NewNoise(dist Distribution, scale float64) (Noise, error) {
	const op = "walk: NewNoise"
	if err := cmp.Or(dist.check(op), checkScale(op, "scale", -1, scale)); err != nil {
		return Noise{}, err
	}
	return newNoise(dist, scale), nil
}

func newNoise(dist Distribution, scale float64) Noise {
	return Noise{dist, scale, directed.DivDown(1, scale)}
}

func (n Noise) check(op string) error { return fault.Made(n.scale != 0, op, "Noise", "NewNoise") }

// Step returns the power of two to multiples of which [Walk.AddShares] rounds real numbers
// with this noise: in (2^-31, 2^-30] of the scale, or 2^-52, the larger; 1 for integers.
func (n Noise) Step() float64 {
	fault.Must(n, n.check("walk: Noise.Step"))
	if n.dist.Discrete() {
		return 1
	}
	return n.lattice().Step
}

func (n Noise) lattice() exact.Lattice {
	_, e := math.Frexp(n.scale)
	return exact.Lattice{Step: math.Ldexp(1, max(e-31, -52))}
}

// Draw fills dst with a sample of the noise of a node with len(dst) children, in floating point and
// centered: up to rounding its sum is 0. DiscreteHaar panics where dst has more than two entries.
// It is for simulation: to release data use [Walk.AddShares], or [Noise.Add] for counts.
// O(len(dst)), without allocation.
func (n Noise) Draw(rng *rand.Rand, dst []float64) {
	fault.Must(n, n.check("walk: Noise.Draw"))
	rng, done := random.Get(rng)
	defer done()
	n.draw(rng, dst)
}

func (n Noise) draw(rng *rand.Rand, dst []float64) {
	k := len(dst)
	if k < 2 {
		clear(dst)
		return
	}
	switch {
	case n.dist == DiscreteHaar && k > 2:
		panic("walk: DiscreteHaar noise on more than two children")
	case n.dist == DiscreteHaar:
		d := float64(exact.DiscreteLaplace(rng, n.rate))
		dst[0], dst[1] = d/2, -d/2
		return
	case n.dist == KNorm && k == 2:
		d := n.scale * random.Laplace(rng)
		dst[0], dst[1] = d/2, -d/2
		return
	}
	sum, sides := 0.0, exact.NewSides(k)
	for i := range dst {
		if n.dist == KNorm { // see [exact.Lattice.AddDifferences]
			dst[i] = float64(n.scale * sides.Next(rng) * random.Exponential(rng))
		} else {
			dst[i] = n.single(rng)
		}
		sum += dst[i]
	}
	floats.AddConst(-sum/float64(k), dst)
}

// Add adds independent integers of the distribution DiscreteLaplace to the counts x of the children
// of one node, in place. It panics at any other distribution. Sums outside int64 become the nearest
// int64, which is post-processing.
func (n Noise) Add(rng *rand.Rand, x []int64) {
	fault.Must(n, n.check("walk: Noise.Add"))
	if n.dist != DiscreteLaplace {
		panic("walk: Noise.Add: the distribution is not DiscreteLaplace")
	}
	rng, done := random.Get(rng)
	for i, c := range x {
		x[i] = exact.AddDiscreteLaplace(rng, c, n.rate)
	}
	done()
}

// Variance returns the number s such that the noise on k children, before any rounding, has the
// covariance matrix s*(I - J/k), J all ones: the sum of m children has the variance s*m*(1-m/k).
// DiscreteHaar has it for k = 2 only. For k < 2 it is 0.
func (n Noise) Variance(k int) float64 {
	fault.Must(n, n.check("walk: Noise.Variance"))
	return n.singleVariance() * shape(n.dist, k)
}

func (n Noise) singleVariance() float64 {
	if !n.dist.Discrete() {
		return 2 * n.scale * n.scale
	}
	// 2q/(1-q)^2, q = e^-rate, without cancellation for small rates.
	h := math.Sinh(n.rate / 2)
	return 1 / (2 * h * h)
}

// shape is the variance on k children divided by that of single, 2 for scale 1. For KNorm
// the noise less a median is k-1 exponential variates with signs, in sum s = 0 for odd k and 1
// for even k. So E |x - mean(x)|^2 = 2(k-1) - (k-1+s)/k, and as the distribution is
// exchangeable its covariance is that over k-1 times I - J/k.
func shape(d Distribution, k int) float64 {
	switch {
	case k < 2:
		return 0
	case d == DiscreteHaar:
		return 0.5
	case d == KNorm && k%2 == 0:
		return 1 - 0.5/float64(k-1)
	case d == KNorm:
		return 1 - 0.5/float64(k)
	}
	return 1
}

func (n Noise) perUnit() float64 {
	if n.dist.Discrete() {
		return n.rate
	}
	return 1 / n.scale
}

// single draws a Laplace variate, of integers where the distribution is discrete.
func (n Noise) single(rng *rand.Rand) float64 {
	if n.dist.Discrete() {
		return float64(exact.DiscreteLaplace(rng, n.rate))
	}
	return n.scale * random.Laplace(rng)
}
