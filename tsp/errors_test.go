package tsp

import (
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
		{testkit.Err(new(Folding).Locality(ctx, f)), "Folding.Locality: folding has size 0"},
		{testkit.Err((&Folding{Order: good.Order}).Locality(ctx, f)), "Folding.Locality: Position has size 0"},
		{testkit.Err((&Folding{Order: good.Order, Position: make([]float64, 30), Rank: twice}).Locality(ctx, f)), "Folding.Locality: Rank[7]"},
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
