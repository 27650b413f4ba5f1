package lp

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// On random spaces the bracket holds the optimum, and the level is at most alpha,
// tuned or not.
func TestSpanner_HoldsTheOptimum(t *testing.T) {
	r := random.Seeded(8)
	for i := range 20 {
		n := 2 + i%9
		b := metric.Bimetric{Privacy: randomMetric(t, r, n), Utility: randomMetric(t, r, n)}
		alpha := math.Exp(-1 + 2*r.Float64())
		stretch := []float64{0, 1, 1.2, 2, 10}[i%5]
		opt := testkit.Must(Optimal(t.Context(), b, alpha, nil))
		s := testkit.Must(Spanner(t.Context(), b, alpha, &SpannerOptions{Stretch: stretch}))
		certified(t, b, alpha, nil, &s.Solution)
		if s.DualBound > opt.Objective || s.Objective < opt.DualBound {
			t.Errorf("n=%d, stretch %v: %v, optimal %v", n, stretch, s, opt)
		}
		if stretch >= 1 && s.Stretch > stretch*(1+1e-12) {
			t.Errorf("stretch %v, asked for %v", s.Stretch, stretch)
		}
		kept := testkit.Must(Spanner(t.Context(), b, alpha, &SpannerOptions{Stretch: stretch, KeepBudget: true}))
		if kept.Solves != 1 || s.Stretch > 1+1e-12 && kept.BoundBy == boundByProgram || kept.Audited.Hi > alpha {
			t.Errorf("untuned: %v", kept)
		}
		if s.Objective > kept.Objective {
			t.Errorf("tuned loss %v, untuned %v", s.Objective, kept.Objective)
		}
	}
}

// The program behind the bound has at least the budget alpha*rho1 on every pair,
// in 400 bits, also where the graph's distances were rounded below those of the
// space; no more than that is needed.
func TestSpanner_BoundCoversRounding(t *testing.T) {
	r, rounded := random.Seeded(13), 0
	for range 40 {
		at := []float64{0, r.Float64(), 1 + r.Float64(), 3 * r.ExpFloat64()}
		f := space.Formula(4, func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
		alpha := r.Float64()
		o := testkit.Must((&Options{}).defaults("lp: Spanner", metric.Same(f), alpha))
		g := testkit.Must(metric.Spanner(t.Context(), f, 1+1e-9))
		s := &spannerSearch{b: metric.Same(f), alpha: alpha, o: o, graph: g, p: testkit.Must(read(t.Context(), "test", metric.Same(f), alpha, nil))}
		if err := s.stretch(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Longer distances, so that the channel is kept, and with it the budget.
		s.b.Privacy = space.Formula(4, func(i, j int) float64 { return 2 * f.Distance(i, j) })
		s.best.Objective = math.Inf(1)
		if _, err := s.solve(t.Context(), s.short); err != nil || !s.proved || s.best.Budget > alpha*(1+1e-14) {
			t.Fatal(s.best, err)
		}
		if wide(s.best.Budget).Cmp(wide(0).Mul(wide(s.short), wide(alpha))) < 0 {
			t.Errorf("budget %v is below %v times %v", s.best.Budget, s.short, alpha)
		}
		for i := range 4 {
			for j := range i {
				need := wide(0).Mul(wide(alpha), wide(f.Distance(i, j)))
				if wide(0).Mul(wide(s.best.Budget), wide(g.Distance(i, j))).Cmp(need) < 0 {
					t.Errorf("%v at %v: budget %v of %v", at, alpha, s.best.Budget, g.Distance(i, j))
				}
				if g.Distance(i, j) < f.Distance(i, j) {
					rounded++
				}
			}
		}
	}
	if rounded == 0 {
		t.Error("no distance was rounded down")
	}
}
