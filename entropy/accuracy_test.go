package entropy_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

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
