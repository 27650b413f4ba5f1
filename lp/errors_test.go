package lp

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// Errors name the call, the argument, its index and value, and the domain. What is
// wrong with the numbers themselves is for package robust.
func TestErrors_NameTheArgument(t *testing.T) {
	b, nan := metric.Same(space.Path(4, 1)), math.NaN()
	nowhere := metric.Same(space.Constant(4, nan))
	empty := space.Constant(0, 1)
	globe := testkit.Must(metric.NewPoints([]metric.LatLon{{Lat: 1}, {Lat: 2}}, metric.GreatCircle{}))
	negative := metric.Bimetric{Privacy: b.Privacy, Utility: space.Constant(4, -1)}
	optimal := func(b metric.Bimetric, alpha float64, o Options) error {
		_, err := Optimal(t.Context(), b, alpha, &o)
		return err
	}
	replaced := func(b metric.Bimetric, o ConstOptions) error {
		_, err := ConstOPT(t.Context(), b, 1, &o)
		return err
	}
	spanner := func(b metric.Bimetric, alpha, stretch float64) error {
		_, err := Spanner(t.Context(), b, alpha, &SpannerOptions{Stretch: stretch})
		return err
	}
	choose := func(b metric.Bimetric, alpha float64, o Options) error {
		_, err := Choose(t.Context(), b, alpha, &o)
		return err
	}
	lower := func(b metric.Bimetric, alpha float64, packing ...int) error {
		_, err := LowerBound(t.Context(), b, alpha, packing)
		return err
	}
	private := func(b metric.Bimetric, target kl10.Target, o MostPrivateOptions) error {
		_, err := MostPrivate(t.Context(), b, target, &o)
		return err
	}
	reach := kl10.Target{Delta: .1}
	records := func(eps float64, sensitivity func(int) float64) error {
		return testkit.Err2(testkit.Must(MostPrivate(t.Context(), b, reach, nil)).RecordsFor(eps, sensitivity))
	}
	size := func(of func(context.Context, metric.Bimetric) (Size, error), b metric.Bimetric) error {
		_, err := of(t.Context(), b)
		return err
	}
	loss := func(x, y int) float64 {
		if x == 2 && y == 9 {
			return nan
		}
		return float64(x)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{optimal(b, 0, Options{}), "lp: Optimal: alpha = 0, want a finite number > 0"},
		{optimal(nowhere, 1, Options{}), "lp: Optimal: Privacy[0][1] = NaN, want a finite number >= 0"},
		{optimal(negative, 1, Options{}), "lp: Optimal: Utility[0][1] = -1, want a finite number >= 0"},
		{optimal(b, 1, Options{Prior: []float64{.5, .5}}), "lp: Optimal: Prior has size 2, want 4"},
		{optimal(b, 1, Options{Outputs: []int{}}), "lp: Optimal: Outputs: empty input"},
		{optimal(b, 1, Options{Outputs: []int{0, 4}}), "lp: Optimal: Outputs[1] = 4, want an index in [0, 4)"},
		{optimal(metric.Bimetric{Privacy: b.Privacy, Utility: space.Path(5, 1)}, 1, Options{}), "lp: Optimal: metric: Bimetric.Check: Utility has size 5, want 4"},
		{optimal(metric.Bimetric{Privacy: empty, Utility: empty}, 1, Options{Outputs: []int{0}}), "lp: Optimal: Privacy: empty input"},
		{optimal(metric.Bimetric{Privacy: b.Privacy, Utility: empty}, 1, Options{Outputs: []int{0}}), "lp: Optimal: Utility: empty input"},
		{optimal(metric.Same(globe), 1, Options{Unit: "mi"}), `lp: Optimal: different units: Unit is "mi", the metric's "km"`},
		{optimal(b, 1, Options{Loss: loss, Outputs: []int{7, 9}}), "lp: Optimal: Loss[2][1] = NaN, want a finite number >= 0"},
		{optimal(b, 1, Options{Tolerance: -1}), "lp: Optimal: Tolerance = -1, want a number in [0, 1)"},
		{optimal(b, 1, Options{TimeLimit: -1e9}), "lp: Optimal: TimeLimit = -1, want a duration >= 0"},
		{optimal(b, 1, Options{MemoryLimit: nan}), "lp: Optimal: MemoryLimit = NaN, want a finite number >= 0"},

		{replaced(metric.Bimetric{Privacy: b.Privacy}, ConstOptions{}), "lp: ConstOPT: metric: Bimetric.Check: Utility: empty input"},
		{replaced(b, ConstOptions{Neighbors: 4}), "lp: ConstOPT: Neighbors = 4, want a number in [1, 3]"},
		{replaced(b, ConstOptions{Lambdas: []float64{1, -1}}), "lp: ConstOPT: Lambdas[1] = -1, want a finite number >= 0"},
		{replaced(b, ConstOptions{Lambdas: []float64{}}), "lp: ConstOPT: Lambdas: empty input"},
		{replaced(b, ConstOptions{Replacement: all(4)[1:]}), "lp: ConstOPT: Replacement has size 3, want 4"},
		{replaced(b, ConstOptions{MemoryLimit: 100}), "lp: ConstOPT: needs 0.000732 MiB, the limit is 9.54e-05 MiB"},
		{replaced(b, ConstOptions{MemoryLimit: 5000, Replacement: all(4)}), "lp: ConstOPT: needs 0.0152 MiB, the limit is 0.00477 MiB"},

		{spanner(b, 1, .5), "lp: Spanner: Stretch = 0.5, want a finite number >= 1, or 0"},
		{spanner(b, nan, 0), "lp: Spanner: alpha = NaN, want a finite number > 0"},
		{spanner(nowhere, 1, 0), "lp: Spanner: metric: Spanner: f[0] = NaN, want a number in [0, 1e300]"},

		{choose(metric.Bimetric{}, 1, Options{}), "lp: Choose: metric: Bimetric.Check: Privacy: empty input"},
		{choose(b, -1, Options{}), "lp: Choose: alpha = -1, want a finite number > 0"},

		{private(metric.Bimetric{}, reach, MostPrivateOptions{}), "lp: MostPrivate: metric: Bimetric.Check: Privacy: empty input"},
		{private(metric.Bimetric{Privacy: b.Privacy, Utility: space.Path(3, 1)}, reach, MostPrivateOptions{}), "lp: MostPrivate: Utility has size 3, want at least 4"},
		{testkit.Err(LevelLowerBound(t.Context(), metric.Bimetric{Privacy: b.Privacy, Utility: space.Path(3, 1)}, reach)), "lp: LevelLowerBound: Utility has size 3, want at least 4"},
		{records(0, nil), "lp: MostPrivateSolution.RecordsFor: eps = 0, want a finite number > 0"},
		{records(1, func(int) float64 { return nan }), "lp: MostPrivateSolution.RecordsFor: sensitivity(1) = NaN, want a finite number >= 0"},
		{testkit.Err2(new(MostPrivateSolution).RecordsFor(1, nil)), "lp: MostPrivateSolution.RecordsFor: a MostPrivateSolution that is not from MostPrivate"},
		{private(b, kl10.Target{}, MostPrivateOptions{}), "lp: MostPrivate: Delta = 0, want a number in (0, 1)"},
		{private(b, kl10.Target{Gamma: -1, Delta: .1}, MostPrivateOptions{}), "lp: MostPrivate: Gamma = -1, want a finite number >= 0"},
		{private(b, reach, MostPrivateOptions{MemoryLimit: 1}), "lp: MostPrivate: Optimal: needs 0.000732 MiB, the limit is 9.54e-07 MiB"},
		{private(nowhere, reach, MostPrivateOptions{}), "lp: MostPrivate: Utility[0][1] = NaN, want a finite number >= 0"},

		{size((&Options{Outputs: []int{5}}).Size, b), "lp: Options.Size: Outputs[0] = 5, want an index in [0, 4)"},
		{size((*Options)(nil).Size, nowhere), "lp: Options.Size: Utility[0][1] = NaN, want a finite number >= 0"},
		{size((*SpannerOptions)(nil).Size, metric.Bimetric{}), "lp: SpannerOptions.Size: metric: Bimetric.Check: Privacy: empty input"},
		{size((&SpannerOptions{Stretch: .5}).Size, b), "lp: SpannerOptions.Size: Stretch = 0.5, want a finite number >= 1, or 0"},
		{size((&ConstOptions{Neighbors: 4}).Size, b), "lp: ConstOptions.Size: Neighbors = 4, want a number in [1, 3]"},
		{size((&ConstOptions{Replacement: [][]int{{0}}}).Size, b), "lp: ConstOptions.Size: Replacement has size 1, want 4"},

		{lower(b, 1, 0, 4), "lp: LowerBound: packing[1] = 4, want an index in [0, 4)"},
		{lower(b, 1), "lp: LowerBound: packing: empty input"},
		{lower(b, nan, 1, 2), "lp: LowerBound: alpha = NaN, want a finite number > 0"},
		{lower(metric.Bimetric{}, 1, 1), "lp: LowerBound: metric: Bimetric.Check: Privacy: empty input"},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
