package additive

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism"
)

// PrivacyLoss is the law of the privacy loss between two numbers at a distance > 0, of the noise
// before it is rounded: see [mechanism.Composition.AuditAt].
func (l *Laplace) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: Laplace.PrivacyLoss"
	if err := l.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	return l.k.privacyLoss(op, distance)
}

// PrivacyLoss is that of [KNorm.PrivacyLoss].
func (p *PlanarLaplace) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: PlanarLaplace.PrivacyLoss"
	if err := p.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	return p.k.privacyLoss(op, distance)
}

// PrivacyLoss bounds the law of the privacy loss between two words at a distance > 0: it is
// that of the noise on their vectors.
func (m *Madlib) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: Madlib.PrivacyLoss"
	if err := m.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	law, err := m.k.privacyLoss(op, distance)
	law.Bound = true
	return law, err
}

// PrivacyLoss is the law of the privacy loss between two points at a distance > 0 in the norm, of
// the noise before it is rounded: see [mechanism.Composition.AuditAt]. For p = 1 and p = +Inf in
// two dimensions and more it depends on the direction, and is that of the worst: the law of
// [Laplace]. For norms other than these and p = 2 that is a bound; where level times distance is
// not in [1e-100, 600] the law is that of randomized response of the same level, a bound too.
func (k *KNorm) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	return k.privacyLoss("additive: KNorm.PrivacyLoss", distance)
}

func (k *KNorm) privacyLoss(op string, distance float64) (mechanism.PrivacyLoss, error) {
	if err := k.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	a, law, err := lossOf(op, k.alpha, distance)
	switch {
	case err != nil || law.Mass != nil:
		return law, err
	case k.norm.Dim == 1 || k.norm.P == 1 || math.IsInf(k.norm.P, 1): // see geodesicLoss
		return laplaceLoss(a), nil
	case k.norm.P == 2:
		return newEuclideanLoss(k.norm.Dim, a).law(), nil
	}
	return geodesicLoss(a, nil), nil
}

// lossOf is level times distance, or the law where that is no number that others are computed for.
func lossOf(op string, alpha, distance float64) (a float64, law mechanism.PrivacyLoss, err error) {
	if err := fault.Positive(op, "distance", distance); err != nil {
		return 0, law, err
	}
	if a = float64(alpha * distance); !(a >= minLoss && a <= maxLoss) {
		law = responseLoss(directed.MulUp(alpha, distance))
	}
	return a, law, nil
}

// Levels times distances at which losses and their exponentials are float64.
const minLoss, maxLoss = 1e-100, 600

// PrivacyLoss is the law of the privacy loss between two places at a great-circle distance > 0, of
// the noise before it is rounded: see [mechanism.Composition.AuditAt]. Where one in 100 outputs
// and more is farther away than a quarter of a great circle less the distance, it is for levels
// from above that of [Laplace], as less is not known to hold for nearer places per unit; so it
// is beyond a quarter, and where the radius is below some 9/alpha. Where level times distance is
// not in [1e-100, 600] it is that of randomized response of the same level, a bound.
func (s *Sphere) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: Sphere.PrivacyLoss"
	if err := s.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	a, law, err := lossOf(op, s.g.Alpha(), distance)
	if err != nil || law.Mass != nil {
		return law, err
	}
	angle := distance / s.radius
	law = newSphereLoss(s.arc.a, min(angle, math.Pi)).law()
	// From an output z no farther than a quarter circle from all places between x and x', distances are
	// convex along the way, so that the loss per unit of distance is largest at its end. So it is unless z
	// is farther from x than a quarter less the angle; there it is alpha at most. With a probability far of
	// that, the least losses moved to the top make a law above those of all nearer places, per unit. Err
	// has room for what far is off by, and in the highest cell for 2^-120.
	far := 1.0
	if angle < math.Pi/2 {
		far = s.arc.tail(math.Pi/2 - angle)
	}
	switch {
	case far > 0.01:
		return geodesicLoss(a, &law), nil
	case far < 0x1p-120:
		return law, nil
	}
	above := law
	least, _ := search.Change(law.Bottom, law.Top, 0x1p-52, func(l float64) bool {
		p, _ := law.Mass(law.Bottom, l)
		return p > far*(1-0x1p-30)
	})
	above.Bottom, above.Bound, above.Below = least, true, &law
	above.Mass = func(lo, hi float64) (here, there float64) {
		if hi > least {
			here, there = law.Mass(max(lo, least), hi)
		}
		if lo < law.Top && law.Top <= hi {
			here, there = here+far, there+float64(far*math.Exp(-law.Top))
		}
		return here, there
	}
	return above, nil
}

