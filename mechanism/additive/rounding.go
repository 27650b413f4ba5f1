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
	grid  float64 // the outputs are its multiples, inputs at most 2^52 of it
	scale float64 // of the noise
}

// finest is the step of the default grid, relative to the noise's scale. Rounding to
// multiples of h moves an output by at most h/2, here 1/2048 of the scale, and the output
// equals an input that is a multiple with a probability of about h/2 over the scale.
const finest = 0x1p-10

func newRounding(op string, o Options, scale float64) (rounding, error) {
	if err := checkGrid(op, o.Grid); err != nil {
		return rounding{}, err
	}
	_, e := math.Frexp(scale)
	return rounding{cmp.Or(o.Grid, math.Ldexp(finest, e-1)), scale}, nil
}

// lattice is where noise is drawn.
func (r rounding) lattice() exact.Lattice { return exact.Lattice{Step: r.grid} }

// check refuses an input at which float64 is too coarse: beyond 2^52 steps its
// spacing is more than a step. The index is that of a coordinate, or -1.
func (r rounding) check(op, arg string, index int, x float64) error {
	limit := exact.LatticeIndexes * r.grid
	if math.Abs(x) <= limit {
		return nil
	}
	want := fmt.Sprintf("a finite number, at most %.4g in size: beyond it float64s are too far apart for noise of scale %.3g on a grid of %.3g", limit, r.scale, r.grid)
	return &fault.ValueError{Op: op, Arg: arg, Index: index, Value: x, Want: want}
}

func (r rounding) checkVector(op, arg string, x []float64, d int) error {
	if err := checkLen(op, arg, len(x), d); err != nil {
		return err
	}
	for i, v := range x {
		if !(math.Abs(v) <= exact.LatticeIndexes*r.grid) { // without a call, for speed
			return r.check(op, arg, i, v)
		}
	}
	return nil
}

// checkGrid accepts 0 and the powers of two in [2^-300, 2^300].
func checkGrid(op string, g float64) error {
	if frac, exp := math.Frexp(g); g == 0 || frac == 0.5 && exp > -300 && exp <= 301 {
		return nil
	}
	return fault.Value(op, "Grid", g, "0 or a power of two in [2^-300, 2^300]")
}
