package ipm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// All engines bracket one optimum, in columns that obey all rows, to the same bits
// whatever the workers. A lazy one imposes a part of the pairs. Stopped, each returns what it has.
func TestEngines_Agree(t *testing.T) {
	testkit.Slow(t)
	all := []Kind{Dense, Sparse, ByInput, Lazy}
	for i, c := range []struct {
		p     *Problem
		kinds []Kind
		share float64 // of the pairs, that a lazy engine imposes at most
	}{
		{square(40, 4), []Kind{Dense, Lazy}, .7},
		{few(square(40, 4), 7), all, .7},
		{skewed(grid(8, .5)), []Kind{Dense, Sparse, Lazy}, 1},
		{twice(few(grid(9, .5), 5)), all, 1},
		{few(randomTree(70, 1), 1), all, 1},
		{square(40, .4), []Kind{Dense, Lazy}, .8},
		{skewed(square(40, 40)), []Kind{Dense, Lazy}, .3},
		{grid(8, .5), all, 1},
		{few(randomTree(150, 1), 7), []Kind{Sparse, ByInput}, 1},
		{randomTree(64, 1), []Kind{Dense, Sparse}, 1},
	}[:testkit.Sweep(5, 10)] {
		p := c.p
		lower, upper := 0.0, math.Inf(1)
		for _, kind := range c.kinds {
			name := fmt.Sprintf("problem %d, engine %d", i, kind)
			l := planFor(p, kind)
			o := Settings{Tolerance: 1e-6, Workers: 1}
			got := l.Solve(t.Context(), o)
			if got.Status != Converged || got.Upper-got.Lower > 1e-6*got.Upper {
				t.Errorf("%s: [%v, %v], %v", name, got.Lower, got.Upper, got.Status)
			}
			if lower, upper = max(lower, got.Lower), min(upper, got.Upper); lower > upper {
				t.Fatalf("%s: [%v, %v], others found [%v, %v]", name, got.Lower, got.Upper, lower, upper)
			}
			breach := 0.0
			l.r.each(func(i int32, u, v int) {
				d := l.r.a[i] / l.r.b[i]
				for w := range p.Outputs {
					x := got.X[w*p.Inputs : (w+1)*p.Inputs]
					breach = max(breach, d*x[u]/x[v]-1, d*x[v]/x[u]-1)
				}
			})
			if breach > residual {
				t.Errorf("%s: a row broken by %v", name, breach)
			}
			o.Workers = 3
			ctx, stop := context.WithCancel(t.Context())
			o.Progress = func(i int, _, _ float64) {
				if i == 2 {
					stop()
				}
			}
			if d := l.Solve(ctx, o); d.Status != Interrupted || d.Iterations != 2 || !(d.Upper >= lower && d.Lower <= upper) {
				t.Errorf("%s: stopped: %v after %d, [%v, %v]", name, d.Status, d.Iterations, d.Lower, d.Upper)
			}
			o.Progress = nil
			s := newSolver(t.Context(), l, o)
			if same := s.solve(); same.Lower != got.Lower || !slices.Equal(same.X, got.X) {
				t.Errorf("%s: 1 worker %v, 3 workers %v", name, got.Lower, same.Lower)
			}
			if share := float64(len(s.lambda)) / 2 / float64(p.Outputs*l.r.len()); kind == Lazy && share > c.share || kind != Lazy && share != 1 {
				t.Errorf("%s: %v of the pairs", name, share)
			}
		}
	}
}