// PrivacyLoss bounds the law of the privacy loss between two tracks at a distance > 0, the
// largest of their positions', by that of [Laplace]: see [mechanism.Composition.AuditAt].
// From below that of one position bounds, on a flat map.
func (k *Knots[P]) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: Knots.PrivacyLoss"
	if err := k.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	return trackLoss(op, k.g.Alpha(), distance, k.unit)
}

// PrivacyLoss bounds the law of the privacy loss between two tracks at a distance d_TV > 0 by that of
// [Laplace]: see [mechanism.Composition.AuditAt]. From below that of a shift bounds, on a flat map.
func (t *Trail[P]) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: Trail.PrivacyLoss"
	if err := t.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	return trackLoss(op, t.g.Alpha(), distance, t.unit)
}

// trackLoss is for noise of level alpha on tracks, a norm, of which the position of one is that of
// the plane.
func trackLoss(op string, alpha, distance, unit float64) (mechanism.PrivacyLoss, error) {
	a, law, err := lossOf(op, alpha, distance)
	if err != nil || law.Mass != nil {
		return law, err
	}
	if unit != 1 { // on the Earth the map may be smaller
		return geodesicLoss(a, nil), nil
	}
	below := newEuclideanLoss(2, a).law()
	return geodesicLoss(a, &below), nil
}

// lossErr is the relative error of masses that are some roundings off.
const lossErr = 0x1p-46

// responseLoss is the law of randomized response of level a, or of one a little higher.
func responseLoss(a float64) mechanism.PrivacyLoss {
	a = float64(a * (1 + 0x1p-50))
	less := math.Exp(-a)
	p, q := 1/(1+less), less/(1+less)
	return mechanism.PrivacyLoss{Bottom: -a, Top: a, Err: lossErr, Bound: true, Mass: func(lo, hi float64) (here, there float64) {
		if lo < a && a <= hi {
			here, there = p, q
		}
		if lo < -a && -a <= hi {
			here, there = here+q, there+p
		}
		return here, there
	}}
}

// geodesicLoss is above the loss between any inputs x and x' of a mechanism of level alpha that
// are d apart, a = alpha d, and have inputs x_t between, t from x and d-t from x': at a loss l of the
// upper end take alpha t = (a-l)/2. The densities p at x and q at x' are at least e^(-alpha t) and
// e^(alpha t - a) times that at x_t, so that min(p, e^l q) is at least e^-(a-l)/2 times it, and
//
//	delta(l) = 1 - integral of min(p, e^l q) <= 1 - e^-(a-l)/2,
//
// which is that of Laplace noise on the line. They are equal where every output z has d(x_t,z) +
// t = d(x,z) or d(x_t,z) + d-t = d(x',z) for all t, and the density is prop. to e^(-alpha d(x,z)): for
// l_1 noise and x and x' along a coordinate, and for l_inf noise and inputs all of whose coordinates
// differ by as much, as the largest of |z - x_t| is either one above x_t or one below.
func geodesicLoss(a float64, below *mechanism.PrivacyLoss) mechanism.PrivacyLoss {
	law := laplaceLoss(a)
	law.Bound, law.Below = true, below
	return law
}

// laplaceLoss is the law of |z - d| - |z| times alpha, z of density prop. to e^(-alpha|z|), a
// the product alpha d, which may be a little more than exactly: a with probability 1/2, -a with
// e^-a/2, and between of density e^((l-a)/2)/4. At x' it is that of -l.
func laplaceLoss(a float64) mechanism.PrivacyLoss {
	a = float64(a * (1 + 0x1p-50))
	return mechanism.PrivacyLoss{Bottom: -a, Top: a, Err: float64(lossErr * (1 + a)), Mass: func(lo, hi float64) (here, there float64) {
		if lo < a && a <= hi {
			here, there = 0.5, math.Exp(-a)/2
		}
		if lo < -a && -a <= hi {
			here, there = here+math.Exp(-a)/2, there+0.5
		}
		if lo, hi := max(lo, -a), min(hi, a); lo < hi {
			here += math.Exp((lo-a)/2) * math.Expm1((hi-lo)/2) / 2
			there -= math.Exp(-(lo+a)/2) * math.Expm1((lo-hi)/2) / 2
		}
		return here, there
	}}
}

