package kl10

import (
	"context"
	"errors"
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
	misses := func(rho metric.Finite, gamma float64) error {
		_, _, err := Misses(ctx, c, rho, gamma)
		return err
	}
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
	nets := func(depth int, level func(int) (Net[int], error)) error {
		_, err := NewNets(depth, level)
		return err
	}
	draw := func(n *Nets[int]) error { return testkit.Err(n.Draw(nil)) }
	point := func(int) (Net[int], error) { return Net[int]{1, func(int) int { return 0 }, 1}, nil }
	testkit.Refused(t, [][3]any{
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: f, Utility: space.Path(3, 1)}, nil, good, nil)), "kl10: MostPrivate: Utility has size 3, want at least 4"},
		{testkit.Err(MostPrivate(ctx, metric.Same(f), atom, Target{-1, .1}, nil)), "kl10: MostPrivate: Gamma = -1"},
		{testkit.Err(MostPrivate(ctx, metric.Same(f), atom, Target{1, 1}, nil)), "kl10: MostPrivate: Delta = 1"},
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: f, Utility: space.Constant(4, -1)}, atom, good, nil)), "kl10: MostPrivate: metric: Densify: distance[0] = -1"},
		{testkit.Err(MostPrivate(ctx, metric.Same(f), []float64{1}, good, nil)), "kl10: MostPrivate: mu has size 1, want 4"},
		{testkit.Err(MostPrivate(ctx, metric.Same(f), atom, good, nil)), "kl10: MostPrivate: no rate suffices: some closed ball of radius 1"},
		{testkit.Err(MostPrivate(ctx, coincident, nil, good, nil)), "kl10: MostPrivate: no level: points "},
		{testkit.Err(MostPrivate(ctx, metric.Bimetric{Privacy: space.Constant(4, math.NaN()), Utility: f}, nil, good, nil)), "kl10: MostPrivate: "},
		{testkit.Err(MostPrivate(ctx, globe, nil, good, &Options{Unit: "m"})), "kl10: MostPrivate: different units"},
		{misses(f, math.NaN()), "kl10: Misses: gamma = NaN"},
		{misses(space.Path(3, 1), 1), "kl10: Misses: rho has size 3, want at least 4"},
		{base(func(b *BaseMeasure[float64, float64]) { b.Beta = 0 }), "kl10: NewBaseMeasure: Beta = 0"},
		{base(func(b *BaseMeasure[float64, float64]) { b.Lipschitz = -1 }), "kl10: NewBaseMeasure: Lipschitz = -1"},
		{base(func(b *BaseMeasure[float64, float64]) { b.MinMass = 0 }), "kl10: NewBaseMeasure: MinMass = 0"},
		{base(func(b *BaseMeasure[float64, float64]) { b.MaxDraws = -1 }), "kl10: NewBaseMeasure: MaxDraws = -1"},
		{base(func(b *BaseMeasure[float64, float64]) { b.Map = nil }), "kl10: NewBaseMeasure: Map, Sigma and Draw"},
		{base(func(b *BaseMeasure[float64, float64]) {}), "kl10: BaseMeasure: Sigma, want"}, // NaN is not released
		{nets(0, point), "kl10: NewNets: depth = 0"},
		{nets(1, nil), "kl10: NewNets: level is required"},
		{draw(new(Nets[int])), "kl10: Nets.Draw: a Nets that is not from NewNets"},
	})
	if _, err := MostPrivate(ctx, metric.Bimetric{Privacy: f}, nil, good, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("half a space: %v", err)
	}
	if _, err := MostPrivate(ctx, globe, nil, good, &Options{Unit: "m"}); !errors.Is(err, mechanism.ErrUnit) {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := MostPrivate(gone, metric.Same(space.Path(40, 1)), nil, good, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
