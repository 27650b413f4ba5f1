package tsp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

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