// radialLoss is the privacy loss of noise of density prop. to e^(-alpha|z|_2) in n >= 2 dimensions,
// between points d apart. With r and r' the distances of the output to both and, in elliptic
// coordinates about them, r + r' = d cosh(m), r - r' = d cos(v), the loss is -a cos(v), a =
// alpha d, and the volume prop. to (sinh(m) sin(v))^(n-2) (cosh(m)^2 - cos(v)^2). The integral
// over m is one of Bessel functions K, so that the density of v is prop. to
//
//	e^(-x cos v) sin(v)^(n-2) (1 + more - cos(v)^2), x = a/2, more = (n-1)/x K_(n/2)(x)/K_(n/2-1)(x).
//
// On the unit sphere, between places at the angle 2b, area is prop. to
//
//	(cos(r-r') - cos(r+r')) / sqrt((cos 2b - cos(r+r')) (cos(r-r') - cos 2b))
//
// in r + r', from 2b to 2 pi - 2b, and r - r', from -2b to 2b: by Heron's formula for the triangle.
// With sin((r-r')/2) = sin(b) cos(v) and cos((r+r')/2) = cos(b) cos(w) the density of v is prop. to
//
//	e^(-alpha (r-r')/2) (more + sin(v)^2) / sqrt(1 - (sin(b) cos(v))^2),
//
// more = cot(b)^2 times the mean of sin(w)^2 where w has density prop. to e^(-alpha (r+r')/2) /
// sin((r+r')/2).
type radialLoss struct {
	n, a, x, more, total float64
	b, sin, cos          float64 // of b; 0, 0 and 1 where it is flat
}

func newEuclideanLoss(dim int, a float64) *radialLoss {
	r := &radialLoss{n: float64(dim), a: a, x: a / 2, cos: 1}
	r.more = (r.n - 1) / r.x * besselRatio(dim, r.x)
	return r.normalized()
}

// newSphereLoss is for the unit sphere and an angle, at most pi.
func newSphereLoss(alpha, angle float64) *radialLoss {
	r := &radialLoss{n: 2, a: float64(alpha * angle), x: float64(alpha*angle) / 2, b: angle / 2}
	r.sin, r.cos = math.Sincos(r.b)
	// Up to where (r+r')/2 is b + end the density falls to e^-50, and what of it is beyond a right
	// angle, pi - (r+r')/2 in place of that, to less.
	end := min(math.Pi/2-r.b, 50/alpha)
	top := math.Pi / 2
	if end < math.Pi/2-r.b {
		top = math.Asin(min(1, math.Sqrt(math.Sin(end)*math.Sin(angle+end))/r.cos))
	}
	density := func(w float64) float64 {
		sin, cos := math.Sincos(w)
		s := math.Hypot(r.sin, r.cos*sin)
		half := math.Atan2(s, r.cos*cos)
		return (math.Exp(-alpha*(half-r.b)) + math.Exp(-alpha*(math.Pi-half-r.b))) / s
	}
	short := func(w float64) float64 { return min(1/(1+alpha), (w+r.sin)/4) }
	mass := pieces(density, 0, top, 0, short)
	square := pieces(func(w float64) float64 { return density(w) * math.Pow(math.Sin(w), 2) }, 0, top, 0, short)
	r.more = square / mass * (r.cos / r.sin) * (r.cos / r.sin)
	return r.normalized()
}

func (r *radialLoss) normalized() *radialLoss {
	r.total = r.half(1, 0, math.Pi/2) + r.half(-1, 0, math.Pi/2)
	return r
}

// besselRatio is K_(dim/2)(x)/K_(dim/2-1)(x), by K_(m+1) = K_(m-1) + 2m/x K_m, all positive, from K_(1/2) =
// K_(-1/2) or from K_1 and K_0: integrals of e^(-x cosh t) cosh(mt) over the line, by the trapezoidal rule.
// That errs by at most 2M/(e^(2 pi s/h)-1), M the integral of the absolute value at a distance s from the
// line (Trefethen, Weideman 2014, Theorem 5.1), here with s = 1 by less than a relative e^-40.
func besselRatio(dim int, x float64) float64 {
	ratio, m := 1.0, 0.5
	if dim%2 == 0 {
		h := 2 * math.Pi / (45 + float64(0.46*x))
		k0, k1 := 0.5, 0.5
		for t := h; ; t += h {
			w := math.Exp(-2 * x * math.Pow(math.Sinh(t/2), 2))
			if c := float64(w * math.Cosh(t)); c < 0x1p-60*k1 {
				break
			} else {
				k0, k1 = k0+w, k1+c
			}
		}
		ratio, m = k1/k0, 1
	}
	for ; m <= float64(dim)/2-1; m++ {
		ratio = float64(2*m/x) + 1/ratio
	}
	return ratio
}

