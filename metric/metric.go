package metric

import "github.com/metricdp/metricdp/internal/fault"

// Space measures the distance between any two points of type P. Distance must be symmetric, 0 from
// a point to itself, obey the triangle inequality ([Validate] checks a sample), and be safe for
// concurrent use.
type Space[P any] interface {
	Distance(x, y P) float64
}

// Func lets a function be a [Space].
type Func[P any] func(x, y P) float64

// Distance calls f.
func (f Func[P]) Distance(x, y P) float64 { return f(x, y) }

// Checker is an optional capability of a [Space]: it says why two points have no meaningful
// distance. [NewPoints] calls Check(first, p) for every point p.
type Checker[P any] interface {
	Check(x, y P) error
}

// Finite is a metric on the points 0, ..., Len()-1. Distances are finite, >= 0, symmetric, and obey
// the triangle inequality up to rounding ([Validate]). Distinct points may lie at distance 0 unless
// a function says otherwise. An index outside [0, Len()) panics. Implementations are immutable and
// safe for concurrent use.
type Finite interface {
	Len() int
	Distance(i, j int) float64
}

// RowReader is an optional capability of a [Finite]: all distances from one point in one call.
// DistancesFrom writes Distance(i, j), to the bit, to dst[j] for every j, growing dst where its
// capacity is below Len(), and returns it.
type RowReader interface {
	DistancesFrom(i int, dst []float64) []float64
}

// Embedding places the points of a finite metric in R^Dim: point i has the coordinates Coords[i*Dim
// : (i+1)*Dim], which must not be modified, and
//
//	Distance(i, j) = FromNorm(||x_i - x_j||_P)
//
// up to rounding, FromNorm nondecreasing: coordinates may err by 32 units of 2^-53 times the
// largest, and Distance by as much relative. Trees and space-filling curves search by it.
type Embedding struct {
	Coords   []float64
	Dim      int
	P        float64 // the norm: 1 <= P <= +Inf
	FromNorm func(norm float64) float64
	// Linear promises that FromNorm(v) is v*FromNorm(1) up to rounding. Searches
	// with prices (package wasserstein) then take far less time where P is 2.
	Linear bool
}

// Embedded is an optional capability of a [Finite] whose points lie in R^d. Embed allocates
// Len()*Dim numbers; ok is false where there is no embedding.
type Embedded interface {
	Embed() (e Embedding, ok bool)
}

// Embedder is an optional capability of a [Space]: coordinates for its points, as [Embedding]
// describes them. Append appends the coordinates of p to dst; every point of one [Points] must give
// the same number.
type Embedder[P any] interface {
	Append(dst []float64, p P) []float64
	// Norm returns the exponent of the norm, and the distance as a function of it.
	Norm() (p float64, fromNorm func(norm float64) float64)
}

// Unit names the unit of a distance in the singular, as in "km" or "edit". A privacy level alpha is
// per unit, so levels in different units do not add.
type Unit string

// UnitOf returns the unit of the distances of a [Space] or [Finite], which is what its method
// Unit returns, and "" where it has none. [Scale] names one.
func UnitOf(m any) Unit {
	if m, ok := m.(interface{ Unit() Unit }); ok {
		return m.Unit()
	}
	return ""
}

// ErrEmpty reports a space, a list or a data set without points, or nil in place of one, in every
// package of the module.
var ErrEmpty = fault.ErrEmpty

// The error types of every package of the module. Ask for them with errors.As.
type (
	// ValueError reports a number outside its domain: Op the call, Arg the argument, Index the
	// position in it or -1 for a single number, Value what was given, Want the domain in words.
	ValueError = fault.ValueError
	// SizeError reports a length that does not fit the rest of the input: Op
	// the call, Arg the argument, Got its length, Want what it should be.
	SizeError = fault.SizeError
	// MemoryError reports an allocation refused before it was tried: Op the
	// call, Bytes what it needs, Limit what it may use.
	MemoryError = fault.MemoryError
)
