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

func second[T any](_ T, err error) error { return err }

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
	good := testkit.Must(NewTour(f, random.Seeded(1).Perm(30), Closed))
	short, zero, few := &Tour{Order: []int{0, 1, 2}}, new(Tour), ImproveOptions{Neighbors: -1}
	twice, beyond := slices.Clone(good.Order), slices.Clone(good.Order)
	twice[7], beyond[7] = twice[3], 30
	pi := make([]float64, 30)
	pi[7] = nan
	heldKarp := func(o HeldKarpOptions) error { return second(HeldKarpBound(ctx, f, &o)) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(NewTour(f, short.Order, Closed)), "NewTour: order has size 3"},
		{second(NewTour(f, twice, Closed)), "NewTour: order[7] = 7"},
		{second(NewTour(f, beyond, Closed)), "NewTour: order[7] = 30"},
		{second(NewTour(altered{bare{f}, good.Order[4], good.Order[5], nan}, good.Order, Closed)), "NewTour: 0 <= d(i,j) < Inf fails at i=29, j=19 by NaN"},
		{second(NewTour(f, good.Order, 2)), "NewTour: kind = 2"},
		{second(DoubleTree(ctx, f, -1)), "DoubleTree: kind = -1"},
		{second(Solve(ctx, f, &SolveOptions{Kind: 2})), "Solve: kind = 2"},
		{heldKarp(HeldKarpOptions{Kind: 2}), "HeldKarpBound: kind = 2"},
		{second(OneTreeBound(ctx, f, nil, 2)), "OneTreeBound: kind = 2"},
		{second(short.Open(f)), "Tour.Open: tour has size 3"},
		{second(zero.Open(f)), "Tour.Open: tour has size 0"},
		{second((*Tour)(nil).Open(f)), "Tour.Open: tour has size 0"},
		{second(MST(ctx, space.Constant(0, 1))), "MST: f: empty input"},
		{second(MST(ctx, altered{bare{f}, 3, 5, -1})), "MST: 0 <= d(i,j) < Inf fails at i=3, j=5 by 1"},
		{second(MST(ctx, space.Constant(3, 1e305))), "MST: length[1] = 1e+305"},
		{second(DoubleTree(ctx, altered{bare{f}, 3, 5, -1}, Closed)), "DoubleTree: 0 <= d(i,j) < Inf fails at i=3, j=5 by 1"},
		{second(Solve(ctx, space.Constant(12, nan), nil)), "Solve: 0 <= d(i,j) < Inf fails"},
		{second(Greedy(ctx, f, &GreedyOptions{Neighbors: -1})), "Greedy: Neighbors = -1"},
		{second(SpaceFilling(ctx, bare{f}, Hilbert, Closed)), "SpaceFilling: f: metric has no coordinates"},
		{second(SpaceFilling(ctx, f, 7, Closed)), "SpaceFilling: c = 7"},
		{second(Improve(ctx, f, short, nil)), "Improve: t has size 3"},
		{second(Improve(ctx, f, nil, nil)), "Improve: t has size 0"},
		{second(Improve(ctx, f, good, &few)), "Improve: Neighbors = -1"},
		{second(Solve(ctx, f, &SolveOptions{Improve: few})), "Solve: Neighbors = -1"},
		{second(Solve(ctx, f, &SolveOptions{Bound: 9})), "Solve: Bound = 9"},
		{second(Fold(f, short)), "Fold: t has size 3"},
		{second(Fold(f, nil)), "Fold: t has size 0"},
		{second(new(Folding).Locality(ctx, f)), "Folding.Locality: folding has size 0"},
		{second((&Folding{Order: good.Order}).Locality(ctx, f)), "Folding.Locality: Position has size 0"},
		{second((&Folding{Order: good.Order, Position: pi}).Locality(ctx, f)), "Folding.Locality: Position[7] = NaN"},
		{second((&Folding{Order: good.Order, Position: make([]float64, 30), Rank: twice}).Locality(ctx, f)), "Folding.Locality: Rank[7]"},
		{second(CoveringIntegral(ctx, space.Constant(0, 1))), "CoveringIntegral: f: empty input"},
		{second(CoveringIntegral(ctx, space.Constant(5, nan))), "CoveringIntegral: 0 <= d(i,j) < Inf fails at i=0, j=1 by NaN"},
		{heldKarp(HeldKarpOptions{Upper: nan}), "HeldKarpBound: Upper = NaN"},
		{heldKarp(HeldKarpOptions{Iterations: -1}), "HeldKarpBound: Iterations = -1"},
		{heldKarp(HeldKarpOptions{Neighbors: -1}), "HeldKarpBound: Neighbors = -1"},
		{second(OneTreeBound(ctx, f, []float64{}, Closed)), "OneTreeBound: multipliers has size 0"},
		{second(OneTreeBound(ctx, f, pi, Closed)), "OneTreeBound: multipliers[7] = NaN"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "tsp: "+c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, n := range []int{100, 3000} {
		if _, err := MST(done, plane(n, 1)); !errors.Is(err, context.Canceled) {
			t.Error(n, err)
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
	for how, build := range builders {
		if _, err := build(ctx, space.Constant(0, 1), Closed, 0); !errors.Is(err, metric.ErrEmpty) {
			t.Error(how, "empty:", err)
		}
	}
	defer func() {
		if r := recover(); r != "tsp: a Folding without points: Fold makes one" {
			t.Error(r)
		}
	}()
	new(Folding).Nearest(1)
}
