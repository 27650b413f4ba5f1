package metric

import (
	"cmp"
	"fmt"
	"math"
	"sync"

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

// Plane is the [Euclidean] distance of R^2 on arrays, which compare by ==. Both coordinates are in
// one unit of length: for degrees of latitude and longitude see [GreatCircle]. Check is as of
// Euclidean.
type Plane struct{}

// Distance implements [Space].
func (Plane) Distance(x, y [2]float64) float64 { return math.Hypot(x[0]-y[0], x[1]-y[1]) }

// Check implements [Checker].
func (Plane) Check(x, y [2]float64) error { return checkVectors("metric: Plane", x[:], y[:]) }

// Append implements [Embedder].
func (Plane) Append(dst []float64, p [2]float64) []float64 { return append(dst, p[:]...) }

// Norm implements [Embedder].
func (Plane) Norm() (float64, func(float64) float64) { return 2, identity }

func (Plane) linear() bool { return true }

// Numbers is the line: |x-y| for numbers of any integer or floating-point type, the exact
// difference rounded once to a float64, also where it overflows T. Check, and so [NewPoints],
// refuses NaN and numbers above 1e300 in magnitude.
type Numbers[T constraints.Integer | constraints.Float] struct{}

// Distance implements [Space].
func (Numbers[T]) Distance(x, y T) float64 {
	if x < y {
		x, y = y, x
	}
	if fractions[T]() {
		return float64(x) - float64(y)
	}
	// Both differ from their uint64 by a multiple of 2^64, and so the difference
	// of these by one from x-y, which lies in [0, 2^64).
	return float64(uint64(x) - uint64(y))
}

// fractions reports whether T is a floating-point type.
func fractions[T constraints.Integer | constraints.Float]() bool { return T(1)/2 != 0 }

// Check implements [Checker].
func (Numbers[T]) Check(x, y T) error {
	for i, v := range [2]T{x, y} {
		if err := checkCoordinate("metric: Numbers", argXY[i], -1, float64(v)); err != nil {
			return err
		}
	}
	return nil
}

// Append implements [Embedder].
func (Numbers[T]) Append(dst []float64, x T) []float64 { return append(dst, float64(x)) }

// Norm implements [Embedder].
func (Numbers[T]) Norm() (float64, func(float64) float64) { return 1, identity }

// Float32 is the space S on vectors of float32: Float32[Euclidean]{} in place of Euclidean{}. The
// distance is that of S between the same numbers as float64, bit for bit. Check is that of S,
// except that a vector of [TotalVariation] may sum to 1 within 1e-5.
type Float32[S interface {
	Space[[]float64]
	Checker[[]float64]
	Embedder[[]float64]
}] struct {
	Space S // its zero value where S has no parameters
}

// Distance implements [Space]. It does not allocate.
func (f Float32[S]) Distance(x, y []float32) float64 {
	switch any(f.Space).(type) {
	case Euclidean:
		return euclidean(x, y)
	case Manhattan:
		return manhattan(x, y)
	case Chebyshev:
		return chebyshev(x, y)
	case Angular:
		return angular(x, y)
	}
	w := widen(x, y)
	defer widePool.Put(w)
	return f.Space.Distance(w.x, w.y)
}

// Unit returns that of S.
func (f Float32[S]) Unit() Unit { return UnitOf(f.Space) }

// Check implements [Checker].
func (f Float32[S]) Check(x, y []float32) error {
	w := widen(x, y)
	defer widePool.Put(w)
	if _, ok := any(f.Space).(TotalVariation); ok {
		return checkProbabilities(w.x, w.y, 1e-5)
	}
	return f.Space.Check(w.x, w.y)
}

// Append implements [Embedder].
func (f Float32[S]) Append(dst []float64, p []float32) []float64 {
	w := widen(p, nil)
	defer widePool.Put(w)
	return f.Space.Append(dst, w.x)
}

// Norm implements [Embedder].
func (f Float32[S]) Norm() (float64, func(float64) float64) { return f.Space.Norm() }

func (f Float32[S]) linear() bool { return isLinear(f.Space) }

type wide struct{ x, y []float64 }

var widePool = sync.Pool{New: func() any { return new(wide) }}

// widen takes a wide from the pool; it is to be put back.
func widen(x, y []float32) *wide {
	w := widePool.Get().(*wide)
	w.x, w.y = w.x[:0], w.y[:0]
	for _, v := range x {
		w.x = append(w.x, float64(v))
	}
	for _, v := range y {
		w.y = append(w.y, float64(v))
	}
	return w
}
