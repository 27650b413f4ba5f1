package lp

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// relaxed solves by relaxations at any size.
func relaxed(t testing.TB, b metric.Bimetric, alpha float64, o *Options) *Solution {
	t.Helper()
	p := testkit.Must(read(t.Context(), "lp: Optimal", b, alpha, o))
	return relaxedAt(t, p, p.o.Tolerance/mergeShare)
}

// relaxedAt merges at a threshold.
func relaxedAt(t testing.TB, p *problem, threshold float64) *Solution {
	t.Helper()
	g := p.merge(threshold)
	s := &Solution{Prior: distribution(p.o.Prior, p.n)}
	s.keep(testkit.Must(p.constant(t.Context())))
	if longWork == 0 { // what is left out rests on a bound
		p.start(s, time.Now())
	}
	if err := g.relax(s, time.Now()); err != nil || g.prog.Support != nil {
		t.Fatalf("entries remain left out, or %v", err)
	}
	return s
}

// Relaxations bracket the optimum that all rows at once have, worst case and mean, also
// where inputs coincide or entries are left out, and reach the tolerance in nine of ten spaces.
func TestRelax_AgreesWithDense(t *testing.T) {
	lower(t, leastRelaxed, leastExtended)
	r, long := random.Seeded(36), [2]float64{math.Inf(1), 0}
	reached, spaces := 0, testkit.Sweep(30, 60)
	for i := range spaces {
		n, k, wide := 6+r.IntN(24), 2+r.IntN(4), 4.
		if longWork = long[i%2]; longWork == 0 {
			k, wide = k+2, 30
		}
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{wide * r.Float64(), 4 * r.Float64()}
			if u > 0 && i%5 == 0 && r.IntN(4) == 0 {
				points[u] = points[u-1]
			}
		}
		f := space.Euclidean(points)
		alpha := []float64{.3, 1, 3}[i%3]
		o := &Options{Outputs: r.Perm(n)[:k], Tolerance: 1e-3}
		if i%4 == 3 {
			o.Prior = distribution(nil, n)
		}
		name := fmt.Sprintf("space %d: n=%d, k=%d, alpha=%v", i, n, k, alpha)
		dense, got := testkit.Must(Optimal(t.Context(), metric.Same(f), alpha, o)), relaxed(t, metric.Same(f), alpha, o)
		if got.DualBound > dense.Objective || dense.DualBound > got.Objective || got.Audited.Hi > alpha {
			t.Errorf("%s: %v, all rows: %v", name, got, dense)
		}
		certified(t, metric.Same(f), alpha, o.Prior, got)
		held(t, metric.Same(f), alpha, o, got)
		if got.Gap <= o.Tolerance {
			reached++
		}
	}
	if reached < spaces*9/10 {
		t.Errorf("%d of %d within the tolerance", reached, spaces)
	}
}

// Bounds of relaxations are about all inputs where some are merged at large budgets, and
// hold under the prior that comes with them. Known answers on the line, two inputs losing 1 at one output
// each and others nothing: nothing between them leaves 1/(1+exp(e)), and a way at either end exp(-way) of that.
func TestRelax_BoundsOfMerged(t *testing.T) {
	const threshold, spread, middle, first = .3, .2, 2.8, 3.2
	at := []float64{0, -.4, -.8, 3.2, .2, 3} // classes {0, .2} and {3.2, 3}
	f := space.Formula(len(at), func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
	for _, c := range []struct {
		lose       [2]int
		best, rows float64 // the optimum, and that of rows for first members
	}{
		{[2]int{0, 3}, math.Exp(-spread) / (1 + math.Exp(middle)), 1 / (1 + math.Exp(first))},
		{[2]int{4, 5}, 1 / (1 + math.Exp(middle)), 1 / (1 + math.Exp(first))},
		{[2]int{0, 4}, 1 / (1 + math.Exp(spread)), .5}, {[2]int{5, 3}, 1 / (1 + math.Exp(spread)), .5},
	} {
		o := &Options{Tolerance: 1e-3, Outputs: []int{0, 1}, Loss: func(x, y int) float64 {
			if x == c.lose[y] {
				return 1
			}
			return 0
		}}
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), 1, o))
		if got := p.merge(threshold).budgets().Distance(0, 3); math.Abs(got-middle) > 1e-12 { // of the nearest members
			t.Errorf("a budget of %v between classes at %v", got, middle)
		}
		whole := relaxedAt(t, p, threshold)
		if rows := math.Exp(-spread) * c.rows; whole.DualBound > c.best*(1+1e-9) || whole.DualBound > rows*(1+1e-9) || whole.DualBound < rows*.98 {
			t.Errorf("losses at %v: bound %v, want %v, optimum %v", c.lose, whole.DualBound, rows, c.best)
		}
		held(t, metric.Same(f), 1, o, whole)
		if whole.Objective < c.best || whole.Audited.Hi > 1 {
			t.Errorf("losses at %v: %v, optimum %v", c.lose, whole, c.best)
		}
	}
}

