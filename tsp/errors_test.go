package tsp

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// altered is a metric with one entry replaced.
type altered struct {
	bare
	i, j int
	d    float64
}

func (a altered) Distance(i, j int) float64 {
	if i == a.i && j == a.j || i == a.j && j == a.i {
		return a.d
	}
	return a.f.Distance(i, j)
}

// Errors name the function, the argument, its index and value.
func TestErrors_SayWhatIsWrong(t *testing.T) {
	ctx, f, nan := t.Context(), plane(30, 1), math.NaN()
	good := testkit.Must(newTour(f, random.Seeded(1).Perm(30), Closed))
	short := &Tour{Order: []int{0, 1, 2}}
	twice, beyond := slices.Clone(good.Order), slices.Clone(good.Order)
	twice[7], beyond[7] = twice[3], 30
	pi := make([]float64, 30)
	pi[7] = nan
	for _, c := range []struct {
		err  error
		want string
	}{
		{testkit.Err(Solve(ctx, f, &SolveOptions{Kind: 2})), "Solve: kind = 2"},
		{testkit.Err((&Tour{Order: twice}).Open(f)), "Tour.Open: tour[7] = 7"},
		{testkit.Err(Fold(altered{bare{f}, good.Order[4], good.Order[5], nan}, good)), "Fold: 0 <= d(i,j) < Inf fails at i=29, j=19 by NaN"},
		{testkit.Err(SpaceFilling(ctx, f, 2)), "SpaceFilling: kind = 2"},
		{testkit.Err(Solve(ctx, space.Constant(12, nan), nil)), "Solve: 0 <= d(i,j) < Inf fails"},
		{testkit.Err(SpaceFilling(ctx, bare{f}, Closed)), "SpaceFilling: f: metric has no coordinates"},
		{testkit.Err(Solve(ctx, f, &SolveOptions{Neighbors: -1})), "Solve: Neighbors = -1"},
		{testkit.Err(Solve(ctx, f, &SolveOptions{Bound: 9})), "Solve: Bound = 9"},
		{testkit.Err(Fold(f, short)), "Fold: t has size 3"},
		{testkit.Err(CoveringIntegral(ctx, space.Constant(0, 1))), "CoveringIntegral: f: empty input"},
		{testkit.Err(CoveringIntegral(ctx, space.Constant(5, nan))), "CoveringIntegral: 0 <= d(i,j) < Inf fails at i=0, j=1 by NaN"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "tsp: "+c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	var violation *metric.Violation
	for _, d := range []float64{nan, math.Inf(1), -1} {
		for how, build := range builders { // all distances from a point: it has no neighbor
			if _, err := build(ctx, space.Constant(12, d), Closed, 0); !errors.As(err, &violation) || violation.Axiom != metric.FiniteValue {
				t.Error(how, d, err)
			}
		}
		for how, bound := range boundAll {
			for _, n := range []int{2, 20, 3000} {
				if _, err := bound(ctx, altered{bare{plane(n, 1)}, 0, n - 1, d}, Closed); !errors.As(err, &violation) || violation.I != 0 || violation.J != n-1 {
					t.Error(how, n, d, err)
				}
			}
		}
	}
	defer func() {
		if r := recover(); r != "tsp: a Folding without points: Fold makes one" {
			t.Error(r)
		}
	}()
	new(Folding).Nearest(1)
}

func TestSolve_StopsWithTheContext(t *testing.T) {
	f := plane(2000, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if tour, err := Solve(done, f, nil); tour != nil || !errors.Is(err, context.Canceled) {
		t.Error(tour, err)
	}
	given := testkit.Must(builders["greedy"](t.Context(), f, Closed, 0))
	for _, method := range []Bound{BoundTree, BoundHeldKarp} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		tour, err := Solve(ctx, f, &SolveOptions{Bound: method, Progress: func(d, total int) {
			if calls++; total != 6000 || d > total {
				t.Fatal(d, total)
			}
			if d > 1000 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || calls < 2 {
			t.Error(err, calls)
		}
		check(t, f, tour, Closed)
		if tour.Length >= given.Length {
			t.Errorf("%v is no better than the greedy tour, %v", tour.Length, given.Length)
		}
	}
	tour, err := Solve(t.Context(), f, &SolveOptions{Bound: BoundNone, TimeLimit: 1}) // a nanosecond
	if err != nil || tour.LowerBound != 0 || !math.IsInf(tour.Gap(), 1) {
		t.Error(tour, err)
	}
	check(t, f, tour, Closed)
}

// Lengths are printed in the unit of the metric, and what the bound proves is rounded up.
func TestTour_String(t *testing.T) {
	km := testkit.Must(metric.NewPoints([]metric.LatLon{{Lat: 48}, {Lat: 49}}, metric.GreatCircle{}))
	bound := *testkit.Must(newTour(km, []int{0, 1}, Open))
	bound.LowerBound = 100
	for want, tour := range map[string]*Tour{
		"open tour of 2 points, length 111.195 km, bound 100 km: at most 12 % longer than the shortest": &bound,
		"closed tour of 1 points, length 1.00001, bound 1: at most 0.0011 % longer than the shortest":   {Order: []int{0}, Length: 1.000011, LowerBound: 1},
		"closed tour of 1 points, length 1, bound 1: at most 0 % longer than the shortest":              {Order: []int{0}, Length: 1, LowerBound: math.Nextafter(1, 2)},
	} {
		if got := tour.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
