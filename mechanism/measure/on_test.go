package measure

import (
	"errors"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// What a domain knows of distances, its diameter and the errors that it bounds,
// holds of points that are no farther apart: others, in another unit for
// instance, are refused, and nearer ones are not.
func TestOn_RefusesLargerDistances(t *testing.T) {
	places := make([]metric.LatLon, 40)
	for i := range places {
		places[i] = metric.LatLon{Lat: float64(i * 17 % 90), Lon: float64(i * 31 % 180)}
	}
	km := testkit.Must(metric.NewPoints(places, metric.GreatCircle{}))
	miles := testkit.Must(metric.NewPoints(places, metric.GreatCircle{Radius: metric.EarthRadiusKm / 1.609344}))
	for name, c := range map[string]struct {
		of, on *metric.Points[metric.LatLon]
		ok     bool
	}{"km on km": {km, km, true}, "miles on km": {km, miles, true}, "km on miles": {miles, km, false}} {
		for how, d := range map[string]*Domain[int]{"net": testkit.Must(NewFinite(t.Context(), c.of, nil)), "dense": testkit.Must(NewFinite(t.Context(), testkit.Must(metric.Densify(t.Context(), c.of)), nil)), "folded": testkit.Must(NewFolded(t.Context(), c.of, nil))} {
			_, err := On(t.Context(), d, c.on)
			var wrong *metric.ValueError
			if c.ok && err != nil || !c.ok && !errors.As(err, &wrong) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}
