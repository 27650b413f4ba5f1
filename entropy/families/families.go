package families

import (
	"cmp"
	"math"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/fault"
)

// The optimal accuracy of three families of spaces in which one metric measures privacy and loss,
// as in BSV24 Theorems 6.1 to 6.3, with explicit constants. Values are computed in plain float64
// and moved outward by 2^-38, far more than rounding costs.

// The ends of BallAccuracy. Above: 1, by releasing the center; and 2 dim/alpha, by noise of
// density prop. to e^(-alpha ||z||), whose mean norm is dim/alpha, and the point of the
// ball nearest to the sum, which doubles the distance at most.
//
// Below: two points at distance u, u/(1+e^(alpha u)) (an entropy.Star); and points S of the ball, a
// maximal set at distances > t. Seen from the center, balls of radius t around them cover that of
// radius r <= 1, so that t^d e^(alpha t) times the sum of e^(-alpha ||y||) over S is at least r^d
// e^(-alpha r), and a packing, such a star too, proves t/2 (1 - (t/r)^d e^(alpha (t+r))). At r =
// min(1, dim/alpha) and the best t = v r this is above 0.13 dim/alpha for dim large.

// BallAccuracy encloses the optimal accuracy at level alpha on the unit ball of any norm on R^dim,
// dim in [1, 100], under that norm: min(1, dim/alpha) up to constants (BSV24 Theorem 6.1).
func BallAccuracy(dim int, alpha float64) (scale.Interval, error) {
	if err := checkFamily("families: BallAccuracy", dim, alpha); err != nil {
		return scale.Interval{}, err
	}
	d := float64(dim)
	u := min(2, spaces.BestMass/alpha)
	lo := u / (1 + math.Exp(alpha*u))
	r := min(1, d/alpha)
	for v := 0.99; v > 0.05; v *= 0.98 {
		lo = max(lo, float64(v*r)/2*-math.Expm1(float64(d*math.Log(v))+float64(alpha*r*(1+v))))
	}
	return outward(lo, 2*d/alpha, 1), nil
}

// The ends of MeasuresAccuracy. Above, for dim = 1: the integrals of the distribution
// function F over m cells of length 1/m move by W1 in l1, so that Laplace noise of scale
// 1/alpha in each is private, and costs m/alpha. Steps on the cells, nearest to the noisy
// integrals among monotone ones, are at most twice as far from those of F, and F is at most
// 1/2m from its own: 2m/alpha + 1/2m.
//
// Above, for dim = d > 1: the exponential mechanism at alpha/2 on a net of K measures, one
// within g of any other, is private, and farther than r from its input with probability
// K e^(-alpha (r-g)/2) at most, so that it loses at most g + 2/alpha (ln K + 1). The net
// is that of weights in multiples of 1/m on the N = n^d centers of cells of side 1/n, of
// which [Measures] has the size and the radius: g = 1/(2n) + (N-1)/(2nm) with the way to
// the centers, whose spanning tree has edges of length 1/n, and K = C(N+m-1, m) <=
// (1 + (N-1)/m)^m (1 + m/(N-1))^(N-1). With m in proportion to N this has no logarithm: in
// the plane 2.37 alpha^(-1/3) for alpha large, and for the paper's net, Lemma A.1, 4.22.
//
// Below: see [MeasureBound], for dim = 1 with the cells in place of pairs: a distribution function
// with values (i+t_i)/m on cell i, 0 <= t_i <= 1, is monotone, and W1 is the sum of |t_i-t'_i|/m^2.
// For dim > 1, neighbors in a grid are the pairs.
//
// Also, for dim > 1: B blocks of q = 2^dim neighbors of a grid of gaps 1/k, each with a mass
// 1/B on one of them, drawn independently. As there, W1 to any output is at least 1/2kB times
// the sum over the blocks of 1 - b_x + sum of b_y over y != x, where x has the mass and the b_y
// are B times integrals of bumps, cut off at 1. To move a block's mass costs beta =
// alpha/(kB), so that b_y has at other x a mean of e^-beta times that at x = y or more: the mean
// over x is at least 1 + ((q-1) e^-beta - 1) c for some c in [0,1], and A >= min(1, (q-1)
// e^-beta)/2k. For alpha <= ln(q-1) that is 1/2, half the diameter.

