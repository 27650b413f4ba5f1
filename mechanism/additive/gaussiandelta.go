package additive

import (
	"cmp"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// GaussianTarget is what [GaussianSigma], [NewGaussian] and [NewDiscreteGaussian] calibrate for: (Alpha,
// Delta)-metric privacy between inputs at a distance up to Diameter. Alpha and Diameter are numbers in
// [1e-100, 1e100], Delta in [1e-300, 1).
type GaussianTarget struct {
	Alpha, Delta, Diameter float64
}

const minDelta = 1e-300 // below, normal tails near underflow

func (t GaussianTarget) check(op string) error {
	if err := cmp.Or(checkScale(op, "Alpha", t.Alpha), checkScale(op, "Diameter", t.Diameter)); err != nil {
		return err
	}
	if t.Delta >= minDelta && t.Delta < 1 {
		return nil
	}
	return fault.Value(op, "Delta", t.Delta, "a number in [1e-300, 1)")
}

// guarantee promises nothing beyond Diameter, for t that was checked.
func (t GaussianTarget) guarantee(unit metric.Unit) mechanism.Guarantee {
	return fault.Must(fault.Must(mechanism.NewGuarantee(t.Alpha, t.Delta, unit)).Within(t.Diameter))
}

// GaussianDelta returns the smallest delta such that adding normal noise of standard deviation sigma is
// (alpha, delta)-private between two inputs at the given distance D, which increases in D:
//
//	delta = Phi(D/2s - alpha s) - e^(alpha D) Phi(-D/2s - alpha s), s = sigma,
//
// Phi the normal distribution function (Balle and Wang 2018, "Improving the Gaussian mechanism for
// differential privacy", Theorem 8). It is rounded up, by less than a relative 1e-5 (1e-7 where D >
// sigma/1000) where the value is at least 1e-300 and alpha*D at most 1e6. NaN where an argument is
// negative, infinite or NaN.
func GaussianDelta(sigma, alpha, distance float64) float64 {
	if !(sigma >= 0 && alpha >= 0 && distance >= 0 && max(sigma, alpha, distance) <= math.MaxFloat64) {
		return math.NaN()
	}
	if distance == 0 {
		return 0
	}
	if sigma == 0 {
		return 1
	}
	// It increases in D: it is the integral of phi(z) max(0, 1 - e^h), h = D(alpha - z/s) -
	// D^2/2s^2, and for each z h is concave in D with h = 0 at 0, so that max(0, 1-e^h) is 0
	// up to a point and increases from there.
	//
	// With u = alpha s - D/2s, w = D/s, v = u+w: e^(alpha D) phi(v) = phi(u), so
	//
	//	delta = Q(u) - phi(u) R(v) = integral over x > 0 of phi(u+x)(1 - e^-wx) <= w M(u),
	//
	// Q the upper tail, R = Q/phi Mills's ratio, M(u) = phi(u) - u Q(u). The difference cancels where w is
	// small and the bound is tight there; delta is the smaller one, each with its own error added:
	//
	// u and v have absolute errors below 2^-52 v' with v' = alpha s + D/2s. A change of u changes ln Q, ln
	// phi and ln M by at most |u|+2 times as much, one of v changes ln R by less than as much. Q, phi, R, M
	// themselves are right to 2^-46, and M where it cancels (by less than 2^6, up to u = 4) to 2^-40.
	w := distance / sigma
	up, down := float64(alpha*sigma), distance/(2*sigma)
	u, v := up-down, up+down
	switch {
	case u > 39: // Q(39) < 2^-1104
		return math.SmallestNonzeroFloat64
	case math.IsInf(v, 1):
		return 1
	}
	tail, phi := normalTail(u), normalDensity(u)
	move := float64((math.Abs(u) + 2) * v * 0x1p-50)
	exact := tail - float64(phi*millsRatio(v)) + float64(tail*(move+0x1p-44))
	small := w * normalExcess(u) * (1 + move + 0x1p-39)
	return min(1, max(math.SmallestNonzeroFloat64, min(exact, small)))
}

// GaussianSigma returns the least sigma, up to a relative 1e-14 on the safe side, with
// GaussianDelta(sigma, Alpha, Diameter) <= Delta, in any dimension. For a query that changes by at most l
// per unit of its input multiply it by l.
func GaussianSigma(t GaussianTarget) (float64, error) {
	return t.sigma("additive: GaussianSigma")
}

func (t GaussianTarget) sigma(op string) (float64, error) {
	if err := t.check(op); err != nil {
		return 0, err
	}
	return least(t.Diameter, 0x1p-48, func(s float64) bool {
		return GaussianDelta(s, t.Alpha, t.Diameter) <= t.Delta
	}), nil
}

// least returns a point where ok holds that fails a relative tol below, for ok
// that fails near 0 and holds from some point on. The search starts at guess.
func least(guess, tol float64, ok func(float64) bool) float64 {
	hi := guess
	for !ok(hi) {
		hi *= 2
	}
	lo := hi / 2
	for ok(lo) {
		lo, hi = lo/2, lo
	}
	_, hi = search.Change(lo, hi, tol, ok)
	return hi
}

// deepTail is where math.Erfc gives way to a continued fraction.
const deepTail = 4

func normalDensity(u float64) float64 {
	return float64(math.Exp(-u*u/2) * (1 / (math.Sqrt2 * math.SqrtPi)))
}

// normalTail returns Q(u), the probability above u.
func normalTail(u float64) float64 {
	if u < deepTail {
		return math.Erfc(u/math.Sqrt2) / 2
	}
	return float64(normalDensity(u) * millsRatio(u))
}

// normalExcess returns M(u) = phi(u) - u Q(u), the mean excess above u.
func normalExcess(u float64) float64 {
	if u < deepTail {
		return normalDensity(u) - float64(u*normalTail(u))
	}
	k := millsRest(u) // R = 1/(u+k), so 1 - u R = k/(u+k)
	return normalDensity(u) * k / (u + k)
}

// millsRatio returns R(u) = Q(u)/phi(u).
func millsRatio(u float64) float64 {
	if u < deepTail {
		return normalTail(u) / normalDensity(u)
	}
	return 1 / (u + millsRest(u))
}

// millsRest returns k with R(u) = 1/(u+k), u >= deepTail, by the continued
// fraction k = 1/(u+2/(u+3/(u+...))). Its convergents enclose the limit in
// turn; at u = 4 the 60th and 61st agree to 2^-60 (tested), above sooner.
func millsRest(u float64) float64 {
	k := 0.0
	for n := 60.0; n >= 1; n-- {
		k = n / (u + k)
	}
	return k
}
