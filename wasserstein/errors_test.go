package wasserstein

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Errors name the function, the argument, its index and value.
func TestErrors_SayWhatIsWrong(t *testing.T) {
	ctx := t.Context()
	nan, inf := math.NaN(), math.Inf(1)
	one, two, half := []float64{1}, []float64{0, 1}, []float64{.5, .5}
	tree := testkit.Must(metric.NewTree([]int{-1, 0, 0}, nil))
	plane := w1Plane(random.Seeded(1), 2)
	line := metric.Finite(linePoints{0, 1, inf, nan})
	cost := func(n, m int, c ...float64) Cost { return &matrixCost{n, m, c} }
	square := cost(2, 2, 0, 1, 1, 0)
	between := func(c Cost, mu, nu []float64, o *Options) error { return testkit.Err(Between(ctx, c, mu, nu, o)) }
	certify := func(v []float64, plan ...Flow) error {
		return testkit.Err(Certify(ctx, square, half, half, plan, v, nil))
	}
	assign := func(c Cost) error { return testkit.Err(Assignment(ctx, c, nil)) }
	em := func(a, b []int) error { return testkit.Err(DistanceEM(ctx, line, a, b)) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{testkit.Err(distance(nil, one, one)), "Distance: mu has size 1"},
		{testkit.Err(distance(new(metric.Ultrametric), nil, nil)), "Distance: mu: empty input"},
		{testkit.Err(distance(onLine(one), one, half)), "Distance: nu has size 2"},
		{testkit.Err(distance(onLine(two), []float64{1, 0}, []float64{1, 1e-8})), "Distance: total masses 1 and 1.00000001"},
		{testkit.Err(distance(linePoints{0, nan}, half, []float64{1, 0})), "Distance: cost[1][0] = NaN"},
		{testkit.Err(W1(ctx, onLine([]float64{-1e300, 1e300}), half, []float64{1, 0}, nil)), "W1: cost[0][1] = 2e+300"},
		{testkit.Err(W1LineBetween(nil, nil, one, one)), "W1LineBetween: x: empty input"},
		{testkit.Err(W1LineBetween(one, one, two, one)), "W1LineBetween: nu has size 1"},
		{testkit.Err(W1LineBetween(one, one, []float64{nan}, one)), "W1LineBetween: y[0] = NaN"},
		{testkit.Err(W1Samples(nil, one)), "W1Samples: a: empty input"},
		{testkit.Err(W1Samples([]float32{1, float32(inf)}, []float32{1})), "W1Samples: a[1] = +Inf"},

		{between(cost(2, 2, 0, 1, nan, 1), half, half, nil), "Between: cost[1][0] = NaN"},
		{between(cost(2, 2, 0, 0x1p900, 1, 1), []float64{0x1p200, 0}, []float64{0x1p200, 0}, nil), "Between: largest cost times total mass = +Inf"},
		{between(square, []float64{2, -1}, half, nil), "Between: mu[1] = -1"},
		{between(square, half, []float64{.5, .6}, nil), "Between: total masses 1 and 1.1"},
		{between(square, half, one, nil), "Between: nu has size 1"},
		{between(square, half, half, &Options{U: half}), "Between: V has size 0"},
		{testkit.Err(W1(ctx, plane, half, one, nil)), "W1: nu has size 1"},
		{testkit.Err(Matrix(2, 2, half)), "Matrix: cost has size 2"},
		{testkit.Err(Distances(plane, []int{0, 2}, []int{1})), "Distances: a[1] = 2"},
		{certify(nil, Flow{2, 0, 1}), "Certify: end of plan[0] = 2"},
		{certify(nil, Flow{0, 0, 0}, Flow{0, 0, -1}), "Certify: mass of plan[1] = -1"},
		{certify(one), "Certify: v has size 1"},

		{assign(cost(2, 1, 0, 0)), "Assignment: rows has size 2"},
		{assign(cost(2, 2, 0, -inf, 0, nan)), "Assignment: cost[0][1] = -Inf"},
		{em(nil, []int{1}), "DistanceEM: a: empty input"},
		{em([]int{-1}, []int{0}), "DistanceEM: a[0] = -1"},
		{em([]int{0}, []int{2}), "DistanceEM: distance of points 0 and 2 = +Inf"},

		{testkit.Err(W1Points(ctx, metric.Numbers[float64]{}, nil, nil, one, nil, nil)), "W1Points: x: empty input"},
		{testkit.Err(W1Points(ctx, nil, one, nil, half, nil, nil)), "W1Points: metric: NewPoints: s is nil"},
		{testkit.Err(W1Points(ctx, metric.Numbers[float64]{}, one, half, half, nil, nil)), "W1Points: mu has size 2, want 1"},
		{testkit.Err(W1Points(ctx, metric.Numbers[float64]{}, one, []float64{3}, half, nil, nil)), "W1Points: total masses 3 and 1 differ by more than 3.73e-09: normalize"},
		{testkit.Err(Project(ctx, plane, []float64{1, .5}, nil)), "Project: total masses 1.5 and 1"},
		{testkit.Err(Project(ctx, plane, []float64{1, nan}, nil)), "Project: g[1] = NaN"},
		{testkit.Err2(ProjectLine(nil, nil)), "ProjectLine: x: empty input"},
		{testkit.Err2(ProjectLine([]float64{nan}, one)), "ProjectLine: x[0] = NaN"},
		{testkit.Err2(ProjectLine(two, []float64{1, inf})), "ProjectLine: g[1] = +Inf"},
		{testkit.Err2(ProjectLine(two, []float64{1e308, -1e308})), "ProjectLine: total variation of g = +Inf"},
		{testkit.Err2(ProjectTree(nil, one)), "ProjectTree: t: empty input"},
		{testkit.Err2(ProjectTree(tree, one)), "ProjectTree: g has size 1"},
		{testkit.Err(IsotonicL1([]float64{0, nan}, nil, 0, 1)), "IsotonicL1: g[1] = NaN"},
		{testkit.Err(IsotonicL1(one, half, 0, 1)), "IsotonicL1: w has size 2"},
		{testkit.Err(IsotonicL1(one, one, nan, 1)), "IsotonicL1: lo = NaN"},
		{testkit.Err(IsotonicL1(one, one, 1, 0)), "IsotonicL1: hi = 0"},
		{testkit.Err(ProjectSimplex([]float64{inf}, 1, nil)), "ProjectSimplex: g[0] = +Inf"},
		{testkit.Err(ProjectSimplex(one, -1, nil)), "ProjectSimplex: total = -1"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "wasserstein: "+c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Assignment(done, square, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// linePoints is a metric on points of the real line.
type linePoints []float64

func (x linePoints) Len() int                  { return len(x) }
func (x linePoints) Distance(i, j int) float64 { return math.Abs(x[i] - x[j]) }