// Where a local relaxation leaves out an entry that the optimum uses, its own value, 1e4 exp(-6), is
// no bound: inputs 0 and 1 lose 1e4 at output 0, the others 1 at output 1.
func TestRelax_BoundIsOfAllEntries(t *testing.T) {
	lower(t, leastRelaxed, leastExtended)
	o := &Options{Tolerance: 1e-3, Outputs: []int{0, 1}, Loss: func(x, y int) float64 { return [][]float64{{1e4, 0}, {0, 1}}[x/2][y] }}
	p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(space.Path(4, 6)), 1, o))
	if got, best := relaxedAt(t, p, 0), 1/(1+math.Exp(6)/1e4); got.DualBound > best || got.Iterations == 0 {
		t.Errorf("%v, optimum %v", got, best)
	}
}

// held solves for the prior of a bound, under which nothing has less.
func held(t testing.TB, b metric.Bimetric, alpha float64, o *Options, s *Solution) {
	t.Helper()
	under := *o
	under.Prior = s.Prior
	if mean := testkit.Must(Optimal(t.Context(), b, alpha, &under)); mean.Objective < s.DualBound {
		t.Errorf("bound %v by %v, under its prior %v", s.DualBound, s.BoundBy, mean)
	}
}

// Where envelopes report it, channels that were anything keep the level; those of the
// level stay nearly as they are.
func TestEnvelopes_Private(t *testing.T) {
	r := random.Seeded(3)
	private := 0
	for range testkit.Sweep(20, 200) {
		n, m, alpha := 2+r.IntN(20), 1+r.IntN(6), math.Exp(3*r.Float64()-1)
		f := space.Halton(n)
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), alpha, &Options{Outputs: r.Perm(n)[:min(m, n)]}))
		g := p.merge(0)
		g.prog.Budget = g.budgets()
		x := make([]float64, n*p.m)
		for u := range n {
			sum := 0.0
			for w := range p.m {
				x[w*n+u] = math.Exp(2 * r.NormFloat64())
				sum += x[w*n+u]
			}
			for w := range p.m {
				x[w*n+u] /= sum
			}
		}
		ok := testkit.Must(g.envelopes(x))
		if !ok {
			continue
		}
		private++
		weight := make([]float64, len(x))
		for u := range n {
			for w := range p.m {
				weight[u*p.m+w] = x[w*n+u]
			}
		}
		if got := testkit.Must(p.release(weight)); got.audit.Hi > alpha {
			t.Errorf("n=%d, m=%d, alpha=%v: level %v", n, p.m, alpha, got.audit.Hi)
		}
		before := append([]float64(nil), x...)
		if ok := testkit.Must(g.envelopes(x)); !ok {
			t.Error("a private channel is not private after envelopes")
		}
		for i, v := range before {
			if math.Abs(x[i]-v) > 1e-2*v {
				t.Errorf("an entry %v of a private channel becomes %v", v, x[i])
			}
		}
	}
	if private < 10 {
		t.Errorf("%d private", private)
	}
}

// What memory refused is said where that ended the search, and nowhere else.
func TestStopped_RefusedWithItsStatus(t *testing.T) {
	for _, end := range []Status{StatusMemoryLimit, StatusCanceled} {
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(referencePoints(t, 50)), .5, nil))
		s := &Solution{Iterations: 1} // of relaxations
		s.keep(testkit.Must(p.constant(t.Context())))
		p.o.MemoryLimit = 1
		if end == StatusCanceled {
			p.ctx = endAfter(t.Context(), 1)
		}
		testkit.Check(t, p.search(p.ctx, s, time.Now()))
		if s.Status != end || (s.Refused != nil) != (end == StatusMemoryLimit) {
			t.Errorf("%v: %v, refused: %v", end, s.Status, s.Refused)
		}
	}
}
