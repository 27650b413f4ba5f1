package bsv24

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func TestExhibits_Hold(t *testing.T) {
	slow := []string{"BSV24/sec1.4", "BSV24/thm3.1", "BSV24/thm3.2", "BSV24/lemma4.1", "BSV24/thm6.2", "BSV24/thm6.3", "BSV24/thm6.4"}
	exhibittest.Hold(t, Exhibits, slow, "bsv24-thm5.1.png", "bsv24-balls.png")
}

// The ball of l_inf in d dimensions holds ceil(2r/s)^d points more than s apart within r,
// so that s = 2d ln(2)/alpha while that is below 2; a grid has it but for its gaps.
func TestLeastOfBall_IsBelowTheScale(t *testing.T) {
	line := testkit.Must(segment(-1, 1, 800))
	for _, alpha := range []float64{2, 5, 20} {
		want := 2 * math.Ln2 / alpha
		s := testkit.Must(scale.Entropic(t.Context(), metric.Same(line), []float64{alpha}, nil))[0]
		if s.Hi > want || s.Lo < want-2.0/400 {
			t.Errorf("alpha %v: scale %v of a grid, want %v", alpha, s.Interval, want)
		}
		for dim := 1; dim <= 10; dim++ {
			if least := leastOfBall(dim, alpha); least > min(2, float64(dim)*want) || least < min(2, float64(dim)*want)/6 {
				t.Errorf("dim %d, alpha %v: at least %v, want %v", dim, alpha, least, float64(dim)*want)
			}
		}
	}
}

// Pyramids on 4 cells, up or down, and the constant between have the scale that they
// prove, up to the level where 5 cells are needed.
func TestLeastOfFunctions_HasAWitness(t *testing.T) {
	points := [][]float64{{0, 0, 0, 0}}
	for bits := range 16 {
		p := make([]float64, 4)
		for i := range p {
			p[i] = float64(bits>>i&1)/4 - 1.0/8
		}
		points = append(points, p)
	}
	f := testkit.Must(metric.NewPoints(points, metric.Chebyshev{}))
	const last = 32 * math.Ln2 // 2k k ln(2)
	for _, c := range []struct{ alpha, least float64 }{{last * 0.999, 0.25}, {last * 1.001, 0.2}} {
		s := testkit.Must(scale.Entropic(t.Context(), metric.Same(f), []float64{c.alpha}, nil))[0]
		if got := leastOfFunctions(1, c.alpha); got != c.least || (got <= s.Lo) != (c.alpha < last) {
			t.Errorf("alpha %v: %v, want %v; scale of the witness %v", c.alpha, got, c.least, s.Interval)
		}
	}
}

// What is proved of the scale from below stays below what Theorem 3.1 has above.
func TestLeast_IsBelowTheAccuracy(t *testing.T) {
	for _, f := range []family{balls, measures, lipschitz} {
		for _, dim := range f.dims {
			for alpha := 0.1; alpha < 1e8; alpha *= 7 {
				a := testkit.Must(f.accuracy(dim, alpha/2))
				if s := f.least(dim, alpha); !(s > 0 && s <= 8*a.Hi) {
					t.Errorf("%s, dim %d, alpha %v: %v above 8 * %v", f.name, dim, alpha, s, a.Hi)
				}
			}
		}
	}
}

// Two points have A = rho2/(1+e^rho1), s = 0 and s_o = 1; more have what the closed
// star proves.
func TestQuotient_ClosedForms(t *testing.T) {
	for _, c := range [][2]float64{{0.5, 0.5}, {0.25, 0.75}, {1. / 3, 1. / 7}} {
		want := math.Pow(2, c[1]/c[0]) / (1 + math.Pow(2, 1/c[0]))
		if got := quotient(t.Context(), 2, c[0], c[1]); math.Abs(got/want-1) > 2e-4 {
			t.Errorf("c, d = %v: %v, want %v", c, got, want)
		}
	}
	if got, want := quotient(t.Context(), 8, 0.5, 0.5), 1.241775; math.Abs(got/want-1) > 2e-4 { // as package chain's tests have it
		t.Errorf("8 points: %v, want %v", got, want)
	}
	if got, want := proved(3, 0.5), (1./2+1./3)/(1+1./4+1./9); math.Abs(got/want-1) > 3e-4 {
		t.Errorf("proved %v, want %v", got, want)
	}
}

func TestExponent(t *testing.T) {
	x, y := levels(1, 64, 2), []float64{1, 1, 3. / 16, 3. / 64, 3. / 256, 3. / 1024, 3. / 4096}
	if len(x) != len(y) || math.Abs(exponent(x, y, 4)+2) > 1e-12 || exponent(x, y, 0) > -1.5 {
		t.Errorf("%v %v: %v", x, y, exponent(x, y, 4))
	}
}

// The spaces are metrics, and their loss is an ultrametric where they say so.
func TestSamples(t *testing.T) {
	all := testkit.Must(samples(t.Context(), 1, 10, 2, [2]string{"road", "ultrametric"}, [2]string{"clusters", "clusters"}))
	if len(all) != 12 || all[0].kind != "road, loss ultrametric" || all[11].kind != "clusters" {
		t.Fatalf("%d samples, %q, %q", len(all), all[0].kind, all[11].kind)
	}
	for k, s := range all {
		for _, f := range []metric.Finite{s.Privacy, s.Utility} {
			if err := metric.Validate(t.Context(), f, nil); err != nil {
				t.Error(k, err)
			}
		}
		if err := metric.ValidateUltrametric(t.Context(), s.Utility, 0); (err == nil) != (k < 6) {
			t.Error(k, err)
		}
	}
}
