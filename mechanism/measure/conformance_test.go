package measure_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
)

// Private measures and synthesizers keep the laws of mechanisms, between data
// that differ in one record of three.
func TestConformance(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{2}}}))
	records := [2][][]float64{{{0.1}, {0.6}, {0.6}}, {{0.1}, {0.6}, {0.99}}}
	var mu [2][]float64
	var counts [2]*measure.Counts[[]float64]
	for k, x := range records {
		mu[k] = testkit.Must(d.Weights(x, nil))
		counts[k] = testkit.Must(measure.CountAll(t.Context(), d, x, nil))
	}
	other := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 2}}, &domain.BoxOptions{Splits: [][]int{{2}}}))
	elsewhere := testkit.Must(measure.CountAll(t.Context(), other, records[0], nil))
	for _, estimate := range []measure.Estimator{measure.Weighted, measure.Nearest, measure.Signed} {
		m := testkit.Must(measure.NewMeasure(d, 5, &measure.MeasureOptions{Estimator: estimate}))
		short := mu[0][1:]
		o := &mechanismtest.Options[[]float64, []float64]{
			Refused: [][]float64{nil, short, make([]float64, len(mu[0])), append([]float64{math.NaN()}, short...)},
			Samples: 1 << 14,
		}
		testkit.Check(t, mechanismtest.TestMechanism(t.Context(), m, mu[:], o))
		o.Key = func(w []float64) any { return math.Floor(8 * w[len(w)-1]) }
		if _, err := mechanismtest.TestLevel(t.Context(), m, mu[0], mu[1], 1./3, o); err != nil {
			t.Error(err)
		}
	}
	for _, relation := range []measure.Relation{measure.ReplaceOne, measure.AddRemoveOne} {
		s := testkit.Must(measure.NewSynthesizer(d, 2, &measure.SynthesizerOptions{Relation: relation}))
		o := &mechanismtest.Options[*measure.Counts[[]float64], *measure.Release[[]float64]]{
			Refused: []*measure.Counts[[]float64]{elsewhere},
			Key:     func(r *measure.Release[[]float64]) any { return fmt.Sprint(r.Total, r.Weights) },
			Samples: 1 << 14,
		}
		testkit.Check(t, mechanismtest.TestMechanism(t.Context(), s, counts[:], o))
		o.Key = func(r *measure.Release[[]float64]) any { return math.Round(8 * r.Weights[len(r.Weights)-1]) }
		distance := 1. // records replaced
		if relation == measure.AddRemoveOne {
			distance = 2
		}
		if _, err := mechanismtest.TestLevel(t.Context(), s, counts[0], counts[1], distance, o); err != nil {
			t.Error(err)
		}
	}
}
