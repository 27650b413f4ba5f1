package lp

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// lazily solves with the lazy engine at any size.
func lazily(t testing.TB, b metric.Bimetric, alpha float64, o *Options) *Solution {
	t.Helper()
	p := testkit.Must(read(t.Context(), "lp: Optimal", b, alpha, o))
	g := p.merge(p.o.Tolerance / mergeShare)
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	g.plan = testkit.Must(g.plan.Lazily(t.Context()))
	s := &Solution{Prior: distribution(p.o.Prior, p.n)}
	s.keep(testkit.Must(p.constant(t.Context())))
	if err := g.solve(s, time.Now()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Both engines bracket one optimum: points of the plane and random metrics, one
// metric and two, worst case and mean, small budgets and large.
func TestLazy_AgreesWithDense(t *testing.T) {
	r := random.Seeded(7)
	for i, n := range []int{2, 3, 5, 16, 20, 32, 50} {
		if n > testkit.Sweep(20, 50) {
			continue
		}
		space := func(i int) metric.Finite {
			if i%2 == 0 {
				return randomMetric(t, r, n)
			}
			return space.Halton(n)
		}
		for _, alpha := range []float64{.4, 4, 40} {
			b := metric.Bimetric{Privacy: space(i), Utility: space(i + int(alpha)%3)}
			var prior []float64
			if alpha == 4 {
				prior = distribution(nil, n)
			}
			const tolerance = 1e-5
			o := &Options{Tolerance: tolerance, Prior: prior}
			dense := testkit.Must(Optimal(t.Context(), b, alpha, o))
			lazy := lazily(t, b, alpha, o)
			certified(t, b, alpha, prior, lazy)
			if lazy.Gap > tolerance {
				t.Errorf("n=%d, alpha=%v: lazy %v", n, alpha, lazy)
			}
			if lazy.DualBound > dense.Objective || dense.DualBound > lazy.Objective {
				t.Errorf("n=%d, alpha=%v: lazy %v, dense %v", n, alpha, lazy, dense)
			}
		}
	}
}

// Interrupted while the constraints are sorted out, at whatever point, Optimal and
// ConstOPT return a certified mechanism promptly: a constant if need be, and none only
// where a fifth of a second was not enough to read the distances.
func TestStopped_Promptly(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const alpha, prompt, reading = 5, time.Second, 200 * time.Millisecond
	for name, f := range map[string]metric.Finite{"plane": space.Halton(300), "grid": space.Grid(18)} {
		b := metric.Same(f)
		for _, after := range []time.Duration{1, 50 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			began, clock := time.Now(), testkit.StartClock()
			s, err := Optimal(ctx, b, alpha, &Options{Tolerance: 1e-9}) // tight weights are near it on a grid
			if took := clock.Took(); !errors.Is(err, context.DeadlineExceeded) || took > prompt || s == nil && time.Since(began) < reading {
				t.Fatalf("%s after %v: %v, %v, %v", name, after, took, s, err)
			}
			if s != nil {
				certified(t, b, alpha, nil, s)
				if s.Status != StatusCanceled || after == 1 && (s.Engine != EngineNone || s.Gap != 1) {
					t.Errorf("%s after %v: %v", name, after, s)
				}
			}
			began, clock = time.Now(), testkit.StartClock()
			c, err := ConstOPT(ctx, b, alpha, nil)
			if took := clock.Took(); !errors.Is(err, context.DeadlineExceeded) || took > prompt || c == nil && time.Since(began) < reading {
				t.Fatalf("%s after %v, ConstOPT: %v, %v, %v", name, after, took, c, err)
			}
			cancel()
		}
	}
}
