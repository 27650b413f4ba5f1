package entropy_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// One point, and points that the loss does not tell apart: A = 0.
func TestAccuracy_Trivial(t *testing.T) {
	same := space.Simplex(4, 0)
	for name, b := range map[string]metric.Bimetric{
		"one point":      metric.Same(space.Path(1, 1)),
		"identical":      metric.Same(same),
		"no loss":        {Privacy: space.Path(4, 1), Utility: same},
		"two, identical": metric.Same(space.Simplex(2, 0)),
	} {
		a := testkit.Must(entropy.Accuracy(t.Context(), b, []float64{1}, nil))[0]
		if a.Lo != 0 || a.Hi != 0 || a.Ratio() != 1 {
			t.Errorf("%s: %v", name, a)
		}
	}
	// Points that privacy does not tell apart: half the diameter at least.
	a := testkit.Must(entropy.Accuracy(t.Context(), metric.Bimetric{Privacy: same, Utility: space.Path(4, 1)}, []float64{1}, nil))[0]
	if a.Lo < 1.5*(1-1e-9) || a.Hi > 1.5*(1+1e-9) { // the ends, each half of the time
		t.Error(a)
	}
}

// A list of levels gives what each level alone gives, in any order; bounds that
// the levels share may only be better.
func TestAccuracy_LevelsTogether(t *testing.T) {
	for number := range testkit.Sweep(1, 4) {
		b, _ := randomSpace(t, number)
		alphas := []float64{3, 0.5, 3, 20}
		all := testkit.Must(entropy.Accuracy(t.Context(), b, alphas, nil))
		for k, a := range all {
			one := testkit.Must(entropy.Accuracy(t.Context(), b, []float64{alphas[k]}, nil))[0]
			if a.Alpha != alphas[k] || a.Lo != one.Lo || a.Hi > one.Hi {
				t.Errorf("space %d, level %v: %v together, %v alone", number, alphas[k], a, one)
			}
		}
		if all[0].Lo < all[3].Lo {
			t.Errorf("space %d: %v at 3, %v at 20", number, all[0], all[3])
		}
	}
}

func TestBracket_With(t *testing.T) {
	b := metric.Same(space.Path(5, 1))
	a := testkit.Must(entropy.Accuracy(t.Context(), b, []float64{1}, nil))[0]
	before := slices.Clone(a.Bounds)
	with := testkit.Must(a.With(entropy.Loss{Name: "first", Value: 0.7}, entropy.Loss{Name: "second", Value: 0.8}))
	var upper []string
	for _, v := range with.Bounds {
		if v.Kind == entropy.Upper {
			upper = append(upper, v.Name)
		}
	}
	if !slices.Equal(upper, []string{"first", "exponential", "second", "constant"}) {
		t.Errorf("ranked %v", upper)
	}
	if with.Hi != 0.7 || with.Lo != a.Lo || with.Best(entropy.Upper).Name != "first" || len(with.Bounds) != len(before)+2 {
		t.Errorf("%v", with)
	}
	if len(a.Bounds) != len(before) || a.Hi != before[slices.IndexFunc(before, func(v entropy.Bound) bool { return v.Kind == entropy.Upper })].Value {
		t.Errorf("With has changed its receiver: %v", a)
	}
	if s := with.String(); !strings.Contains(s, "lower") || !strings.Contains(s, "0.7 by first") {
		t.Errorf("String %q", s)
	}
	if r := with.Ratio(); r != with.Hi/with.Lo {
		t.Errorf("ratio %v", r)
	}
	// A loss that cannot be, and one that rounding put a little too low.
	var value *metric.ValueError
	if _, err := a.With(entropy.Loss{Name: "good", Value: 1}, entropy.Loss{Name: "too good", Value: 0.5}); !errors.As(err, &value) || value.Index != 1 || !strings.Contains(err.Error(), "lower") {
		t.Errorf("a loss below the lower bound: %v", err)
	}
	if low, err := a.With(entropy.Loss{Value: a.Lo * (1 - 1e-12)}); err != nil || !low.Exact() {
		t.Errorf("a loss an ulp below: %v, %v", low, err)
	}
	for _, v := range []float64{math.NaN(), -1, math.Inf(1)} {
		if _, err := a.With(entropy.Loss{Value: v}); !errors.As(err, &value) {
			t.Errorf("a loss of %v: %v", v, err)
		}
	}
}

// Two points: rho2/(1+e^(alpha*rho1)) = loss.
func TestLevelFor_KnownAnswers(t *testing.T) {
	two := metric.Same(space.Euclidean([][]float64{{0}, {3}}))
	for _, loss := range []float64{1e-6, 0.1, 1, 1.4} {
		alpha, proof, err := entropy.LevelFor(t.Context(), two, loss, nil)
		want := math.Log(3/loss-1) / 3
		if err != nil || alpha > want || alpha < want*(1-2e-3) || proof.Value <= loss {
			t.Errorf("loss %v: level %v by %v (%v), want %v", loss, alpha, proof, err, want)
		}
	}
	for _, loss := range []float64{1.5, 7} {
		if alpha, proof, err := entropy.LevelFor(t.Context(), two, loss, nil); alpha != 0 || proof.Witness != nil || err != nil {
			t.Errorf("loss %v is no constraint: %v, %v, %v", loss, alpha, proof, err)
		}
	}
	hidden := metric.Bimetric{Privacy: space.Simplex(4, 0), Utility: space.Path(4, 1)}
	if alpha, proof, err := entropy.LevelFor(t.Context(), hidden, 1, nil); !math.IsInf(alpha, 1) || proof.Value < 1.49 || err != nil {
		t.Errorf("indistinguishable points: %v, %v, %v", alpha, proof, err)
	}
	alike := metric.Bimetric{Privacy: space.Simplex(4, 0), Utility: space.Simplex(4, 1)} // A = 3/4 at every level
	if alpha, proof, err := entropy.LevelFor(t.Context(), alike, 0.7, nil); !math.IsInf(alpha, 1) || proof.Name != "closed star" || err != nil {
		t.Errorf("four points as one: %v, %v, %v", alpha, proof, err)
	}
	if alpha, _, err := entropy.LevelFor(t.Context(), alike, 0.8, nil); alpha != 0 || err != nil {
		t.Errorf("four points as one: %v, %v", alpha, err)
	}
	if alpha, _, err := entropy.LevelFor(t.Context(), metric.Same(space.Path(1, 1)), 1, nil); alpha != 0 || err != nil {
		t.Errorf("one point: %v, %v", alpha, err)
	}
}

// The proof is above the loss, and mechanisms with the loss have a larger level.
func TestLevelFor_BelowMechanisms(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for number := range testkit.Sweep(2, 6) {
		b, alpha := randomSpace(t, number)
		best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
		least, proof, err := entropy.LevelFor(t.Context(), b, best.Objective, nil)
		if err != nil || least >= alpha {
			t.Errorf("space %d: a loss of %v at level %v, but %v is needed by %v (%v)", number, best.Objective, alpha, least, proof, err)
		}
		if least > 0 {
			if v, err := proof.Witness.Prove(t.Context(), b, least); !(v > best.Objective) || err != nil {
				t.Errorf("space %d: %v at %v proves %v (%v)", number, proof, least, v, err)
			}
		}
	}
}
