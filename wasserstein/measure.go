package wasserstein

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"gonum.org/v1/gonum/floats"
)

// MassError reports two measures whose total masses differ by more than Tol, which
// is 2^-30 of their sizes, or less where the function says so. Weights are never rescaled:
// divide each measure by its total where shares are meant.
type MassError struct {
	Op     string  // the function that refused them
	Mu, Nu float64 // the totals
	Tol    float64 // the difference that is accepted
}

func (e *MassError) Error() string {
	return fmt.Sprintf("%s: total masses %v and %v differ by more than %.3g: normalize the weights, which are never rescaled here", e.Op, e.Mu, e.Nu, e.Tol)
}

// massTol bounds the difference of two totals that were equal before the caller's weights were
// rounded: each of n weights carries an error of at most 2^-53 times itself from its own rounding,
// and as much times the total for every operation of a normalization such as w/sum(w) in plain
// float64, whose sum errs by up to n*2^-53. Twice that for two measures, doubled:
func massTol(n int, total float64) float64 { return 4 * float64(n+2) * 0x1p-53 * total }

// total sums w in double-double, whose high part is the sum rounded.
func total(w []float64) float64 {
	var t exact.DD
	for _, v := range w {
		t = t.AddFloat(v)
	}
	return t.Hi
}

// slack is how much of their total variation the totals of two measures may
// differ by: more than rounding leaves of an estimate from noisy or inverted
// counts, and less than anything that was forgotten.
const slack = 0x1p-30

// checkMeasures checks that mu and nu are weights on n and m points, finite, >=
// 0 unless signed, and of equal total mass up to slack.
func checkMeasures(op string, mu, nu []float64, n, m int, signed bool) error {
	check := fault.AllNonNegative
	if signed {
		check = fault.AllFinite
	}
	if err := cmp.Or(checkWeights(op, "mu", mu, n, check), checkWeights(op, "nu", nu, m, check)); err != nil {
		return err
	}
	tm, tn, size := total(mu), total(nu), floats.Norm(mu, 1)+floats.Norm(nu, 1)
	tol := max(massTol(n+m, size), slack*size)
	if !(math.Abs(tm-tn) <= tol) || math.IsInf(size, 1) {
		return &MassError{op, tm, tn, tol}
	}
	return nil
}

func checkSigned(op string, g []float64, n int) error {
	if err := checkWeights(op, "g", g, n, fault.AllFinite); err != nil {
		return err
	}
	if size := floats.Norm(g, 1); math.IsInf(size, 1) {
		return fault.Value(op, "total variation of g", size, "a finite number")
	}
	return nil
}

func checkWeights(op, arg string, w []float64, n int, check func(op, arg string, w []float64) error) error {
	return cmp.Or(fault.Empty(op, arg, len(w)), checkLen(op, arg, len(w), n), check(op, arg, w))
}

func checkLen(op, arg string, n, want int) error {
	if n != want {
		return &fault.SizeError{Op: op, Arg: arg, Got: n, Want: fmt.Sprint(want)}
	}
	return nil
}

// isProbability reports whether g is a probability measure up to rounding.
func isProbability(g []float64) bool {
	return slices.Min(g) >= 0 && math.Abs(total(g)-1) <= massTol(len(g), 1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
