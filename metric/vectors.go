package metric

import (
	"cmp"
	"fmt"
	"math"

	"golang.org/x/exp/constraints"

	"github.com/metricdp/metricdp/internal/fault"
)

// maxMagnitude bounds coordinates, radii and edge lengths: a sum of up to 8e7 of them is finite.
const maxMagnitude = 1e300

// A sum of n squares in [minSquares, +Inf) has lost at most a fraction n*2^-115 to underflow; other
// sums are taken again with scaling.
const minSquares = 0x1p-960

// Euclidean is the l2 distance of R^d. Its points are slices of one length d >= 1. Check, and so
// [NewPoints], refuses an empty slice, unequal lengths, NaN, and coordinates above 1e300 in
// magnitude; Distance panics on unequal lengths. The relative error is at most about d ulps at any
// scale. O(d), no allocation, like all metrics on vectors here.
type Euclidean struct{}

// Distance implements [Space].
func (Euclidean) Distance(x, y []float64) float64 { return euclidean(x, y) }

func euclidean[T constraints.Float](x, y []T) float64 {
	sameLength(len(x), len(y))
	// Four sums at a time: one sum would wait for each addition.
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x) && i+4 <= len(y); i += 4 {
		u, v := x[i:i+4:i+4], y[i:i+4:i+4]
		d0, d1 := float64(u[0])-float64(v[0]), float64(u[1])-float64(v[1])
		d2, d3 := float64(u[2])-float64(v[2]), float64(u[3])-float64(v[3])
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
	}
	for ; i < len(x) && i < len(y); i++ {
		d := float64(x[i]) - float64(y[i])
		s0 += float64(d * d)
	}
	if s := (s0 + s1) + (s2 + s3); s >= minSquares && s <= math.MaxFloat64 {
		return math.Sqrt(s)
	}
	return minkowski(2, x, y) // which scales
}

// Check implements [Checker].
func (Euclidean) Check(x, y []float64) error { return checkVectors("metric: Euclidean", x, y) }

// Append implements [Embedder].
func (Euclidean) Append(dst, p []float64) []float64 { return append(dst, p...) }

// Norm implements [Embedder].
func (Euclidean) Norm() (float64, func(float64) float64) { return 2, identity }

func (Euclidean) linear() bool { return true }

// Manhattan is the l1 distance of R^d, on the points that [Euclidean] takes.
type Manhattan struct{}

// Distance implements [Space].
func (Manhattan) Distance(x, y []float64) float64 { return manhattan(x, y) }

func manhattan[T constraints.Float](x, y []T) float64 {
	sameLength(len(x), len(y))
	s := 0.0
	for i, v := range x {
		s += math.Abs(float64(v) - float64(y[i]))
	}
	return s
}

// Check implements [Checker].
func (Manhattan) Check(x, y []float64) error { return checkVectors("metric: Manhattan", x, y) }

// Append implements [Embedder].
func (Manhattan) Append(dst, p []float64) []float64 { return append(dst, p...) }

// Norm implements [Embedder].
func (Manhattan) Norm() (float64, func(float64) float64) { return 1, identity }

// Chebyshev is the l-infinity distance of R^d, on the points that [Euclidean] takes.
type Chebyshev struct{}

// Distance implements [Space].
func (Chebyshev) Distance(x, y []float64) float64 { return chebyshev(x, y) }

func chebyshev[T constraints.Float](x, y []T) float64 {
	sameLength(len(x), len(y))
	m := 0.0
	for i, v := range x {
		m = max(m, math.Abs(float64(v)-float64(y[i])))
	}
	return m
}

// Check implements [Checker].
func (Chebyshev) Check(x, y []float64) error { return checkVectors("metric: Chebyshev", x, y) }

// Append implements [Embedder].
func (Chebyshev) Append(dst, p []float64) []float64 { return append(dst, p...) }

// Norm implements [Embedder].
func (Chebyshev) Norm() (float64, func(float64) float64) { return math.Inf(1), identity }

// Minkowski is the lp distance of R^d for the exponent P in [1, +Inf], on the points that
// [Euclidean] takes. Check refuses any other P. P = 1, 2 and +Inf are [Manhattan], [Euclidean] and
// [Chebyshev], bit for bit; others cost a power a coordinate, of which none overflows.
type Minkowski struct{ P float64 }

// Distance implements [Space].
func (k Minkowski) Distance(x, y []float64) float64 {
	switch k.P {
	case 1:
		return manhattan(x, y)
	case 2:
		return euclidean(x, y)
	}
	return minkowski(k.P, x, y)
}

// minkowski divides by the largest difference, so that no power overflows.
func minkowski[T constraints.Float](p float64, x, y []T) float64 {
	m := chebyshev(x, y)
	if m == 0 || math.IsInf(m, 1) || math.IsInf(p, 1) {
		return m
	}
	s := 0.0 // in [1, d]
	for i, v := range x {
		s += math.Pow(math.Abs(float64(v)-float64(y[i]))/m, p)
	}
	return m * math.Pow(s, 1/p)
}

// Check implements [Checker].
func (k Minkowski) Check(x, y []float64) error {
	const op = "metric: Minkowski"
	return cmp.Or(checkExponent(op, "P", k.P), checkVectors(op, x, y))
}

