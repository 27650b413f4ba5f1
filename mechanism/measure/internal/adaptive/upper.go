package adaptive

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// The proof of Upper. The tree of a [Fixed] rule that prunes nothing is public. Of a node v let m_v
// be the number of records, y_v the average before masses are made, T_v(s) what masses of total s
// in v become below it, and w_v W1, times N, between T_v(m_v) and the records of v, moved to the
// points of their leaves. T_v(s) falls nowhere when s rises: each coordinate of the projection
// P_s(y) on the simplex of total s is max(0, y_c - tau(s)), tau falling. With the parts c of v, e_c
// = P(y)_c - m_c at s = m_v sums to 0, and T_c(m_c+e_c) differs from T_c(m_c) by a measure of one
// sign and mass |e_c|. Moving those costs at most D_v, the diameter of v, a unit, so that
//
//	w_v <= D_v sum_c max(0, e_c) + sum_c w_c.
//
// Let z_c = y_c - m_c and z their mean. As e_c = max(z_c - tau, -m_c), the sum of max(0, e_c) is at
// most those of max(0, z_c - tau) and of max(0, tau - z_c), of which one falls and the other rises
// with tau; they meet at tau = z. Hence, for all data and all noise,
//
//	w_v <= D_v A_v + sum_c w_c,  A_v = sum_c max(0, z_c - z) = sum_c |z_c - z|/2,
//
// and W1 <= (sum over v of D_v E A_v)/N + the largest radius of a leaf. In [Release.Nodes] z_c has
// mean 0, or minus a deviation in a leaf.
//
// In a row of k parts of equal width d, mass of e moves along their centers and within parts,
// which costs d A more. Along the centers W1 is the integral of e times a function h that is
// 1-Lipschitz and, as e sums to 0, at least 0 and 0 somewhere: at most that of max(0, e_c) <=
// max(0, z_c - z), for tau >= z, times the distance to that place. It is largest when that is one
// of the ends: ((k-1)d/2) A + |sum_c x_c max(0, z_c - z)|, x_c from the middle. If the z_c have one
// distribution, of variance s, the last sum, whose x_c sum to 0, has the square mean s sum x_c^2 at
// most, as max(0, .) is 1-Lipschitz. So D_v A may be replaced by
//
//	D_v ((1+1/k)/2 A + sqrt(s(k^2-1)/(12k))).
//
// E|z_c - z|: let z_c - z = B L + Y, L discrete Laplace of the node's own rate r, Y the rest, of
// square mean t^2. A Laplace variate L' of scale 1/r is larger in the convex order: E max(0, L-x)
// at x = m+u, m whole and u in [0, 1], is e^(-rm) (1-u(1-q))/(2 sinh r), q = e^-r, and that of L' is
// e^(-rm) q^u/(2r). Their quotient is largest at 1-u(1-q) = (1-q)/r, and at most 1 there because
// -q ln(q)/(1-q) - 1 <= ln((1+q)/2). Given Y = y the mean of |B L' + y| is |y| + b e^(-|y|/b),
// b = B/r, a concave function of y^2. So E|z_c - z| <= t + b e^(-t/b).
//
// A total that is noised moves T(M)/M from T(N)/N by D |M-N|/max(M,N) at most, where T(M) - T(N)
// has one sign. Rounding: an average of at most k+2 terms, in float64, errs by (k+4) 2^-53 of
// the sum of all counts below, in absolute value, and a projection by that of its total; masses
// that are rounded to 2^-52 move as much each.

