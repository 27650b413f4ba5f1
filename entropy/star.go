package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// The proof of a Star. The outputs z of y have probabilities P_y(z) that lie between w_y P_x(z)
// and P_x(z)/w_y, and add up to 1. Hence
//
//	A sum_y k_y w_y >= sum_y k_y w_y sum_z rho2(y,z) P_y(z)
//	  = sum_y k_y w_y t_y + sum_z sum_y k_y w_y (rho2(y,z) - t_y) P_y(z)
//	  >= sum_y k_y w_y t_y + sum_z P_x(z) sum_y k_y phi_y(rho2(y,z) - t_y).
//
// Two points are one with k_x = k_y = 1, t_x = 0, t_y = rho2(x,y): A >= rho2(x,y)/(1 +
// e^(alpha*rho1(x,y))), above BSV24 Theorem 3.2, rho2(y,z) e^(-2 alpha r)/5 for two points of a
// ball of radius r. A packing, points y at distances >= t under rho2, is one with k_y = 1, t_y =
// t/2: A >= t/2 (1 - 1/sum_y w_y) (IKWAT22 Theorem 3, where x is among the points). That is
// above BSV24 Theorem 3.1, t/8 for k > e^(2 alpha r) such points in a ball of radius r, as sum_y w_y
// >= k e^(-alpha*r) > sqrt k >= sqrt 2.

// Star is a point x with weights k_y >= 0 and radii t_y >= 0 on points y, which prove
//
//	A(Z, alpha) sum_y k_y w_y >= sum_y k_y w_y t_y + min_z sum_y k_y phi_y(rho2(y,z) - t_y),
//	w_y = e^(-alpha*rho1(x,y)),  phi_y(h) = w_y^2 h for h >= 0, h for h < 0,
//
// the dual of the linear program for A with only the privacy constraints between x and the
// other points. The triangle inequality is not used.
type Star struct {
	X       int
	Points  []int
	Weights []float64 // k
	Radii   []float64 // t, in the unit of rho2
}

// Prove implements [Witness]. phi increases with h, so that a lower bound of h
// will do. O(n*|Points|).
func (s Star) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	const op = "entropy: Star.Prove"
	if err := checkWitness(op, b, alpha, s.X, "Points", s.Points...); err != nil {
		return 0, err
	}
	if err := cmp.Or(fault.Size(op, "Weights", len(s.Weights), len(s.Points)), fault.Size(op, "Radii", len(s.Radii), len(s.Points)),
		fault.AllNonNegative(op, "Weights", s.Weights), fault.AllNonNegative(op, "Radii", s.Radii)); err != nil {
		return 0, err
	}
	row := finite.Row(b.Utility, s.X, nil)
	unit := unitOf(slices.Max(row), 800)
	sums := make([]float64, b.Len())
	total, offset := 0.0, 0.0
	for i, y := range s.Points {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		k, t := s.Weights[i], s.Radii[i]
		r := b.Privacy.Distance(s.X, y)
		// e^(-u/2) twice: the distance times e^-u may be a number where e^-u is none.
		root := directed.ExpDown(-directed.MulUp(directed.MulUp(alpha, r), 0.5))
		w := directed.MulDown(root, root)
		below, above := directed.MulDown(t, unit), directed.MulUp(t, unit)
		row = finite.Row(b.Utility, y, row)
		for z, d := range row {
			h := directed.MulDown(k, directed.SubDown(directed.MulDown(d, unit), above))
			if h >= 0 {
				h = directed.MulDown(directed.MulDown(h, w), w)
			}
			sums[z] = directed.AddDown(sums[z], h)
		}
		up := directed.MulUp(k, directed.ExpUp(-directed.MulDown(alpha, r)))
		total = directed.AddUp(total, up)
		offset = directed.AddDown(offset, directed.MulDown(directed.MulDown(directed.MulDown(k, below), root), root))
	}
	v := directed.AddDown(offset, slices.Min(sums))
	if !(v > 0) { // NaN where a sum overflowed
		return 0, nil
	}
	return max(0, directed.DivDown(directed.DivDown(v, total), unit)), nil
}

// unitOf is a power of 2 that takes distances of size d to 2^to or so, if it is a number. At 2^800
// neither sums of distances nor their products with small probabilities leave the range of float64.
func unitOf(d float64, to int) float64 {
	_, e := math.Frexp(d)
	return math.Ldexp(1, min(to-e, 1000))
}
