package families

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
)

// The proof of pathMinimax. The inputs are 0, ..., K, a gap between two of them costs eps,
// and an output is any number y. Let u_j(y) in [0,1] be the part of the gap from j to j+1
// that lies below y: |x-y| is at least the sum of u_j over the gaps to the right of x and of
// 1-u_j over those to its left. The mean g(x) of u_j at x and 1-g(x) both change by a factor
// e^eps at most from one input to the next. Let q = e^-eps. Under weights p_x >= 0 of the
// inputs the losses at gap j hence add up to at least L a + R b, where
//
//	L = sum over x <= j of p_x q^(j-x),  R = sum over x > j of p_x q^(x-j-1),
//	a = g(j) >= q (1-b),  b = 1-g(j+1) >= q (1-a).
//
// For a and b in [0,1] it is least at a corner, where it is (L+R) q/(1+q), L or R. The sum over the
// gaps is a lower bound of the worst loss times the sum of the weights, and increases with q.
//
// With weights 1, and 1/(1-q) at the ends, L = R = 1/(1-q), and the bound is
//
//	K/(sinh(eps) (K + coth(eps/2))),
//
// which tends to 1/sinh(eps), what discrete Laplace noise loses, and for K gaps on [0,1]
// that cost beta together to 1/(beta+2). Weights theta^|x-K/2|, theta in [1/cosh(eps), 1],
// with 1/(1-theta q) times that at the ends, still have L >= q R and R >= q L. The smallest
// theta proves more, and lighter ends do for few gaps.

// pathGaps bounds the number of gaps whose weights are added up. A longer path has one of
// fewer gaps, of some steps each, within.
const pathGaps = 128

// pathMinimax returns a lower bound of the optimal accuracy, in gaps, on the points of a
// path of equal gaps that cost eps each: .95 times the optimum at least in all cases that
// were computed. The closed form is in plain float64, and eps rounded upward.
func pathMinimax(gaps int, eps float64) float64 {
	best := float64(gaps) / (math.Sinh(eps) * (float64(gaps) + 1/math.Tanh(eps/2)))
	for step := 1; 0 < step && step <= gaps && (step == 1 || float64(step)*eps <= 1); step *= 2 {
		cost := float64(float64(step) * eps)
		theta := 1 / math.Cosh(cost)
		inner := -math.Expm1(math.Log(theta) - cost) // 1-theta q, to which the ends are 1
		weights := make([]float64, min(gaps/step, pathGaps)+1)
		last := len(weights) - 1
		for x := range weights {
			weights[x] = float64(inner * math.Pow(theta, math.Floor(math.Abs(float64(x)-float64(last)/2))))
		}
		q := directed.ExpDown(-directed.MulUp(float64(step), eps))
		for _, part := range []float64{.5, .8, 1} {
			weights[0] = float64(part * math.Pow(theta, float64(last/2)))
			weights[last] = weights[0]
			best = max(best, directed.MulDown(float64(step), pathLoss(weights, q)))
		}
	}
	return best
}

// pathLoss returns what weights prove that are the same from both ends, rounded downward.
func pathLoss(weights []float64, q float64) float64 {
	left := make([]float64, len(weights)) // L, which read from the end is R
	sum, total := 0.0, 0.0
	for j, p := range weights {
		sum, total = directed.AddDown(p, directed.MulDown(q, sum)), directed.AddUp(total, p)
		left[j] = sum
	}
	share := directed.DivDown(q, directed.AddUp(1, q))
	sum = 0
	for j, l := range left[:len(left)-1] {
		r := left[len(left)-2-j]
		sum = directed.AddDown(sum, min(directed.MulDown(share, directed.AddDown(l, r)), l, r))
	}
	return directed.DivDown(sum, total)
}
