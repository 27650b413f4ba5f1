package private_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
)

// Private measures keep the laws of mechanisms, between data that differ in one record of three.
func TestConformance(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{2}}}))
	mu := [][]float64{testkit.Must(d.Weights([][]float64{{0.1}, {0.6}, {0.6}}, nil)), testkit.Must(d.Weights([][]float64{{0.1}, {0.6}, {0.99}}, nil))}
	for _, estimate := range []private.Estimator{private.Weighted, private.Nearest, private.Signed} {
		m := testkit.Must(private.New(d, 5, &private.Options{Estimator: estimate}))
		short := mu[0][1:]
		o := &mechanismtest.Options[[]float64, []float64]{
			Refused: [][]float64{nil, short, make([]float64, len(mu[0])), append([]float64{math.NaN()}, short...)},
			Samples: 1 << 14,
		}
		testkit.Check(t, mechanismtest.TestMechanism(t.Context(), m, mu, o))
		o.Key = func(w []float64) any { return math.Floor(8 * w[len(w)-1]) }
		if _, err := mechanismtest.TestLevel(t.Context(), m, mu[0], mu[1], 1./3, o); err != nil {
			t.Error(err)
		}
	}
}
