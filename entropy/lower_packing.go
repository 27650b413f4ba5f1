package entropy

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Packed is a set S of points that are pairwise at least t apart under rho2, t
// the least of their distances, as seen from a point x, in S or not: the
// witness of
//
//	A(Z, alpha) >= t/2 (1 - 1/sum_(y in S) e^(-alpha*rho1(x,y))).
//
// Let the losses be at most A. The open balls B_y of radius t/2 under rho2
// around the points y of S are disjoint. By Markov's inequality the output of y
// lies in B_y with probability at least 1 - 2A/t, hence that of x with
// e^(-alpha*rho1(x,y)) times that, and these add up to at most 1. Solve for A.
// (IKWAT22 Theorem 3 is the case x in S.)
type Packed struct {
	X      int
	Points []int
}

// Prove implements [Witness]. It computes t itself. O(|S|^2).
func (w Packed) Prove(b metric.Bimetric, alpha float64) (float64, error) {
	const op = "entropy: Packed.Prove"
	if err := checkWitness(op, b, alpha, w.X, "Points", w.Points...); err != nil {
		return 0, err
	}
	if err := fault.Empty(op, "Points", len(w.Points)); err != nil {
		return 0, err
	}
	return w.value(b, alpha), nil
}

func (w Packed) value(b metric.Bimetric, alpha float64) float64 {
	t, sum := math.Inf(1), 0.0
	for i, y := range w.Points {
		for _, z := range w.Points[:i] {
			t = min(t, b.Utility.Distance(y, z))
		}
		sum = directed.AddDown(sum, directed.ExpDown(-directed.MulUp(alpha, b.Privacy.Distance(w.X, y))))
	}
	if math.IsInf(t, 1) || sum <= 1 {
		return 0 // nothing is proved
	}
	return roundOff(directed.MulDown(t/2, directed.SubDown(1, directed.DivUp(1, sum))))
}
