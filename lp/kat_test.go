package lp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// solveKnown checks a solution against a known optimum, to a relative 1e-6 and
// the digits that it was printed with.
func solveKnown(t *testing.T, b metric.Bimetric, alpha, want, digits float64) {
	t.Helper()
	s := testkit.Must(Optimal(t.Context(), b, alpha, &Options{Tolerance: fineTolerance}))
	certified(t, b, alpha, nil, s)
	if s.Status != StatusOptimal || s.Gap > fineTolerance {
		t.Errorf("%v", s)
	}
	if s.DualBound > want+digits || s.Objective < want-digits {
		t.Errorf("[%v, %v] does not hold the known optimum %v", s.DualBound, s.Objective, want)
	}
}

// solverDigits is how exact the printed optima are, relative: the solver that
// found them accepts constraints broken by 1e-7, which lowers them.
const solverDigits = 1e-6

// Least worst losses A(Z, alpha) by HiGHS, or in closed form.
func TestOptimal_KnownAccuracies(t *testing.T) {
	testkit.Rounding(t)
	for _, c := range []struct {
		name        string
		f           metric.Finite
		alpha, want float64
	}{
		{"path 5", space.Path(5, 1), .5, 1.00897714},
		{"path 5", space.Path(5, 1), 1, .637582264},
		{"path 5", space.Path(5, 1), 2, .260630630},
		{"path 50", space.Path(50, 1), 1, .850908003},
		{"path 50", space.Path(50, 1), .5, 1.89556756},
		{"simplex 4", space.Simplex(4, 1), 1, 3 / (3 + math.E)},
		{"simplex 7", space.Simplex(7, 2), .3, 2 * 6 / (6 + math.Exp(.6))},
		{"halton 8", space.Halton(8), 1, .418945416},
		{"halton 8", space.Halton(8), 3, .275763386},
		{"halton 8", space.Halton(8), 10, .0543902960},
		{"two points", space.Path(2, 3), .7, 3 / (1 + math.Exp(2.1))},
		{"one point", space.Path(1, 1), 1, 0},
	} {
		t.Run(fmt.Sprintf("%s alpha=%v", c.name, c.alpha), func(t *testing.T) {
			solveKnown(t, metric.Same(c.f), c.alpha, c.want, max(6e-9, solverDigits*c.want))
		})
	}
}

// The optima of the reference points, found by HiGHS; the last digits of the larger
// ones are cut off.
func TestOptimal_ReferencePoints(t *testing.T) {
	testkit.Slow(t)
	for _, c := range []struct {
		n                   int
		alpha, want, digits float64
	}{
		{20, .5, 2.1647218392, 0}, {30, .5, 2.2694031809, 0}, {50, .5, 2.5000294118, 0},
		{20, 1, 1.0730172247, 0}, {30, 1, 1.1670064581, 0}, {50, 1, 1.3303994495, 0},
		{20, 3, .142583427, 0}, {30, 3, .235381804, 0}, {50, 3, .292060963, 0},
		{20, 6, .0459923231, 0}, {30, 6, .0673938179, 0}, {50, 6, .0685109196, 0},
		{75, .5, 2.5407986291, 2e-7}, {100, .5, 2.61534903, 3e-7}, {150, .5, 2.61263, 1e-5}, {200, .5, 2.67587, 1e-5},
	} {
		t.Run(fmt.Sprintf("n=%d alpha=%v", c.n, c.alpha), func(t *testing.T) {
			if c.n > 30 || c.n > 20 && c.alpha != .5 {
				testkit.Swept(t)
			}
			solveKnown(t, metric.Same(referencePoints(t, c.n)), c.alpha, c.want, max(c.digits, solverDigits*c.want))
		})
	}
}
