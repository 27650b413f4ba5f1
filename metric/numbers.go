package metric

import "golang.org/x/exp/constraints"

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