// With weights for the last loss rows all engines bracket one optimum of what the largest of the
// other losses and the weighed ones are together, which is more than either alone would be.
func TestEngines_WeighTheLastLosses(t *testing.T) {
	for i, p := range []*Problem{few(square(40, 4), 7), twice(few(grid(7, .5), 5))} {
		const share = .3
		loss := p.losses()
		p.Prior = slices.Repeat([]float64{share / float64(loss/2)}, loss/2)
		duals, mass := loss-loss/2, 1+floats.Sum(p.Prior)
		// value is what x is worth: the largest of the first losses and the mean of the others.
		value := func(x []float64) (most, mean float64) {
			for i, u := range p.Class {
				l := 0.0
				for w := range p.Outputs {
					l += p.Loss[w*loss+i] * x[w*p.Inputs+u]
				}
				if i < duals {
					most = max(most, l)
				} else {
					mean += l * p.Prior[i-duals] / share
				}
			}
			return most, mean
		}
		alone := *p
		alone.Prior = slices.Repeat([]float64{1e-9}, loss/2)
		lower, upper := 0.0, math.Inf(1)
		for _, kind := range []Kind{Dense, Sparse, ByInput, Lazy} {
			got := planFor(p, kind).Solve(t.Context(), Settings{Tolerance: 1e-6})
			most, mean := value(got.X)
			worth := (most + share*mean) / mass
			if got.Status != Converged || !(got.Lower <= worth*(1+1e-9) && got.Lower >= worth*(1-2e-6)) {
				t.Errorf("problem %d, engine %d: %v, %v is proved of %v", i, kind, got.Status, got.Lower, worth)
			}
			if sum := floats.Sum(got.Z[:duals]); math.Abs(sum-1) > 1e-6 || !slices.Equal(got.Z[duals:], p.Prior) {
				t.Errorf("problem %d, engine %d: weights %v", i, kind, got.Z)
			}
			lower, upper = max(lower, got.Lower), min(upper, worth)
		}
		if lower > upper*(1+1e-9) {
			t.Errorf("problem %d: the engines find [%v, %v]", i, lower, upper)
		}
		// Weights cost the largest loss little, and bring the others down.
		l := planFor(&alone, Dense)
		free := l.Solve(t.Context(), Settings{Tolerance: 1e-6})
		most, mean := value(planFor(p, Dense).Solve(t.Context(), Settings{Tolerance: 1e-6}).X)
		if least, loose := value(free.X); !(most >= free.Lower && mean < loose && most+share*mean <= least+share*loose) {
			t.Errorf("problem %d: [%v, %v] with weights, [%v, %v] without", i, most, mean, least, loose)
		}
	}
}

// Columns with a support release nothing outside, obey the rows within and lose what is said; rows
// sum to 1. The engines bracket one optimum. The bits do not depend on the workers. With a support
// of all inputs the bounds are those of none.
func TestSupport_OfAPart(t *testing.T) {
	for i, share := range []float64{.65, .8, 1.5} {
		p := few(square(50, 8), 7)
		if i == 1 {
			p = twice(p)
		}
		p.Support = make([][]int32, p.Outputs)
		for w := range p.Support {
			for u := range p.Inputs {
				if p.Loss[w*p.losses()+u] < share {
					p.Support[w] = append(p.Support[w], int32(u))
				}
			}
		}
		lower, upper := 0.0, math.Inf(1)
		for _, kind := range []Kind{ByInput, Lazy} {
			l := planFor(p, kind)
			got := l.Solve(t.Context(), Settings{Tolerance: 1e-5, Workers: 1})
			if got.Status != Converged || got.Upper-got.Lower > 1e-5*got.Upper {
				t.Fatalf("share %v, engine %d: %v, [%v, %v]", share, kind, got.Status, got.Lower, got.Upper)
			}
			worst, sums := 0.0, make([]float64, p.Inputs)
			losses := make([]float64, p.losses())
			for w, in := range p.Support {
				x := got.X[w*p.Inputs : (w+1)*p.Inputs]
				for u, q := range x {
					sums[u] += q
					if _, has := slices.BinarySearch(in, int32(u)); has != (q > 0) {
						t.Fatalf("share %v, engine %d: %v at input %d, output %d", share, kind, q, u, w)
					}
				}
				for i, u := range p.Class {
					losses[i] += x[u] * p.Loss[w*p.losses()+i]
				}
				for _, u := range in {
					for _, v := range p.Pairs[u] {
						if x[v] > 0 {
							e := math.Exp(p.Budget.Distance(int(u), int(v)))
							worst = max(worst, x[u]/x[v]/e-1, x[v]/x[u]/e-1)
						}
					}
				}
			}
			if worst > 3*settled || math.Abs(slices.Max(losses)-got.Upper) > 1e-9 || slices.Max(sums) > 1+1e-9 || slices.Min(sums) < 1-1e-9 {
				t.Errorf("share %v, engine %d: rows broken by %v, losses to %v of %v, sums in [%v, %v]", share, kind, worst, slices.Max(losses), got.Upper, slices.Min(sums), slices.Max(sums))
			}
			if same := l.Solve(t.Context(), Settings{Tolerance: 1e-5, Workers: 3}); !slices.Equal(same.X, got.X) || same.Lower != got.Lower {
				t.Errorf("share %v, engine %d: 3 workers change the bits", share, kind)
			}
			lower, upper = max(lower, got.Lower), min(upper, got.Upper)
		}
		if lower > upper*(1+3*settled) {
			t.Errorf("share %v: the engines find [%v, %v]", share, lower, upper)
		}
		if p.Support = nil; i < 2 {
			continue
		}
		if whole := planFor(p, ByInput).Solve(t.Context(), Settings{Tolerance: 1e-5}); !(math.Abs(lower-whole.Lower) < 2e-5*whole.Lower) {
			t.Errorf("all inputs: %v, without a support %v", lower, whole.Lower)
		}
	}
}