// Append implements [Embedder].
func (Minkowski) Append(dst, p []float64) []float64 { return append(dst, p...) }

// Norm implements [Embedder].
func (k Minkowski) Norm() (float64, func(float64) float64) { return k.P, identity }

// Angular is the angle between two nonzero vectors, in radians, in [0, pi]: a metric, which cosine
// distance is not. The absolute error is about 1e-15, near 0 and pi too (W. Kahan, "How futile are
// mindless assessments of roundoff", section 12).
type Angular struct{}

// Distance implements [Space].
func (Angular) Distance(x, y []float64) float64 { return angular(x, y) }

func angular[T constraints.Float](x, y []T) float64 {
	sameLength(len(x), len(y))
	nx, ny := norm(x), norm(y)
	var diff, sum float64
	for i, v := range x {
		a, b := float64(v)/nx, float64(y[i])/ny
		diff += float64((a - b) * (a - b))
		sum += float64((a + b) * (a + b))
	}
	return 2 * math.Atan2(math.Sqrt(diff), math.Sqrt(sum))
}

// Check implements [Checker]. Beside what [Euclidean] refuses, it refuses vectors of norm below
// 2^-1022, which have too few digits for a direction.
func (Angular) Check(x, y []float64) error {
	const op = "metric: Angular"
	const minNorm = 0x1p-1022
	if err := checkVectors(op, x, y); err != nil {
		return err
	}
	for i, v := range [2][]float64{x, y} {
		if n := norm(v); n < minNorm {
			return fault.Value(op, "norm of "+argXY[i], n, "at least 2^-1022")
		}
	}
	return nil
}

// Append implements [Embedder]: the unit vector of p.
func (Angular) Append(dst, p []float64) []float64 {
	n := norm(p)
	for _, v := range p {
		dst = append(dst, v/n)
	}
	return dst
}

// Norm implements [Embedder]: from the chord between two unit vectors to their angle, with an
// absolute error of up to 1e-7 near pi.
func (Angular) Norm() (float64, func(float64) float64) { return 2, chordToArc }

// chordToArc maps a chord of the unit sphere to its arc.
func chordToArc(c float64) float64 { return 2 * math.Asin(min(1, c/2)) }

// TotalVariation is half the l1 distance between probability vectors, slices of
// one length >= 1: the largest difference of the probability of one event.
type TotalVariation struct{}

// probabilityTol admits vectors printed with ten digits or summed over 10^6 entries. The distance
// is a metric whatever the sums.
const probabilityTol = 1e-9

// Distance implements [Space].
func (TotalVariation) Distance(x, y []float64) float64 { return Manhattan{}.Distance(x, y) / 2 }

// Check implements [Checker]: entries are >= 0 and sum to 1 within 1e-9.
func (TotalVariation) Check(x, y []float64) error {
	return checkProbabilities(x, y, probabilityTol)
}

func checkProbabilities(x, y []float64, tol float64) error {
	const op = "metric: TotalVariation"
	for i, v := range [2][]float64{x, y} {
		if err := cmp.Or(fault.Empty(op, argXY[i], len(v)), fault.Distribution(op, argXY[i], v, len(x), tol)); err != nil {
			return err
		}
	}
	return nil
}

// Append implements [Embedder].
func (TotalVariation) Append(dst, p []float64) []float64 { return append(dst, p...) }

// Norm implements [Embedder].
func (TotalVariation) Norm() (float64, func(float64) float64) {
	return 1, func(v float64) float64 { return v / 2 }
}

func identity(v float64) float64 { return v }

var argXY = [2]string{"x", "y"}

func norm[T constraints.Float](x []T) float64 {
	s, m := 0.0, 0.0
	for _, v := range x {
		s += float64(float64(v) * float64(v))
		m = max(m, math.Abs(float64(v)))
	}
	if s >= minSquares && s <= math.MaxFloat64 || m == 0 {
		return math.Sqrt(s)
	}
	s = 0
	for _, v := range x {
		q := float64(v) / m
		s += float64(q * q)
	}
	return m * math.Sqrt(s)
}

// sameLength panics where two points that no [Checker] has seen do not fit.
func sameLength(m, n int) {
	if m != n {
		panic(fmt.Sprintf("metric: points of lengths %d and %d", m, n))
	}
}

func checkVectors(op string, x, y []float64) error {
	if err := cmp.Or(fault.Empty(op, "x", len(x)), fault.Size(op, "y", len(y), len(x))); err != nil {
		return err
	}
	for i, v := range [2][]float64{x, y} {
		for j, c := range v {
			if err := checkCoordinate(op, argXY[i], j, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCoordinate refuses what could make a distance infinite. index is -1 for a
// point that is a number.
func checkCoordinate(op, arg string, index int, c float64) error {
	if math.Abs(c) <= maxMagnitude {
		return nil
	}
	return &ValueError{Op: op, Arg: arg, Index: index, Value: c, Want: "a number in [-1e300, 1e300]"}
}

// checkExponent refuses a p that gives no p-norm.
func checkExponent(op, arg string, p float64) error {
	if p >= 1 {
		return nil
	}
	return fault.Value(op, arg, p, "a number in [1, +Inf]")
}
