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

// Synthesizers keep the laws of mechanisms, between data that differ in one record of three.
func TestConformance(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{2}}}))
	records := [2][][]float64{{{0.1}, {0.6}, {0.6}}, {{0.1}, {0.6}, {0.99}}}
	var counts [2]*measure.Counts[[]float64]
	for k, x := range records {
		counts[k] = testkit.Must(measure.CountAll(t.Context(), d, x, nil))
	}
	other := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 2}}, &domain.BoxOptions{Splits: [][]int{{2}}}))
	elsewhere := testkit.Must(measure.CountAll(t.Context(), other, records[0], nil))
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
