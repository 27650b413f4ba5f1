package lp

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Whatever a local relaxation leaves out, the bound that its completed prices prove holds: it is
// not above the optimum, nor above what is lost under the prior that comes with it.
func TestComplete_ProvesABound(t *testing.T) {
	r := random.Seeded(50)
	for i := range testkit.Sweep(20, 100) {
		n, m := 8+r.IntN(16), 3+r.IntN(3)
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{6 * r.Float64(), 3 * r.Float64()}
		}
		f, alpha := space.Euclidean(points), []float64{1, 2, 4}[i%3]
		o := &Options{Outputs: r.Perm(n)[:m], Tolerance: 1e-4}
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), alpha, o))
		g := p.merge(0)
		testkit.Check(t, g.impose())
		s := &Solution{}
		s.keep(testkit.Must(p.constant(t.Context())))
		s.DualBound = .05 * s.Objective
		most := []float64{.01, .1, .5}[r.IntN(3)] * math.Ldexp(s.Objective, -g.exp)
		left := 0
		if g.prog.Support, _ = g.support(nil, func(float64) float64 { return most }, func(float64) bool { return true }); g.prog.Support == nil {
			continue
		}
		has := make([]bool, n) // an output
		for w, list := range g.prog.Support {
			left += n - len(list)
			tied := list[:1:1] // by rows to the first
			for k := 0; k < len(tied); k++ {
				has[tied[k]] = true
				for _, v := range list {
					if u := tied[k]; !slices.Contains(tied, v) && slices.Contains(g.prog.Pairs[min(u, v)], max(u, v)) {
						tied = append(tied, v)
					}
				}
			}
			if len(tied) < max(2, len(list)) {
				t.Errorf("space %d: rows tie %d inputs of output %d, of %d", i, len(tied), w, len(list))
			}
		}
		if slices.Contains(has, false) {
			t.Errorf("space %d: an input has no output", i)
		}
		g.plan = testkit.Must(ipm.Prepare(t.Context(), &g.prog))
		res := g.plan.Solve(t.Context(), ipm.Settings{Tolerance: 1e-4})
		value := res.Lower
		testkit.Check(t, g.complete(res))
		s.raise(g, res)
		name := fmt.Sprintf("space %d: n=%d, m=%d, alpha=%v, %d left out, value %v", i, n, m, alpha, left, value)
		best := testkit.Must(Optimal(t.Context(), metric.Same(f), alpha, o))
		if s.DualBound > best.Objective {
			t.Errorf("%s: bound %v, optimum %v", name, s.DualBound, best.Objective)
		}
		held(t, metric.Same(f), alpha, o, s)
	}
}

// Known answers: input 2 has .6 more than its price, of which 1 takes all at a factor of 4, so that
// 3 lacks what it did. Input 0 is of the support, where nothing is left to give.
func TestComplete_PaysForWhatItGives(t *testing.T) {
	far, loss := []float64{9, 1, 4, 2}, 10.0
	f := space.Formula(4, func(i, j int) float64 {
		switch {
		case i*j == 0:
			return 5
		case i*j == 2:
			return math.Log(4)
		case i*j == 6:
			return math.Log(2)
		}
		return 2
	})
	p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), 1, &Options{Outputs: []int{0, 1}, Loss: func(x, y int) float64 {
		if y == 0 {
			return far[x]
		}
		return loss
	}}))
	g := p.merge(0)
	testkit.Check(t, g.impose())
	g.prog.Support = [][]int32{{0}, {0, 1, 2, 3}}
	res := &ipm.Result{Z: []float64{.1, .2, .5, .2}}
	for _, y := range []float64{0, .5, 1.4, .6} {
		res.Y = append(res.Y, math.Ldexp(y, -g.exp))
	}
	testkit.Check(t, g.complete(res))
	for u, want := range []float64{0, .35, 1.4, .4} {
		if got := math.Ldexp(res.Y[u], g.exp); !(got <= want && got > want-1e-9) {
			t.Errorf("price %d: %v, want %v", u, got, want)
		}
	}
	if got := math.Ldexp(res.Lower, g.exp); !(got <= 2.15 && got > 2.15-1e-9) {
		t.Errorf("bound %v, want 2.15", got)
	}
}

