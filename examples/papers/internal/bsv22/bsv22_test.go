package bsv22

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"BSV22/exponent", "BSV22/measure"}, "bsv22-walk.png")
}

func TestErrorsOf_LieAboveTheBound(t *testing.T) {
	e, err := errorsOf(t.Context(), rand.New(rand.NewPCG(1, 2)), 2, 12, 2)
	if err != nil || e.n != 144 || !(0 < e.below && e.below < e.ours && e.ours < e.paper && e.paper < 0.5) {
		t.Errorf("%+v %v", e, err)
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestPieces_HaveClosedForms(t *testing.T) {
	near(t, "slope of 3 x^-0.5", slope([]float64{1, 4, 16}, []float64{3, 1.5, 0.75}), -0.5, 1e-12)
	near(t, "farthest", farthest([]float64{1, -4, 2}), 3, 0)
	// With no level but the total's noise, of scale 2, E max |S_k| is at most 2(ln 2 -
	// ln(1-u^2))/u for every u.
	u := 0.62
	if got := proved(0); !(2 <= got && got <= 2*(math.Ln2-math.Log(1-u*u))/u+1e-12) {
		t.Errorf("proved(0) is %v, with E |S_0| = 2", got)
	}
	// 2 * 16 * 2 (L+2) sqrt(v)/L^1.5 for L = 1: S_1 is the total's noise and S_0 half the
	// sum of two, so that v is that of the total, 2.
	c := testkit.Must(constant(2))
	near(t, "constant", c, 64*3*math.Sqrt2, 1e-9)
	grid := testkit.Must(cube(3, 2))
	near(t, "points of a cube", float64(grid.Len()), 8, 0)
	near(t, "their diameter", grid.Distance(0, 7), 0.5, 0)
	for _, d := range []int{1, 2} { // alone and in the plane
		at := func(x float64) []float64 { return []float64{x, 0}[:d] }
		x, y := [][]float64{at(0), at(1)}, [][]float64{at(0.25), at(1)}
		w := testkit.Must(distance(t.Context(), x, y, []float64{0.75, 0.25}))
		near(t, "W1", w, 0.5*0.25+0.25*0.75, 1e-12)
	}
}