// pieces integrates f from lo to hi in pieces of at most a length, from hi on, and what is below
// least in one. They are so short that on an ellipse about each, twice as long, the integrand is at
// most e^5 times that on it, so that 16 nodes err by less than 1e-15 (Trefethen, "Approximation
// theory and approximation practice", Theorem 19.3).
func pieces(f func(v float64) float64, lo, hi, least float64, length func(at float64) float64) float64 {
	sum := 0.0
	for at := hi; at > lo; {
		next := max(at-length(at), least, lo)
		if at <= least || next >= at {
			next = lo
		}
		sum += quad.Fixed(f, next, at, 16, quad.Legendre{}, 0)
		at = next
	}
	return sum
}

// half integrates the density over angles from lo to hi from the nearest pole, at most pi/2,
// sign 1 where it is that of the larger density. What is far below the mass next to hi is left to
// one piece: the power of the sine falls, and the exponential grows by at most x hi^2/2.
func (r *radialLoss) half(sign, lo, hi float64) float64 {
	f := func(v float64) float64 {
		sin, cos := math.Sincos(v)
		bent := math.Hypot(r.cos, r.sin*sin)
		if r.b > 0 {
			cos = math.Atan2(r.sin*cos, bent) / r.b
		}
		w := math.Exp(float64(sign*r.x*cos)) * (r.more + float64(sin*sin)) / bent
		if r.n > 2 {
			w *= math.Pow(sin, r.n-2)
		}
		return w
	}
	least := lo
	if r.n > 2 {
		least = max(lo, math.Asin(math.Sin(hi)*math.Exp(-(34+float64(r.x*hi*hi)/2)/(r.n-2))))
	}
	return pieces(f, lo, hi, least, func(at float64) float64 {
		l := 1 / (1 + r.x)
		if r.n > 2 {
			l = min(l, at/(r.n+1))
		}
		if r.b > 0 { // the root is 0 at a distance of more than cos(b) from the pole, off the line
			l = min(l, (at+r.cos)/4)
		}
		return l
	})
}

func (r *radialLoss) law() mechanism.PrivacyLoss {
	a := r.a * (1 + 0x1p-50)
	angle := func(l float64) float64 { // from the pole on the side of l
		rest := max(0, a-math.Abs(l)) / (2 * a)
		if r.b > 0 {
			near := float64(r.b * rest)
			rest = math.Sin(near) * math.Sin(math.Atan2(r.cos, r.sin)+near) / r.sin
		}
		return 2 * math.Asin(math.Sqrt(rest))
	}
	// Ends of cells are off by some 2^-52 of an angle, and cells no shorter than 2^-16.
	err := 0x1p-34 + float64(r.n*0x1p-46) + float64(r.a*0x1p-46)
	return mechanism.PrivacyLoss{Bottom: -a, Top: a, Err: err, Mass: func(lo, hi float64) (here, there float64) {
		lo, hi = max(lo, -a), min(hi, a)
		if up := max(lo, 0); up < hi {
			here += r.half(1, angle(hi), angle(up))
			there += r.half(-1, angle(hi), angle(up))
		}
		if down := min(hi, 0); lo < down {
			here += r.half(-1, angle(lo), angle(down))
			there += r.half(1, angle(lo), angle(down))
		}
		return here / r.total, there / r.total
	}}
}

// PrivacyLoss is the law of the privacy loss between two integers at a distance that is one:
// see [mechanism.Composition.AuditAt].
func (l *DiscreteLaplace) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	return l.privacyLoss("additive: DiscreteLaplace.PrivacyLoss", distance)
}

// PrivacyLoss is that of [DiscreteLaplace.PrivacyLoss]: what is clamped has the same loss, that
// of the end of the range, for integers of the range.
func (t *TruncatedGeometric) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: TruncatedGeometric.PrivacyLoss"
	if err := t.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	law, err := t.inner.privacyLoss(op, distance)
	law.Bound = err == nil && uint64(distance) > uint64(t.hi)-uint64(t.lo)
	return law, err
}