// In exact arithmetic what an input receives costs its supplier exp of the budget times as much, and
// the bound is no more than the prices left prove.
func TestComplete_RoundsDown(t *testing.T) {
	r := random.Seeded(51)
	for i := range 600 {
		e, loss := 3*r.Float64(), []float64{r.Float64(), 1 + r.Float64()}
		f := space.Formula(2, func(i, j int) float64 { return e })
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), 1, &Options{Outputs: []int{0}, Loss: func(x, _ int) float64 { return loss[x] }}))
		g := p.merge(0)
		testkit.Check(t, g.impose())
		g.prog.Support = [][]int32{nil}
		z := []float64{r.Float64(), .5 + r.Float64()}
		if i%2 == 0 { // whose sum is exact
			z = []float64{.5, .5}
		}
		had := []float64{directed.MulDown(z[0], g.scaled[0]), directed.MulDown(z[1], g.scaled[1])}
		factor := directed.ExpUp(g.prog.Budget.Distance(0, 1))
		y := []float64{had[0] + 3*had[1], had[1] / 2} // 1 gives all it has
		switch i % 3 {
		case 1: // none has any to spare
			y = []float64{2 * had[0], 2 * had[1]}
		case 2: // none lacks any
			y = []float64{0x1p-60, 0x1p-60}
		}
		res := &ipm.Result{Z: z, Y: slices.Clone(y)}
		testkit.Check(t, g.complete(res))
		exact := testkit.Ratio
		sum := new(big.Rat).Add(exact(min(y[0], res.Y[0])), exact(min(y[1], res.Y[1])))
		if proved := sum.Quo(sum, new(big.Rat).Add(exact(z[0]), exact(z[1]))); exact(res.Lower).Cmp(proved) > 0 {
			t.Errorf("bound %v is more than %v", res.Lower, proved.FloatString(20))
		}
		for u, l := range g.scaled {
			if got := new(big.Rat).Mul(exact(z[u]), exact(l)); i%3 == 1 && exact(res.Y[u]).Cmp(got) > 0 {
				t.Errorf("price %v is more than %v", res.Y[u], got.FloatString(20))
			}
		}
		paid, given := new(big.Rat).Sub(exact(res.Y[0]), exact(had[0])), new(big.Rat).Sub(exact(had[1]), exact(res.Y[1]))
		if paid.Sign() > 0 && paid.Mul(paid, exact(factor)).Cmp(given) > 0 {
			t.Errorf("%v taken at a factor of %v, of %v", res.Y[0]-had[0], factor, given.FloatString(20))
		}
	}
}

// Entries that a local relaxation has left out, and that envelopes raise, are in the next one.
func TestAdd_WantsEntriesLeftOut(t *testing.T) {
	r, wanted := random.Seeded(53), 0
	for range 12 {
		n := 20 + r.IntN(10)
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{12 * r.Float64(), 2 * r.Float64()}
		}
		f := space.Euclidean(points)
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), 1.5, &Options{Outputs: r.Perm(n)[:6], Tolerance: 1e-3}))
		g := p.merge(0)
		testkit.Check(t, g.impose())
		support := func() [][]int32 {
			of, _ := g.support(nil, func(float64) float64 { return .02 }, func(float64) bool { return true })
			return of
		}
		if g.prog.Support = support(); g.prog.Support == nil {
			continue
		}
		g.plan = testkit.Must(ipm.Prepare(t.Context(), &g.prog))
		res := g.plan.Solve(t.Context(), ipm.Settings{Tolerance: 1e-3})
		x := slices.Clone(res.X)
		if !testkit.Must(g.envelopes(x)) {
			t.Fatal("the channel is not private")
		}
		testkit.Must(g.add(res.X, x, 0))
		next := support()
		for w, list := range g.wanted {
			for _, u := range list {
				if wanted++; slices.Contains(g.prog.Support[w], u) || !slices.Contains(next[w], u) {
					t.Errorf("input %d of output %d was there, or is not now", u, w)
				}
			}
		}
	}
	if wanted < 20 {
		t.Errorf("%d entries", wanted)
	}
}

