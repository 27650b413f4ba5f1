package anywhere_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/lp/anywhere"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// conform runs a mechanism through the kit, and its level between the first two inputs.
func conform[P any](t *testing.T, name string, m mechanism.Mechanism[P, int], distance float64, refused []P, inputs ...P) {
	t.Helper()
	o := &mechanismtest.Options[P, int]{Refused: refused, Samples: 1 << 13}
	if err := mechanismtest.TestMechanism(t.Context(), m, inputs, o); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if e, err := mechanismtest.TestLevel(t.Context(), m, inputs[0], inputs[1], distance, o); err != nil {
		t.Errorf("%s: %v, %v", name, e, err)
	}
}

func TestConformance_OfAllSpaces(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ctx := t.Context()
	line := testkit.Must(anywhere.Line(ctx, 1, []float64{0, 1, 3}, &anywhere.Options[float64]{Anchors: 2, TimeLimit: 1}))
	conform(t, "line", line, 1, []float64{nan, inf, 1e300}, 0.5, 1.5, -1e6)
	plane := testkit.Must(anywhere.Plane(ctx, 1, [][2]float64{{0, 0}, {2, 1}}, &anywhere.Options[[2]float64]{Cells: 100, Anchors: 2, TimeLimit: 1}))
	conform(t, "plane", plane, 1, [][2]float64{{nan, 0}, {0, inf}}, [2]float64{0.5, 0.5}, [2]float64{1.5, 0.5}, [2]float64{1e5, -1e5})
	l1 := testkit.Must(anywhere.Manhattan(ctx, 1, [][]float64{{0, 0}, {2, 1}}, &anywhere.Options[[]float64]{Cells: 100, Anchors: 2, TimeLimit: 1}))
	conform(t, "l1", l1, 1, [][]float64{nil, {1}, {nan, 0}}, []float64{0.5, 0.5}, []float64{1, 1})
	earth := testkit.Must(anywhere.Earth(ctx, 1, []metric.LatLon{{Lat: 10}, {Lat: 10.02}}, &anywhere.Options[metric.LatLon]{Cells: 100, Anchors: 2, TimeLimit: 1}))
	conform(t, "Earth", earth, metric.GreatCircle{}.Distance(metric.LatLon{Lat: 10}, metric.LatLon{Lat: 10.01}), []metric.LatLon{{Lat: 91}, {Lon: inf}},
		metric.LatLon{Lat: 10}, metric.LatLon{Lat: 10.01}, metric.LatLon{Lat: -10, Lon: 180})
	points := testkit.Must(metric.NewPoints([]float64{0, 1, 2}, metric.Numbers[float64]{}))
	best := testkit.Must(lp.Optimal(ctx, metric.Same(points), anywhere.ExtendLevel(2, 1), nil))
	extended := testkit.Must(anywhere.Extend(ctx, best.Channel, anywhere.Grid{Low: []float64{0}, Step: 1, Count: []int{3}}, 2, ""))
	conform(t, "extended", extended, 0.5, [][]float64{nil, {1, 2}, {nan}, {inf}}, []float64{0.2}, []float64{0.7}, []float64{1e300})
}