// privacyLoss is a - 2 alpha k for noise k from 0 to the distance, a alpha times that.
func (l *DiscreteLaplace) privacyLoss(op string, distance float64) (mechanism.PrivacyLoss, error) {
	if err := l.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	if !(distance >= 1 && distance <= 1<<53 && distance == math.Trunc(distance)) {
		return mechanism.PrivacyLoss{}, fault.Value(op, "distance", distance, "an integer in [1, 2^53]")
	}
	a := float64(l.alpha * distance)
	if !(a <= maxLoss) {
		return responseLoss(a), nil
	}
	q := math.Exp(-l.alpha)
	// sum is that of (1-q) q^k over k from i to j.
	sum := func(i, j float64) float64 {
		return -math.Exp(-float64(l.alpha*i)) * math.Expm1(-float64(l.alpha*(j-i+1)))
	}
	index := func(loss float64) float64 { return (a - loss) / (2 * l.alpha) }
	top := a * (1 + 0x1p-50)
	return mechanism.PrivacyLoss{Bottom: -top, Top: top, Err: float64(lossErr * (1 + a)), Mass: func(lo, hi float64) (here, there float64) {
		// Losses above lo and at most hi: k from index(hi) to before index(lo), where 0 and the
		// distance stand for all that is beyond. The index of a loss is off by some ulps.
		near := float64(0x1p-50 * (1 + distance))
		i := max(0, math.Ceil(index(hi)-near))
		j := min(distance, math.Ceil(index(lo)-near)-1)
		if i > j {
			return 0, 0
		}
		here, there = sum(i, j)/(1+q), sum(distance-j, distance-i)/(1+q)
		if i == 0 { // noise below 0
			here += q / (1 + q)
			there += math.Exp(-a) * q / (1 + q)
		}
		if j == distance {
			here += math.Exp(-a) * q / (1 + q)
			there += q / (1 + q)
		}
		return here, there
	}}, nil
}

// PrivacyLoss is the law of the privacy loss between two points at a Euclidean distance > 0, of the noise
// before it is rounded, normal of mean m and variance 2m, m half the square of the distance over sigma: see
// [mechanism.Composition.AuditAt]. It holds beyond the target's diameter too.
func (m *Gaussian) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: Gaussian.PrivacyLoss"
	if err := m.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	far := distance / m.out.scale
	if err := fault.Positive(op, "distance", distance); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	if !(far >= 1e-100 && far <= 100) { // masses keep their digits
		return mechanism.PrivacyLoss{}, fault.Value(op, "distance", distance, "between 1e-100 and 100 standard deviations")
	}
	// between is the probability of a standard normal variate in (lo, hi].
	between := func(lo, hi float64) float64 {
		if lo+hi < 0 {
			lo, hi = -hi, -lo
		}
		return (math.Erfc(lo/math.Sqrt2) - math.Erfc(hi/math.Sqrt2)) / 2
	}
	return mechanism.PrivacyLoss{Bottom: math.Inf(-1), Top: math.Inf(1), Err: 0x1p-38, Mass: func(lo, hi float64) (here, there float64) {
		return between(lo/far-far/2, hi/far-far/2), between(lo/far+far/2, hi/far+far/2)
	}}, nil
}

// PrivacyLoss is the law of the privacy loss between two integers at a distance that is one,
// for a [DiscreteGaussian.Sigma] of at most 4096: see [mechanism.Composition.AuditAt]. It holds
// beyond the target's diameter too.
func (m *DiscreteGaussian) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "additive: DiscreteGaussian.PrivacyLoss"
	if err := m.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	if !(distance >= 1 && distance <= 1<<20 && distance == math.Trunc(distance)) {
		return mechanism.PrivacyLoss{}, fault.Value(op, "distance", distance, "an integer in [1, 2^20]")
	}
	if !(m.sigma <= 4096) {
		return mechanism.PrivacyLoss{}, fault.Value(op, "Sigma", m.sigma, "at most 4096")
	}
	variance := float64(m.sigma * m.sigma)
	total := massTotal(m.sigma)
	end := math.Ceil(39 * m.sigma)
	mass := func(k float64) float64 { return math.Exp(-float64(k*k)/(2*variance)) / total }
	index := func(loss float64) float64 { // of the noise
		return min(max(distance/2-float64(loss*(variance/distance)), -end-distance-1), end+distance+1)
	}
	return mechanism.PrivacyLoss{Bottom: math.Inf(-1), Top: math.Inf(1), Err: 0x1p-38, Mass: func(lo, hi float64) (here, there float64) {
		near := float64(0x1p-50 * (1 + end + distance))
		for k := math.Ceil(index(hi) - near); k < math.Ceil(index(lo)-near); k++ {
			here, there = here+mass(k), there+mass(k-distance)
		}
		return here, there
	}}, nil
}