// A local program by columns brackets the optimum, however much it leaves out and wherever it
// ends, to the same bits whatever the workers; with little left out it is within four times the
// tolerance.
func TestByColumns_BracketsTheOptimum(t *testing.T) {
	r := random.Seeded(52)
	tried, spaces := 0, testkit.Sweep(10, 60)
	for i := range spaces {
		n := 16 + r.IntN(24)
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{float64(n) * r.Float64(), 3 * r.Float64()}
		}
		b, alpha := metric.Same(space.Euclidean(points)), []float64{1, 1.5, 2.5}[i%3]
		share := []float64{columnsLeft, 10, 50}[i%3] // of the tolerance
		solve := func(workers int, ctx, late context.Context) (*Solution, *problem) {
			p := testkit.Must(read(t.Context(), "lp: Optimal", b, alpha, &Options{Tolerance: .01, Workers: workers}))
			s := p.solution()
			s.keep(testkit.Must(p.constant(t.Context())))
			p.start(s, time.Now())
			g := p.merge(p.o.Tolerance / mergeShare)
			g.prog.Budget = g.budgets()
			g.prog.Pairs = testkit.Must(direct.Nearly(t.Context(), g.prog.Budget, nearly, 0))
			var x []float64
			if i%2 > 0 { // the channel there is tells what matters
				x = columnsOf(g, s)
				g.weigh(g.lost(x), math.Ldexp(s.DualBound, -g.exp))
			}
			most := float64(share*g.o.Tolerance) * math.Ldexp(s.Objective, -g.exp)
			support, decay := g.support(x, func(sum float64) float64 { return most * sum }, func(float64) bool { return true })
			p.ctx, p.late = ctx, late
			_, _ = g.solveColumns(s, support, decay, time.Now()) // the context's
			return s, p
		}
		whole := endAfter(t.Context(), math.MaxInt64)
		s, p := solve(1, whole, t.Context())
		if s.Engine != EngineLazy { // nothing is left out
			continue
		}
		tried++
		best := testkit.Must(Optimal(t.Context(), b, alpha, &Options{Tolerance: 1e-5}))
		check := func(s *Solution) {
			t.Helper()
			if s.DualBound > best.Objective || s.Objective < best.DualBound || s.Audited.Hi > alpha {
				t.Errorf("space %d: n=%d, alpha=%v: %v, optimum %v", i, n, alpha, s, best)
			}
			certified(t, b, alpha, nil, s)
			held(t, b, alpha, &p.o, s)
		}
		check(s)
		if share == columnsLeft && i%2 == 0 && s.Gap > 4*p.o.Tolerance {
			t.Errorf("space %d: gap %v", i, s.Gap)
		}
		if same, _ := solve(3, t.Context(), t.Context()); same.DualBound != s.DualBound || same.Objective != s.Objective {
			t.Errorf("space %d: %v, with 3 workers %v", i, s, same)
		}
		looks := math.MaxInt64 - whole.left.Load()
		stopped, _ := solve(2, endAfter(t.Context(), r.Int64N(looks)), t.Context())
		check(stopped)
		stopped, _ = solve(2, endAfter(t.Context(), r.Int64N(looks)), endAfter(t.Context(), r.Int64N(looks)))
		check(stopped)
	}
	if tried < spaces*2/3 {
		t.Errorf("%d of %d spaces", tried, spaces)
	}
}

// columnsOf is the channel of s, by columns.
func columnsOf(g *merged, s *Solution) []float64 {
	x := make([]float64, g.n*g.m)
	for y := range s.Channel.Outputs() {
		w := slices.Index(g.o.Outputs, s.Channel.Output(y))
		for u := range g.n {
			x[w*g.n+u] = s.Channel.Prob(u, y)
		}
	}
	return x
}

