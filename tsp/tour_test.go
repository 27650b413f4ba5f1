package tsp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
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
