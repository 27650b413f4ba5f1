package cells

import "math"

// A mass is an integral over the directions in which an input sees the cell. With T(r) the noise's mass
// beyond distance r, per angle, and any distance R, each side of a convex cell contributes
//
//	integral of T(R) - T(r) over the directions of the side,
//
// r the distance to the side there, and directions counted negative where the side hides the cell from the
// input. R is the distance of the cell: no difference is much larger than the mass then, and that of
// directions very near the input, which rounding moves from side to side, is 0.

// edge is a side as an input sees it, by the arc length nu along it.
type edge interface {
	// view returns the distance from the input to nu by which the integrand's
	// singularities are measured, and how fast the distance changes there.
	view(nu float64) (reach, slope float64)
	// foot returns the point of the open interval (a, b) nearest to the input, and its
	// reach, where one lies within.
	foot(a, b float64) (nu, reach float64, within bool)
	// gauss is the integral over [a, b] by a rule.
	gauss(a, b float64, r *rule) float64
	// around is the contribution of all of [a, b] where it lies at one distance,
	// that of nu: for what is very near the input.
	around(a, b, nu float64) float64
}

// rule is a Gauss-Legendre rule of order p, by the half of its nodes in [-1, 0], and what lengths it
// serves, relative to the reach and to the noise's scale over the slope. The integrand is analytic up to
// the distance reach, so that Bernstein's ellipses give errors of about (4*reach/length)^-2p; for e^-t over
// a length t in units of the scale they are of the order of (t/2)^2p p!^4 2^(2p+1)/((2p+1) (2p)!^3). Both
// are below some 1e-13 of the integral of the absolute value.
type rule struct {
	reach, scales float64
	nodes         []node
}

type node struct{ at, weight float64 }

var rules = [...]rule{
	{0.08, 0.3, []node{{0.3399810435848562648, 0.65214515486254614263}, {0.86113631159405257522, 0.34785484513745385737}}},
	{0.3, 1.6, []node{{0.23861918608319690863, 0.46791393457269104739}, {0.66120938646626451366, 0.36076157304813860757}, {0.93246951420315202781, 0.17132449237917034504}}},
	{0.85, 4.5, []node{{0.14887433898163121088, 0.29552422471475287017}, {0.4333953941292471908, 0.26926671930999635509}, {0.67940956829902440623, 0.219086362515982044}, {0.86506336668898451073, 0.14945134915058059315}, {0.97390652851717172008, 0.06667134430868813759}}},
}

// pointLike is the size below which a piece of an edge is taken to lie at one
// distance, relative to the edge. Its mass is at most the square of that.
const pointLike = 1e-9

// integrate returns the integral over [a, b]; rate is that of the noise per length.
func integrate[E edge](e E, rate, a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	ra, sa := e.view(a)
	rb, sb := e.view(b)
	return pieces(e, rate, pointLike*(b-a), a, b, ra, sa, rb, sb)
}

func pieces[E edge](e E, rate, least, a, b, ra, sa, rb, sb float64) float64 {
	length := b - a
	reach := min(ra, rb)
	foot, closest, within := e.foot(a, b)
	if within {
		reach = closest
	}
	scales := rate * length * max(sa, sb)
	bend := rate * length * length / reach // of the exponent about the foot
	for i := range rules {
		if r := &rules[i]; length <= r.reach*reach && scales <= r.scales && bend <= 4*r.scales {
			return e.gauss(a, b, r)
		}
	}
	mid := a + length/2
	if max(ra, rb) <= least || !(a < mid && mid < b) {
		return e.around(a, b, mid)
	}
	if within {
		mid = foot
	}
	rm, sm := e.view(mid)
	return pieces(e, rate, least, a, mid, ra, sa, rm, sm) + pieces(e, rate, least, mid, b, rm, sm, rb, sb)
}

// moments returns 1 - e^-t and 1 - (1+t)e^-t for t >= 0, relative to themselves, and e^-t.
func moments(t float64) (first, second, exp float64) {
	if t > 0.1 {
		exp = math.Exp(-t)
		first = 1 - exp
		return first, first - t*exp, exp
	}
	// rest = e^-t - 1 + t = t^2/2 (1 - t/3 (1 - t/4 (...))): the tail beyond
	// 2 t^9/11! is below 2^-54. In two sums: one would wait for every product.
	u := t * t
	even := 1./2 + u*(1./24+u*(1./720+u*(1./40320+u*(1./3628800))))
	odd := 1./6 + u*(1./120+u*(1./5040+u*(1./362880)))
	rest := u * (even - t*odd)
	first = t - rest
	return first, t*first - rest, 1 - first
}
