package additive

import "math"

// arc is the distribution of the angle theta in [0, pi] between input and output of [Sphere]: density prop.
// to e^(-a theta) sin theta, a = alpha*R. With
//
//	H(theta) = 1 - e^(-a theta) (cos theta + a sin theta), T = H(pi) = 1 + e^(-a pi),
//
// the distribution function is H/T, since the integral of e^(-at) sin t from 0 is H/(1+a^2).
type arc struct{ a float64 }

func (l arc) total() float64 { return 1 + math.Exp(-l.a*math.Pi) }

func (l arc) density(theta float64) float64 {
	return (1 + l.a*l.a) * math.Exp(-l.a*theta) * math.Sin(theta) / l.total()
}

// head returns the probability of an angle up to theta, to a few ulps. For t =
// a theta up to 1 it is e^-t times
//
//	e^t - cos theta - a sin theta = (e^t-1-t) + 2 sin^2(theta/2) + a(theta - sin theta),
//
// three terms >= 0.
func (l arc) head(theta float64) float64 {
	t := l.a * theta
	if t <= 1 {
		h := math.Sin(theta / 2)
		return math.Exp(-t) * (expRest(t) + 2*h*h + l.a*sinRest(theta)) / l.total()
	}
	sin, cos := math.Sincos(theta)
	return (1 - math.Exp(-t)*(cos+l.a*sin)) / l.total()
}

// tail returns the probability of an angle above theta, to a few ulps. With x
// = pi - theta and y = a x up to 1 it is e^(-a theta) times
//
//	e^-y + cos theta + a sin theta = (e^-y-1+y) + 2 sin^2(x/2) - a(x - sin x),
//
// where the last term, about y x^2/6, is at most a third of the one before.
func (l arc) tail(theta float64) float64 {
	x := math.Pi - theta
	if y := l.a * x; y <= 1 {
		h := math.Sin(x / 2)
		return math.Exp(-l.a*theta) * (expRest(-y) + 2*h*h - l.a*sinRest(x)) / l.total()
	}
	sin, cos := math.Sincos(theta)
	return (math.Exp(-l.a*theta)*(cos+l.a*sin) + math.Exp(-l.a*math.Pi)) / l.total()
}

func expRest(t float64) float64 {
	if math.Abs(t) > 0.5 {
		return math.Expm1(t) - t
	}
	s := 1.0 // 1 + t/3 (1 + t/4 (...)): the tail beyond t^16/18! is below 2^-60
	for n := 18.0; n >= 3; n-- {
		s = 1 + s*t/n
	}
	return s * t * t / 2
}

// sinRest returns x - sin x for 0 <= x <= pi.
func sinRest(x float64) float64 {
	if x > 1 {
		return x - math.Sin(x)
	}
	s, x2 := 1.0, x*x // 1 - x^2/(4*5) (1 - x^2/(6*7) (...)): tail below 2^-60
	for n := 18.0; n >= 4; n -= 2 {
		s = 1 - s*x2/(n*(n+1))
	}
	return s * x * x2 / 6
}

// end is where a probability is counted from.
type end bool

const (
	fromHead end = false // angle 0
	fromTail end = true  // angle pi
)

// angle returns the angle that is not exceeded with probability p (fromHead), or
// exceeded (fromTail), for 0 < p < 1, p at most about 1/2 for full accuracy.
//
// Newton's method on the logarithm of the probability. The density is log-concave (a straight line plus log
// sin), hence so are head and tail, and on a concave function Newton's method converges monotonically from
// the side where it is negative; the bracket catches the first step from the other.
func (l arc) angle(p float64, from end) float64 {
	prob, sign := l.head, 1.0
	if from == fromTail {
		prob, sign = l.tail, -1
	}
	lo, hi := 0.0, math.Pi
	theta := l.guess(p, from)
	for range 200 {
		if !(theta > lo && theta < hi) {
			theta = lo + (hi-lo)/2
		}
		f := prob(theta)
		g := sign * math.Log(f/p)
		if g < 0 {
			lo = theta
		} else {
			hi = theta
		}
		step := g * f / l.density(theta)
		if math.Abs(step) <= 0x1p-50*theta || hi-lo <= 0x1p-50*hi {
			return theta - step
		}
		theta -= step
	}
	return theta
}

// guess starts Newton's method: the distribution near 0, where head is (1+a^2)
// theta^2/2T, or the tail (1+t)e^-t of the plane, t = a theta, where a is
// large, or that of the uniform one, cos^2(theta/2), where it is not.
func (l arc) guess(p float64, from end) float64 {
	switch {
	case from == fromHead:
		return math.Sqrt(2 * p * l.total() / (1 + l.a*l.a))
	case l.a > 2:
		u := -math.Log(p)
		return (u + math.Log1p(u+math.Log1p(u))) / l.a
	default:
		return 2 * math.Acos(math.Sqrt(p))
	}
}
