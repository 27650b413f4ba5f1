package tsp

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func TestImprove_NeverLengthensAndKeepsTheBound(t *testing.T) {
	f := plane(300, 8)
	for seed := range uint64(4) {
		given := testkit.Must(NewTour(f, random.Seeded(seed).Perm(300), seed%2 != 0))
		given.LowerBound = 1
		before := slices.Clone(given.Order)
		last := given
		for _, kicks := range []int{-1, 200, 2000} {
			tour := testkit.Must(Improve(t.Context(), f, last, &ImproveOptions{Kicks: kicks, Seed: seed}))
			check(t, f, tour, given.Kind)
			if tour.Length > last.Length || tour.LowerBound != 1 {
				t.Errorf("%v after %v, bound %v", tour.Length, last.Length, tour.LowerBound)
			}
			last = tour
		}
		if !slices.Equal(given.Order, before) {
			t.Error("the tour given was changed")
		}
	}
	// A metric that changes its mind about which way round is shorter.
	n := 40
	skew := skewed{plane(n, 1)}
	order := random.Seeded(1).Perm(n)
	given := testkit.Must(NewTour(skew, order, Closed))
	tour, err := Improve(t.Context(), skew, given, nil)
	if err != nil || tour.Length > given.Length {
		t.Errorf("asymmetric: %v after %v, %v", tour.Length, given.Length, err)
	}
}

type skewed struct{ metric.Finite }

func (s skewed) Distance(i, j int) float64 {
	if i > j {
		return 2 * s.Finite.Distance(i, j)
	}
	return s.Finite.Distance(i, j)
}

func TestSolve_StopsWithTheContext(t *testing.T) {
	f := plane(2000, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if tour, err := Solve(done, f, nil); tour != nil || !errors.Is(err, context.Canceled) {
		t.Error(tour, err)
	}
	given := testkit.Must(Greedy(t.Context(), f, nil))
	if tour, err := Improve(done, f, given, nil); tour == nil || tour.Length != given.Length || !errors.Is(err, context.Canceled) {
		t.Error(tour, err)
	}
	for _, method := range []BoundMethod{BoundTree, BoundHeldKarp} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		tour, err := Solve(ctx, f, &SolveOptions{Bound: method, Improve: ImproveOptions{Progress: func(d, total int) {
			if calls++; total != 40000 || d > total {
				t.Fatal(d, total)
			}
			if d > 1000 {
				cancel()
			}
		}}})
		if !errors.Is(err, context.Canceled) || calls < 2 {
			t.Error(err, calls)
		}
		check(t, f, tour, Closed)
		if tour.Length >= given.Length {
			t.Errorf("%v is no better than the greedy tour, %v", tour.Length, given.Length)
		}
	}
	tour, err := Solve(t.Context(), f, &SolveOptions{Bound: BoundNone, Improve: ImproveOptions{TimeLimit: 1}}) // a nanosecond
	if err != nil || tour.LowerBound != 0 || !math.IsInf(tour.Gap(), 1) {
		t.Error(tour, err)
	}
	check(t, f, tour, Closed)
}

func TestTour_RefusesBadInput(t *testing.T) {
	f := plane(30, 1)
	empty := bare{f: emptyMetric{}}
	good := testkit.Must(NewTour(f, random.Seeded(1).Perm(30), Closed))
	for name, build := range builders {
		if _, err := build(t.Context(), empty, Closed, 0); !errors.Is(err, metric.ErrEmpty) {
			t.Error(name, "empty:", err)
		}
		// All distances from a point: it has no neighbor.
		for _, d := range []float64{math.NaN(), math.Inf(1), -1} {
			_, err := build(t.Context(), space.Constant(12, d), Closed, 0)
			if violation := new(metric.Violation); !errors.As(err, &violation) || violation.Axiom != metric.FiniteValue {
				t.Error(name, d, err)
			}
		}
	}
	var size *metric.SizeError
	var value *metric.ValueError
	bad := &Tour{Order: []int{0, 1, 2}}
	for name, err := range map[string]error{
		"NewTour": second(NewTour(f, bad.Order, Closed)),
		"Improve": second(Improve(t.Context(), f, bad, nil)),
		"Fold":    second(Fold(f, bad)),
		"Open":    second(bad.Open(f)),
	} {
		if !errors.As(err, &size) || size.Got != 3 || size.Want != "30" {
			t.Error(name, err)
		}
	}
	few := ImproveOptions{Neighbors: -1}
	for _, c := range []struct {
		arg string
		err error
	}{
		{"Neighbors", second(Greedy(t.Context(), f, &GreedyOptions{Neighbors: -1}))},
		{"Neighbors", second(Improve(t.Context(), f, good, &few))},
		{"Neighbors", second(Solve(t.Context(), f, &SolveOptions{Improve: few}))},
		{"Bound", second(Solve(t.Context(), f, &SolveOptions{Bound: 9}))},
	} {
		if !errors.As(c.err, &value) || value.Arg != c.arg {
			t.Errorf("%s: %v", c.arg, c.err)
		}
	}
	twice := slices.Clone(good.Order)
	twice[7] = twice[3]
	if _, err := NewTour(f, twice, Closed); !errors.As(err, &value) || value.Index != 7 {
		t.Error(err)
	}
	twice[7] = 30
	if _, err := NewTour(f, twice, Closed); !errors.As(err, &value) || value.Index != 7 {
		t.Error(err)
	}
	violation := new(metric.Violation)
	for _, d := range []float64{math.NaN(), math.Inf(1), -1} {
		wrong := altered{bare{f}, good.Order[4], good.Order[5], d}
		if _, err := NewTour(wrong, good.Order, Closed); !errors.As(err, &violation) || violation.I != good.Order[4] || violation.J != good.Order[5] {
			t.Error(d, err)
		}
	}
}

func TestZeroValues_AnswerNothing(t *testing.T) {
	f := plane(5, 1)
	var size *metric.SizeError
	for name, err := range map[string]error{
		"Fold nil":    second(Fold(f, nil)),
		"Fold":        second(Fold(f, new(Tour))),
		"Improve nil": second(Improve(t.Context(), f, nil, nil)),
		"Improve":     second(Improve(t.Context(), f, new(Tour), nil)),
		"Open nil":    second((*Tour)(nil).Open(f)),
		"Open":        second(new(Tour).Open(f)),
		"Locality":    second(new(Folding).Locality(t.Context(), f)),
	} {
		if !errors.As(err, &size) || size.Got != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func(){
		"Length":  func() { new(Folding).Length() },
		"Nearest": func() { new(Folding).Nearest(1) },
	} {
		func() {
			defer func() {
				if r := recover(); r != "tsp: a Folding without points: Fold makes one" {
					t.Errorf("%s: %v", name, r)
				}
			}()
			call()
		}()
	}
	if tree := new(SpanningTree); tree.Len() != 0 || len(tree.Edges()) != 0 || len(tree.Preorder()) != 0 {
		t.Error("a zero spanning tree has points")
	}
}
