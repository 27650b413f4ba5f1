package additive

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
)

// rounding is where outputs lie and what inputs a mechanism takes.
type rounding struct {
	exact bool
	grid  float64 // the outputs are its multiples; 0 in real arithmetic alone
	step  float64 // inputs are at most 2^52 steps
	scale float64 // of the noise
}

// finest is the step of the default grid, relative to the noise's scale, and the
// coarsest spacing of float64 that real arithmetic puts up with at an input.
//
// Rounding to multiples of h moves an output by at most h/2, here 1/2048 of the
// scale, and the output equals an input that is a multiple with a probability of
// about h/2 over the scale. In real arithmetic the sum of input and noise is
// rounded to the spacing there; where that is h the noise vanishes as often, and
// two inputs whose outputs are rounded in different places can be told apart as
// if they were up to h farther apart: by up to 2^-10 more of eps.
const finest = 0x1p-10

// newRounding draws noise exactly where it can and the options allow.
func newRounding(op string, o Options, scale float64, can bool) (rounding, error) {
	if err := checkGrid(op, o.Grid); err != nil {
		return rounding{}, err
	}
	_, e := math.Frexp(scale)
	r := rounding{can && !o.RealArithmetic, o.Grid, math.Ldexp(finest, e-1), scale}
	if r.exact {
		r.grid = cmp.Or(r.grid, r.step)
		r.step = r.grid
	}
	return r, nil
}

// lattice is where exact noise is drawn.
func (r rounding) lattice() exact.Lattice { return exact.Lattice{Step: r.grid} }

// check refuses an input at which float64 is too coarse: beyond 2^52 steps its
// spacing is more than a step. The index is that of a coordinate, or -1.
func (r rounding) check(op, arg string, index int, x float64) error {
	limit := exact.LatticeIndexes * r.step
	if math.Abs(x) <= limit {
		return nil
	}
	want := fmt.Sprintf("a finite number, at most %.4g in size: beyond it float64s are too far apart for noise of scale %.3g", limit, r.scale)
	if r.exact {
		want += fmt.Sprintf(" on a grid of %.3g", r.grid)
	}
	return &fault.ValueError{Op: op, Arg: arg, Index: index, Value: x, Want: want}
}

func (r rounding) checkVector(op, arg string, x []float64, d int) error {
	if err := checkLen(op, arg, len(x), d); err != nil {
		return err
	}
	for i, v := range x {
		if err := r.check(op, arg, i, v); err != nil {
			return err
		}
	}
	return nil
}

// name is what the String methods call the noise.
func (r rounding) name(noise string) string {
	if r.exact {
		return noise
	}
	return noise + " in real arithmetic"
}

// checkGrid accepts 0 and the powers of two in [2^-300, 2^300].
func checkGrid(op string, g float64) error {
	if frac, exp := math.Frexp(g); g == 0 || frac == 0.5 && exp > -300 && exp <= 301 {
		return nil
	}
	return fault.Value(op, "Grid", g, "0 or a power of two in [2^-300, 2^300]")
}

// toGrid rounds v to the nearest multiple of g, ties to even; g = 0 leaves it.
// Scaling by a power of two is exact, so the only rounding is the wanted one.
// From 2^52 g on every float64 is a multiple, and v/g might overflow. There is
// one zero, +0: the other would tell the sign of what was rounded.
func toGrid(v, g float64) float64 {
	if g == 0 || math.Abs(v) >= 0x1p52*g {
		return v
	}
	return float64(math.RoundToEven(v/g)*g) + 0
}