// Inputs around an output that the channel hardly uses may release it in the program by columns.
func TestSupport_KeepsWhatMayBeUsed(t *testing.T) {
	const n, m = 120, 6
	p := testkit.Must(read(t.Context(), "test", metric.Same(scattered(n)), 1, &Options{Outputs: []int{0, 1, 2, 3, 4, 5}}))
	g := p.merge(0)
	testkit.Check(t, g.impose())
	x := slices.Repeat([]float64{1. / (m - 1)}, n*m)
	for u := range n {
		x[u] = 1e-12
	}
	near := g.cells(m, g.scaled).near
	support, decay := g.support(x, func(float64) float64 { return 1e-3 }, func(float64) bool { return true })
	around := 0
	for u := range n {
		if near[u] != 0 && decay[u] < 3 {
			around++
			if !slices.Contains(support[0], int32(u)) {
				t.Errorf("input %d, %v from output 0, is left out", u, decay[u])
			}
		}
	}
	if around < 3 || len(support[0]) == n {
		t.Errorf("%d inputs around, %d kept", around, len(support[0]))
	}
}

// The losses that may be the largest come first, a third of all at most; the others share a weight.
func TestWeigh_KnownAnswers(t *testing.T) {
	o := &Options{Outputs: []int{0, 3}, Loss: func(x, y int) float64 { return float64(x) + float64(y)/4 }}
	g := testkit.Must(read(t.Context(), "test", metric.Same(space.Path(6, 1)), 1, o)).merge(0)
	rows := g.weigh([]float64{.5, .99, 1.2, .9, .2, .87}, 1)
	var loss []float64
	for _, y := range o.Outputs {
		for _, u := range []int{1, 2, 0, 3, 4, 5} {
			loss = append(loss, math.Ldexp(o.Loss(u, y), -g.exp))
		}
	}
	if w := slackWeight / 6; rows != 2 || !slices.Equal(g.prog.Class, []int{1, 2, 0, 3, 4, 5}) || !slices.Equal(g.prog.Prior, []float64{w, w, w, w}) || !slices.Equal(g.prog.Loss, loss) {
		t.Errorf("%d rows, %v with weights %v and losses %v, not %v", rows, g.prog.Class, g.prog.Prior, g.prog.Loss, loss)
	}
	if rows := g.weigh([]float64{.5, .99, .87, .5, .2, .5}, 1); rows != 1 {
		t.Errorf("%d rows, of one loss near the bound", rows)
	}
}

// The bound of inputs that are critical holds for all, and is nearly theirs.
func TestCritical_ProvesABound(t *testing.T) {
	r := random.Seeded(55)
	for i := range testkit.Sweep(4, 30) {
		n, k := 200+r.IntN(40), 5
		b := metric.Same(scattered(n))
		o := &Options{Outputs: r.Perm(n)[:k], Tolerance: .01}
		p := testkit.Must(read(t.Context(), "lp: Optimal", b, .5, o))
		s := p.solution()
		s.keep(testkit.Must(p.constant(t.Context())))
		g := p.merge(0)
		testkit.Check(t, g.impose())
		// Prices of a relaxation, and of nothing.
		res := &ipm.Result{Y: make([]float64, n)}
		if i%2 == 0 {
			g.prog.Pairs = testkit.Must(direct.Nearly(t.Context(), g.prog.Budget, nearly, 0))
			g.plan = testkit.Must(ipm.Prepare(t.Context(), &g.prog))
			res = g.plan.Solve(t.Context(), ipm.Settings{Tolerance: 1e-3})
		}
		testkit.Check(t, g.critical(s, res))
		best := testkit.Must(Optimal(t.Context(), b, .5, o))
		if !(s.DualBound <= best.Objective) || i%2 == 0 && !(s.DualBound > .99*best.DualBound) || !(s.DualBound > .8*best.DualBound) {
			t.Errorf("space %d, n=%d, %d outputs: bound %v, optimum in [%v, %v]", i, n, k, s.DualBound, best.DualBound, best.Objective)
		}
		held(t, b, .5, o, s)
	}
}

