package kl10

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Errors name the call, the argument, the value and what was wanted.
func TestErrors(t *testing.T) {
	ctx, f, atom := t.Context(), space.Path(4, 1), []float64{1, 0, 0, 0}
	good := Target{Gamma: 1, Delta: .1}
	coincident := metric.Bimetric{Privacy: space.Simplex(4, 0), Utility: f}
	globe := metric.Same(testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 90}}, metric.GreatCircle{})))
	c := testkit.Must(channel(ctx, "", 4, f, []float64{.25, .25, .25, .25}, 1, 0))
	base := func(change func(b *BaseMeasure[float64, float64])) error {
		b := BaseMeasure[float64, float64]{Map: same[float64], Lipschitz: 1, Sigma: metric.Numbers[float64]{}, Beta: 3, MaxDraws: 4, MinMass: .5,
			Draw: func(r *rand.Rand) (float64, error) { return r.Float64(), nil }}
		change(&b)
		m, err := NewBaseMeasure(b)
		if err == nil {
			_, err = m.Release(nil, math.NaN())
		}
		return err
	}
	testkit.Refused(t, [][3]any{
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: f, Utility: space.Path(3, 1)}, nil, good, nil)), "kl10: MostPrivate: Utility has size 3, want at least 4"},
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: f, Utility: space.Constant(4, -1)}, atom, good, nil)), "kl10: MostPrivate: metric: Densify: distance[0] = -1"},
		{testkit.Err(MostPrivate(ctx, metric.Same(f), []float64{1}, good, nil)), "kl10: MostPrivate: mu has size 1, want 4"},
		{testkit.Err(MostPrivate(ctx, metric.Same(f), atom, good, nil)), "kl10: MostPrivate: no rate suffices: some closed ball of radius 1"},
		{testkit.Err(MostPrivate(ctx, coincident, nil, good, nil)), "kl10: MostPrivate: no level: points "},
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: space.Constant(4, math.NaN()), Utility: f}, nil, good, nil)), "kl10: MostPrivate: "},
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: f}, nil, good, nil)), "kl10: MostPrivate: Utility", metric.ErrEmpty},
		{testkit.Err(MostPrivate(ctx, globe, nil, good, &Options{Unit: "m"})), "kl10: MostPrivate: different units", mechanism.ErrUnit},
		{testkit.Err2(Misses(ctx, c, space.Path(3, 1), 1)), "kl10: Misses: rho has size 3, want at least 4"},
		{base(func(b *BaseMeasure[float64, float64]) { b.Map = nil }), "kl10: NewBaseMeasure: Map, Sigma and Draw"},
		{base(func(b *BaseMeasure[float64, float64]) {}), "kl10: BaseMeasure: Sigma, want"}, // NaN is not released
		{testkit.Err(NewNets[int](1, nil)), "kl10: NewNets: level is required"},
		{testkit.Err(new(Nets[int]).Draw(nil)), "kl10: Nets.Draw: a Nets that is not from NewNets"},
	})
}