// Upper bounds, for all data of n records, n from 1 to 2^53, the expected W1 error of masses at
// the points of leaves, in units of size: rounded upward. The rule must prune nothing. row means
// [region.Partition].Row.
func Upper(t region.Tree, b Budget, rule Fixed, most int, n float64, size func(region.Node) (diameter, radius float64), row bool) float64 {
	all, _ := size(region.Node{})
	r := draw(t, b, rule, most, func(region.Node, int64, int64) (int64, int64) { return 0, 0 })
	own, rest, variance := make([]float64, len(r.Nodes)), make([]float64, len(r.Nodes)), make([]float64, len(r.Nodes))
	cost, counts, radius, widest, depth := 0.0, 0.0, 0.0, 0, make([]int, len(r.Nodes))
	for i := len(r.Nodes) - 1; i >= 0; i-- {
		v := r.Nodes[i]
		public := i == 0 && v.Quanta == 0
		if !public && b.rate(v.Quanta) < leastRate {
			return all
		}
		own[i], variance[i] = 1, b.Variance(v.Quanta)
		if public {
			variance[i] = 0
		}
		counts += math.Sqrt(variance[i])
		d, rad := size(v.At)
		if v.Parts == 0 {
			radius = max(radius, rad)
			continue
		}
		lo, hi := v.First, v.First+v.Parts
		sum, alike := 0.0, true
		for c := lo; c < hi; c++ {
			sum = directed.AddUp(sum, variance[c])
			depth[i] = max(depth[i], depth[c]+1)
			alike = alike && r.alike(c, lo, own, rest)
		}
		widest = max(widest, v.Parts)
		surplus := r.surplus(lo, hi, own, rest, variance, sum)
		moved := float64(d * surplus)
		if row && alike {
			k := float64(v.Parts)
			moved = min(moved, d*(float64((1+1/k)/2*surplus)+math.Sqrt(variance[lo]*(float64(k*k)-1)/(12*k))))
		}
		cost = directed.AddUp(cost, moved)
		if variance[i] > 0 { // as in average
			own[i] = sum / (variance[i] + sum)
			rest[i] = (1 - own[i]) * (1 - own[i]) * sum
			_, variance[i] = average(0, variance[i], 0, sum)
		}
	}
	height := float64(depth[0])
	slack := float64(height*(height+2)*(float64(widest)+8)*0x1p-50*(1+counts/n)) + float64(float64(len(r.Nodes))*0x1p-50)
	cost = directed.AddUp(cost, math.Sqrt(variance[0])*all) // of the total
	bound := directed.AddUp(directed.AddUp(cost/n, radius), all*slack)
	return min(all, bound) * region.RoundUp
}

// alike reports whether the averages of two leaves, or of two nodes that are divided, have one
// distribution as far as Upper looks.
func (r *Release) alike(c, d int, own, rest []float64) bool {
	return (r.Nodes[c].Parts == 0) == (r.Nodes[d].Parts == 0) && r.Nodes[c].Quanta == r.Nodes[d].Quanta && own[c] == own[d] && rest[c] == rest[d]
}

// surplus bounds E A of parts lo to hi-1, whose averages have own[c] of their own noise, and rest[c]
// the variance of what their parts add; sum is that of their variances, rounded upward.
func (r *Release) surplus(lo, hi int, own, rest, variance []float64, sum float64) float64 {
	k := float64(hi - lo)
	shift, deepest := 0.0, 0.0 // by which leaves are taken to be less
	for c := lo; c < hi; c++ {
		if r.Nodes[c].Parts == 0 {
			shift += math.Sqrt(variance[c]) / k
			deepest = max(deepest, math.Sqrt(variance[c]))
		}
	}
	a := 0.0
	for c := lo; c < hi; c++ {
		off := shift
		if r.Nodes[c].Parts == 0 {
			off = math.Abs(math.Sqrt(variance[c]) - shift)
		}
		off += float64(deepest * 0x1p-29) // the rounding of shift
		others := max(0, float64(sum*region.RoundUp)-variance[c])
		t := math.Sqrt(float64((1-1/k)*(1-1/k)*rest[c]) + float64(others/k/k) + float64(off*off))
		scale := (1 - 1/k) * own[c] / r.Budget.rate(r.Nodes[c].Quanta)
		if scale > 0 {
			t += float64(scale * math.Exp(-t/scale))
		}
		a = directed.AddUp(a, t/2)
	}
	return a
}