// After a relaxation a program by columns, with weights for most losses, and the bound of what is
// critical reach the tolerance, also where inputs are merged.
func TestGoOn_ReachesTheTolerance(t *testing.T) {
	lower(t, leastRelaxed, leastExtended)
	quickWork = 0
	for i := range 2 {
		const n = 230
		b := metric.Same(scattered(n))
		outputs, _, err := metric.FarthestFirst(t.Context(), b.Privacy, 5, 0)
		testkit.Check(t, err)
		p := testkit.Must(read(t.Context(), "lp: Optimal", b, .1, &Options{Outputs: outputs, Tolerance: 5e-3}))
		s := p.solution()
		s.keep(testkit.Must(p.constant(t.Context())))
		p.start(s, time.Now())
		g := p.merge([]float64{0, .02}[i])
		if merged := len(g.first) < n; merged != (i == 1) {
			t.Fatalf("%d classes", len(g.first))
		}
		g.prog.Budget = g.budgets()
		g.prog.Pairs = testkit.Must(direct.Nearly(t.Context(), g.prog.Budget, nearly, 0))
		g.plan = testkit.Must(ipm.Prepare(t.Context(), &g.prog))
		res := g.run(s, 2e-3, time.Now())
		x := testkit.Must(g.conclude(s, res, nil))
		before := s.Gap
		for u, list := range g.pairsOfInputs() {
			if !slices.IsSorted(list) || len(list) > 0 && int(list[0]) <= u || i == 0 && !slices.Equal(list, g.prog.Pairs[u]) {
				t.Errorf("pairs %v of input %d", list, u)
			}
		}
		if done, err := g.goOn(s, res, x, time.Now()); err != nil || !done || s.Gap > p.o.Tolerance || before < 2*s.Gap || s.BoundBy != boundByPatch {
			t.Errorf("done %v, %v: gap %v before, %v", done, err, before, s)
		}
		certified(t, b, .1, nil, s)
		held(t, b, .1, &p.o, s)
	}
}

// Relaxations go on by columns where outputs are many, with all of their support taken back, unless
// that takes longer than is left.
func TestRelax_ByColumns(t *testing.T) {
	lower(t, leastRelaxed, leastExtended)
	const n = lazySize + 8
	r := random.Seeded(54)
	points := make([][]float64, n)
	for u := range points {
		points[u] = []float64{2 * n * r.Float64(), 2 * r.Float64()}
	}
	b, o := metric.Same(space.Euclidean(points)), &Options{Tolerance: .02}
	quickWork = 0 // not by inputs
	s := relaxed(t, b, 1, o)
	if s.Engine != EngineLazy || s.Gap > 4*o.Tolerance {
		t.Errorf("%v", s)
	}
	certified(t, b, 1, nil, s)
	p := testkit.Must(read(t.Context(), "lp: Optimal", b, 1, &Options{Tolerance: .02, TimeLimit: time.Hour}))
	p.begin()
	if g := p.merge(0); !g.quickByColumn(20, g.n, mostWork) {
		t.Error("an hour is not enough")
	}
	p.end = time.Now()
	if g := p.merge(0); g.quickByColumn(20, g.n, mostWork) {
		t.Error("there is time after the end")
	}
}

// Pairs are those that share a column.
func TestSharing_KnownAnswers(t *testing.T) {
	pairs := testkit.Must(sharing(t.Context(), 5, [][]int32{{0, 1, 4}, {1, 2}, {1, 2, 4}}, 0))
	if want := [][]int32{{1, 4}, {2, 4}, {4}, nil, nil}; !reflect.DeepEqual(pairs, want) {
		t.Errorf("%v, want %v", pairs, want)
	}
}

// Of many that are rich the suppliers are those that can give most, the nearest first: 64 with next to
// nothing are no use.
func TestSuppliersOf_HaveMostToGive(t *testing.T) {
	const n = suppliers + 10
	budget, spare, rich := make([]float64, n), make([]float64, n), []int32{}
	for v := 1; v < n; v++ {
		budget[v], spare[v], rich = float64(v)/n, 1e-9, append(rich, int32(v))
	}
	budget[n-1], spare[n-1], spare[n-2] = 3, 1, 1
	got := suppliersOf(0, budget, spare, rich)
	if len(got) != suppliers || got[0] != 1 || got[suppliers-2] != n-2 || got[suppliers-1] != n-1 {
		t.Errorf("%v", got)
	}
	for v := range budget { // all exponentials are 0: the nearest are the last
		budget[v] += float64(1000 * (n - v))
	}
	if got := suppliersOf(0, budget, spare, rich); got[0] != n-1 || got[suppliers-1] != n-suppliers {
		t.Errorf("%v", got)
	}
}
