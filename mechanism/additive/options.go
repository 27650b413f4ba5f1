package additive

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Options are for the mechanisms on R^d; nil and zero mean the defaults.
//
// All noise is exact. The output is the real number x + Z, x the float64 input taken as an exact real and Z
// noise of the stated density, rounded once to the nearest multiple of Grid, which is post-processing: the
// guarantee holds for all 64 bits of the output, for any two inputs. (Noise added in float64 has low bits that
// tell inputs apart: Mironov 2012, "On significance of the least significant bits for differential privacy".)
// Sums beyond 2^53 steps become the nearest end. As many random bits are drawn as decide the point, mostly 63
// (Haney, Desfontaines, Hartman, Shrestha, Hay 2022, "Precision-based attacks and interval refining").
//
// An input beyond 2^52 steps, where float64 is too coarse for the noise, is refused with a
// [*metric.ValueError], such as a Unix time in microseconds at alpha = 1: subtract a public origin, take a
// coarser Grid, or release the integer by [DiscreteLaplace].
type Options struct {
	// Unit names the unit of the coordinates, as in "km".
	Unit metric.Unit
	// Grid is a power of two in [2^-300, 2^300], such as 0.125: outputs are its multiples. 0
	// means the largest power of two that is at most 2^-10 of the noise's scale, 1/alpha or
	// [Gaussian.Sigma]. Below about 2^-40 of the scale a draw takes microseconds.
	Grid float64
}

// DiscreteOptions are for integer outputs; nil and zero mean the defaults.
type DiscreteOptions struct {
	Unit metric.Unit // the unit of the metric, as in "record"
}

func orZero[T any](o *T) T {
	if o == nil {
		o = new(T)
	}
	return *o
}

// Levels, diameters and radii lie in [1e-100, 1e100]: then no product or quotient of two of them, times any
// noise that is ever drawn, overflows or loses digits to underflow.
const (
	minScale = 1e-100
	maxScale = 1e100
)

func checkScale(op, arg string, v float64) error {
	if v >= minScale && v <= maxScale {
		return nil
	}
	return fault.Value(op, arg, v, "a number in [1e-100, 1e100]")
}

// checkDim accepts the dimensions for which a vector fits memory.
func checkDim(op string, d int) error {
	if d <= 0 {
		return fault.Value(op, "Dim", float64(d), "an integer >= 1")
	}
	return fault.Memory(op, float64(d), 8)
}

func checkLen(op, arg string, got, want int) error {
	if got == want {
		return nil
	}
	return &fault.SizeError{Op: op, Arg: arg, Got: got, Want: fmt.Sprint(want)}
}

// pure is the guarantee of a mechanism without delta, its alpha checked.
func pure(op string, alpha float64, unit metric.Unit) (mechanism.Guarantee, error) {
	if err := checkScale(op, "alpha", alpha); err != nil {
		return mechanism.Guarantee{}, err
	}
	return mechanism.NewGuarantee(alpha, 0, unit)
}

// describe is what String says: the noise and its guarantee, or what is wrong.
func describe(err error, g mechanism.Guarantee, noise string, args ...any) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf(noise, args...) + ", " + g.String()
}
