package families

import (
	"cmp"
	"math"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/fault"
)

// The optimal accuracy of three families of spaces in which one metric measures
// privacy and loss, as in BSV24 Theorems 6.1 to 6.3, with explicit constants.
// Values are computed in plain float64 and moved outward by 2^-38, far more than
// rounding costs.

// The ends of BallAccuracy. Above: 1, by releasing the center; and 2 dim/alpha, by noise of
// density prop. to e^(-alpha ||z||), whose mean norm is dim/alpha, and the point of the
// ball nearest to the sum, which doubles the distance at most.
//
// Below: two points at distance u, u/(1+e^(alpha u)) (an entropy.Star); and points S of the ball,
// a maximal set at distances > t. Seen from the center, balls of radius t around them cover
// that of radius r <= 1, so that t^d e^(alpha t) times the sum of e^(-alpha ||y||) over S
// is at least r^d e^(-alpha r), and a packing, such a star too, proves t/2 (1 - (t/r)^d
// e^(alpha (t+r))). At r = min(1, dim/alpha) and the best t = v r this is above 0.13
// dim/alpha for dim large.

// bestMass maximizes u/(1+e^u): e^u (u-1) = 1.
const bestMass = 1.2784645427610738

// BallAccuracy encloses the optimal accuracy at level alpha on the unit ball of
// any norm on R^dim, under that norm: min(1, dim/alpha) up to constants (BSV24
// Theorem 6.1).
func BallAccuracy(dim int, alpha float64) (scale.Interval, error) {
	if err := checkFamily("families: BallAccuracy", dim, alpha); err != nil {
		return scale.Interval{}, err
	}
	d := float64(dim)
	u := min(2, bestMass/alpha)
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
// Above, for dim = d > 1: spread every point over the corners of its cell of side
// h by multilinear weights. That moves it h min(1, sqrt(d)/2) on average, and the
// weights of all corners by 2d/h in l1 for a unit of distance: their derivatives
// along each axis sum to 2/h in size. Laplace noise of that scale over alpha goes to
// each of the 2^(dJ) corners. Evened out in blocks of 2^d, the blocks in larger ones
// and so on, it costs on average at most
//
//	d/alpha sqrt(2-2^(1-d)) 2^(dJ) (sum over l < J of 2^(l(1-d/2))),
//
// a block of side 2^l h moving 2^l h and half of what the blocks differ by, whose
// standard deviation is known. The nearest measure doubles it.
//
// Below: see [MeasureBound], for dim = 1 with the cells in place of pairs: a
// distribution function with values (i+t_i)/m on cell i, 0 <= t_i <= 1, is
// monotone, and W1 is the sum of |t_i-t'_i|/m^2. For dim > 1, neighbors in a
// grid are the pairs.

// MeasuresAccuracy encloses the optimal accuracy at level alpha on the
// probability measures on [0,1]^dim under the metric W1, the sides of the cube
// measured by the largest coordinate: min(1, alpha^(-1/(dim+1))) up to constants
// (BSV24 Theorem 6.2), in the plane up to a logarithm here. With alpha*users in
// place of alpha the lower end holds for users of one level under the earth
// mover's distance as well, who may hold any number of items each, whoever publishes
// how all of them are distributed.
func MeasuresAccuracy(dim int, alpha float64) (scale.Interval, error) {
	if err := checkFamily("families: MeasuresAccuracy", dim, alpha); err != nil {
		return scale.Interval{}, err
	}
	d := float64(dim)
	lo, hi := 0.0, math.Inf(1)
	for _, k := range numbersNear(alpha, dim) {
		if dim == 1 {
			lo = max(lo, lineMinimax(alpha/k/k)/k)
			hi = min(hi, 2*k/alpha+1/(2*k))
			continue
		}
		// k+1 points a side, in pairs of neighbors.
		pairs := math.Floor(math.Pow(k+1, d) / 2)
		lo = max(lo, lineMinimax(alpha/k/pairs)/k)
	}
	sum := 0.0
	for j := 1.0; dim > 1 && j < 1024/d; j++ {
		sum += math.Exp2((j - 1) * (1 - d/2))
		noise := float64(2 * d / alpha * math.Sqrt(2-math.Exp2(1-d)) * math.Exp2(d*j) * sum)
		hi = min(hi, min(1, math.Sqrt(d)/2)/(math.Exp2(j)-1)+noise)
	}
	return outward(lo, hi, 0.5), nil
}

// The ends of LipschitzAccuracy. Above: 1/2, by a constant; and k^dim values at the centers
// of cells of side 1/k, with the noise of the largest coordinate, whose mean is
// k^dim/alpha. The function nearest to them there is at most twice as far, and elsewhere
// 1/k more: 1/k + 2 k^dim/alpha. Below: 1/2 and on every cell a pyramid of height 1/2k, up
// or down, are K = 2^(k^dim) functions at distances 1/k, and 1/2k from the constant 1/2: a
// packing, an entropy.Star too, proves (1 - e^(alpha/2k)/K)/2k.

// LipschitzAccuracy encloses the optimal accuracy at level alpha on the functions
// f from [0,1]^dim to [0,1] with |f(x)-f(y)| <= the largest coordinate of x-y,
// under the largest difference of two functions: min(1, alpha^(-1/(dim+1))) up to
// constants (BSV24 Theorem 6.3).
func LipschitzAccuracy(dim int, alpha float64) (scale.Interval, error) {
	if err := checkFamily("families: LipschitzAccuracy", dim, alpha); err != nil {
		return scale.Interval{}, err
	}
	lo, hi := 0.0, math.Inf(1)
	for _, k := range numbersNear(alpha, dim) {
		cells := math.Pow(k, float64(dim))
		lo = max(lo, -math.Expm1(alpha/(2*k)-float64(cells*math.Ln2))/(2*k))
		hi = min(hi, 1/k+2*cells/alpha)
	}
	return outward(lo, hi, 0.5), nil
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

// numbersNear are whole numbers >= 1 about (c*alpha)^(1/(dim+1)) for c from 2^-9
// to 2^9: any number of cells gives a true bound, and the best is among these or
// near one.
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

// lineMinimax is a lower bound of the optimal accuracy of [0,1], under |x-y|, at level
// beta: 1/(beta+2) by the proof of pathMinimax, and what a table proves, of 33 points of
// equal gaps by their linear programs: outputs between the points are no better there, for
// under a prior on the points the best answer to an output is a median of the posterior,
// which is one of the points. Between the entries: the optimum falls as beta grows, and
// beta times it rises, for in units of 1/beta it is that of a longer interval, whose
// mechanisms serve a shorter one within it.
func lineMinimax(beta float64) float64 {
	v := 1 / (beta + 2)
	for _, p := range lineOptima {
		if p.beta >= beta {
			v = max(v, p.least)
		} else {
			v = max(v, p.beta*p.least/beta)
		}
	}
	return v
}

type lineOptimum struct{ beta, least float64 }

var lineOptima = []lineOptimum{
	{.1, .476282}, {.25, .444924}, {.5, .40146}, {.75, .366199}, {1, .336947}, {1.25, .312245},
	{1.5, .29107}, {1.75, .272695}, {2, .256572}, {2.25, .242294}, {2.5, .229554}, {3, .207772},
	{3.5, .189781}, {4, .174642}, {5, .150573}, {6, .13221}, {8, .106045}, {11, .081287}, {16, .057724},
}