// The order is a permutation; trees have no fill under it. A zero matrix has no factor.
func TestPattern_OrderAndFill(t *testing.T) {
	for name, c := range map[string]struct {
		p    *Problem
		fill int
	}{"tree": {randomTree(70, 1), 70 + 69}, "grid": {grid(8, 1), 400}} {
		r := testkit.Must(newPairs(t.Context(), c.p))
		order, fill := eliminationOrder(r, math.MaxInt)
		for k, u := range slices.Sorted(slices.Values(order)) {
			if k != u {
				t.Fatalf("%s: no permutation: %v", name, order)
			}
		}
		f := newPattern(r, order)
		if len(f.row) != fill || fill > c.fill {
			t.Errorf("%s: %d entries, ordering counted %d, want at most %d", name, len(f.row), fill, c.fill)
		}
		if none, _ := eliminationOrder(r, fill-1); none != nil {
			t.Errorf("%s: the limit on the fill did nothing", name)
		}
		if f.cholesky(make([]float64, fill), make([]float64, f.n), make([]int32, f.n)) {
			t.Errorf("%s: the zero matrix has a factor", name)
		}
	}
}

// A step ends where the first pair would break, imposed or not, and those that it
// leads to are imposed on the column that needs them, with positive slacks.
func TestWatch_FindsTheFirstToBreak(t *testing.T) {
	const n = 40
	s := started(t, planFor(program(n, 1, simplex), Lazy), 0)
	e := s.engine.(*lazyEngine)
	i := s.all.start[30] // the pair 30, 31
	if begin := s.parts[2].len(); begin > nearest*n || slices.Contains(s.parts[2].index, i) {
		t.Fatalf("%v pairs at the start", begin)
	}
	x, dx := s.column(s.x, 2), s.column(s.dir.x, 2)
	if step, err := e.reach(&s.dir, .75); step != .75 || err != nil {
		t.Fatal(step, err)
	}
	dx[31], s.mu = -x[31], 1
	step, err := e.reach(&s.dir, 1)
	if want := 1 - math.Exp(-1); math.Abs(step-want) > 1e-12 || err != nil {
		t.Errorf("step %v, want %v: %v", step, want, err)
	}
	before := s.parts[2].len()
	testkit.Check(t, e.grow())
	c := s.parts[2]
	if c.len() <= before || s.parts[3].len() != before || !slices.Contains(c.index, i) {
		t.Errorf("%d pairs, then %d", before, c.len())
	}
	for w := range s.parts {
		v, x := s.rows(w), s.column(s.x, w)
		v.each(func(i int32, p, q int) {
			if f, k := v.b[i]*x[q]-v.a[i]*x[p], v.b[i]*x[p]-v.a[i]*x[q]; v.sf[i] != f || v.sk[i] != k || v.rf[i] != 1/f || !(v.lf[i] > 0 && v.lk[i] > 0) {
				t.Fatalf("column %d, pair %d, %d: slacks %v, %v, want %v, %v", w, p, q, v.sf[i], v.sk[i], f, k)
			}
		})
	}
}

