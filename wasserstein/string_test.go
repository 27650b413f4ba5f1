package wasserstein

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Costs are printed in the unit of the metric, and without one where they are numbers
// of the caller's own.
func TestStrings_HaveTheUnitOfTheMetric(t *testing.T) {
	ctx := t.Context()
	place := []metric.LatLon{{Lat: 48}, {Lat: 49}, {Lat: 51}}
	km := testkit.Must(metric.NewPoints(place, metric.GreatCircle{}))
	mu, nu := []float64{1, 0, 0}, []float64{0, 0.5, 0.5}
	square := testkit.Must(Matrix(3, 3, []float64{0, 1, 2, 1, 0, 2, 2, 2, 0}))
	for _, c := range []struct {
		s    fmt.Stringer
		want string
	}{
		{testkit.Must(W1(ctx, km, mu, nu, nil)), "plan of 2 flows at cost 222.39 km, the least in [222.39, 222.39], gap "},
		{testkit.Must(Between(ctx, square, mu, nu, nil)), "plan of 2 flows at cost 1.5, the least in [1.5, 1.5], gap 0"},
		{testkit.Must(Project(ctx, km, []float64{1, -0.5, 0.5}, nil)), "measure on 3 points at cost 55.5975 km, the least in [55.5975, 55.5975], gap "},
		{testkit.Must(Project(ctx, km, mu, nil)), "measure on 3 points at cost 0 km, the least in [0, 0], gap 0"},
		{&Result{Certificate: Certificate{Cost: 2, Lower: 1.5, Upper: 2.125}}, "plan of 0 flows at cost 2, the least in [1.5, 2.125], gap 0.7"},
	} {
		if got := c.s.String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
