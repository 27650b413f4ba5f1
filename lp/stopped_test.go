package lp

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Canceled before it begins and after some iterations, and out of time, every search
// returns a certified mechanism and says why it ended.
func TestStopped_ReturnsWhatItHas(t *testing.T) {
	points := metric.Same(referencePoints(t, 50))
	optimal := func(b metric.Bimetric, alpha, tolerance float64) func(context.Context, Options) (*Solution, error) {
		return func(ctx context.Context, o Options) (*Solution, error) {
			o.Tolerance = tolerance
			s, err := Optimal(ctx, b, alpha, &o)
			if s != nil {
				certified(t, b, alpha, nil, s)
			}
			return s, err
		}
	}
	for _, c := range []struct {
		name   string
		counts bool // iterations, from 0
		solve  func(ctx context.Context, o Options) (*Solution, error)
	}{
		{"Optimal", true, optimal(points, .5, 0)},
		{"Optimal, lazy", false, optimal(metric.Same(space.Halton(101)), 5, 1e-9)},
		{"Spanner", false, func(ctx context.Context, o Options) (*Solution, error) {
			s, err := Spanner(ctx, points, .5, &SpannerOptions{Options: o})
			if s == nil {
				return nil, err
			}
			certified(t, points, .5, nil, &s.Solution)
			return &s.Solution, err
		}},
		{"ConstOPT", true, func(ctx context.Context, o Options) (*Solution, error) {
			s, err := ConstOPT(ctx, points, .5, &ConstOptions{Progress: o.Progress, TimeLimit: o.TimeLimit})
			if s == nil {
				return nil, err
			}
			constCertified(t, points, .5, s)
			return &Solution{Status: s.Status, Iterations: s.Iterations}, err
		}},
	} {
		for _, at := range []int{-1, 0, 5, 12} {
			if at < 0 && c.name == "Spanner" {
				continue // it has no graph yet
			}
			ctx, cancel := context.WithCancel(t.Context())
			if at < 0 {
				cancel()
			}
			gap := math.Inf(1)
			s, err := c.solve(ctx, Options{Progress: func(i int, g float64, _ time.Duration) {
				if gap = g; i == at {
					cancel()
				}
			}})
			cancel()
			if !errors.Is(err, context.Canceled) || s == nil || s.Status != StatusCanceled {
				t.Fatalf("%s, canceled at %d: %v, %v", c.name, at, s, err)
			}
			if c.counts && s.Iterations != max(0, at) || c.name == "Optimal" && s.Gap > gap+1e-6 {
				t.Errorf("%s, canceled at %d with gap %v: %v", c.name, at, gap, s)
			}
		}
		if s, err := c.solve(t.Context(), Options{TimeLimit: 1}); err != nil || s.Status != StatusTimeLimit {
			t.Errorf("%s, time limit: %v, %v", c.name, s, err)
		}
	}
}