// MeasuresAccuracy encloses the optimal accuracy at level alpha on the probability measures on
// [0,1]^dim, dim in [1, 100], under the metric W1, the sides of the cube measured by the largest
// coordinate: min(1, alpha^(-1/(dim+1))) up to constants (BSV24 Theorem 6.2), within a factor 8.
// With alpha*users in place of alpha the lower end holds for a release of the distribution of all
// items of users, any number each, under the earth mover's distance.
func MeasuresAccuracy(dim int, alpha float64) (scale.Interval, error) {
	if err := checkFamily("families: MeasuresAccuracy", dim, alpha); err != nil {
		return scale.Interval{}, err
	}
	d := float64(dim)
	lo, hi := 0.0, math.Inf(1)
	for _, k := range numbersNear(alpha, dim) {
		if dim == 1 {
			lo = max(lo, spaces.LineMinimax(alpha/k/k)/k)
			hi = min(hi, 2*k/alpha+1/(2*k))
			continue
		}
		// k+1 points a side, in pairs of neighbors.
		pairs := math.Floor(math.Pow(k+1, d) / 2)
		lo = max(lo, spaces.LineMinimax(alpha/k/pairs)/k)
		if blocks := math.Pow(math.Floor((k+1)/2), d); blocks > 0 {
			lo = max(lo, min(1, (math.Exp2(d)-1)*math.Exp(-alpha/(k*blocks)))/(2*k))
		}
		more := math.Pow(k, d) - 1 // than one center
		for part := 1.0; more > 0 && part <= 8; part++ {
			m := min(part*(more+1), math.MaxFloat64)
			net := float64(m*math.Log1p(more/m)) + float64(more*math.Log1p(m/more))
			hi = min(hi, 1/(2*k)+more/m/(2*k)+float64(2/alpha*(net+1))) // no product overflows
		}
	}
	return outward(lo, hi, 0.5), nil
}

// The ends of LipschitzAccuracy. Above: 1, by the function 0; and k^dim values at the centers of
// cells of side 1/k, with the noise of the largest coordinate, whose mean is k^dim/alpha. The
// function nearest to them there is at most twice as far, and elsewhere 1/k more: 1/k + 2
// k^dim/alpha. Below: the functions v max_i x_i with |v| <= 1 are 2 apart at most, and f -> f(1,
// ..., 1) does not increase distances, so that A is at least that of an interval of length 2. And a
// pyramid of height 1/2k on every cell, up or down, makes K = 2^(k^dim) functions at distances 1/k,
// and 1/2k from 0: a packing, an entropy.Star too, proves (1 - e^(alpha/2k)/K)/2k.

// LipschitzAccuracy encloses the optimal accuracy at level alpha on the real functions f on
// [0,1]^dim, dim in [1, 100], with f(0) = 0 and |f(x)-f(y)| <= the largest coordinate of x-y, under the largest
// difference of two functions: min(1, alpha^(-1/(dim+1))) up to constants (BSV24 Theorem
// 6.3). It is 1 in the limit alpha = 0, half the diameter.
func LipschitzAccuracy(dim int, alpha float64) (scale.Interval, error) {
	if err := checkFamily("families: LipschitzAccuracy", dim, alpha); err != nil {
		return scale.Interval{}, err
	}
	lo, hi := 2*spaces.LineMinimax(2*alpha), math.Inf(1)
	for _, k := range numbersNear(alpha, dim) {
		cells := math.Pow(k, float64(dim))
		// The two exponents may cancel: each is rounded up.
		up := float64(alpha/(2*k)*spaces.SlackUp) - float64(cells*math.Ln2*spaces.SlackDown)
		lo = max(lo, -math.Expm1(up)/(2*k))
		hi = min(hi, 1/k+2*cells/alpha)
	}
	return outward(lo, hi, 1), nil
}

func checkFamily(op string, dim int, alpha float64) error {
	if dim < 1 || dim > maxDim {
		return fault.Value(op, "dim", float64(dim), "a dimension in [1, 100]")
	}
	return cmp.Or(fault.Positive(op, "alpha", alpha))
}

// maxDim keeps powers of small numbers finite.
const maxDim = 100

// outward moves the ends of an interval by what rounding may have cost. The radius
// of the space, which needs no privacy, is exact.
func outward(lo, hi, radius float64) scale.Interval {
	return scale.Interval{Lo: roundOff(lo), Hi: min(hi*spaces.SlackUp, radius)}
}

// numbersNear are whole numbers >= 1 about (c*alpha)^(1/(dim+1)) for c from 2^-9 to 2^9: any number
// of cells gives a true bound, and the best is among these or near one.
func numbersNear(alpha float64, dim int) []float64 {
	var out []float64
	for e := -9.0; e <= 9; e += 0.25 {
		k := max(1, math.Round(math.Pow(alpha, 1/float64(dim+1))*math.Exp2(e/float64(dim+1))))
		if len(out) == 0 || k > out[len(out)-1] {
			out = append(out, k)
		}
	}
	return out
}
