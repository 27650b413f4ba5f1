package wasserstein

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
)

// MassError reports two measures of different total mass: no plan moves one
// onto the other, and nothing here rescales a caller's weights.
type MassError struct {
	Op     string  // the function that refused them
	Mu, Nu float64 // the totals
	Tol    float64 // the difference that rounding would explain
}

func (e *MassError) Error() string {
	return fmt.Sprintf("%s: total masses %v and %v differ by more than rounding (%.3g)", e.Op, e.Mu, e.Nu, e.Tol)
}

// massTol bounds the difference of two totals that were equal before the
// caller's weights were rounded: each of n weights carries an error of at most
// 2^-53 times itself from its own rounding, and as much times the total for
// every operation of a normalization such as w/sum(w) in plain float64, whose
// sum errs by up to n*2^-53. Twice that for two measures, doubled:
func massTol(n int, total float64) float64 { return 4 * float64(n+2) * 0x1p-53 * total }

// total sums w in double-double: the error is far below an ulp.
func total(w []float64) float64 {
	var t exact.DD
	for _, v := range w {
		t = t.AddFloat(v)
	}
	return t.Hi + t.Lo
}

// checkMeasures checks that mu and nu are weights on n and m points, finite, >=
// 0 unless signed, and of equal total mass up to massTol.
func checkMeasures(op string, mu, nu []float64, n, m int, signed bool) error {
	size := 0.0
	for _, a := range []struct {
		arg string
		w   []float64
		n   int
	}{{"mu", mu, n}, {"nu", nu, m}} {
		if err := fault.Empty(op, a.arg, len(a.w)); err != nil {
			return err
		}
		if len(a.w) != a.n {
			return &fault.SizeError{Op: op, Arg: a.arg, Got: len(a.w), Want: fmt.Sprint(a.n)}
		}
		check := fault.AllNonNegative
		if signed {
			check = fault.AllFinite
		}
		if err := check(op, a.arg, a.w); err != nil {
			return err
		}
		for _, v := range a.w {
			size += math.Abs(v)
		}
	}
	tm, tn := total(mu), total(nu)
	tol := massTol(n+m, size)
	if !(math.Abs(tm-tn) <= tol) || math.IsInf(size, 1) {
		return &MassError{op, tm, tn, tol}
	}
	return nil
}

// checkSigned checks that g holds n finite weights of finite total variation.
func checkSigned(op string, g []float64, n int) error {
	if err := fault.Empty(op, "g", len(g)); err != nil {
		return err
	}
	if len(g) != n {
		return &fault.SizeError{Op: op, Arg: "g", Got: len(g), Want: fmt.Sprint(n)}
	}
	if err := fault.AllFinite(op, "g", g); err != nil {
		return err
	}
	size := 0.0
	for _, w := range g {
		size += math.Abs(w)
	}
	if math.IsInf(size, 1) {
		return fault.Value(op, "total variation of g", size, "a finite number")
	}
	return nil
}

// isProbability reports whether g is a probability measure up to rounding.
func isProbability(g []float64) bool {
	for _, w := range g {
		if w < 0 {
			return false
		}
	}
	return math.Abs(total(g)-1) <= massTol(len(g), 1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