// What is said to be needed is what there is on the heap in the middle of a
// solve, to a factor of 2, and no less but for what the runtime adds. With dense
// factors it is at most 8 n^3 float64s.
func TestBytes_AgainstTheHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name string
		p    *Problem
		kind Kind
	}{
		{"grid of 100", grid(10, .5), Sparse},
		{"dense, 60", square(60, 5), Dense},
		{"lazy, 110", square(110, 5), Lazy},
		{"tree of 256", randomTree(256, .5), Sparse},
		{"grid of 256", grid(16, .5), Sparse},
		{"grid of 900, 12 outputs", few(grid(30, .5), 12), ByInput},
	}[:testkit.Sweep(3, 6)] {
		before, peak := testkit.Heap(), 0.0
		l := testkit.Must(Prepare(t.Context(), c.p))
		if c.kind == Lazy {
			l = testkit.Must(Lazily(t.Context(), c.p))
		}
		ctx, stop := context.WithCancel(t.Context())
		r := l.Solve(ctx, Settings{Tolerance: 1e-6, Progress: func(i int, _, _ float64) {
			if i == 2 { // every array was used
				peak = testkit.Heap() - before
				stop()
			}
		}})
		bytes := l.Bytes()
		if c.kind == Lazy {
			bytes = r.Bytes
		}
		t.Logf("%s: %.3g of %.3g bytes", c.name, peak, bytes)
		if l.Kind != c.kind || !(bytes > .95*peak && bytes < 2*peak) || c.kind == Dense && (bytes != Bytes(60, 60, 60) || bytes > 8*8*60*60*60) {
			t.Errorf("%s: engine %d, %.3g bytes on the heap, %.3g stated", c.name, l.Kind, peak, bytes)
		}
	}
}

// Tasks have all columns one after another, and none has more than its part of the squares of their
// entries, but for one column.
func TestShare_IsEven(t *testing.T) {
	r := random.Seeded(3)
	for range 50 {
		p := &point{m: 1 + r.IntN(60)}
		p.places, p.tasks = make([]place, p.m), make([]*task, 1+r.IntN(6))
		all, most := 0, 0
		for w := range p.places {
			k := 1 + r.IntN(30)
			p.places[w].inputs = make([]int32, k)
			all, most = all+k*k, max(most, k*k)
		}
		begin := p.share()
		if begin[0] != 0 || begin[len(p.tasks)] != p.m {
			t.Fatalf("%d columns: %v", p.m, begin)
		}
		for i := range p.tasks {
			work := 0
			for w := begin[i]; w < begin[i+1]; w++ {
				work += len(p.places[w].inputs) * len(p.places[w].inputs)
			}
			if begin[i] > begin[i+1] || work > all/len(p.tasks)+most {
				t.Errorf("task %d of %v: %d of %d", i, begin, work, all)
			}
		}
	}
}

// A pair weighs what the shortest of some detours between its ends says, over inputs that are neither
// of them: every one of few, every third of 300.
func TestPairs_WeighDetours(t *testing.T) {
	for n, step := range map[int]int{3: 1, 60: 1, 300: 3} {
		p := square(n, 2)
		r := testkit.Must(newPairs(t.Context(), p))
		r.each(func(i int32, u, v int) {
			d, detour := p.Budget.Distance(u, v), math.Inf(1)
			for z := 0; z < n; z += step {
				if z != u && z != v {
					detour = min(detour, p.Budget.Distance(u, z)+p.Budget.Distance(z, v))
				}
			}
			if want := math.Sqrt(min(max(detour/d-1, leastDetour), mostDetour)); r.omega[i] != want {
				t.Fatalf("%d inputs: the pair %d, %d weighs %v, want %v", n, u, v, r.omega[i], want)
			}
		})
	}
}
