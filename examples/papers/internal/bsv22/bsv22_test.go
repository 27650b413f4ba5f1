package bsv22

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"BSV22/thm3.1", "BSV22/thm7.2", "BSV22/thm9.6"}, "bsv22-figures-1-2.png", "bsv22-figures-3-5.png")
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The measure of the paper has noise of scale 2(L+2)/alpha on every coefficient, the total's
// too, and the nearest measure errs at most twice as much as the signed one.
func TestAsInPaper(t *testing.T) {
	const alpha, draws = 20., 20000
	f := testkit.Must(metric.NewPoints([][]float64{{0, 0}, {1, 0}, {0, 3}, {1, 3}}, metric.Euclidean{}))
	p := newAsInPaper(t.Context(), f, alpha)
	near(t, "path", p.line.Length(), 5, 1e-9) // the tour of length 8 without one side of length 3
	rng, scale := rand.New(rand.NewPCG(1, 2)), 2/alpha*4
	total, signed := 0.0, 0.0
	z := make([]float64, 4)
	for range draws {
		testkit.Check(t, p.walk.Increments(rng, z))
		total += math.Abs(z[0]+z[1]+z[2]+z[3]) * p.scale / draws
		nu, s := p.release(rng, []float64{.1, .2, .3, .4})
		signed += s / draws
		if slices.Min(nu) < 0 || math.Abs(nu[0]+nu[1]+nu[2]+nu[3]-1) > 1e-12 {
			t.Fatalf("released %v", nu)
		}
	}
	near(t, "mean of the total's noise", total, scale, .05*scale) // 7 deviations
	if signed > p.bound || signed < .5*p.bound {
		t.Errorf("the signed measure errs %v, bound %v", signed, p.bound)
	}
}

func TestPieces_HaveClosedForms(t *testing.T) {
	near(t, "farthest", farthest([]float64{1, -4, 2}), 3, 0)
	// V of a draw is R/sqrt(L+1), and V^2 is Gamma(n/2): of the mean 4 for n = 8.
	tree, mean := testkit.Must(walk.Levels(2, 2, 2)), 0.0
	rng, z := rand.New(rand.NewPCG(3, 4)), make([]float64, 8)
	for range 20000 {
		squared(rng, tree, z)
		testkit.Check(t, tree.Haar(z))
		v := math.Abs(z[0]) / math.Sqrt(8)
		for l, m := 0, 8.; l < 3; l, m = l+1, m/2 {
			lo, hi := tree.Level(l)
			norm := 0.0
			for ; lo < hi; lo++ {
				norm += z[tree.Split(lo)] * z[tree.Split(lo)] / m
			}
			v += math.Sqrt(norm)
		}
		mean += v * v / 4 / 20000
	}
	near(t, "mean of V^2", mean, 4, .1) // 7 deviations
}
