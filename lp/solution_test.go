package lp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Losses and bounds are printed in the unit of the utility metric; those of a loss of
// the caller's own, and of a metric that names none, have no unit.
func TestSolution_StringHasTheUnitOfTheLoss(t *testing.T) {
	ctx := t.Context()
	km := testkit.Must(metric.NewPoints([]metric.LatLon{{Lat: 48}, {Lat: 48.01}, {Lat: 48.03}}, metric.GreatCircle{}))
	prior := []float64{0.5, 0.25, 0.25}
	squared := func(x, y int) float64 { return km.Distance(x, y) * km.Distance(x, y) }
	plain := metric.Bimetric{Privacy: km, Utility: testkit.Must(metric.Scaled(km, 1000))}
	for _, c := range []struct {
		s    fmt.Stringer
		want int
	}{
		{testkit.Must(Optimal(ctx, metric.Same(km), 1, nil)), 2},
		{testkit.Must(Optimal(ctx, metric.Same(km), 1, &Options{Prior: prior})), 3},
		{testkit.Must(Optimal(ctx, metric.Same(km), 1, &Options{Prior: prior, Loss: squared})), 0},
		{testkit.Must(Optimal(ctx, plain, 1, nil)), 0},
		{testkit.Must(Spanner(ctx, metric.Same(km), 1, nil)), 2},
		{testkit.Must(Spanner(ctx, metric.Same(km), 1, &SpannerOptions{Options: Options{Loss: squared}})), 0},
		{testkit.Must(ConstOPT(ctx, metric.Same(km), 1, nil)), 1},
		{testkit.Must(ConstOPT(ctx, plain, 1, nil)), 0},
		{testkit.Must(Extended(ctx, metric.Same(km), 1, nil)), 2},
		{testkit.Must(Extended(ctx, plain, 1, nil)), 0},
	} {
		if s := c.s.String(); strings.Count(s, " km") != c.want {
			t.Errorf("%s: want a unit %d times", s, c.want)
		}
	}
}
